//! What was said before the machine's last start is not said of the machine as it is.

use super::{Files, analyze, analyzer, samples};
use casefile_analyzer::model::Verdict;

/// Each line of the journal and of the kernel's log as one of an earlier boot, with a later boot behind it.
fn one_boot_back(path: &str, bytes: &[u8]) -> Vec<u8> {
    if !path.contains("/journal/") || !path.ends_with(".json") {
        return bytes.to_vec();
    }
    let mut last = 0u64;
    let mut out = String::new();
    for line in String::from_utf8_lossy(bytes).lines() {
        let Ok(mut record) = serde_json::from_str::<serde_json::Value>(line) else {
            continue;
        };
        let time = record["__REALTIME_TIMESTAMP"]
            .as_str()
            .and_then(|at| at.parse().ok());
        last = last.max(time.unwrap_or(0));
        record["_BOOT_ID"] = "00000000000000000000000000000001".into();
        out.push_str(&record.to_string());
        out.push('\n');
    }
    let record = serde_json::json!({
        "__REALTIME_TIMESTAMP": (last + 1_000_000).to_string(),
        "_BOOT_ID": "00000000000000000000000000000002",
        "SYSLOG_IDENTIFIER": "systemd",
        "MESSAGE": "Started Journal Service.",
    });
    format!("{out}{record}\n").into_bytes()
}

#[test]
fn lines_of_an_earlier_boot_confirm_nothing_that_the_present_does_not_show() {
    let analyzer = analyzer();
    for (name, files) in samples::samples() {
        let back: Files = files
            .iter()
            .map(|(path, bytes)| (path.clone(), one_boot_back(path, bytes)))
            .collect();
        let analysis = analyze(&analyzer, &back);
        for incident in analysis
            .incidents
            .iter()
            .filter(|one| one.verdict == Verdict::Confirmed)
        {
            let shown = incident
                .evidence
                .iter()
                .any(|line| !line.place.path.contains("/journal/"));
            assert!(
                shown,
                "{name}: {} rests on the journal alone",
                incident.cause
            );
        }
    }
}
