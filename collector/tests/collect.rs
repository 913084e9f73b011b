//! The binary as its users meet it: on trees laid out like nodes, with commands that behave badly, and with outputs
//! that cannot be written.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its tree has failed"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use casefile_bundle::{Limits, Manifest, list, read_entry, verify};

const NODE_SOURCES: &str = "certificates,container_runtimes,containerd_config,cri,firewall,host_info,infiniband,journal,kubelet_config,network,nvidia_driver,nvidia_smi,packages,probe";

struct Desk {
    dir: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let desk = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        for name in ["root/etc", "bin", "out"] {
            fs::create_dir_all(desk.path(name)).unwrap();
        }
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.path("root").join(path.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn stub(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Runs against the tree.
    fn on_tree(&self, args: &[&str]) -> Output {
        let root = self.path("root");
        let mut all = vec!["--root", root.to_str().unwrap(), "--progress", "none"];
        all.extend(args);
        self.run(&all)
    }

    /// Runs against this machine, with the stubs before its own commands.
    fn on_machine(&self, args: &[&str]) -> Output {
        let bin = self.path("bin");
        let mut all = vec!["--command-dir", bin.to_str().unwrap(), "--progress", "none"];
        all.extend(args);
        self.run(&all)
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("casefile-collector"));
        command
            .args(args)
            .current_dir(self.path("out"))
            .stdin(Stdio::null());
        command
    }

    /// The only bundle in the output folder.
    fn bundle(&self) -> PathBuf {
        let names: Vec<_> = fs::read_dir(self.path("out"))
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect();
        assert_eq!(names.len(), 1, "{names:?}");
        names[0].clone()
    }
}

fn manifest(bundle: &Path) -> Manifest {
    serde_json::from_slice(&entry(bundle, "manifest.json").unwrap()).unwrap()
}

fn entry(bundle: &Path, path: &str) -> Option<Vec<u8>> {
    read_entry(bundle, &Limits::default(), path, 1 << 20).unwrap()
}

fn text(bundle: &Path, path: &str) -> String {
    let bytes = entry(bundle, path).unwrap_or_else(|| panic!("{path} is missing"));
    String::from_utf8(bytes).unwrap()
}

/// Outcome and reason of a source.
fn outcome(manifest: &Manifest, id: &str) -> (String, String) {
    let source = manifest
        .sources
        .iter()
        .find(|source| source.id == id)
        .unwrap();
    (
        format!("{:?}", source.outcome).to_lowercase(),
        source.why.clone().unwrap_or_default(),
    )
}

fn notes(manifest: &Manifest, id: &str) -> String {
    manifest
        .sources
        .iter()
        .find(|source| source.id == id)
        .unwrap()
        .notes
        .join("\n")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

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
    assert!(stdout.starts_with("Collected: "), "{stdout}");
    let file = stdout.lines().find(|line| line.contains(", sha256 "));
    assert!(file.unwrap().ends_with(" failed"), "{stdout}");
    assert!(stdout.contains("\nNext: copy it away"), "{stdout}");
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

#[test]
fn the_size_limit_of_the_bundle_holds() {
    let desk = Desk::new();
    desk.file("/var/log/kern.log", &"x".repeat(300_000));
    desk.on_tree(&["--only", "journal,host_info", "--max-size", "64KiB"]);
    let manifest = manifest(&desk.bundle());
    let total: u64 = manifest
        .entries
        .iter()
        .filter(|e| e.path.as_str().contains("/rootfs/") || e.path.as_str().contains("/commands/"))
        .map(|e| e.bytes)
        .sum();
    assert!(total <= 64 << 10, "{total}");
    assert!(manifest.entries.iter().any(|e| e.truncated.is_some()));
}

#[test]
fn an_interrupted_run_finishes_its_bundle() {
    let desk = Desk::new();
    desk.stub("nvidia-smi", "sleep 600");
    let bin = desk.path("bin");
    let only = [
        "--command-dir",
        bin.to_str().unwrap(),
        "--only",
        "nvidia_smi,host_info",
        "--progress",
        "none",
    ];
    let child = desk.command(&only).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    let bundle = desk.bundle();
    assert!(verify(&bundle, &Limits::default()).unwrap().is_clean());
    assert_eq!(
        manifest(&bundle).interrupted.as_deref(),
        Some("interrupted (SIGINT)")
    );
}

#[test]
fn a_killed_run_leaves_a_readable_partial_file() {
    let desk = Desk::new();
    desk.stub("nvidia-smi", "sleep 600");
    let bin = desk.path("bin");
    let only = [
        "--command-dir",
        bin.to_str().unwrap(),
        "--only",
        "nvidia_smi,host_info",
        "--progress",
        "none",
    ];
    let mut child = desk.command(&only).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(3));
    child.kill().unwrap();
    child.wait().unwrap();
    let left = desk.bundle();
    assert!(left.to_str().unwrap().ends_with(".tar.gz.partial"));
    let (summary, entries) = list(&left, &Limits::default()).unwrap();
    assert!(summary.header.is_some() && summary.manifest.is_none());
    assert!(
        entries
            .iter()
            .any(|e| e.path.as_str().ends_with("/proc/meminfo")),
        "{entries:?}"
    );
}

#[test]
fn standard_output_takes_a_whole_bundle() {
    let desk = Desk::new();
    let output = desk.on_tree(&["-o", "-", "--only", "host_info"]);
    let file = desk.path("out/from-stdout.tar.gz");
    fs::write(&file, &output.stdout).unwrap();
    assert!(verify(&file, &Limits::default()).unwrap().is_clean());
    assert!(stderr(&output).contains("sha256"));
}

#[test]
fn an_output_that_cannot_be_written_is_found_before_anything_runs() {
    let desk = Desk::new();
    desk.stub(
        "nvidia-smi",
        &format!("touch {}", desk.path("ran").display()),
    );
    for output in ["/nonexistent/x.tar.gz", "/proc/x.tar.gz"] {
        let run = desk.on_machine(&["-o", output, "--only", "nvidia_smi"]);
        assert_eq!(run.status.code(), Some(3), "{}", stderr(&run));
        assert!(
            stderr(&run).contains(output) && stderr(&run).contains("-o PATH"),
            "{}",
            stderr(&run)
        );
    }
    assert!(!desk.path("ran").exists());
}

#[test]
fn a_name_that_is_taken_is_refused_and_what_is_there_stays() {
    let desk = Desk::new();
    let earlier = desk.path("out/earlier.tar.gz");
    let cut = desk.path("out/cut.tar.gz");
    let unfinished = desk.path("out/cut.tar.gz.partial");
    let link = desk.path("out/link");
    fs::write(&earlier, "earlier").unwrap();
    fs::write(&unfinished, "unfinished").unwrap();
    // A device would be replaced by a file as this link would be.
    std::os::unix::fs::symlink("/dev/null", &link).unwrap();
    for (output, named) in [(&earlier, &earlier), (&cut, &unfinished), (&link, &link)] {
        let run = desk.on_tree(&["-o", output.to_str().unwrap(), "--only", "host_info"]);
        assert_eq!(run.status.code(), Some(3), "{}", stderr(&run));
        let said = format!("cannot write {}: it is there already", named.display());
        assert!(stderr(&run).contains(&said), "{}", stderr(&run));
    }
    assert_eq!(fs::read_to_string(&earlier).unwrap(), "earlier");
    assert_eq!(fs::read_to_string(&unfinished).unwrap(), "unfinished");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink() && !cut.exists());
}

