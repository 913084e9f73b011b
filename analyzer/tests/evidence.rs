//! The same evidence in other clothes, and evidence of nodes that are well: no panic, no false
//! confirmation, and what does not change the meaning does not change the verdicts.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test's helpers fail as the test does, and say why one is skipped"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use casefile_analyzer::diagnose::Analyzer;
use casefile_analyzer::model::{Analysis, Verdict};
use casefile_analyzer::rules;

/// Files of a folder of evidence, by name.
type Files = BTreeMap<String, Vec<u8>>;
/// What is in play, by cause.
type Verdicts = BTreeMap<String, Verdict>;

fn shared(test: &str, path: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let path = root.join(path);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {test}: {} is not there", path.display());
    None
}

fn analyzer() -> Analyzer {
    let (set, faults) = rules::load(None).unwrap();
    assert!(faults.is_empty(), "{faults:?}");
    Analyzer::new(set).unwrap()
}

fn analyze(analyzer: &Analyzer, files: &Files) -> Analysis {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    analyzer.analyze(folder.path()).unwrap()
}

fn verdicts(analysis: &Analysis) -> Verdicts {
    let live = analysis
        .differential
        .iter()
        .filter(|one| one.verdict.is_live());
    live.map(|one| (one.cause.clone(), one.verdict)).collect()
}

fn confirmed(verdicts: &Verdicts) -> BTreeSet<&str> {
    let sure = verdicts
        .iter()
        .filter(|(_, verdict)| **verdict == Verdict::Confirmed);
    sure.map(|(cause, _)| cause.as_str()).collect()
}

struct Case {
    name: String,
    files: Files,
    /// The cause and those that are accepted for it.
    wanted: BTreeSet<String>,
}

fn cases(test: &str) -> Vec<Case> {
    let Some(folder) = shared(test, "incidents/cases") else {
        return Vec::new();
    };
    let mut folders: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    folders.sort();
    folders.iter().map(|folder| case(folder)).collect()
}

fn case(folder: &Path) -> Case {
    let text = std::fs::read_to_string(folder.join("case.json")).unwrap();
    let meta: serde_json::Value = serde_json::from_str(&text).unwrap();
    let accepted = meta["accept"].as_array().cloned().unwrap_or_default();
    let wanted = std::iter::once(&meta["cause"]).chain(&accepted);
    let files = std::fs::read_dir(folder.join("evidence")).unwrap();
    Case {
        name: folder.file_name().unwrap().to_string_lossy().into_owned(),
        wanted: wanted
            .filter_map(|cause| cause.as_str().map(str::to_owned))
            .collect(),
        files: files
            .map(|entry| entry.unwrap().path())
            .map(|path| {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                (name, std::fs::read(&path).unwrap())
            })
            .collect(),
    }
}

fn each_line(files: &Files, change: impl Fn(usize, &str) -> String) -> Files {
    let changed = files.iter().map(|(name, text)| {
        let text = String::from_utf8_lossy(text).into_owned();
        let lines = text
            .lines()
            .enumerate()
            .map(|(number, line)| change(number, line));
        (name.clone(), lines.collect::<String>().into_bytes())
    });
    changed.collect()
}

