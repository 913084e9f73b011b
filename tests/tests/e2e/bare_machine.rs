//! The collector where there is nothing: no API, no GPU, no container runtime, no systemd.

use std::path::{Path, PathBuf};
use std::process::Command;

use casefile_bundle::Outcome;
use casefile_tests::bins;

use crate::support::{CANNOT, collect, diagnose, ended, manifest, run, skip};

/// A mounted disk on which nothing is installed.
fn empty_disk(folder: &Path) -> PathBuf {
    let root = folder.join("root");
    for name in ["etc", "usr", "var", "run"] {
        std::fs::create_dir_all(root.join(name)).unwrap();
    }
    root
}

/// A valid bundle in which no part of a node is collected, and each has its reason.
fn says_so(bundle: &Path) {
    let manifest = manifest(bundle);
    assert!(!manifest.sources.is_empty());
    for source in &manifest.sources {
        // A kernel runs even here, and says which devices there are not.
        let host = matches!(
            source.id.as_str(),
            "hardware" | "host_info" | "infiniband" | "nvidia_driver" | "tasks"
        );
        assert!(
            host || source.outcome != Outcome::Collected,
            "{}",
            source.id
        );
        let reason = source.why.as_deref().unwrap_or_default();
        assert!(host || !reason.is_empty(), "{}", source.id);
    }
    let verified = run(bins::COLLECTOR, &["verify", bundle.to_str().unwrap()]);
    assert_eq!(verified.code, 0, "{verified:?}");
}

/// A report that confirms and excludes nothing, and lists what is missing.
fn reported(bundle: &Path) {
    let report = diagnose(bundle);
    assert_eq!(report["incidents"].as_array().map(Vec::len), Some(0));
    assert!(!report["coverage"].as_array().unwrap().is_empty());
    let decided = report["differential"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|cause| matches!(cause["verdict"].as_str(), Some("confirmed" | "likely")));
    assert_eq!(decided.count(), 0, "{}", report["differential"]);
}

#[test]
fn an_empty_disk_gives_a_valid_bundle_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let root = empty_disk(folder.path());
    let (ended, bundle) = collect(folder.path(), &["--root", root.to_str().unwrap()]);
    assert_eq!(ended.code, 4, "{ended:?}");
    says_so(&bundle);
    reported(&bundle);
}

#[test]
fn a_running_machine_with_nothing_on_it_gives_a_valid_bundle_that_says_so() {
    let test = "a_running_machine_with_nothing_on_it_gives_a_valid_bundle_that_says_so";
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(bins::checkout().join("tests/lab/bare"));
    command.arg(bins::find(bins::COLLECTOR)).arg(folder.path());
    command.args([
        "collect",
        "-o",
        "/shared/bundle.tar.gz",
        "--progress",
        "plain",
        "--timeout",
        "60s",
    ]);
    let ended = ended(command.output().unwrap());
    if ended.code == CANNOT {
        return skip(test, ended.err.trim());
    }
    assert_eq!(ended.code, 4, "{ended:?}");
    let bundle = folder.path().join("bundle.tar.gz");
    says_so(&bundle);
    reported(&bundle);
}

#[test]
fn plan_names_what_would_be_read_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let root = empty_disk(folder.path());
    let arguments = ["plan", "--format", "json", "--root", root.to_str().unwrap()];
    let ended = run(bins::COLLECTOR, &arguments);
    assert_eq!(ended.code, 0, "{ended:?}");
    for line in ended
        .out
        .lines()
        .filter(|line| line.starts_with('{') && line.ends_with('}'))
    {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
    let files = walkdir::WalkDir::new(folder.path())
        .into_iter()
        .map(Result::unwrap);
    assert_eq!(files.filter(|each| each.file_type().is_file()).count(), 0);
}
