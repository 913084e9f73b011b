//! The minimal cases in which a simulator was wrong (`../shared/simulators`), asked as a person asks: what the real program
//! did with each, which its README says, and what the analyzer says of it now. Only names of cases stand here.

use std::path::{Path, PathBuf};

use casefile_tests::bins;
use serde_json::Value;

use crate::support::{run, skip};

/// A question about a case, and what its answer has and has not in it.
struct Case {
    /// The real program's behaviour.
    real: &'static str,
    /// Arguments of the analyzer; `CASE` stands for the case.
    ask: &'static [&'static str],
    case: &'static str,
    has: &'static [&'static str],
    lacks: &'static [&'static str],
}

const DNS: &[&str] = &[
    "ask",
    "packet",
    "CASE",
    "--from",
    "pod/default/a",
    "--to",
    "198.51.100.9:53",
    "--proto",
    "udp",
];
const TCP: &[&str] = &[
    "ask",
    "packet",
    "CASE",
    "--from",
    "pod/default/a",
    "--to",
    "198.51.100.9:443",
];
const NODE_PORT: &[&str] = &[
    "ask",
    "packet",
    "CASE",
    "--from",
    "198.51.100.9",
    "--to",
    "node/vm:30080",
];
const HANDLER: &[&str] = &["ask", "runtime", "nvidia", "CASE"];
const DIAGNOSE: &[&str] = &["diagnose", "--format", "json", "CASE"];

const CASES: &[Case] = &[
    Case {
        real: "daemon and CRI are up, and nvidia is in effect",
        ask: HANDLER,
        case: "e-v2root-v3drop.2.1.9",
        has: &["daemon: starts; CRI: up", "handler \"nvidia\": resolves"],
        lacks: &["does not start"],
    },
    Case {
        real: "effective settings are equal",
        ask: HANDLER,
        case: "g-1.7.24.2.1.9",
        has: &["daemon: starts; CRI: up", "harmless:"],
        lacks: &["lost:", "does not start"],
    },
    Case {
        real: "complete nft rules beside `incompatible, use 'nft' tool`",
        ask: DNS,
        case: "e0030.nft.bundle",
        has: &["verdict  accepted", "nft-list-ruleset.out"],
        lacks: &["cut off"],
    },
    Case {
        real: "the packet passes",
        ask: DNS,
        case: "20653a9d46.ipt.bundle",
        has: &["verdict  accepted"],
        lacks: &[],
    },
    Case {
        real: "the packet is rejected",
        ask: DNS,
        case: "f08a0.nft.bundle",
        has: &["verdict  rejected", "in on cali"],
        lacks: &[],
    },
    Case {
        real: "a node port whose rule has counters leads to its pod",
        ask: NODE_PORT,
        case: "0010.ipt.bundle",
        has: &["to 10.244.1.9 after translation", "reply    arrives"],
        lacks: &[],
    },
    Case {
        real: "a dormant table lets everything pass",
        ask: DNS,
        case: "e0020.nft",
        has: &["verdict  accepted"],
        lacks: &[],
    },
    Case {
        real: "a TCP reset rejects TCP only",
        ask: DNS,
        case: "e0040.nft",
        has: &["verdict  accepted"],
        lacks: &[],
    },
    Case {
        real: "a TCP reset rejects TCP",
        ask: TCP,
        case: "e0040.nft",
        has: &["verdict  rejected", "reject with tcp reset"],
        lacks: &[],
    },
];

/// Pending pods of which the scheduler itself says why.
const PENDING: &[(&str, &str)] = &[
    ("daemon.ds-n1", "ds-n1"),
    ("csi_limits.two", "two"),
    ("disk_conflict.gce", "gce"),
    ("inplace.q", "q"),
    ("rwop.second", "second"),
    ("volumes.unbound", "unbound"),
];

/// The folder of the cases; a line that says so where it is missing.
fn shared(test: &str) -> Option<PathBuf> {
    let folder = bins::checkout().join("../shared/simulators");
    if !folder.is_dir() {
        skip(test, "../shared/simulators is absent");
        return None;
    }
    Some(folder)
}

