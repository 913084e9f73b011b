//! Evidence that speaks against a cause weakens it, and a bundle that lost a part of itself does not
//! become surer of another cause.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as the test does")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use casefile_analyzer::diagnose::Analyzer;
use casefile_analyzer::model::Verdict;
use casefile_analyzer::rules;

fn analyzer() -> Analyzer {
    let (set, faults) = rules::load(None).unwrap();
    assert!(faults.is_empty(), "{faults:?}");
    Analyzer::new(set).unwrap()
}

fn verdicts(analyzer: &Analyzer, input: &Path) -> BTreeMap<String, Verdict> {
    let analysis = analyzer.analyze(input).unwrap();
    let rows = analysis.differential.into_iter();
    rows.map(|one| (one.cause, one.verdict)).collect()
}

fn pasted(analyzer: &Analyzer, texts: &[&str]) -> BTreeMap<String, Verdict> {
    let folder = tempfile::tempdir().unwrap();
    for (number, text) in texts.iter().enumerate() {
        fs::write(folder.path().join(format!("paste-{number}")), text).unwrap();
    }
    verdicts(analyzer, folder.path())
}

/// Cause, what speaks for it, and what speaks against it.
const CONTRADICTED: &[(&str, &str, &str)] = &[
    (
        "containerd-cri-plugin-disabled",
        "[ERROR CRI]: rpc error: code = Unimplemented desc = unknown service runtime.v1.RuntimeService\n\
         $ grep disabled /etc/containerd/config.toml\ndisabled_plugins = [\"cri\"]\n",
        "containerd[900]: level=warning msg=\"failed to load plugin io.containerd.grpc.v1.cri\" error=\"invalid plugin config: `mirrors` cannot be set when `config_path` is provided\"\n",
    ),
    (
        "application-gpu-fault",
        "NVRM: Xid (PCI:0000:3b:00): 31, pid=5521, name=python, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS\n\
         RuntimeError: CUDA error: an illegal memory access was encountered\n",
        "NVRM: Xid (PCI:0000:3b:00): 79, pid=5521, name=python, GPU has fallen off the bus.\n",
    ),
    (
        "nvlink-link-fault",
        "NVRM: Xid (PCI:0000:4a:00): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 2\n",
        "NVRM: GPU at PCI:0000:0f:00: GPU has fallen off the bus.\n",
    ),
    (
        "gpu-init-failed",
        "NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x24:0xffff:1220)\n\
         NVRM: GPU 0000:3b:00.0: rm_init_adapter failed, device minor number 0\n",
        "NVRM: installed in this system requires use of the NVIDIA open kernel modules.\n",
    ),
    (
        "hami-not-installed",
        "0/3 nodes are available: 3 Insufficient nvidia.com/gpumem.\n$ kubectl get pods -A | grep vgpu\nNo resources found\n",
        "hami-scheduler-7d9c8b5f6-x2x4v   2/2   Running   0   3d\n",
    ),
];

#[test]
fn contradicting_evidence_weakens_a_cause_whichever_comes_first() {
    let analyzer = analyzer();
    let mut wrong = Vec::new();
    for (cause, for_it, against) in CONTRADICTED {
        let live = |texts: &[&str]| {
            let found = pasted(&analyzer, texts).get(*cause).copied();
            found.filter(|verdict| verdict.is_live())
        };
        let Some(alone) = live(&[for_it]) else {
            wrong.push(format!("{cause} is not seen without a contradiction"));
            continue;
        };
        for both in [live(&[for_it, against]), live(&[against, for_it])] {
            if both.is_some_and(|verdict| verdict <= alone) {
                wrong.push(format!(
                    "{cause}: {alone:?} stays {both:?} when contradicted"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A change of one text file of a bundle; none leaves the file out.
type Change = (&'static str, fn(&str, &str) -> Option<String>);

static CHANGES: &[Change] = &[
    ("without the journal", |path, text| {
        (!path.contains("/journal/")).then(|| text.to_owned())
    }),
    ("without the firewall", |path, text| {
        (!path.contains("nft") && !path.contains("iptables")).then(|| text.to_owned())
    }),
    ("without objects of the cluster", |path, text| {
        (!path.starts_with("cluster-resources/")).then(|| text.to_owned())
    }),
    ("without processes and configurations", |path, text| {
        (!path.contains("/rootfs/") && !path.ends_with("processes.json")).then(|| text.to_owned())
    }),
    ("logs cut at the half", |path, text| {
        let log = path.contains("/journal/") || path.contains("/logs/");
        let lines = text.lines().count();
        Some(if log {
            text.lines()
                .take(lines / 2)
                .fold(String::new(), |all, line| all + line + "\n")
        } else {
            text.to_owned()
        })
    }),
    ("every line of the logs twice", |path, text| {
        let log = path.contains("/journal/") || path.contains("/logs/");
        Some(if log {
            text.lines()
                .fold(String::new(), |all, line| all + line + "\n" + line + "\n")
        } else {
            text.to_owned()
        })
    }),
];

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn changed(bundle: &Path, change: fn(&str, &str) -> Option<String>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files(bundle) {
        let inside = file.strip_prefix(bundle).unwrap();
        let bytes = fs::read(&file).unwrap();
        let bytes = match String::from_utf8(bytes) {
            Ok(text) => change(&inside.to_string_lossy(), &text).map(String::into_bytes),
            Err(other) => Some(other.into_bytes()),
        };
        let Some(bytes) = bytes else { continue };
        let copy = folder.path().join(inside);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::write(copy, bytes).unwrap();
    }
    folder
}

#[test]
fn a_sample_that_lost_a_part_is_not_surer_of_another_cause() {
    let analyzer = analyzer();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples");
    let mut bundles: Vec<PathBuf> = fs::read_dir(samples)
        .unwrap()
        .map(|entry| entry.unwrap().path().join("bundle"))
        .filter(|bundle| bundle.is_dir())
        .collect();
    bundles.sort();
    assert!(!bundles.is_empty());
    let mut wrong = Vec::new();
    for bundle in &bundles {
        let name = bundle.parent().unwrap().file_name().unwrap();
        let name = name.to_string_lossy();
        let sure = |found: &BTreeMap<String, Verdict>| -> BTreeSet<String> {
            let sure = found.iter().filter(|(_, one)| **one == Verdict::Confirmed);
            sure.map(|(cause, _)| cause.clone()).collect()
        };
        let whole = verdicts(&analyzer, bundle);
        for (what, change) in CHANGES {
            let folder = changed(bundle, *change);
            let found = verdicts(&analyzer, folder.path());
            println!("{name}, {what}: {:?}", sure(&found));
            for cause in sure(&found).difference(&sure(&whole)) {
                wrong.push(format!("{name}, {what}: {cause} is confirmed"));
            }
            if *what == "every line of the logs twice" && found != whole {
                wrong.push(format!("{name}, {what}: other verdicts"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
