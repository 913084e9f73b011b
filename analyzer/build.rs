//! Embeds every file under `rules/` and `messages/`, sorted by path, so that adding one needs no registration.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn main() -> std::io::Result<()> {
    embed("rules")?;
    embed("messages")
}

/// Writes the texts of a folder's files as a list of pairs of path and text.
fn embed(folder: &str) -> std::io::Result<()> {
    println!("cargo::rerun-if-changed={folder}");
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").map_err(std::io::Error::other)?);
    let mut files = Vec::new();
    collect(&root.join(folder), &mut files)?;
    files.sort();
    let mut code = String::from("&[\n");
    for file in &files {
        let name = file.strip_prefix(root.join(folder)).unwrap_or(file);
        let line = writeln!(code, "    ({:?}, include_str!({:?})),", name, file);
        line.map_err(std::io::Error::other)?;
    }
    code.push_str("]\n");
    let out = PathBuf::from(std::env::var("OUT_DIR").map_err(std::io::Error::other)?);
    fs::write(out.join(format!("{folder}.in")), code)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
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
