//! A copy of a folder in which every file went through the redaction, as the collector would have taken it.
//!
//! `cargo run --release -p casefile-tests --example redacted -- FROM TO` ; `tests/lab/verdicts` compares what the
//! analyzer says of both. Archives, which the collector never takes, are copied as they are and counted, and so are
//! files called `truth.json` and `case.json`.

#![expect(clippy::print_stdout, reason = "it says what it did")]

use std::path::Path;

use anyhow::{Context as _, bail};
use casefile_collector::redact::{Content, Key, Redactor};

const ARCHIVES: [&str; 8] = ["tar", "gz", "tgz", "xz", "zip", "zst", "bz2", "txz"];
const LABELS: [&str; 2] = ["truth.json", "case.json"];

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [from, to] = words.as_slice() else {
        bail!("usage: redacted FROM TO");
    };
    let key = Key::random()?;
    let (mut files, mut archives) = (0, 0);
    for entry in walkdir::WalkDir::new(from).sort_by_file_name() {
        let entry = entry?;
        if !entry.file_type().is_file() {
            continue;
        }
        let target = Path::new(to).join(entry.path().strip_prefix(from)?);
        if let Some(folder) = target.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let bytes =
            std::fs::read(entry.path()).with_context(|| entry.path().display().to_string())?;
        let extension = target
            .extension()
            .and_then(|end| end.to_str())
            .unwrap_or("");
        let label = target
            .file_name()
            .is_some_and(|name| LABELS.iter().any(|label| name == *label));
        if ARCHIVES.contains(&extension) || label {
            archives += usize::from(!label);
            std::fs::write(&target, bytes)?;
            continue;
        }
        files += 1;
        std::fs::write(&target, redact(&bytes, &key))?;
    }
    println!("{files} files redacted, {archives} archives copied");
    Ok(())
}

fn redact(bytes: &[u8], key: &Key) -> Vec<u8> {
    // A list with one object a line is what the collector calls lines of JSON.
    let objects = bytes.starts_with(b"{\"")
        && bytes
            .split(|byte| *byte == b'\n')
            .nth(1)
            .is_some_and(|line| line.starts_with(b"{\""));
    let content = if objects {
        Content::JsonLines
    } else {
        Content::Text
    };
    let mut redactor = Redactor::new(content, key.clone());
    let mut out = Vec::new();
    redactor.push(bytes, &mut out);
    redactor.finish(&mut out);
    out
}