/// A case as input: rules alone are laid into the node of another case, in place of its own.
fn input(shared: &Path, case: &str, scratch: &Path) -> PathBuf {
    let path = shared.join(case);
    if path.extension().is_none_or(|ending| ending != "nft") {
        return path;
    }
    let bundle = scratch.join(case);
    let from = shared.join("e0030.nft.bundle");
    for entry in walk(&from) {
        let inside = entry.strip_prefix(&from).unwrap();
        let name = inside.to_string_lossy();
        if name.contains("tables") || name.contains("nft-list-ruleset") {
            continue;
        }
        let to = bundle.join(inside);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::write(to, std::fs::read(&entry).unwrap()).unwrap();
    }
    let rules = std::fs::read(path).unwrap();
    std::fs::write(bundle.join("nodes/vm/commands/nft-list-ruleset.out"), rules).unwrap();
    bundle
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(walk(&path));
        } else {
            files.push(path);
        }
    }
    files
}

fn asked(words: &[&str], input: &Path) -> String {
    let input = input.to_str().unwrap();
    let words: Vec<&str> = words
        .iter()
        .map(|word| if *word == "CASE" { input } else { word })
        .collect();
    let ended = run(bins::ANALYZER, &words);
    format!("{}{}", ended.out, ended.err)
}

#[test]
fn minimal_cases_of_wrong_simulations_are_answered_as_the_real_program_does() {
    let test = "minimal_cases_of_wrong_simulations_are_answered_as_the_real_program_does";
    let Some(shared) = shared(test) else {
        return;
    };
    let scratch = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    for one in CASES {
        let answer = asked(one.ask, &input(&shared, one.case, scratch.path()));
        let missing = one.has.iter().filter(|text| !answer.contains(**text));
        let extra = one.lacks.iter().filter(|text| answer.contains(**text));
        for text in missing.chain(extra) {
            wrong.push(format!("{}: {text:?} ({}):\n{answer}", one.case, one.real));
        }
    }
    for (case, pod) in PENDING {
        let pod = format!("pod/default/{pod}");
        let answer = asked(&["ask", "schedule", &pod, "CASE"], &shared.join(case));
        if !answer.contains("agree      yes") {
            wrong.push(format!("{case}: not the scheduler's own words:\n{answer}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Causes of a case that are in play.
fn causes(shared: &Path, case: &str) -> (Value, Vec<String>) {
    let answer = asked(DIAGNOSE, &shared.join(case));
    let end = answer.rfind('}').map_or(0, |at| at + 1);
    let report: Value = serde_json::from_str(&answer[..end]).unwrap();
    let all = report["differential"].as_array().unwrap().iter();
    let live =
        all.filter(|one| ["confirmed", "likely"].contains(&one["verdict"].as_str().unwrap()));
    let live = live.map(|one| one["cause"].as_str().unwrap().to_owned());
    let live = live.collect();
    (report, live)
}

#[test]
fn minimal_cases_raise_no_alarm_where_nothing_was_wrong() {
    let test = "minimal_cases_raise_no_alarm_where_nothing_was_wrong";
    let Some(shared) = shared(test) else {
        return;
    };
    for (case, cause) in [
        (
            "e-v2root-v3drop.2.1.9",
            "containerd-dropin-version-mismatch",
        ),
        ("g-1.7.24.2.1.9", "containerd2-ignores-old-plugin-tables"),
        ("exporter-h200.txt", "gpu-ecc-uncorrectable"),
        ("exporter-h200.txt", "gpu-row-remap-pending"),
    ] {
        let (_, live) = causes(&shared, case);
        assert!(!live.iter().any(|one| one == cause), "{case}: {live:?}");
    }
    for (case, gpus) in [("smi-q-610.txt", 1), ("smi-mig-table.txt", 1)] {
        let (report, _) = causes(&shared, case);
        assert_eq!(report["seen"]["gpus"], gpus, "{case}");
    }
}
