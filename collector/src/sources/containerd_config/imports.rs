//! The files that a containerd configuration draws in through `imports`, followed as containerd follows them: globs,
//! relative to the importing file, nested, a cycle only once.

use std::collections::BTreeSet;

use crate::host::Host;

/// Files that one configuration may draw in.
const MAX_FILES: usize = 500;
/// Imports of imports, this deep.
const MAX_DEPTH: usize = 16;

/// What a configuration draws in.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Drawn {
    /// The files, without the first one.
    pub(crate) files: BTreeSet<String>,
    /// Folders that a pattern takes files from, and plain files that are named: where one is empty or
    /// absent, that too decides what the daemon does.
    pub(crate) looked_at: BTreeSet<String>,
    /// Folders with registries' `hosts.toml`.
    pub(crate) registries: BTreeSet<String>,
    /// What could not be followed.
    pub(crate) notes: Vec<String>,
}

/// Follows a configuration's imports.
pub(crate) fn follow(host: &Host, config: &str) -> Drawn {
    let mut drawn = Drawn::default();
    let mut seen = BTreeSet::from([config.to_owned()]);
    let mut todo = vec![(config.to_owned(), 0)];
    while let Some((path, depth)) = todo.pop() {
        let Ok(text) = host.read_text(&path) else {
            continue;
        };
        drawn.registries.extend(registry_folders(&text));
        for pattern in imports(&text) {
            if depth >= MAX_DEPTH {
                drawn.notes.push(format!(
                    "{path}: imports nested deeper than {MAX_DEPTH} were not followed"
                ));
                break;
            }
            let pattern = absolute(&path, &pattern);
            drawn.looked_at.extend(fixed_part(&pattern));
            for file in host.glob(&pattern) {
                if !host.metadata(&file).is_ok_and(|meta| meta.is_file())
                    || !seen.insert(file.clone())
                {
                    continue;
                }
                if drawn.files.len() >= MAX_FILES {
                    drawn.notes.push(format!(
                        "{path}: more than {MAX_FILES} imported files, the rest was left out"
                    ));
                    return drawn;
                }
                drawn.files.insert(file.clone());
                todo.push((file, depth + 1));
            }
        }
    }
    drawn
}

fn absolute(importer: &str, pattern: &str) -> String {
    if pattern.starts_with('/') {
        return pattern.to_owned();
    }
    let dir = importer.rsplit_once('/').map_or("", |(dir, _)| dir);
    format!("{dir}/{pattern}")
}

/// The folder that a pattern lists, or the file that it names; none where folders too are patterns.
fn fixed_part(pattern: &str) -> Option<String> {
    let wild = |text: &str| text.contains(['*', '?', '[']);
    if !wild(pattern) {
        return Some(pattern.to_owned());
    }
    let (folder, _) = pattern.rsplit_once('/')?;
    (!wild(folder) && !folder.is_empty()).then(|| folder.to_owned())
}

/// The strings of the top-level `imports` list. Read by lines and not by a TOML parser, so that a file with a mistake
/// elsewhere still gives its imports.
fn imports(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        let line = line.trim();
        if !inside && line.starts_with('[') {
            break;
        }
        let rest = if inside {
            line
        } else {
            match line
                .strip_prefix("imports")
                .map(str::trim_start)
                .and_then(|rest| rest.strip_prefix('='))
            {
                Some(rest) => rest,
                None => continue,
            }
        };
        let (strings, closed) = strings(rest);
        found.extend(strings);
        inside = !closed;
    }
    found
}

/// Quoted strings up to a closing bracket or a comment, and whether the bracket came.
fn strings(text: &str) -> (Vec<String>, bool) {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\'', ']', '#']) {
        let mark = rest.as_bytes()[at];
        rest = &rest[at + 1..];
        match mark {
            b']' => return (found, true),
            b'#' => return (found, false),
            quote => {
                let Some(end) = rest.find(char::from(quote)) else {
                    break;
                };
                found.push(rest[..end].to_owned());
                rest = &rest[end + 1..];
            }
        }
    }
    (found, false)
}

/// The folders that `config_path` lines name (several may be joined with a colon).
fn registry_folders(text: &str) -> Vec<String> {
    let values = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("config_path"))
        .filter_map(|rest| {
            let value = rest.trim_start().strip_prefix('=')?.trim();
            Some(value.trim_matches(['"', '\'']).to_owned())
        });
    values
        .flat_map(|value| value.split(':').map(str::to_owned).collect::<Vec<_>>())
        .filter(|path| path.starts_with('/') && path.len() > 1)
        .collect()
}
