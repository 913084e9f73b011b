//! Reports of real captures: since when and who, as a person read it off each, and the length where nothing fails.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use casefile_tests::bins;
use casefile_tests::expected::Screen;

use serde_json::{Value, json};

use crate::browser::{Extent, PAGES, chromium, looked, paper};
use crate::captured;
use crate::support::skip;

#[test]
fn each_capture_says_since_when_and_who_as_it_was_read_off_by_hand() {
    let test = "each_capture_says_since_when_and_who_as_it_was_read_off_by_hand";
    let captures = bins::checkout().join("../shared/captures");
    if !captures.is_dir() {
        return skip(test, "../shared/captures is not there");
    }
    let table = bins::checkout().join("tests/data/captures-screen.toml");
    let table = std::fs::read_to_string(table).unwrap();
    let table: BTreeMap<String, Screen> = toml::from_str(&table).unwrap();
    let mut failures = Vec::new();
    for (name, screen) in &table {
        let ticket = &captured::report(&captures.join(name)).ticket;
        let differences = screen.differences(ticket).into_iter();
        failures.extend(differences.map(|each| format!("{name}: {each}")));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Captures of machines and clusters in which nothing fails: their reports say so, on two pages.
#[test]
fn captures_in_which_nothing_fails_are_told_on_two_pages() {
    let test = "captures_in_which_nothing_fails_are_told_on_two_pages";
    let chromium = match chromium() {
        Ok(path) => path,
        Err(why) => return skip(test, why),
    };
    let captures = bins::checkout().join("../shared/captures");
    let Ok(entries) = std::fs::read_dir(captures) else {
        return skip(test, "../shared/captures is not there");
    };
    let mut healthy: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let truth = std::fs::read_to_string(path.join("truth.json")).unwrap_or_default();
            let truth: Value = serde_json::from_str(&truth).unwrap_or_default();
            truth["state"] == "healthy"
        })
        .collect();
    healthy.sort();
    let out = tempfile::tempdir().unwrap();
    let pages: Vec<(PathBuf, &Path)> = healthy
        .iter()
        .map(|one| {
            let name = one.file_name().unwrap().to_str().unwrap();
            let page = out.path().join(format!("{name}.html"));
            std::fs::write(&page, &captured::report(one).page).unwrap();
            (page, one.as_path())
        })
        .collect();
    for seen in looked(&chromium, out.path(), &Extent::Paper, &pages) {
        let name = seen["report"].as_str().unwrap();
        let pdf = out.path().join(format!("{name}.pdf"));
        let Some(length) = paper(test, &pdf).as_u64() else {
            return;
        };
        let html = std::fs::read_to_string(out.path().join(format!("{name}.html"))).unwrap();
        if html.contains("<title>No failure found") {
            assert!(length <= PAGES.0, "{name}: {length} pages");
        }
        assert!(length <= PAGES.1, "{name}: {length} pages");
        assert_eq!(seen["axe"], json!([]), "{name}");
        assert_eq!(seen["messages"], json!([]), "{name}");
    }
}
