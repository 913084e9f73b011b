//! Embeds every file under `analyzer/rules` and `analyzer/messages`, sorted by path, so that adding one needs no registration; as JSON
//! as well, which is read many times faster than YAML, and with the texts that each expression needs of a line.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

#[path = "../src/scan/literals/clauses.rs"]
mod literals;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../src/scan/literals/clauses.rs");
    let mut expressions = BTreeMap::new();
    for folder in ["rules", "messages"] {
        embed(folder, &mut expressions)?;
    }
    let list = |items: Vec<String>| format!("&[{}]", items.join(", "));
    let quoted =
        |clause: &Vec<String>| list(clause.iter().map(|text| format!("{text:?}")).collect());
    let lines = expressions.iter().map(|(expression, clauses)| {
        let rare = quoted(&literals::rare(clauses));
        let clauses = list(clauses.iter().map(quoted).collect());
        format!("\n    ({expression:?}, {clauses}, {rare})")
    });
    fs::write(out()?.join("clauses.in"), list(lines.collect()))
}

fn out() -> io::Result<PathBuf> {
    std::env::var("OUT_DIR")
        .map(PathBuf::from)
        .map_err(io::Error::other)
}

/// Writes the texts of a folder's files as a list of path, text and the text as JSON; empty where it is no valid YAML.
fn embed(folder: &str, expressions: &mut BTreeMap<String, Vec<Vec<String>>>) -> io::Result<()> {
    println!("cargo::rerun-if-changed=../{folder}");
    let root =
        PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?).join("..");
    let mut files = Vec::new();
    collect(&root.join(folder), &mut files)?;
    files.sort();
    let mut code = String::from("&[\n");
    for (number, file) in files.iter().enumerate() {
        let name = file.strip_prefix(root.join(folder)).unwrap_or(file);
        let value = serde_saphyr::from_str::<Value>(&fs::read_to_string(file)?);
        let json = out()?.join(format!("{folder}-{number}.json"));
        let text = value.as_ref().map(Value::to_string).unwrap_or_default();
        fs::write(&json, text)?;
        if let Ok(value) = value {
            note(&value, expressions);
        }
        let line = writeln!(
            code,
            "    ({name:?}, include_str!({file:?}), include_str!({json:?})),"
        );
        line.map_err(io::Error::other)?;
    }
    code.push_str("]\n");
    fs::write(out()?.join(format!("{folder}.in")), code)
}

/// Notes what lines must hold for the expressions of a document to match.
fn note(value: &Value, expressions: &mut BTreeMap<String, Vec<Vec<String>>>) {
    match value {
        Value::Object(map) => {
            if let Some(line) = map.get("line").and_then(Value::as_str) {
                let clauses = || literals::clauses(line);
                expressions.entry(line.to_owned()).or_insert_with(clauses);
            }
            map.values().for_each(|value| note(value, expressions));
        }
        Value::Array(all) => all.iter().for_each(|value| note(value, expressions)),
        _ => {}
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            println!("cargo::rerun-if-changed={}", path.display());
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
