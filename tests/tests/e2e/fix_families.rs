//! Each family of the catalogue: the fix of a sample with its proof, or why no replay can prove one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use casefile_tests::bins;

use crate::fix::{fix, sample};

/// Families of which no sample's fix can be replayed: what the analyzer has to say instead of "gone".
const NOT_REPLAYED: &[(&str, &str, &str)] = &[
    // The module that is loaded changes with a reboot; files do not hold it.
    (
        "driver",
        "driver-updated-under-load",
        "Reboot inf-gpu-3; only the node shows",
    ),
    // A package whose new version would answer otherwise.
    (
        "fabric",
        "fabric-manager-older",
        "Install nvidia-fabricmanager of exactly the loaded driver; only the node shows",
    ),
    // A GPU that has to be reset or replaced.
    (
        "gpu-hardware",
        "ecc-row-remap",
        "Reset GPU 00000000:81:00.0; only the node shows",
    ),
];

/// Samples of families that have a proof, whose own fix has none all the same, and why.
const NOT_SHOWN: &[(&str, &str)] = &[
    // Tenants agree on a share; no object that was collected would hold it.
    ("time-slicing-neighbour", "agreed between the tenants"),
    // Whether a larger limit suffices shows only when the program has run below it.
    ("exporter-memory-limit", "so replay cannot verify it"),
];

#[test]
fn every_family_has_a_proof_or_a_reason_why_there_is_none() {
    let rules = std::fs::read_dir(bins::checkout().join("analyzer/rules")).unwrap();
    let families: BTreeSet<String> = rules
        .map(|one| one.unwrap())
        .filter(|one| one.file_type().unwrap().is_dir())
        .map(|one| one.file_name().into_string().unwrap())
        // Messages that mean nothing need no fix.
        .filter(|family| family != "benign")
        .collect();
    let proven = REPLAYED.iter().map(|(family, ..)| (*family).to_owned());
    let reasoned = NOT_REPLAYED.iter().map(|(family, ..)| (*family).to_owned());
    assert_eq!(families, proven.chain(reasoned).collect());
    let alone = NOT_REPLAYED
        .iter()
        .map(|(family, name, why)| (*family, *name, *why));
    let beside = NOT_SHOWN
        .iter()
        .map(|(name, why)| ("beside a proof", *name, *why));
    for (family, name, why) in alone.chain(beside) {
        let folder = tempfile::tempdir().unwrap();
        let said = fix(&sample(name), folder.path(), &[]);
        assert_eq!(said.code, 0, "{family}/{name}: {said:?}");
        let unshown = ["cannot be shown: ", "needs a runtime step: "];
        assert!(
            unshown.iter().any(|words| said.out.starts_with(words)) && said.out.contains(why),
            "{family}/{name}: {said:?}"
        );
        assert!(
            !said.out.contains("gone: ") && !said.out.contains("gone after"),
            "{family}/{name}: {said:?}"
        );
    }
}

/// Samples whose fix can be replayed, one or more for each family that has such a fix.
const REPLAYED: &[(&str, &str, &[&str])] = &[
    ("runtime", "toolkit-wrong-containerd", &[]),
    ("runtime", "drop-in-without-runc", &[]),
    ("runtime", "kubelet-bound-to-containerd", &[]),
    ("runtime", "rke2-chart-without-class", &[]),
    ("image", "registry-mirrors-conflict", &[]),
    ("network", "ufw-blocks-dns", &[]),
    ("network", "ip-forward-off", &[]),
    ("dns", "dns-loop", &[]),
    ("node", "inotify-instances", &[]),
    ("hami", "hami-gpumem-taken", &[]),
    // One GPU of the node is taken: the next cause in line, and said.
    ("scheduling", "request-exceeds-node", &["gpu-all-allocated"]),
    ("storage", "volume-of-lost-node", &[]),
    ("workload", "nccl-shared-memory", &[]),
    ("gpu-sharing", "mig-monitor-not-granted", &[]),
    ("monitoring", "exporter-profiling-geforce", &[]),
];

#[test]
fn the_fix_of_each_sample_that_can_be_replayed_removes_its_cause_and_brings_nothing_unsaid() {
    for (family, name, next) in REPLAYED {
        let folder = tempfile::tempdir().unwrap();
        let said = fix(&sample(name), folder.path(), &[]);
        assert_eq!(said.code, 0, "{family}/{name}: {said:?}");
        let gone = ["gone: ", "gone after a runtime step: "];
        assert!(
            gone.iter().any(|words| said.out.starts_with(words)),
            "{family}/{name}: {said:?}"
        );
        let new: Vec<&str> = said
            .out
            .lines()
            .filter(|line| line.contains("new after it: "))
            .collect();
        assert_eq!(new.len(), next.len(), "{family}/{name}: {said:?}");
        for cause in *next {
            assert!(
                new.iter().any(|line| line.contains(cause)),
                "{name}: {new:?}"
            );
        }
        let causes: Vec<PathBuf> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|one| one.unwrap().path())
            .filter(|path| path.is_dir())
            .collect();
        assert!(!causes.is_empty(), "{name}");
        for cause in causes {
            reads_well(&cause);
        }
    }
}

/// A folder that somebody follows at night: a page with all parts, and a script that a shell accepts.
fn reads_well(folder: &Path) {
    let page = std::fs::read_to_string(folder.join("README.md")).unwrap();
    for part in [
        "## What the replay shows",
        "## Steps",
        "## Verify",
        "## Files",
        "- Interrupts: ",
        "- Roll back: ",
    ] {
        assert!(page.contains(part), "{}: no {part}", folder.display());
    }
    let script = folder.join("apply.sh");
    let accepted = Command::new("bash")
        .arg("-n")
        .arg(&script)
        .status()
        .unwrap();
    assert!(accepted.success(), "{}", script.display());
    // Where it is installed.
    if let Ok(checked) = Command::new("shellcheck")
        .args(["-S", "warning"])
        .arg(&script)
        .output()
    {
        assert!(
            checked.status.success(),
            "{}",
            String::from_utf8_lossy(&checked.stdout)
        );
    }
}
