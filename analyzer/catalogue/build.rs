//! Embeds every file under `analyzer/rules` and `analyzer/messages`, sorted by path, so that adding one needs no registration; as JSON
//! as well, which is read many times faster than YAML, and with the texts that each expression needs of a line.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use casefile_catalogue_files::needs::Needs;
use casefile_catalogue_files::{Document, clauses, read, worded};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../rules");
    println!("cargo::rerun-if-changed=../messages");
    let own = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?);
    let out = PathBuf::from(std::env::var("OUT_DIR").map_err(io::Error::other)?);
    let files = read(&own.join(".."))?;
    embed(&out, "rules", &files.rules)?;
    embed(&out, "messages", &files.messages)?;
    let list = |items: Vec<String>| format!("&[{}]", items.join(", "));
    let quoted = |texts: &[String]| list(texts.iter().map(|text| format!("{text:?}")).collect());
    let lines = files.expressions.iter().map(|(expression, clauses)| {
        let first = quoted(clauses.first().map_or(&[], Vec::as_slice));
        let rare = quoted(&clauses::rare(clauses));
        let needs = Needs::of(expression).to_string();
        let words = worded::words_of(expression);
        format!("\n    ({expression:?}, {first}, {rare}, {needs:?}, {words:?})")
    });
    fs::write(out.join("clauses.in"), list(lines.collect()))
}

/// Writes documents as a list of path, text, the text as JSON and its examples.
fn embed(out: &Path, folder: &str, documents: &[Document]) -> io::Result<()> {
    let mut code = String::from("&[\n");
    for (number, one) in documents.iter().enumerate() {
        let json = out.join(format!("{folder}-{number}.json"));
        fs::write(&json, &one.json)?;
        let examples = out.join(format!("{folder}-{number}-examples.json"));
        fs::write(&examples, &one.examples)?;
        let (name, file) = (&one.name, &one.file);
        let line = writeln!(
            code,
            "    ({name:?}, include_str!({file:?}), include_str!({json:?}), include_str!({examples:?})),"
        );
        line.map_err(io::Error::other)?;
    }
    code.push_str("]\n");
    fs::write(out.join(format!("{folder}.in")), code)
}
