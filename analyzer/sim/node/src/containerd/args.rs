//! Options on a Go command line, and files that hold them.

use super::tree::{CapturedPath, CapturedTree};

/// The value of an option in any of Go's spellings: `--name v`, `--name=v`, `-n v`, `-n=v`.
#[must_use]
pub(super) fn option(words: &[String], names: &[&str]) -> Option<String> {
    let mut found = None;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let bare = word.trim_start_matches('-');
        if bare.len() == word.len() {
            continue;
        }
        let (name, value) = bare
            .split_once('=')
            .map_or((bare, None), |(name, value)| (name, Some(value)));
        if !names.contains(&name) {
            continue;
        }
        let value = value
            .map(str::to_owned)
            .or_else(|| words.clone().next().cloned());
        found = value.map(|value| value.trim_matches(['"', '\'']).to_owned());
    }
    found.filter(|value| !value.is_empty())
}

/// The words of an arguments file, with a snap's variables put in.
pub(super) fn arg_file(
    tree: &dyn CapturedTree,
    path: &str,
) -> Option<(String, Vec<(u32, String)>)> {
    let CapturedPath::Content { bundle_path, text } = tree.read(path) else {
        return None;
    };
    let snap = path
        .strip_prefix("/var/snap/")
        .and_then(|rest| rest.split('/').next())
        .unwrap_or_default()
        .to_owned();
    let mut out = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('#') {
            continue;
        }
        let line = line
            .replace("${SNAP_DATA}", &format!("/var/snap/{snap}/current"))
            .replace("${SNAP_COMMON}", &format!("/var/snap/{snap}/common"))
            .replace("$SNAP_DATA", &format!("/var/snap/{snap}/current"))
            .replace("$SNAP_COMMON", &format!("/var/snap/{snap}/common"));
        let number = u32::try_from(number + 1).unwrap_or(u32::MAX);
        out.extend(
            line.split_whitespace()
                .map(|word| (number, word.to_owned())),
        );
    }
    Some((bundle_path, out))
}
