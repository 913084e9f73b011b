//! Reads `rules` and `messages` below a folder, and what lines must hold for their expressions to match.
//!
//! The build of `casefile-catalogue` embeds what is read here. Tests read it when they run: so a changed rule builds
//! the catalogue and the program, and no test again.

pub mod clauses;
pub mod examples;
pub mod needs;
pub mod worded;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// A YAML file of the catalogue.
pub struct Document {
    /// Where it lies below its folder.
    pub name: PathBuf,
    /// Where it lies.
    pub file: PathBuf,
    /// As it was written.
    pub text: String,
    /// The same as JSON, which is read many times faster, without its examples; empty where the text is no valid YAML.
    pub json: String,
    /// Its examples as JSON: only tests of rules read them.
    pub examples: String,
}

/// The catalogue as its folders hold it, each list sorted by path.
#[derive(Default)]
pub struct Files {
    /// Below `rules`.
    pub rules: Vec<Document>,
    /// Below `messages`.
    pub messages: Vec<Document>,
    /// Each expression over lines, with its clauses: a line that it matches holds a text of each.
    pub expressions: BTreeMap<String, Vec<Vec<String>>>,
}

/// A file, as `casefile-catalogue` holds it: path below its folder, text, the text as JSON without its examples, and these.
pub type File = (&'static str, &'static str, &'static str, &'static str);

/// An expression, the texts of which a line must hold one, those of them that are looked for in logs, all that a line
/// must hold, as [`needs`] are written, and the words of its matches, as [`worded::words_of`] writes them.
pub type Clauses = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    &'static str,
    &'static str,
);

/// Reads the folders `rules` and `messages` of a folder.
///
/// # Errors
/// When a file or folder cannot be read; a text that is no valid YAML is none.
pub fn read(folder: &Path) -> io::Result<Files> {
    let mut files = Files::default();
    files.rules = files.documents(&folder.join("rules"))?;
    files.messages = files.documents(&folder.join("messages"))?;
    Ok(files)
}

/// The same in the form of `casefile-catalogue`, for as long as the process runs.
///
/// # Errors
/// As for [`read`].
pub fn leaked(folder: &Path) -> io::Result<(&'static [File], &'static [File], &'static [Clauses])> {
    let files = read(folder)?;
    let expressions = files.expressions.into_iter();
    let clauses = expressions.map(|(expression, clauses)| {
        let rare = texts(clauses::rare(&clauses));
        let first = texts(clauses.into_iter().next().unwrap_or_default());
        let needs = text(needs::Needs::of(&expression).to_string());
        let words = text(worded::words_of(&expression));
        (text(expression), first, rare, needs, words)
    });
    let clauses: Vec<Clauses> = clauses.collect();
    Ok((all(files.rules), all(files.messages), clauses.leak()))
}

fn text(text: String) -> &'static str {
    text.leak()
}

fn texts(all: Vec<String>) -> &'static [&'static str] {
    all.into_iter().map(text).collect::<Vec<_>>().leak()
}

fn all(documents: Vec<Document>) -> &'static [File] {
    let files = documents.into_iter().map(|one| {
        let name = one.name.to_string_lossy().into_owned();
        (
            text(name),
            text(one.text),
            text(one.json),
            text(one.examples),
        )
    });
    files.collect::<Vec<File>>().leak()
}

impl Files {
    fn documents(&mut self, root: &Path) -> io::Result<Vec<Document>> {
        let mut files = Vec::new();
        collect(root, &mut files)?;
        files.sort();
        files
            .into_iter()
            .map(|file| self.document(root, file))
            .collect()
    }

    fn document(&mut self, root: &Path, file: PathBuf) -> io::Result<Document> {
        let text = fs::read_to_string(&file)?;
        let mut value = serde_saphyr::from_str::<Value>(&text).ok();
        if let Some(value) = &value {
            self.note(value);
        }
        let object = value.as_mut().and_then(Value::as_object_mut);
        let examples = object.and_then(|fields| fields.remove("examples"));
        Ok(Document {
            name: file.strip_prefix(root).unwrap_or(&file).to_owned(),
            examples: examples.map_or_else(|| "[]".to_owned(), |value| value.to_string()),
            json: value.map(|value| value.to_string()).unwrap_or_default(),
            text,
            file,
        })
    }

    /// Notes what lines must hold for the expressions of a document to match.
    fn note(&mut self, value: &Value) {
        match value {
            Value::Object(map) => {
                // What facts are tested with is searched in the lines of damaged texts as well.
                let written = ["line", "matches"].iter().filter_map(|key| map.get(*key));
                for expression in written.filter_map(Value::as_str) {
                    let clauses = || clauses::clauses(expression);
                    let known = self.expressions.entry(expression.to_owned());
                    known.or_insert_with(clauses);
                }
                map.values().for_each(|value| self.note(value));
            }
            Value::Array(all) => all.iter().for_each(|value| self.note(value)),
            _ => {}
        }
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "yaml")
        {
            files.push(path);
        }
    }
    Ok(())
}
