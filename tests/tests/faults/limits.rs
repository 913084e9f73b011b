//! Limits of size.

use std::process::Command;
use std::time::{Duration, Instant};

use casefile_bundle::Outcome;
use casefile_tests::recording::User;
use casefile_tests::replay::big::{Big, Counts};
use casefile_tests::replay::{Credential, Faults, Server};

use crate::desk::{Desk, Row, Seen};
use crate::lab::{Memory, Pids};

pub(crate) const ROWS: &[Row] = &[
    Row {
        fault: "log larger than --max-size",
        run: small_bundle,
    },
    Row {
        fault: "log larger than --source-max-size",
        run: small_source,
    },
    Row {
        fault: "pod log larger than the limit, API down",
        run: pod_log,
    },
    Row {
        fault: "room for 1 to 12 processes (pids.max)",
        run: few_processes,
    },
    Row {
        fault: "64 MiB of memory, a cluster of 5,000 pods",
        run: little_memory,
    },
    Row {
        fault: "contradictory limits",
        run: contradiction,
    },
];

const LAST: &str = "the newest line";

fn log(bytes: usize) -> String {
    let mut text =
        "Jan  1 00:00:00 gpu-1 kernel: an old line of which there are many\n".repeat(bytes / 66);
    text.push_str("Jan  2 00:00:00 gpu-1 kernel: NVRM: Xid 79, ");
    text.push_str(LAST);
    text.push('\n');
    text
}

fn newest(args: &[&str]) -> Result<Seen, String> {
    let desk = Desk::new();
    desk.file("/etc/os-release", "ID=ubuntu\n");
    desk.file("/var/log/kern.log", log(3 << 20));
    let ran = desk.on_tree(&[&["--only", "journal,host_info"][..], args].concat());
    let bundle = ran.bundle();
    let kept = bundle.content("/var/log/kern.log");
    assert!(
        kept.contains(LAST) && kept.len() < 1 << 20,
        "{} bytes",
        kept.len()
    );
    let why = bundle.cut("/var/log/kern.log").unwrap();
    let mut seen = bundle.row(
        &ran,
        "journal",
        &[Outcome::Partial],
        "",
        &["/etc/os-release"],
    )?;
    seen.said = format!("journal partial: kern.log: {why}");
    Ok(seen)
}

fn small_bundle() -> Result<Seen, String> {
    newest(&["--max-size", "512KiB"])
}

fn small_source() -> Result<Seen, String> {
    newest(&["--source-max-size", "256KiB"])
}

fn pod_log() -> Result<Seen, String> {
    let desk = Desk::new();
    desk.file("/etc/os-release", "ID=ubuntu\n");
    let mut text = "2026-01-01T00:00:00Z stdout F old\n".repeat(30_000);
    text.push_str("2026-01-02T00:00:00Z stdout F the newest line\n");
    desk.file(
        "/var/log/pods/kube-system_coredns-0_1-2/coredns/0.log",
        text,
    );
    let ran = desk.on_tree(&[
        "--only",
        "cluster_pod_logs,host_info",
        "--source-max-size",
        "100KiB",
    ]);
    let bundle = ran.bundle();
    let end = "logs/kube-system/coredns-0/coredns.log";
    let kept = bundle.content(end);
    assert!(kept.contains(LAST) && kept.len() <= 100 << 10);
    let why = bundle.cut(end).unwrap();
    let mut seen = bundle.row(
        &ran,
        "cluster_pod_logs",
        &[Outcome::Partial],
        "",
        &["/etc/os-release"],
    )?;
    seen.said = format!("cluster_pod_logs partial: coredns.log: {why}");
    Ok(seen)
}

/// Below what it needs it says so and ends; above, there is a bundle, whatever commands could not be started.
fn few_processes() -> Result<Seen, String> {
    let mut bundles = 0;
    let clock = Instant::now();
    let limits = [1, 2, 3, 4, 5, 6, 7, 8, 12, 20];
    for most in limits {
        let cgroup = Pids::new(most)?;
        let desk = Desk::new();
        let begun = Instant::now();
        let mut command = desk.command(&["--only", "host_info,network,containerd_config"]);
        let program = command.get_program().to_owned();
        let args: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        let script = format!("echo $$ > {} && exec \"$@\"", cgroup.procs());
        command = Command::new("/bin/sh");
        command.args(["-c", &script, "sh"]).arg(program).args(args);
        command.current_dir(desk.path("out")).env_clear();
        let ran = desk.ran(command.output().unwrap(), begun);
        assert!(ran.took < Duration::from_secs(30), "{most}: {ran:?}");
        assert!(!ran.stderr.contains("panicked"), "{most}: {ran:?}");
        if ran.code == Some(3) {
            assert!(
                ran.stderr.contains("pids.max") && ran.files.is_empty(),
                "{most}: {ran:?}"
            );
        } else {
            assert!(ran.bundle().has("/proc/meminfo"), "{most}: {ran:?}");
            bundles += 1;
        }
    }
    assert!(bundles >= 4, "{bundles}: {limits:?}");
    Ok(Seen {
        said: "cannot start: ... more threads can be started, and 5 are needed (pids.max of the cgroup)"
            .to_owned(),
        rest: format!("a bundle for {bundles} of {limits:?}"),
        took: clock.elapsed(),
    })
}

fn contradiction() -> Result<Seen, String> {
    Desk::new()
        .on_tree(&["--max-size", "1MiB", "--source-max-size", "2MiB"])
        .refused(
            2,
            "--source-max-size (2097152) must be above 0 and not above --max-size",
        )
}

/// As little memory as a pod may be given.
fn little_memory() -> Result<Seen, String> {
    const MOST: u64 = 64 << 20;
    let cgroup = Memory::new(MOST)?;
    let big = Big::new(Counts {
        pods: 5_000,
        events: 10_000,
        nodes: 200,
        troubled: 500,
    });
    let server = Server::start(big, "127.0.0.1:0".parse().unwrap(), Faults::default()).unwrap();
    let desk = Desk::new();
    let file = desk.path("kubeconfig");
    std::fs::write(&file, server.kubeconfig(User::Admin, Credential::Token)).unwrap();
    let only = "cluster_objects,cluster_events,cluster_pod_logs,host_info";
    let begun = Instant::now();
    let inner = desk.command(&["--kubeconfig", file.to_str().unwrap(), "--only", only]);
    let script = format!("echo $$ > {} && exec \"$@\"", cgroup.procs());
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &script, "sh"]).arg(inner.get_program());
    command.args(inner.get_args()).env_clear();
    command.current_dir(desk.path("out"));
    let ran = desk.ran(command.output().unwrap(), begun);
    let bundle = ran.bundle();
    let pods = bundle.manifest.entries.iter();
    let pods = pods.filter(|entry| entry.path.as_str().contains("cluster-resources/pods/"));
    assert!(pods.count() > 0, "{:?}", bundle.manifest);
    let whole = &[Outcome::Collected, Outcome::Partial];
    let mut seen = bundle.row(&ran, "cluster_pod_logs", whole, "", &["/proc/meminfo"])?;
    let peak = cgroup.peak().map_or_else(
        || "peak unknown".to_owned(),
        |peak| format!("peak {} MiB with what the kernel caches", peak >> 20),
    );
    seen.said = format!("5,000 pods, 10,000 events, 500 logs: {peak}");
    Ok(seen)
}
