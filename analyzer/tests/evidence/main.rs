//! The same evidence in other clothes, evidence of two clusters, and evidence of machines that are well: no
//! panic, no false confirmation, and what does not change the meaning does not change the verdicts.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test's helpers fail as the test does, and say why one is skipped"
)]

mod boots;
mod captures;
mod clothes;
mod clusters;
mod contradiction;
mod damaged;
mod dresses;
mod ids;
mod noise;
mod prose;
mod recorded;
mod samples;
mod screen;
mod simulated;
mod unsaid;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use casefile_analyzer::diagnose::Analyzer;
use casefile_analyzer::model::{Analysis, Verdict};
use casefile_analyzer::rules::{self, RuleSet};

/// Files of a folder of evidence, by their path in it.
type Files = BTreeMap<String, Vec<u8>>;
/// What is in play, by cause.
type Verdicts = BTreeMap<String, Verdict>;

fn shared(test: &str, path: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let path = root.join(path);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {test}: {} is not there", path.display());
    None
}

/// The rules that ship with the program.
fn shipped_rules() -> RuleSet {
    casefile_analyzer::shipped::ship(|| {
        casefile_catalogue_files::leaked(std::path::Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap()
    });
    let (set, faults) = rules::load(None).unwrap();
    assert!(faults.is_empty(), "{faults:?}");
    set
}

fn analyzer() -> Analyzer {
    Analyzer::new(shipped_rules()).unwrap()
}

fn analyze(analyzer: &Analyzer, files: &Files) -> Analysis {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    analyzer.analyze(folder.path()).unwrap()
}

fn verdicts(analysis: &Analysis) -> Verdicts {
    let live = analysis
        .differential
        .iter()
        .filter(|one| one.verdict.is_live());
    live.map(|one| (one.cause.clone(), one.verdict)).collect()
}

fn confirmed(verdicts: &Verdicts) -> BTreeSet<&str> {
    let sure = verdicts
        .iter()
        .filter(|(_, verdict)| **verdict == Verdict::Confirmed);
    sure.map(|(cause, _)| cause.as_str()).collect()
}

struct Case {
    name: String,
    files: Files,
    /// The cause and those that are accepted for it.
    wanted: BTreeSet<String>,
}

fn cases(test: &str) -> Vec<Case> {
    let Some(folder) = shared(test, "incidents/cases") else {
        return Vec::new();
    };
    let mut folders: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    folders.sort();
    folders.iter().map(|folder| case(folder)).collect()
}

fn case(folder: &Path) -> Case {
    let text = std::fs::read_to_string(folder.join("case.json")).unwrap();
    let meta: serde_json::Value = serde_json::from_str(&text).unwrap();
    let accepted = meta["accept"].as_array().cloned().unwrap_or_default();
    let wanted = std::iter::once(&meta["cause"]).chain(&accepted);
    let files = std::fs::read_dir(folder.join("evidence")).unwrap();
    Case {
        name: folder.file_name().unwrap().to_string_lossy().into_owned(),
        wanted: wanted
            .filter_map(|cause| cause.as_str().map(str::to_owned))
            .collect(),
        files: files
            .map(|entry| entry.unwrap().path())
            .map(|path| {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                (name, std::fs::read(&path).unwrap())
            })
            .collect(),
    }
}
