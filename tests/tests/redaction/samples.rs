//! The samples, redacted and anonymised once more: the diagnosis stays the same, and the leak check has nothing to say.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use casefile_collector::anonymize::{Anonymizer, Class, Names};
use casefile_collector::leak;
use casefile_collector::redact::{Content, Key, Redactor, clean_name};
use casefile_tests::bins;
use serde_json::Value;

fn samples() -> Vec<PathBuf> {
    let folder = bins::checkout().join("samples");
    let all = std::fs::read_dir(folder).unwrap();
    let mut samples: Vec<PathBuf> = all
        .map(|entry| entry.unwrap().path().join("bundle"))
        .filter(|path| path.is_dir())
        .collect();
    samples.sort();
    assert!(!samples.is_empty());
    samples
}

/// The names that a run on the sample's node would have learnt.
fn names(bundle: &Path) -> Names {
    let mut names = Names::default();
    let header = std::fs::read(bundle.join("casefile.json")).unwrap();
    let header: Value = serde_json::from_slice(&header).unwrap();
    names.add(Class::Hosts, header["node"].as_str().unwrap());
    for pods in std::fs::read_dir(bundle.join("cluster-resources/pods"))
        .into_iter()
        .flatten()
    {
        let name = pods.unwrap().file_name().to_string_lossy().into_owned();
        if let Some(namespace) = name.strip_suffix(".json") {
            names.add(Class::Namespaces, namespace);
        }
    }
    names
}

fn rewrite(from: &Path, to: &Path, key: &Key) {
    for file in walkdir::WalkDir::new(from)
        .into_iter()
        .filter_map(Result::ok)
    {
        if !file.file_type().is_file() {
            continue;
        }
        let path = file
            .path()
            .strip_prefix(from)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        let bytes = std::fs::read(file.path()).unwrap();
        let lines = path.ends_with(".json") && !path.contains("/rootfs/") && path.contains('/');
        let content = if lines {
            Content::JsonLines
        } else {
            Content::Text
        };
        let mut redactor = Redactor::new(content, key.clone());
        let mut out = Vec::new();
        redactor.push(&bytes, &mut out);
        redactor.finish(&mut out);
        let target = to.join(clean_name(&path, key));
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::write(target, out).unwrap();
    }
}

/// Causes with their verdicts, and everything that was ruled out or not.
fn verdicts(bundle: &Path) -> Vec<(String, String)> {
    let output = Command::new(bins::find(bins::ANALYZER))
        .args(["diagnose", "--format", "json"])
        .arg(bundle)
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let incidents = report["incidents"].as_array().unwrap().iter();
    let others = report["differential"].as_array().unwrap().iter();
    incidents
        .map(|one| (text(&one["cause"]["id"]), text(&one["verdict"])))
        .chain(others.map(|one| (text(&one["cause"]), text(&one["verdict"]))))
        .collect()
}

#[test]
fn a_sample_is_diagnosed_the_same_when_it_is_redacted_and_anonymised() {
    if !bins::folder().join(bins::ANALYZER).exists() {
        eprintln!("skipped: samples: the analyzer is not built");
        return;
    }
    for sample in samples() {
        let key = Key::random().unwrap();
        let site = Anonymizer::new(
            key.clone(),
            Class::ALL.into_iter().collect(),
            &names(&sample),
        );
        let before = verdicts(&sample);
        assert!(!before.is_empty());
        for key in [key.clone(), key.with_site(Arc::new(site))] {
            let folder = tempfile::tempdir().unwrap();
            rewrite(&sample, folder.path(), &key);
            let named = if key.site().is_some() {
                "anonymised"
            } else {
                "redacted"
            };
            assert_eq!(
                verdicts(folder.path()),
                before,
                "{} {named}",
                sample.display()
            );
        }
    }
}

#[test]
fn the_leak_check_lets_the_samples_pass() {
    for sample in samples() {
        let key = Key::random().unwrap();
        let folder = tempfile::tempdir().unwrap();
        rewrite(&sample, folder.path(), &key);
        let leaks = leak::check(folder.path(), &key, &BTreeSet::new()).unwrap();
        assert!(leaks.is_empty(), "{}: {leaks:?}", sample.display());
    }
}
