//! The files of `analyzer/rules` and `analyzer/messages`, built in as data.
//!
//! A crate of its own, which the library does not know: a program hands it over when it starts
//! (`casefile_analyzer::shipped::ship`). So a changed rule builds this crate and links the program,
//! and the analyzer's code is not compiled again.

/// A file: its path below its folder, its text, the text as JSON without its examples, which is read many times faster than
/// YAML, and the examples. The JSON is empty where the text is no valid YAML.
pub type File = (&'static str, &'static str, &'static str, &'static str);

/// A shipped expression, the texts of which a line must hold one, those of them that are looked for in logs, all that a
/// line must hold, and the words of its matches (`casefile_catalogue_files::needs`, `::worded`).
pub type Clauses = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    &'static str,
    &'static str,
);

/// All of it: rules, messages, and what their expressions need, sorted by expression.
pub static CATALOGUE: (&[File], &[File], &[Clauses]) = (
    include!(concat!(env!("OUT_DIR"), "/rules.in")),
    include!(concat!(env!("OUT_DIR"), "/messages.in")),
    include!(concat!(env!("OUT_DIR"), "/clauses.in")),
);
