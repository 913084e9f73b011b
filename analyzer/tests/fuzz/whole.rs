//! Whole bundles with broken entries: scan, patterns, extractors and all derivers, through the analyzer as it is
//! shipped. A panic that the guards of parsers and derivers caught fails too.

use std::path::Path;

use casefile_analyzer::diagnose::Analyzer;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::mutate::{Edit, edited, edits};

/// Samples whose bundles are broken: together they have entries of every kind.
const SAMPLES: [&str; 4] = [
    "toolkit-wrong-containerd",
    "hami-gpumem-taken",
    "exporter-memory-limit",
    "ecc-row-remap",
];
/// Entries of a bundle that are broken at once.
const BROKEN: usize = 6;

fn entries(sample: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../samples"))
        .join(sample)
        .join("bundle");
    let mut out = Vec::new();
    let mut folders = vec![folder.clone()];
    while let Some(now) = folders.pop() {
        for entry in std::fs::read_dir(&now).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path
                    .strip_prefix(&folder)
                    .unwrap()
                    .to_string_lossy()
                    .into_owned();
                out.push((name, std::fs::read(&path).unwrap()));
            }
        }
    }
    out.sort();
    out
}

/// Which entries are broken, and how.
fn breaks() -> impl Strategy<Value = Vec<(usize, Vec<Edit>)>> {
    proptest::collection::vec((any::<usize>(), edits()), 1..BROKEN)
}

#[test]
fn a_bundle_with_broken_entries_is_diagnosed_without_a_bug_and_twice_the_same() {
    let set = crate::shipped_rules();
    let analyzer = Analyzer::new(set).unwrap();
    let cases: u32 = std::env::var("CASEFILE_FUZZ_BUNDLES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(6);
    for sample in SAMPLES {
        let entries = entries(sample);
        let mut runner = TestRunner::new(Config {
            cases,
            failure_persistence: None,
            max_shrink_iters: 40,
            ..Config::default()
        });
        runner
            .run(&breaks(), |breaks| {
                let folder = tempfile::tempdir().unwrap();
                for (path, bytes) in &entries {
                    let path = folder.path().join(path);
                    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                    std::fs::write(path, bytes).unwrap();
                }
                for (at, edits) in &breaks {
                    let (path, bytes) = &entries[at % entries.len()];
                    std::fs::write(folder.path().join(path), edited(bytes, edits)).unwrap();
                }
                let tell = || {
                    analyzer
                        .analyze(folder.path())
                        .map(|one| serde_json::to_string(&one).unwrap())
                };
                // A header that names a newer format is refused, with a sentence; both times.
                match (tell(), tell()) {
                    (Ok(first), Ok(second)) => {
                        prop_assert!(first == second, "two analyses of one bundle differ");
                        prop_assert!(!first.contains("this is a bug in casefile"), "{first}");
                    }
                    (Err(first), Err(second)) => {
                        prop_assert_eq!(first.to_string(), second.to_string())
                    }
                    _ => prop_assert!(false, "read once and refused once"),
                }
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{sample}: {error}"));
    }
}
