//! Commands that hang, print endlessly or fail.

use std::time::{Duration, Instant};

use crate::desk::{Desk, manifest, notes, outcome, text};

#[test]
fn a_hanging_nvidia_smi_costs_its_own_output_and_nothing_else() {
    let desk = Desk::new();
    desk.stub(
        "nvidia-smi",
        "trap '' TERM\necho begun\nwhile :; do sleep 1; done",
    );
    let clock = Instant::now();
    let output = desk.on_machine(&["--only", "nvidia_smi,host_info", "--source-timeout", "3s"]);
    assert!(clock.elapsed() < Duration::from_secs(20));
    assert_eq!(output.status.code(), Some(4));
    let bundle = desk.bundle();
    let manifest = manifest(&bundle);
    let (word, why) = outcome(&manifest, "nvidia_smi");
    assert!(
        matches!(word.as_str(), "failed" | "partial") && why.contains("time limit"),
        "{word}: {why}"
    );
    let smi = manifest
        .entries
        .iter()
        .find(|e| e.path.as_str().ends_with("/commands/nvidia-smi.out"))
        .unwrap();
    assert!(
        smi.truncated
            .as_deref()
            .unwrap_or("")
            .contains("stopped before its end (killed)"),
        "{smi:?}"
    );
    assert!(
        manifest
            .entries
            .iter()
            .any(|e| e.path.as_str().ends_with("/proc/meminfo"))
    );
}

#[test]
fn a_command_that_prints_endlessly_is_cut() {
    let desk = Desk::new();
    desk.stub("nvidia-smi", "[ $# = 0 ] || exit 0\nexec yes");
    desk.on_machine(&["--only", "nvidia_smi"]);
    let manifest = manifest(&desk.bundle());
    let smi = manifest
        .entries
        .iter()
        .find(|e| e.path.as_str().ends_with("/nvidia-smi.out"))
        .unwrap();
    assert_eq!(smi.bytes, 4 << 20);
    assert!(smi.truncated.is_some());
    assert_eq!(outcome(&manifest, "nvidia_smi").0, "partial");
}

#[test]
fn what_a_failing_command_says_is_kept_beside_its_output() {
    let desk = Desk::new();
    desk.stub(
        "nvidia-smi",
        "echo NVIDIA-SMI has failed; echo more >&2; exit 9",
    );
    desk.on_machine(&["--only", "nvidia_smi"]);
    let bundle = desk.bundle();
    let node = manifest(&bundle).node;
    assert_eq!(
        text(&bundle, &format!("nodes/{node}/commands/nvidia-smi.out")),
        "NVIDIA-SMI has failed\n"
    );
    assert_eq!(
        text(&bundle, &format!("nodes/{node}/commands/nvidia-smi.err")),
        "more\n"
    );
    assert!(notes(&manifest(&bundle), "nvidia_smi").contains("exit code 9: more"));
}

/// A machine without a controller is whole without its events; one whose controller does not answer is not.
#[test]
fn a_part_that_is_not_there_is_told_from_one_that_fails() {
    let ended = |says: &str| {
        let desk = Desk::new();
        let said = format!("case $1 in sel) echo '{says}' >&2; exit 1 ;; esac; echo fine");
        desk.stub("ipmitool", &said);
        for other in [
            "dmidecode",
            "edac-util",
            "nvme",
            "ras-mc-ctl",
            "sensors",
            "lspci",
        ] {
            desk.stub(other, "echo '{}'");
        }
        desk.on_machine(&["--only", "hardware"]);
        let manifest = manifest(&desk.bundle());
        (
            outcome(&manifest, "hardware").0,
            notes(&manifest, "hardware"),
        )
    };
    let (word, said) = ended("Could not open device at /dev/ipmi0 or /dev/ipmi/0: No such file");
    assert_eq!(word, "collected", "{said}");
    assert!(said.contains("Could not open device"), "{said}");
    let (word, said) = ended("Error: Unable to establish IPMI v2 / RMCP+ session");
    assert_eq!(word, "partial", "{said}");
    assert!(said.contains("Unable to establish"), "{said}");
}
