//! Disks of dead nodes: configuration, journals and log files without a running system.

use std::fs;
use std::path::Path;
use std::process::Command;

use casefile_bundle::{Limits, verify};

use crate::desk::{Desk, entry, manifest, notes, outcome, stderr, text};

#[test]
fn a_disk_of_a_dead_node_gives_its_configuration_without_its_secrets() {
    let desk = Desk::new();
    desk.file("/etc/hostname", "gpu-1\n");
    desk.file(
        "/etc/containerd/config.toml",
        "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n",
    );
    desk.file(
        "/etc/containerd/conf.d/99-nvidia.toml",
        "[registry.auth]\n  password = \"hunter2\"\n",
    );
    desk.file(
        "/var/lib/kubelet/config.yaml",
        "kind: KubeletConfiguration\nauthentication:\n  x509: {}\n",
    );
    std::os::unix::fs::symlink("/etc/hostname", desk.path("root/etc/resolv.conf")).unwrap();
    let output = desk.on_tree(&[]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let bundle = desk.bundle();
    assert!(
        bundle
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("casefile-gpu-1-")
    );
    assert!(verify(&bundle, &Limits::default()).unwrap().is_clean());

    let drop_in = text(
        &bundle,
        "nodes/gpu-1/rootfs/etc/containerd/conf.d/99-nvidia.toml",
    );
    assert!(
        !drop_in.contains("hunter2") && drop_in.contains("password = \"<redacted:password:"),
        "{drop_in}"
    );
    // A link with an absolute target means the disk's own file, not this machine's.
    assert_eq!(
        text(&bundle, "nodes/gpu-1/rootfs/etc/resolv.conf"),
        "gpu-1\n"
    );
    let files = text(&bundle, "nodes/gpu-1/files.json");
    let files: serde_json::Value = serde_json::from_str(&files).unwrap();
    let absent = files["files"].as_array().unwrap().iter().find(|file| {
        file["path"] == "/var/snap/k8s/common/etc/containerd/config.toml"
            && file["outcome"] == "absent"
    });
    assert!(absent.is_some(), "{files}");

    let manifest = manifest(&bundle);
    let entry = manifest
        .entries
        .iter()
        .find(|e| e.path.as_str().ends_with("99-nvidia.toml"))
        .unwrap();
    assert_eq!(entry.redactions.get("password"), Some(&1));
    assert_eq!(
        entry.origin.as_deref(),
        Some("/etc/containerd/conf.d/99-nvidia.toml")
    );
    assert_eq!(outcome(&manifest, "containerd_config").0, "collected");
    assert_eq!(outcome(&manifest, "nvidia_smi").0, "skipped");
    assert!(notes(&manifest, "firewall").contains("--root names another machine's files"));
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.starts_with("Bundle    "), "{stdout}");
    assert!(stdout.lines().count() <= 10, "{stdout}");
    assert!(
        stdout.contains(" sources: containerd, kubelet\n"),
        "{stdout}"
    );
    assert!(!stdout.contains("containerd_config"), "{stdout}");
    let line = |begins: &str| {
        stdout
            .lines()
            .filter(|line| line.starts_with(begins))
            .count()
    };
    assert_eq!(
        (line("sha256 "), line("Collected "), line("Next ")),
        (1, 1, 1),
        "{stdout}"
    );
    assert_eq!(
        stdout.matches("--kubeconfig FILE names").count(),
        1,
        "{stdout}"
    );
    assert!(stdout.contains("-> --kubeconfig FILE\n"), "{stdout}");
}

#[test]
fn the_journal_of_a_mounted_disk_is_read() {
    let remote = "/lib/systemd/systemd-journal-remote";
    if !Path::new(remote).exists() {
        println!("skipped: {remote} is not installed");
        return;
    }
    let desk = Desk::new();
    desk.file("/etc/hostname", "gpu-1\n");
    let boot = "0123456789abcdef0123456789abcdef";
    let mut export = String::new();
    for (at, unit, transport, message) in [
        (
            0,
            "kubelet.service",
            "stdout",
            "no runtime for \"nvidia\" is configured password=hunter2",
        ),
        (1, "", "kernel", "[UFW BLOCK] IN=lxc1 OUT=eth0"),
        (2, "ssh.service", "syslog", "not of interest"),
    ] {
        let time = 1_700_000_000_000_000_u64 + at;
        let unit = if unit.is_empty() {
            String::new()
        } else {
            format!("_SYSTEMD_UNIT={unit}\n")
        };
        let fields = [
            format!("__REALTIME_TIMESTAMP={time}\n__MONOTONIC_TIMESTAMP={at}\n_BOOT_ID={boot}\n"),
            format!(
                "_MACHINE_ID={boot}\n_TRANSPORT={transport}\nPRIORITY=4\nMESSAGE={message}\n{unit}\n"
            ),
        ];
        export.push_str(&fields.concat());
    }
    let input = desk.path("export");
    fs::write(&input, export).unwrap();
    let dir = desk.path(&format!("root/var/log/journal/{boot}"));
    fs::create_dir_all(&dir).unwrap();
    let made = Command::new(remote)
        .arg("-o")
        .arg(dir.join("system.journal"))
        .arg(&input)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", stderr(&made));

    desk.on_tree(&["--only", "journal"]);
    let bundle = desk.bundle();
    let kernel = text(&bundle, "nodes/gpu-1/journal/kernel.json");
    assert!(kernel.contains("[UFW BLOCK] IN=lxc1"), "{kernel}");
    let kubelet = text(&bundle, "nodes/gpu-1/journal/kubelet.service.json");
    let record: serde_json::Value = serde_json::from_str(kubelet.lines().next().unwrap()).unwrap();
    let message = record["MESSAGE"].as_str().unwrap();
    assert!(
        message.starts_with("no runtime for \"nvidia\" is configured password=<redacted:"),
        "{message}"
    );
    assert!(entry(&bundle, "nodes/gpu-1/journal/ssh.service.json").is_none());
    assert_eq!(outcome(&manifest(&bundle), "journal").0, "collected");
}

