//! Imports go one way: a folder of the analyzer uses only what lies below it, and a simulator nothing of the analyzer.
//! `cargo test -p casefile-analyzer-lib --test imports -- --nocapture` prints the picture.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of a test stop it where they cannot go on, and print the picture"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Top-level modules from the lowest to the highest. A module may use those that come before it.
const ORDER: &[&str] = &[
    // What the rest speaks in.
    "shipped",
    "shared",
    "model",
    "words",
    "spread",
    "grade",
    "facts",
    "dress",
    "lines",
    "tables",
    // From a bundle or a text to facts.
    "parsers",
    "layouts",
    "loose",
    "join",
    "sources",
    "ledger",
    "scan",
    "derive",
    "recording",
    "change",
    // Judgement.
    "rules",
    "diagnose",
    // What people get.
    "report",
    "progress",
    "cli",
    "fix",
    "compare",
    "commands",
];

/// Modules that `lib.rs` re-exports from crates that lie below everything: shapes, and the simulators'.
const BELOW: &[&str] = &[
    "containerd",
    "ending",
    "firewall",
    "flat",
    "form",
    "gpu",
    "helm",
    "runtimes",
    "scheduling",
];

type Arrows = BTreeMap<(String, String), BTreeSet<String>>;

fn rust_files(folder: &Path, into: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        if path.is_dir() {
            rust_files(&path, into);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            into.push(path);
        }
    }
}

/// The modules that a text names behind `crate::`; of a group in braces all of them.
fn used(text: &str) -> BTreeSet<&str> {
    let ident = |text: &str| {
        text.find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(text.len())
    };
    let mut found = BTreeSet::new();
    for (_, after) in text
        .match_indices("crate::")
        .map(|(at, word)| text.split_at(at + word.len()))
    {
        let Some(group) = after.strip_prefix('{') else {
            found.insert(&after[..ident(after)]);
            continue;
        };
        let mut depth = 0_usize;
        let mut start = true;
        for (at, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => start = true,
                _ if start && !c.is_whitespace() => {
                    let name = &group[at..];
                    found.insert(&name[..ident(name)]);
                    start = false;
                }
                _ => {}
            }
        }
    }
    found
}

/// Tests may use anything: they try a part together with the whole.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or(text)
}

/// A link in a comment is no import.
fn without_comments(text: &str) -> String {
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.map(|line| format!("{line}\n")).collect()
}

fn arrows() -> Arrows {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&root, &mut files);
    let mut arrows = Arrows::new();
    for file in files {
        let path = file.strip_prefix(&root).unwrap().display().to_string();
        let top = path
            .split('/')
            .next()
            .unwrap()
            .trim_end_matches(".rs")
            .to_owned();
        let tests = path
            .split(['/', '.'])
            .any(|part| part == "tests" || part.ends_with("_tests"));
        if tests || ["lib", "main"].contains(&top.as_str()) {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        for name in used(&without_comments(without_tests(&text))) {
            if name != top && !BELOW.contains(&name) {
                arrows
                    .entry((top.clone(), name.to_owned()))
                    .or_default()
                    .insert(path.clone());
            }
        }
    }
    arrows
}

fn rank(module: &str) -> usize {
    let place = ORDER.iter().position(|name| *name == module);
    place.unwrap_or_else(|| panic!("{module} has no place in ORDER: say what it may use"))
}

#[test]
fn no_folder_uses_what_lies_above_it() {
    let arrows = arrows();
    for name in ORDER.iter().rev() {
        let of = |(from, _): &&(String, String)| from == name;
        let below: Vec<&str> = arrows
            .keys()
            .filter(of)
            .map(|(_, to)| to.as_str())
            .collect();
        println!("{name:>9} -> {}", below.join(" "));
    }
    let up: BTreeMap<_, _> = arrows
        .iter()
        .filter(|((from, to), _)| rank(from) <= rank(to))
        .collect();
    assert!(up.is_empty(), "these use what lies above them: {up:?}");
}

#[test]
fn every_file_is_compiled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&root, &mut files);
    let words = |path: &Path| -> BTreeSet<String> {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        words.map(str::to_owned).collect()
    };
    for file in files {
        let is_folder = file.ends_with("mod.rs");
        let own = if is_folder {
            file.parent().unwrap()
        } else {
            file.as_path()
        };
        let (name, folder) = (own.file_stem().unwrap(), own.parent().unwrap());
        let above = [
            folder.join("mod.rs"),
            folder.join("lib.rs"),
            folder.with_extension("rs"),
        ];
        let named = above
            .iter()
            .any(|above| words(above).contains(name.to_str().unwrap()));
        let is_root = name == "lib" && folder == root;
        assert!(
            is_root || named,
            "{} is named by no file above it",
            file.display()
        );
    }
}

/// The workspace's crates that a crate needs, outside of its tests.
fn needs(manifest: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(manifest);
    let manifest: toml::Table = std::fs::read_to_string(path).unwrap().parse().unwrap();
    let names = manifest["dependencies"].as_table().unwrap().keys();
    names
        .filter(|name| name.starts_with("casefile-"))
        .cloned()
        .collect()
}

#[test]
fn simulators_know_neither_bundles_nor_one_another() {
    for name in ["cluster", "net", "node"] {
        assert!(
            needs(&format!("sim/{name}/Cargo.toml")).is_empty(),
            "sim/{name}"
        );
    }
    assert!(needs("../bundle/Cargo.toml").is_empty());
    assert!(!needs("Cargo.toml").contains(&"casefile-collector".to_owned()));
}

#[test]
fn groups_and_paths_are_both_seen() {
    let text = "use crate::{facts::{Fact, kube::Pod}, model};\nlet a = crate::scan::node_of(path);";
    assert_eq!(used(text), BTreeSet::from(["facts", "model", "scan"]));
}
