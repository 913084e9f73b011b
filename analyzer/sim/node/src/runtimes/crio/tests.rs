//! What a user would miss where CRI-O's configuration is resolved wrongly.

use super::*;
use crate::containerd::MapTree;

fn crio(files: &[(&str, &str)], version: &str) -> Resolved {
    let mut tree = MapTree::new();
    for (path, text) in files {
        tree.add(path, &format!("nodes/n/rootfs{path}"), text);
    }
    resolve(&tree, Some(version)).expect("a file is there")
}

const MAIN: &str = "[crio.runtime]\ncgroup_manager = \"cgroupfs\"\n[crio.runtime.runtimes.nvidia]\nruntime_path = \"/old\"\nruntime_type = \"oci\"\n[crio.runtime.runtimes.kata]\nruntime_path = \"/kata\"\n";

#[test]
fn a_later_file_replaces_one_entry_and_keeps_the_others() {
    let found = crio(
        &[
            (FILE, MAIN),
            (
                "/etc/crio/crio.conf.d/10-crun.conf",
                "[crio.runtime]\ndefault_runtime = \"nvidia\"\n",
            ),
            (
                "/etc/crio/crio.conf.d/99-nvidia.conf",
                "[crio.runtime.runtimes.nvidia]\nruntime_path = \"/usr/bin/nvidia-container-runtime\"\n",
            ),
        ],
        "1.30.4",
    );
    assert!(found.starts(), "{:?}", found.faults);
    let nvidia = found.check("CRI-O", "");
    assert_eq!(nvidia.program, "/usr/bin/nvidia-container-runtime");
    assert!(
        nvidia.because.ends_with("99-nvidia.conf:1"),
        "{}",
        nvidia.because
    );
    assert_eq!(found.check("CRI-O", "kata").resolves, Answer::Yes);
    assert_eq!(
        found.check("CRI-O", "runc").resolves,
        Answer::Yes,
        "built in before 1.31"
    );
    assert_eq!(found.check("CRI-O", "crun").resolves, Answer::No);
    assert_eq!(found.cgroup_driver, "cgroupfs");
}

#[test]
fn a_handler_without_its_program_is_dropped_and_the_default_stops_the_daemon() {
    let mut found = crio(&[(FILE, MAIN)], "1.33.0");
    drop_missing(&mut found, &|program| program == "/old");
    let nvidia = found.check("CRI-O", "nvidia");
    assert_eq!(nvidia.resolves, Answer::No);
    assert!(
        nvidia.because.contains("/old does not exist"),
        "{}",
        nvidia.because
    );
    assert!(found.starts());
    drop_missing(&mut found, &|program| program == "crun");
    assert!(!found.starts(), "crun is the default of this release");
}

#[test]
fn a_handler_that_contradicts_itself_is_dropped_and_one_that_inherits_starts_the_default() {
    let found = crio(
        &[
            (
                "/etc/crio/crio.conf.d/10-a/deep.bak",
                "[crio.runtime.runtimes.kata]\nruntime_path = \"/opt/kata/bin/containerd-shim-kata-qemu-v2\"\nruntime_type = \"vm\"\n[crio.runtime.runtimes.bad]\nruntime_path = \"/b\"\nruntime_type = \"docker\"\n",
            ),
            (
                "/etc/crio/crio.conf.d/99-b",
                "[crio.runtime]\ndefault_runtime = \"nvidia\"\n[crio.runtime.runtimes.nvidia]\nruntime_path = \"/n\"\n[crio.runtime.runtimes.same]\ninherit_default_runtime = true\nunheard_of = 1\n",
            ),
        ],
        "1.33.0",
    );
    assert!(found.starts(), "{:?}", found.faults);
    assert_eq!(
        found.check("CRI-O", "kata").resolves,
        Answer::Yes,
        "files lie however deep"
    );
    let bad = found.check("CRI-O", "bad");
    assert_eq!(bad.resolves, Answer::No);
    assert!(
        bad.because.contains("none of oci, vm and pod"),
        "{}",
        bad.because
    );
    assert_eq!(found.check("CRI-O", "same").program, "/n");
}

#[test]
fn what_crio_refuses_is_said_with_its_place() {
    for (text, wanted) in [
        ("[crio.runtime\n", "is not TOML"),
        (
            "[crio.runtime]\ndefault_runtime = \"nvidia\"\n",
            "no runtime entry",
        ),
        ("[crio.runtime]\ncgroup_manager = 3\n", "not a string"),
        (
            "[crio.runtime]\ncgroup_manager = \"system\"\n",
            "neither systemd nor cgroupfs",
        ),
        (
            "[crio.runtime]\ncgroup_manager = \"\"\n",
            "neither systemd nor cgroupfs",
        ),
        (
            "[crio.runtime.runtimes.x]\nruntime_path = 1\n",
            "not a string",
        ),
        (
            "[crio.runtime.runtimes.crun]\nruntime_type = \"docker\"\n",
            "the default handler",
        ),
    ] {
        let found = crio(&[(FILE, text)], "1.33.0");
        assert!(!found.starts(), "{text}");
        assert!(
            found.faults[0].detail.contains(wanted),
            "{text}: {:?}",
            found.faults
        );
        assert_eq!(found.check("CRI-O", "crun").resolves, Answer::No);
    }
}