/// A journal file of these records: microseconds after 2026-11-20T00:00:00Z, boot, transport, message.
fn journal_of(desk: &Desk, records: &[(i64, &str, &str, &str)]) -> bool {
    let remote = "/lib/systemd/systemd-journal-remote";
    if !Path::new(remote).exists() {
        let _ = std::io::Write::write_fmt(
            &mut std::io::stderr(),
            format_args!("skipped: {remote} is not installed\n"),
        );
        return false;
    }
    let mut export = String::new();
    for (at, (seconds, boot, transport, message)) in records.iter().enumerate() {
        let time = 1_795_132_800_000_000_i64 + seconds * 1_000_000;
        let fields = [
            format!("__REALTIME_TIMESTAMP={time}\n__MONOTONIC_TIMESTAMP={at}\n_BOOT_ID={boot}\n"),
            format!("_TRANSPORT={transport}\nPRIORITY=4\nMESSAGE={message}\n\n"),
        ];
        export.push_str(&fields.concat());
    }
    let input = desk.path("export");
    fs::write(&input, export).unwrap();
    let dir = desk.path(&format!("root/var/log/journal/{}", "0".repeat(32)));
    fs::create_dir_all(&dir).unwrap();
    let made = Command::new(remote)
        .arg("-o")
        .arg(dir.join("system.journal"))
        .arg(&input)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", stderr(&made));
    true
}

#[test]
fn kernel_messages_of_the_boot_before_are_kept_though_they_are_older_than_asked_for() {
    let desk = Desk::new();
    let (dead, now, old) = ("1".repeat(32), "2".repeat(32), "3".repeat(32));
    let day = 86_400;
    let made = journal_of(
        &desk,
        &[
            (-9 * day, &old, "kernel", "two boots ago"),
            (
                -5 * day,
                &dead,
                "kernel",
                "NVRM: Xid (PCI:0000:07:00): 79, GPU has fallen off the bus",
            ),
            (
                -3 * day,
                &now,
                "kernel",
                "nvidia: loading out-of-tree module taints kernel",
            ),
            (0, &now, "kernel", "just now"),
        ],
    );
    if !made {
        return;
    }
    desk.file(
        "/var/lib/systemd/pstore/7/dmesg.txt",
        "Kernel panic - not syncing\n",
    );
    desk.on_tree(&["--only", "journal", "--since", "24h"]);
    let bundle = desk.bundle();
    let at = |path: &str| text(&bundle, &format!("nodes/unknown-node/{path}"));
    let kernel = at("journal/kernel.json");
    assert!(
        kernel.contains("just now") && !kernel.contains("out-of-tree"),
        "{kernel}"
    );
    assert!(at("journal/kernel-earlier-0.json").contains("out-of-tree"));
    let before = at("journal/kernel-earlier-1.json");
    assert!(
        before.contains("Xid") && !before.contains("two boots ago"),
        "{before}"
    );
    assert!(at("rootfs/var/lib/systemd/pstore/7/dmesg.txt").contains("panic"));
}

#[test]
fn of_a_journal_over_its_share_the_newest_records_are_kept() {
    let desk = Desk::new();
    let boot = "1".repeat(32);
    let long = "x".repeat(2000);
    let messages: Vec<String> = (0..400)
        .map(|at| format!("record-{at:03} {long}"))
        .collect();
    let records: Vec<_> = messages
        .iter()
        .zip(-400..)
        .map(|(message, at)| (at, boot.as_str(), "kernel", message.as_str()))
        .collect();
    if !journal_of(&desk, &records) {
        return;
    }
    desk.on_tree(&["--only", "journal", "--max-size", "256KiB"]);
    let bundle = desk.bundle();
    let kernel = text(&bundle, "nodes/unknown-node/journal/kernel.json");
    assert!(kernel.contains("record-399") && !kernel.contains("record-000"));
    let manifest = manifest(&bundle);
    let entry = manifest
        .entries
        .iter()
        .find(|e| e.path.as_str().ends_with("/kernel.json"))
        .unwrap();
    assert!(
        entry.truncated.as_deref().unwrap().contains("the newest"),
        "{entry:?}"
    );
    assert!(entry.bytes > 100 << 10, "{entry:?}");
}

#[test]
fn a_disk_without_a_journal_gives_the_end_of_its_log_files() {
    let desk = Desk::new();
    desk.file("/var/log/kern.log", "kernel: NVRM: Xid 79\n");
    desk.on_tree(&["--only", "journal"]);
    let bundle = desk.bundle();
    assert_eq!(
        text(&bundle, "nodes/unknown-node/rootfs/var/log/kern.log"),
        "kernel: NVRM: Xid 79\n"
    );
    assert_eq!(outcome(&manifest(&bundle), "journal").0, "partial");
}
