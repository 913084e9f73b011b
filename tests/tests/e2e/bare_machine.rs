//! The collector where there is nothing: no API, no GPU, no container runtime, no systemd.

use casefile_bundle::Outcome;
use casefile_tests::bins;

use crate::support::{collect, diagnose, manifest, run};

#[test]
fn a_machine_with_nothing_gives_a_valid_bundle_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    std::fs::create_dir(&root).unwrap();
    let (ended, bundle) = collect(folder.path(), &["--root", root.to_str().unwrap()]);
    assert_eq!(ended.code, 4, "{ended:?}");
    let manifest = manifest(&bundle);
    assert!(!manifest.sources.is_empty());
    for source in &manifest.sources {
        assert_ne!(source.outcome, Outcome::Collected, "{}", source.id);
        assert!(
            source.why.as_deref().is_some_and(|why| !why.is_empty()),
            "{}",
            source.id
        );
    }
    let verified = run(bins::COLLECTOR, &["verify", bundle.to_str().unwrap()]);
    assert_eq!(verified.code, 0, "{verified:?}");
}

#[test]
fn the_report_on_such_a_bundle_says_what_it_could_not_see_and_confirms_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    std::fs::create_dir(&root).unwrap();
    let (_, bundle) = collect(folder.path(), &["--root", root.to_str().unwrap()]);
    let report = diagnose(&bundle);
    assert_eq!(report["incidents"].as_array().map(Vec::len), Some(0));
    let coverage = report["coverage"].as_array().unwrap();
    assert!(!coverage.is_empty());
    let confirmed = report["differential"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|cause| {
            matches!(
                cause["verdict"].as_str(),
                Some("confirmed" | "likely" | "ruled-out")
            )
        });
    assert_eq!(confirmed.count(), 0, "{}", report["differential"]);
}

#[test]
fn plan_names_what_would_be_read_and_runs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let ended = run(
        bins::COLLECTOR,
        &[
            "plan",
            "--format",
            "json",
            "--root",
            folder.path().to_str().unwrap(),
        ],
    );
    assert_eq!(ended.code, 0, "{ended:?}");
    serde_json::from_str::<serde_json::Value>(&ended.out).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
