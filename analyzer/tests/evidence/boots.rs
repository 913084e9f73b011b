//! What was said before the machine's last start is not said of the machine as it is.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::{Files, analyze, analyzer, cases, samples, shared};
use casefile_analyzer::dress::undress;
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

/// A system log in text with a later start of the machine behind it; none where the file is no such log.
fn before_a_boot(text: &str) -> Option<String> {
    let dressed = |line: &&str| {
        let dress = undress(line);
        dress.outer > 0 && !dress.host.is_empty()
    };
    let last = text.lines().rfind(dressed)?;
    let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
    if text.lines().filter(dressed).count() * 10 < lines * 9 {
        return None;
    }
    let dress = undress(last);
    let clock = last.split(dress.host).next()?;
    let host = dress.host;
    Some(format!(
        "{}\n{clock}{host} kernel: Linux version 6.8.0-1-generic (build@host) #1 SMP\n{clock}{host} systemd[1]: Started Journal Service.\n",
        text.trim_end()
    ))
}

#[test]
fn a_log_that_ends_with_a_later_boot_confirms_nothing_of_the_one_before() {
    let test = "a_log_that_ends_with_a_later_boot_confirms_nothing_of_the_one_before";
    let analyzer = analyzer();
    let outlasts = outlasting();
    let (mut moved, mut wrong) = (0, Vec::new());
    for case in cases(test) {
        let mut back = case.files.clone();
        let mut logs = Vec::new();
        for (name, bytes) in &case.files {
            if let Some(text) = before_a_boot(&String::from_utf8_lossy(bytes)) {
                back.insert(name.clone(), text.into_bytes());
                logs.push(name.clone());
            }
        }
        if logs.is_empty() {
            continue;
        }
        moved += 1;
        let analysis = analyze(&analyzer, &back);
        let sure = analysis
            .incidents
            .iter()
            .filter(|one| one.verdict == Verdict::Confirmed);
        for incident in sure.filter(|one| !outlasts.contains(&one.cause)) {
            let shown = incident
                .evidence
                .iter()
                .any(|line| !logs.iter().any(|log| line.place.path == *log));
            if !shown {
                wrong.push(format!(
                    "{}: {} rests on an earlier boot",
                    case.name, incident.cause
                ));
            }
        }
    }
    println!("{moved} cases hold a system log");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Causes that a boot does not end.
fn outlasting() -> BTreeSet<String> {
    let rules = crate::shipped_rules().rules;
    let all = rules.iter().filter(|rule| rule.file.outlasts_boot);
    all.map(|rule| rule.file.id.clone()).collect()
}

/// The folders of captures, in order.
fn folders(captures: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(captures).unwrap();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    folders.retain(|path| path.join("capture").is_dir());
    folders.sort();
    folders
}

/// A bug report whose kernel lines are all of the boot before, and which of its lines those are; none where it is no such
/// report.
fn report_one_boot_back(text: &str) -> Option<(String, BTreeSet<u32>)> {
    if !text.contains("Start of NVIDIA bug report log file") {
        return None;
    }
    let (mut out, mut moved) = (String::new(), BTreeSet::new());
    // Whether the section's title was seen, and whether its lines are of a kernel.
    let (mut titled, mut kernel) = (false, false);
    for (line, number) in text.lines().zip(1u32..) {
        let is_rule = line.len() >= 30 && line.bytes().all(|byte| byte == b'_');
        if is_rule {
            (titled, kernel) = (false, false);
        } else if !titled && !line.trim().is_empty() {
            titled = true;
            if let Some(rest) = line.trim().strip_prefix("journalctl -b -") {
                let (boot, more) = rest.split_once(' ').unwrap_or((rest.trim(), ""));
                let boot: u32 = boot.trim_end_matches(':').parse().unwrap_or(0);
                writeln!(out, "journalctl -b -{} {more}", boot + 1).unwrap();
                kernel = true;
                continue;
            }
            // The ring buffer of the kernel that runs now says nothing of a boot before.
            if line.contains("dmesg") || line.starts_with("Scanning kernel log files") {
                out.push_str("journalctl -b -1 -k\n");
                kernel = true;
                continue;
            }
        } else if kernel {
            moved.insert(number);
        }
        out.push_str(line);
        out.push('\n');
    }
    Some((out, moved))
}

fn unpacked(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap();
    if !path.to_string_lossy().ends_with(".gz") {
        return String::from_utf8_lossy(&bytes).into_owned();
    }
    let mut text = Vec::new();
    let mut reader = flate2::read::MultiGzDecoder::new(bytes.as_slice());
    reader.read_to_end(&mut text).unwrap();
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
fn bug_reports_whose_kernel_lines_are_of_the_boot_before_confirm_only_what_their_present_state_shows()
 {
    let test = "bug_reports_whose_kernel_lines_are_of_the_boot_before_confirm_only_what_their_present_state_shows";
    let Some(captures) = shared(test, "captures") else {
        return;
    };
    let analyzer = analyzer();
    let outlasts = outlasting();
    let (mut reports, mut shown, mut wrong) = (0, 0, Vec::new());
    for folder in folders(&captures) {
        let paths = std::fs::read_dir(folder.join("capture")).unwrap();
        let mut paths = paths.map(|entry| entry.unwrap().path());
        let is_report = |path: &PathBuf| path.to_string_lossy().contains("nvidia-bug-report");
        let Some(path) = paths.find(is_report) else {
            continue;
        };
        let Some((back, moved)) = report_one_boot_back(&unpacked(&path)) else {
            continue;
        };
        reports += 1;
        let files = Files::from([("nvidia-bug-report.log".to_owned(), back.into_bytes())]);
        let analysis = analyze(&analyzer, &files);
        let sure = analysis.incidents.iter();
        let sure =
            sure.filter(|one| one.verdict == Verdict::Confirmed && !outlasts.contains(&one.cause));
        for incident in sure {
            let of_the_kernel = |line: Option<u32>| line.is_some_and(|line| moved.contains(&line));
            match incident
                .evidence
                .iter()
                .all(|line| of_the_kernel(line.place.line))
            {
                true => wrong.push(format!(
                    "{}: {} rests on an earlier boot",
                    folder.display(),
                    incident.cause
                )),
                false => shown += 1,
            }
        }
    }
    println!("{reports} bug reports; {shown} causes stay confirmed, each shown by present state");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Captures of more than this are left out: a test that takes minutes is not run.
const LARGEST: usize = 6 << 20;

/// The files of a capture that is a folder of plain files; none where it is larger.
fn files(folder: &std::path::Path, below: &str, found: &mut Files) {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        let name = format!("{below}{}", path.file_name().unwrap().to_string_lossy());
        if path.is_dir() {
            files(&path, &format!("{name}/"), found);
        } else if path.is_file() {
            found.insert(name, std::fs::read(&path).unwrap());
        }
    }
}

#[test]
fn captures_whose_logs_end_with_a_later_boot_confirm_only_what_their_present_state_shows() {
    let test =
        "captures_whose_logs_end_with_a_later_boot_confirm_only_what_their_present_state_shows";
    let Some(captures) = shared(test, "captures") else {
        return;
    };
    let analyzer = analyzer();
    let outlasts = outlasting();
    let (mut moved, mut wrong) = (0, Vec::new());
    for folder in folders(&captures) {
        let mut back = Files::new();
        files(&folder.join("capture"), "", &mut back);
        let mut logs = Vec::new();
        for (name, bytes) in &mut back {
            if let Some(text) = before_a_boot(&String::from_utf8_lossy(bytes)) {
                *bytes = text.into_bytes();
                logs.push(name.clone());
            }
        }
        let size: usize = back.values().map(Vec::len).sum();
        if logs.is_empty() || size > LARGEST {
            continue;
        }
        moved += 1;
        let analysis = analyze(&analyzer, &back);
        let sure = analysis.incidents.iter();
        let sure =
            sure.filter(|one| one.verdict == Verdict::Confirmed && !outlasts.contains(&one.cause));
        for incident in sure {
            let of_log = |path: &str| logs.iter().any(|log| log == path);
            if incident
                .evidence
                .iter()
                .all(|line| of_log(&line.place.path))
            {
                let name = folder.file_name().unwrap().to_string_lossy();
                wrong.push(format!(
                    "{name}: {} rests on an earlier boot",
                    incident.cause
                ));
            }
        }
    }
    println!("{moved} captures hold a system log");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
