//! What a machine with an H100 said, sound and with faults made on purpose (`tests/data/h100`): the cause of each text is
//! known, because somebody made it.

use std::path::{Path, PathBuf};

use super::{Files, analyze, analyzer};
use casefile_analyzer::diagnose::Analyzer;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/h100")
}

/// The first cause with its verdict; `calm` where none is likely.
fn first(analyzer: &Analyzer, files: &Files) -> String {
    let analysis = analyze(analyzer, files);
    let live = analysis
        .differential
        .iter()
        .find(|one| one.verdict.is_live());
    live.map_or_else(
        || "calm".to_owned(),
        |one| format!("{} {}", one.verdict.word(), one.cause),
    )
}

#[test]
fn each_fault_that_was_made_is_named_and_what_works_is_left_alone() {
    let text = std::fs::read_to_string(folder().join("expected.toml")).unwrap();
    let expected: toml::Table = text.parse().unwrap();
    let analyzer = analyzer();
    let mut listed = 0;
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(folder().join("said")).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let said = first(
            &analyzer,
            &Files::from([(name, std::fs::read(&path).unwrap())]),
        );
        let wanted = expected[&stem].as_str().unwrap();
        if said != wanted {
            wrong.push(format!("{stem}: {said}, and {wanted} is true"));
        }
        listed += 1;
    }
    assert_eq!(listed, expected.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn one_gpu_is_counted_in_each_form_and_nothing_is_wrong_with_it() {
    let analyzer = analyzer();
    for (form, entry) in [
        ("table.txt", "nvidia-smi.out"),
        ("L.txt", "nvidia-smi-L.out"),
        ("q.txt", "nvidia-smi-q.out"),
        ("q.xml", "nvidia-smi-q.xml"),
        ("full.xml", "nvidia-smi-q.xml"),
        ("mps.xml", "nvidia-smi-q.xml"),
        ("mps.txt", "nvidia-smi.out"),
    ] {
        let bytes = std::fs::read(folder().join("smi").join(form)).unwrap();
        let files = Files::from([(format!("nodes/gpu-a/commands/{entry}"), bytes)]);
        let analysis = analyze(&analyzer, &files);
        assert_eq!(analysis.seen.gpus, 1, "{form}");
        assert!(analysis.unexplained.is_empty(), "{form}");
        let live = analysis
            .differential
            .iter()
            .any(|one| one.verdict.is_live());
        assert!(!live, "{form}");
        assert!(
            analysis.problems.is_empty(),
            "{form}: {:?}",
            analysis.problems
        );
    }
}
