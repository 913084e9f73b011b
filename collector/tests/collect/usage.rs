//! What may be asked, and what would be done.

use std::fs;

use crate::desk::{Desk, entry, manifest, outcome, stderr};

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
