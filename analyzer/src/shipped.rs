//! The rules and the vocabulary that ship with the program, as the program handed them over.
//!
//! The library holds none of them: they are data, in the crate `casefile-catalogue`, so that a changed rule does not
//! compile the library again.

use std::borrow::Cow;
use std::sync::OnceLock;

use casefile_catalogue_files::worded;

/// A file: its path below its folder, its text, the text as JSON without its examples, and these; the JSON is empty where the
/// text is no valid YAML.
pub type File = (&'static str, &'static str, &'static str, &'static str);

/// A shipped expression, the texts of which a line must hold one, those of them that are looked for in logs, all that a
/// line must hold, as [`casefile_catalogue_files::needs`] are written, and the words of its matches, as
/// [`worded::words_of`] writes them.
pub type Clauses = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    &'static str,
    &'static str,
);

/// Rules, messages, and what their expressions need, sorted by expression.
pub type Catalogue = (&'static [File], &'static [File], &'static [Clauses]);

static SHIPPED: OnceLock<Catalogue> = OnceLock::new();

/// Hands over what ships with the program, before rules are loaded. What was handed over first stays.
pub fn ship(catalogue: impl FnOnce() -> Catalogue) {
    SHIPPED.get_or_init(catalogue);
}

/// What ships with the program; nothing where it handed over nothing.
pub(crate) fn catalogue() -> Catalogue {
    #[cfg(test)]
    ship(|| {
        let own = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        casefile_catalogue_files::leaked(own).expect("the checkout's rules")
    });
    SHIPPED.get().copied().unwrap_or_default()
}

/// What ships of an expression.
pub(crate) fn clauses(expression: &str) -> Option<&'static Clauses> {
    let (.., shipped) = catalogue();
    let at = shipped.binary_search_by_key(&expression, |(known, ..)| *known);
    shipped.get(at.ok()?)
}

/// The words that matches of an expression are made of, as [`worded::words_of`] writes them.
pub(crate) fn words(expression: &str) -> Cow<'static, str> {
    match clauses(expression) {
        Some((.., words)) => Cow::Borrowed(words),
        None => Cow::Owned(worded::words_of(expression)),
    }
}