#[test]
fn wrong_usage_ends_with_2_and_says_what_would_be_right() {
    let desk = Desk::new();
    for (args, said) in [
        (&["--only", "ufw"][..], "the sources are certificates, "),
        (&["--skip", "nothing"], "there is no such source"),
        (
            &["--timeout", "5s", "--source-timeout", "9s"],
            "longer than --timeout",
        ),
        (&["--root", "/nonexistent"], "--root /nonexistent"),
        (
            &["--chroot", desk.path("out").to_str().unwrap()],
            "holds no system",
        ),
        (
            &["--cluster-only", "--only", "journal"],
            "no source is left to collect: journal (--cluster-only",
        ),
        (&["--namespace", "Team A"], "--namespace \"Team A\""),
        (&["--max-size", "many"], "no size"),
        (&["--frobnicate"], "--frobnicate"),
    ] {
        let run = desk.run(args);
        assert_eq!(run.status.code(), Some(2), "{args:?}: {}", stderr(&run));
        assert!(stderr(&run).contains(said), "{args:?}: {}", stderr(&run));
    }
    assert_eq!(fs::read_dir(desk.path("out")).unwrap().count(), 0);
}

#[test]
fn the_plan_names_files_and_commands_and_runs_none() {
    let desk = Desk::new();
    desk.stub(
        "nvidia-smi",
        &format!("touch {}", desk.path("ran").display()),
    );
    let bin = desk.path("bin");
    let run = desk.run(&[
        "plan",
        "--format",
        "json",
        "--command-dir",
        bin.to_str().unwrap(),
        "--skip",
        "journal",
    ]);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let plan: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    let source = |id: &str| {
        plan["sources"]
            .as_array()
            .unwrap()
            .iter()
            .find(|s| s["id"] == id)
            .unwrap()
            .clone()
    };
    let smi = source("nvidia_smi").to_string();
    assert!(
        smi.contains(&format!("{} -q -x", bin.join("nvidia-smi").display())),
        "{smi}"
    );
    assert!(
        source("containerd_config")
            .to_string()
            .contains("/etc/containerd/config.toml")
    );
    assert_eq!(source("journal")["not_run"], "named by --skip");
    assert!(!desk.path("ran").exists());
}

