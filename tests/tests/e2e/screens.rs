//! The first screen of real captures: since when and who, as a person read it off each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use casefile_tests::bins;
use casefile_tests::expected::Screen;

use crate::samples::ticket;
use crate::support::skip;

/// What a capture is handed over as: its only file, or its folder.
fn input(capture: &Path) -> PathBuf {
    let inside = std::fs::read_dir(capture).unwrap();
    let inside: Vec<PathBuf> = inside.map(|entry| entry.unwrap().path()).collect();
    match inside.as_slice() {
        [only] => only.clone(),
        _ => capture.to_owned(),
    }
}

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
        let ticket = ticket(&input(&captures.join(name).join("capture")));
        let differences = screen.differences(&ticket).into_iter();
        failures.extend(differences.map(|each| format!("{name}: {each}")));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
