//! A change that a person types into the page, tried as `fix --what-if` tries a file.

use std::path::{Path, PathBuf};

use anyhow::Context;
use casefile_serve::Proposed;
use serde_json::{Value, json};

use crate::cli::{FixArgs, KeyArgs, MemoryArgs, RuleArgs};
use crate::diagnose::Analyzer;
use crate::fix;
use crate::join::Unit;

/// Files of a fix that are shown, and bytes of each.
const MOST_FILES: usize = 40;
const LONGEST_FILE: usize = 256 << 10;

/// What messages call the fields of the form, in the words of the command line.
const OPTIONS: [(&str, &str); 3] = [
    ("with --at PATH", "in the form"),
    ("with --release NAMESPACE/RELEASE", "in the form"),
    ("with --node NAME", "in the form"),
];

/// What the change does to the captured state, and the files that would apply it. Nothing but a folder that is gone
/// afterwards is written.
///
/// Errors: why the change cannot be tried, with the file and line as the person named it.
pub(super) fn attempt(
    analyzer: &Analyzer,
    unit: &Unit,
    keys: &KeyArgs,
    change: &Proposed,
) -> anyhow::Result<Value> {
    let folder = tempfile::tempdir().context("making a folder for the change")?;
    let (given, made) = (folder.path().join("given"), folder.path().join("made"));
    std::fs::create_dir(&given).context("making a folder for the change")?;
    let mut what_if = Vec::new();
    if !change.text.trim().is_empty() {
        let file = given.join(file_name(&change.name));
        std::fs::write(&file, &change.text).context("keeping the change")?;
        what_if.push(file);
    }
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let args = FixArgs {
        inputs: Vec::new(),
        join: false,
        output: made.clone(),
        what_if,
        cause: some(&change.cause),
        release: some(&change.release),
        at: some(&change.at),
        node: some(&change.node),
        rules: RuleArgs { rules: None },
        memory: MemoryArgs::default(),
        keys: keys.clone(),
    };
    let plain = |text: &str| {
        let folders = [&given, &made].map(|folder| (format!("{}/", folder.display()), ""));
        let options = OPTIONS.map(|(option, field)| (option.to_owned(), field));
        folders
            .into_iter()
            .chain(options)
            .fold(text.to_owned(), |text, (from, to)| text.replace(&from, to))
    };
    let mut printed = Vec::new();
    fix::command::run(&args, analyzer, unit, &made, &mut printed)
        .map_err(|error| anyhow::anyhow!(plain(&format!("{error:#}"))))?;
    let text = String::from_utf8_lossy(&printed);
    let said: String = text
        .lines()
        .filter(|line| !line.starts_with("wrote "))
        .map(|line| format!("{}\n", plain(line)))
        .collect();
    Ok(json!({"text": said, "files": files(&made)?}))
}

/// A name for the text as a file: its ending says what it is, the rest is for messages.
fn file_name(wanted: &str) -> String {
    let last = wanted.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain: String = last
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
        .take(80)
        .collect();
    match plain.trim_start_matches('.') {
        "" => "change.yaml".to_owned(),
        name => name.to_owned(),
    }
}

/// What was written, as `{"name", "text"}` in the order of names.
fn files(folder: &Path) -> anyhow::Result<Vec<Value>> {
    let mut open = vec![folder.to_owned()];
    let mut found: Vec<PathBuf> = Vec::new();
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    let shown = found.iter().take(MOST_FILES).map(|path| {
        let bytes = std::fs::read(path).with_context(|| format!("reading {}", path.display()))?;
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST_FILE)]).into_owned();
        let name = path.strip_prefix(folder).unwrap_or(path);
        Ok(json!({"name": name.display().to_string(), "text": text}))
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn a_name_of_the_form_stays_inside_its_folder() {
        for (given, kept) in [
            ("values.yaml", "values.yaml"),
            ("../../etc/passwd", "passwd"),
            ("C:\\x\\10-mtu.conf", "10-mtu.conf"),
            ("..", "change.yaml"),
            ("", "change.yaml"),
        ] {
            assert_eq!(file_name(given), kept, "{given}");
        }
    }
}