#[test]
fn a_probe_is_off_unless_asked_for_and_the_plan_names_every_target() {
    let desk = Desk::new();
    let plan = |args: &[&str]| {
        let mut all = vec!["plan", "--format", "json"];
        all.extend(args);
        let run = desk.run(&all);
        assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
        let plan: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        let sources = plan["sources"].as_array().unwrap();
        sources
            .iter()
            .find(|source| source["id"] == "probe")
            .unwrap()
            .clone()
    };
    let off = plan(&[]);
    assert_eq!(off["not_run"], "not asked for: --probe asks for it");
    assert_eq!(off["items"].as_array().unwrap().len(), 0);
    let on = plan(&["--probe"]);
    assert!(on["not_run"].is_null());
    assert!(on["items"].to_string().contains("/etc/resolv.conf"), "{on}");

    desk.on_machine(&["--only", "host_info"]);
    let bundle = desk.bundle();
    assert_eq!(outcome(&manifest(&bundle), "probe").0, "skipped");
    let node = manifest(&bundle).node;
    assert!(entry(&bundle, &format!("nodes/{node}/host/probe.json")).is_none());
}

#[test]
fn everything_that_can_be_run_or_asked_is_in_the_plan() {
    let desk = Desk::new();
    let run = desk.run(&["plan"]);
    let text = String::from_utf8_lossy(&run.stdout);
    for part in [
        "dkms status",
        "nvidia-smi -q -x",
        "-j -s -d link",
        "read  /sys/fs/pstore/*",
        "ethtool -k <interface>",
        "read  /var/lib/kubelet/pki/*.pem",
        "--list-boots",
        "read  /proc/sys/net/*/*",
        "docker info",
        "read  /sys/bus/pci/devices/*/aer_dev_fatal",
        "read  /sys/class/infiniband/*/ports/*/state",
        "read  /etc/crio/crio.conf",
        "read  /opt/cni/bin/*",
    ] {
        assert!(text.contains(part), "{part} is not in the plan");
    }
}

#[test]
fn an_empty_node_gives_a_valid_bundle_that_says_so() {
    let desk = Desk::new();
    let output = desk.on_tree(&["--only", NODE_SOURCES]);
    assert_eq!(output.status.code(), Some(4));
    let bundle = desk.bundle();
    assert!(verify(&bundle, &Limits::default()).unwrap().is_clean());
    let manifest = manifest(&bundle);
    for id in NODE_SOURCES.split(',') {
        let (word, why) = outcome(&manifest, id);
        assert!(word == "skipped" && !why.is_empty(), "{id} {word}: {why}");
    }
    assert!(notes(&manifest, "journal").contains("no journal files were found"));
}