/// A change of the evidence, and whether it leaves the meaning as it was.
type Change = (&'static str, bool, fn(&Files) -> Files);

fn renamed(files: &Files) -> Files {
    let names = (0..files.len())
        .rev()
        .map(|number| format!("paste-{number:02}"));
    names.zip(files.values().cloned()).collect()
}

fn duplicated(files: &Files) -> Files {
    let again = files
        .iter()
        .map(|(name, text)| (format!("again-{name}"), text.clone()));
    again.chain(files.clone()).collect()
}

fn joined(files: &Files) -> Files {
    let mut all = Vec::new();
    for text in files.values() {
        all.extend_from_slice(text);
        all.extend_from_slice(b"\n\n");
    }
    Files::from([("ticket".to_owned(), all)])
}

fn reversed(files: &Files) -> Files {
    let turn = files.iter().map(|(name, text)| {
        let text = String::from_utf8_lossy(text).into_owned();
        let lines: Vec<&str> = text.lines().rev().collect();
        (name.clone(), lines.join("\n").into_bytes())
    });
    turn.collect()
}

fn cut(files: &Files, numerator: usize, denominator: usize) -> Files {
    let cut = files.iter().map(|(name, text)| {
        let end = text.len() * numerator / denominator;
        (name.clone(), text[..end].to_vec())
    });
    cut.collect()
}

fn utf16(files: &Files) -> Files {
    let wide = files.iter().map(|(name, text)| {
        let text = String::from_utf8_lossy(text);
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        (name.clone(), units.flat_map(u16::to_le_bytes).collect())
    });
    wide.collect()
}

static CHANGES: &[Change] = &[
    ("other names and order of files", true, renamed),
    ("every file twice", true, duplicated),
    ("CRLF", true, |files| {
        each_line(files, |_, line| format!("{line}\r\n"))
    }),
    ("colour codes", true, |files| {
        each_line(files, |_, line| match line.char_indices().nth(9) {
            Some((at, _)) => format!("{}\x1b[01;31m\x1b[K{}\x1b[0m\n", &line[..at], &line[at..]),
            None => format!("{line}\n"),
        })
    }),
    ("UTF-16, as PowerShell writes it", true, utf16),
    ("all in one file", false, joined),
    ("lines in reverse order", false, reversed),
    ("cut at a quarter", false, |files| cut(files, 1, 4)),
    ("cut at the half", false, |files| cut(files, 1, 2)),
    ("cut at nine tenths", false, |files| cut(files, 9, 10)),
    ("RFC 3339 in front", false, |files| {
        each_line(files, |number, line| {
            format!("2026-11-20T10:00:{:02}.123456789Z {line}\n", number % 60)
        })
    }),
    ("CRI in front", false, |files| {
        each_line(files, |number, line| {
            format!(
                "2026-11-20T10:00:{:02}.123456789+01:00 stderr F {line}\n",
                number % 60
            )
        })
    }),
    ("journal in front", false, |files| {
        each_line(files, |number, line| {
            format!(
                "Nov 20 10:00:{:02} gpu-1 kubelet[{number}]: {line}\n",
                number % 60
            )
        })
    }),
    ("German journal in front", false, |files| {
        each_line(files, |number, line| {
            format!(
                "M\u{e4}r 20 10:00:{:02} gpu-1 kubelet[7]: {line}\n",
                number % 60
            )
        })
    }),
    ("klog in front", false, |files| {
        each_line(files, |number, line| {
            format!(
                "E1120 10:00:{:02}.123456    1234 server.go:{number}] {line}\n",
                number % 60
            )
        })
    }),
    ("kernel time in front", false, |files| {
        each_line(files, |number, line| {
            format!("[{number:>6}.123456] {line}\n")
        })
    }),
    ("quoted with > in front", false, |files| {
        each_line(files, |_, line| format!("> {line}\n"))
    }),
    ("indented", false, |files| {
        each_line(files, |_, line| format!("    {line}\n"))
    }),
];

#[test]
fn other_clothes_do_not_make_a_false_confirmation() {
    let cases = cases("other_clothes_do_not_make_a_false_confirmation");
    let analyzer = analyzer();
    let plain: Vec<Verdicts> = cases
        .iter()
        .map(|case| verdicts(&analyze(&analyzer, &case.files)))
        .collect();
    let mut wrong = Vec::new();
    for (name, keeps_meaning, change) in CHANGES {
        let (mut same, mut found) = (0, 0);
        for (case, before) in cases.iter().zip(&plain) {
            let after = verdicts(&analyze(&analyzer, &change(&case.files)));
            same += usize::from(after == *before);
            found += usize::from(after.keys().any(|cause| case.wanted.contains(cause)));
            let before_sure = confirmed(before);
            for cause in confirmed(&after) {
                if !before_sure.contains(cause) && !case.wanted.contains(cause) {
                    wrong.push(format!("{name}: {}: {cause} is confirmed", case.name));
                }
            }
            if *keeps_meaning && after != *before {
                wrong.push(format!(
                    "{name}: {}: {before:?} became {after:?}",
                    case.name
                ));
            }
        }
        println!(
            "{name:32} same verdicts {same:3}, cause still in play {found:3} of {}",
            cases.len()
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn two_clusters_in_one_folder_confirm_nothing_that_neither_did_alone() {
    let cases = cases("two_clusters_in_one_folder_confirm_nothing_that_neither_did_alone");
    let analyzer = analyzer();
    let alone: Vec<Verdicts> = cases
        .iter()
        .map(|case| verdicts(&analyze(&analyzer, &case.files)))
        .collect();
    let mut wrong = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        let at = (index * 37 + 11) % cases.len();
        let other = &cases[at];
        let mut files = case.files.clone();
        files.extend(
            other
                .files
                .iter()
                .map(|(name, text)| (format!("b-{name}"), text.clone())),
        );
        let both = verdicts(&analyze(&analyzer, &files));
        for cause in confirmed(&both) {
            let known = [&alone[index], &alone[at]]
                .iter()
                .any(|one| confirmed(one).contains(cause));
            let wanted = case.wanted.contains(cause) || other.wanted.contains(cause);
            if !known && !wanted {
                wrong.push(format!("{} with {}: {cause}", case.name, other.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_line_of_many_megabytes_is_read_in_pieces() {
    const MIB: usize = 1 << 20;
    let mut text = b"net.ipv4.ip_forward = 0\n".to_vec();
    text.resize(24 * MIB + 9000, b'x');
    text.extend_from_slice(b" nf_conntrack: table full, dropping packet\n");
    let analysis = analyze(&analyzer(), &Files::from([("huge".into(), text)]));
    let found = verdicts(&analysis);
    assert!(found.contains_key("conntrack-table-full"), "{found:?}");
    // What lies across two parts is not seen, so it is said that there are parts; once.
    let told: Vec<_> = analysis
        .problems
        .iter()
        .filter(|one| one.text.contains("read in parts"))
        .collect();
    assert_eq!(told.len(), 1, "{:?}", analysis.problems);
    assert_eq!(told[0].place.line, Some(2));
}

/// Captures in which nothing is broken as far as anyone knows, and what may be confirmed of them: nothing.
const HEALTHY: &[&str] = &[
    "bundles/rancher-rke2-logs-2025-11-27.tar.gz",
    "bundles/troubleshoot-kurl.tar.gz",
    "bundles/insights/cluster_hosts.tar.gz",
    "bundles/omc-archives/must-gather.tar",
    "bundles/omc-archives/must-gather.tar.gz",
    "bundles/omc-must-gather",
    "bundles/troubleshoot/baseline-preflight-v1beta2.tar.gz",
    "bundles/troubleshoot/baseline-supportbundle-2025-10.tar.gz",
    "bundles/troubleshoot/k3s-nginx-support-bundle.tar.gz",
    "bundles/troubleshoot/missing-version.tar.gz",
    "bundles/troubleshoot-extracted-sb",
    "gpu-host",
    "logs/insights",
    "logs/jc",
    "logs/journald-export",
    "nvidia-smi/insights",
    "nvidia-smi/telegraf",
    "systemctl",
    "net-config",
    "k8s-objects",
    "containerd-config/bottlerocket",
    "containerd-config/containerd-1.6.20-debian-default.toml",
    "containerd-config/eks-ami",
    "kubelet-config/eks-ami",
    "kubelet-config/insights",
    "firewall/insights",
    "firewall/jc",
    "hostile-text",
];

#[test]
fn nothing_is_confirmed_of_captures_that_are_well() {
    let test = "nothing_is_confirmed_of_captures_that_are_well";
    let analyzer = analyzer();
    let fixed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/fixed/bundle");
    let mut inputs = vec![fixed];
    if let Some(data) = shared(test, "data") {
        inputs.extend(HEALTHY.iter().map(|path| data.join(path)));
    }
    let mut alarms = Vec::new();
    println!(
        "{:48} {:>9} {:>6} {:>8}",
        "capture", "confirmed", "likely", "possible"
    );
    for input in inputs.iter().filter(|input| input.exists()) {
        let found = verdicts(&well(&analyzer, input));
        let of = |verdict: Verdict| found.values().filter(|one| **one == verdict).count();
        let name: Vec<_> = input
            .components()
            .rev()
            .take(2)
            .map(|part| part.as_os_str().to_string_lossy())
            .collect();
        let name = format!("{}/{}", name[1], name[0]);
        let counts = [Verdict::Confirmed, Verdict::Likely, Verdict::Possible].map(of);
        println!(
            "{name:48} {:>9} {:>6} {:>8}",
            counts[0], counts[1], counts[2]
        );
        for (cause, verdict) in found
            .iter()
            .filter(|(_, verdict)| **verdict <= Verdict::Likely)
        {
            println!("    {} {cause}", verdict.word());
        }
        alarms.extend(
            confirmed(&found)
                .iter()
                .map(|cause| format!("{name}: {cause}")),
        );
    }
    assert!(alarms.is_empty(), "{}", alarms.join("\n"));
}

/// A bundle or folder as it is, a text file as a folder that holds it.
fn well(analyzer: &Analyzer, input: &Path) -> Analysis {
    let is_text = input
        .extension()
        .is_some_and(|ending| ending == "toml" || ending == "txt");
    if !is_text {
        return analyzer.analyze(input).unwrap();
    }
    analyze(
        analyzer,
        &Files::from([("text".to_owned(), std::fs::read(input).unwrap())]),
    )
}
