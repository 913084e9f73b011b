//! Every sample: the analyzer on its bundle says what `expected.toml` says, and quotes what stands there.

use std::path::PathBuf;

use casefile_tests::bins;
use casefile_tests::expected::Expected;

use crate::support::{diagnose, run};

pub(crate) fn samples() -> Vec<PathBuf> {
    let folder = bins::checkout().join("samples");
    let mut samples: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("expected.toml").exists())
        .collect();
    samples.sort();
    assert!(!samples.is_empty());
    samples
}

#[test]
fn each_sample_is_diagnosed_as_its_author_expects() {
    let mut failures = Vec::new();
    for sample in samples() {
        let expected = Expected::load(&sample.join("expected.toml")).unwrap();
        let bundle = sample.join("bundle");
        let differences = expected.differences(&bundle, &diagnose(&bundle));
        failures.extend(
            differences
                .into_iter()
                .map(|each| format!("{}: {each}", sample.display())),
        );
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn each_sample_is_whole_and_unchanged_since_it_was_collected() {
    for sample in samples() {
        let bundle = sample.join("bundle");
        let ended = run(bins::COLLECTOR, &["verify", bundle.to_str().unwrap()]);
        assert_eq!(ended.code, 0, "{}: {ended:?}", sample.display());
    }
}

#[test]
fn each_sample_becomes_a_report_in_every_format() {
    for sample in samples() {
        let out = tempfile::tempdir().unwrap();
        let (bundle, folder) = (sample.join("bundle"), out.path().join("out"));
        let arguments = [
            "report",
            bundle.to_str().unwrap(),
            "-o",
            folder.to_str().unwrap(),
        ];
        let ended = run(bins::ANALYZER, &arguments);
        assert_eq!(ended.code, 0, "{}: {ended:?}", sample.display());
        for name in ["report.md", "report.html", "report.json"] {
            assert!(
                std::fs::metadata(folder.join(name)).is_ok_and(|file| file.len() > 1000),
                "{name}"
            );
        }
        let report = std::fs::read(folder.join("report.json")).unwrap();
        let expected = Expected::load(&sample.join("expected.toml")).unwrap();
        let claims = expected.claims(&serde_json::from_slice(&report).unwrap());
        assert!(claims.is_empty(), "{}: {claims:?}", sample.display());
    }
}

/// The first screen of an input, as `--format ticket` prints it.
pub(crate) fn ticket(input: &std::path::Path) -> String {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().to_str().unwrap();
    let arguments = [
        "report",
        input.to_str().unwrap(),
        "-o",
        folder,
        "--format",
        "ticket",
    ];
    let ended = run(bins::ANALYZER, &arguments);
    assert_eq!(ended.code, 0, "{}: {ended:?}", input.display());
    std::fs::read_to_string(out.path().join("report.txt")).unwrap()
}

#[test]
fn each_first_screen_says_since_when_and_who_as_its_author_read_it_off_the_bundle() {
    let mut failures = Vec::new();
    for sample in samples() {
        let expected = Expected::load(&sample.join("expected.toml")).unwrap();
        let screen = expected.screen.expect("each sample has a [screen]");
        let ticket = ticket(&sample.join("bundle"));
        assert!(ticket.chars().count() <= 1_500, "{}", sample.display());
        let differences = screen.differences(&ticket).into_iter();
        failures.extend(differences.map(|each| format!("{}: {each}", sample.display())));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Characters of Markdown.
const MARKDOWN: usize = 30_000;

/// The report without its row on the rules: every edit of any rule changes their digest.
fn without_rules(report: &str) -> String {
    let lines = report.lines().map(|line| {
        if line.starts_with("| Rules | ") {
            "| Rules | (changes with every rule) |"
        } else {
            line
        }
    });
    lines.map(|line| format!("{line}\n")).collect()
}

/// The report beside each sample was read by a person; `CASEFILE_UPDATE=1` writes it anew.
#[test]
fn each_sample_renders_the_report_that_was_reviewed() {
    for sample in samples() {
        let out = tempfile::tempdir().unwrap();
        let (bundle, folder) = (sample.join("bundle"), out.path().to_str().unwrap());
        let ended = run(
            bins::ANALYZER,
            &[
                "report",
                bundle.to_str().unwrap(),
                "-o",
                folder,
                "--format",
                "md",
            ],
        );
        assert_eq!(ended.code, 0, "{}: {ended:?}", sample.display());
        let rendered = std::fs::read_to_string(out.path().join("report.md")).unwrap();
        let rendered = without_rules(&rendered);
        let length = rendered.chars().count();
        assert!(
            length <= MARKDOWN,
            "{}: {length} characters of {MARKDOWN}",
            sample.display()
        );
        let reviewed = sample.join("report.md");
        if std::env::var_os("CASEFILE_UPDATE").is_some() {
            std::fs::write(&reviewed, &rendered).unwrap();
        }
        let expected = std::fs::read_to_string(&reviewed).unwrap_or_default();
        let differs = rendered
            .lines()
            .zip(expected.lines())
            .find(|(now, then)| now != then);
        assert!(
            rendered == expected,
            "{} is not what the analyzer renders now; first difference: {differs:?}; \
             read the new one, then run with CASEFILE_UPDATE=1",
            reviewed.display()
        );
    }
}
