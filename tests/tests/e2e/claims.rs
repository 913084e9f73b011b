//! What reports claim of the fixes of real captures, beside what a person judged of each by reading the capture.

use std::collections::BTreeMap;

use casefile_tests::bins;
use serde::Deserialize;
use serde_json::Value;

use crate::captured;
use crate::support::skip;

/// What may be said of the fix of a cause.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Judged {
    /// As `report.json` writes it; `none` where only words are proposed.
    claim: String,
    /// Why, in a sentence.
    why: String,
}

/// By capture and by cause.
type Table = BTreeMap<String, BTreeMap<String, Judged>>;

fn table() -> Table {
    let path = bins::checkout().join("tests/data/captures-claims.toml");
    toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Incidents that are certain enough for a fix.
fn sure(report: &Value) -> impl Iterator<Item = &Value> {
    let all = report["incidents"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let sure = |one: &&Value| {
        ["confirmed", "likely"]
            .map(Value::from)
            .contains(&one["verdict"])
    };
    all.iter().filter(sure)
}

/// What differs between a report and what was judged of its capture.
fn differences(report: &Value, judged: &BTreeMap<String, Judged>) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut claims: BTreeMap<&str, &str> = BTreeMap::new();
    for incident in sure(report) {
        let (cause, fix) = (incident["cause"]["id"].as_str().unwrap(), &incident["fix"]);
        let claim = fix["claim"].as_str().unwrap_or("none");
        claims.insert(cause, claim);
        if !judged.contains_key(cause) {
            wrong.push(format!("{cause} is {claim}, and nobody judged it"));
        }
        if claim == "heals-the-workload" && !heals(fix) {
            wrong.push(format!("{cause} heals, and something still fails: {fix}"));
        }
    }
    for (cause, Judged { claim: wanted, why }) in judged {
        // Nothing is proposed for a cause that is only possible.
        let claim = claims.get(cause.as_str()).copied().unwrap_or("none");
        if claim != wanted {
            wrong.push(format!("{cause} is {claim}, not {wanted}: {why}"));
        }
    }
    wrong
}

/// Whether nothing that the replay shows stands in the way of what failed.
fn heals(fix: &Value) -> bool {
    let empty = |field: &str| fix[field].as_array().is_none_or(Vec::is_empty);
    fix["outcome"] == "gone"
        && ["not_shown", "costs", "remains", "appears"]
            .iter()
            .all(|one| empty(one))
}

#[test]
fn each_capture_claims_of_its_fixes_what_was_judged_by_hand() {
    let test = "each_capture_claims_of_its_fixes_what_was_judged_by_hand";
    let folder = bins::checkout().join("../shared/captures");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        return skip(test, "../shared/captures is not there");
    };
    let mut table = table();
    let mut captures: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    captures.retain(|path| path.join("capture").is_dir());
    captures.sort();
    let (mut wrong, mut fixes) = (Vec::new(), 0);
    for capture in &captures {
        let name = capture.file_name().unwrap().to_string_lossy().into_owned();
        let judged = table.remove(&name).unwrap_or_default();
        fixes += judged.len();
        let differences = differences(&captured::report(capture).json, &judged);
        wrong.extend(differences.into_iter().map(|one| format!("{name}: {one}")));
    }
    let unknown = table.keys();
    wrong.extend(unknown.map(|name| format!("{name} is judged, and no such capture is there")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(fixes > 0 && captures.len() >= 40);
}

#[test]
fn a_fix_after_which_something_fails_does_not_heal() {
    let fix = |remains: &[&str]| serde_json::json!({"outcome": "gone", "remains": remains});
    assert!(heals(&fix(&[])));
    assert!(!heals(&fix(&["a"])));
}
