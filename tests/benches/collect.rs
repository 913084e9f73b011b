//! `cargo bench -p casefile-tests --bench collect`: the collector against a server with 5,000 pods, 10,000 events, 200
//! nodes and 1,000 logs, and `kubectl get -A -o json` of the same kinds against the same server. Prints wall times,
//! their ratio, requests and peak memory.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, ensure};
use casefile_tests::bins;
use casefile_tests::recording::User;
use casefile_tests::replay::big::{Big, Counts};
use casefile_tests::replay::{Credential, Faults, Server};
use nix::sys::resource::{UsageWho, getrusage};

const RUNS: usize = 3;
const COUNTS: Counts = Counts {
    pods: 5_000,
    events: 10_000,
    nodes: 200,
    troubled: 1_000,
};
/// Asks this program to run a command once and print its peak memory.
const MEASURE: &str = "--peak-memory-of";

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(at) = args.iter().position(|arg| arg == MEASURE) {
        let command = &args[at + 1..];
        seconds(Command::new(&command[0]).args(&command[1..]))?;
        println!("{}", getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss());
        return Ok(());
    }
    let collector = collector()?;
    let big = Big::new(COUNTS);
    println!("server: {COUNTS:?}, {} MiB of objects", big.bytes() >> 20);
    let server = Server::start(big, "127.0.0.1:0".parse()?, Faults::default())?;
    let folder = tempfile::tempdir()?;
    let kubeconfig = folder.path().join("kubeconfig");
    std::fs::write(
        &kubeconfig,
        server.kubeconfig(User::Admin, Credential::Certificate),
    )?;

    let mut kubectl = f64::MAX;
    for _ in 0..RUNS {
        let mut command = Command::new("kubectl");
        command
            .arg("--kubeconfig")
            .arg(&kubeconfig)
            .arg("--cache-dir")
            .arg(folder.path().join("cache"))
            .args(["get", "pods,events,nodes", "-A", "-o", "json"]);
        kubectl = kubectl.min(seconds(&mut command).context("kubectl is needed")?);
    }
    println!("kubectl get pods,events,nodes -A -o json: {kubectl:.2} s");
    for (what, only) in [
        ("the same objects", "cluster_objects,cluster_events"),
        (
            "objects and 1,000 logs",
            "cluster_objects,cluster_events,cluster_pod_logs",
        ),
    ] {
        let mut best = f64::MAX;
        let mut requests = 0;
        for _ in 0..RUNS {
            let before = server.requests().len();
            best = best.min(seconds(&mut collect(
                &collector,
                &kubeconfig,
                only,
                folder.path(),
            ))?);
            requests = server.requests().len() - before;
        }
        let peak = peak(&collect(&collector, &kubeconfig, only, folder.path()))?;
        println!(
            "casefile-collector, {what}: {best:.2} s ({:.2} of kubectl), {requests} requests, peak memory {} MiB",
            best / kubectl,
            peak / 1024
        );
    }
    Ok(())
}

fn collect(collector: &Path, kubeconfig: &Path, only: &str, folder: &Path) -> Command {
    let bundle = folder.join("bundle.tar.gz");
    // The collector overwrites nothing; the first run finds none.
    let _ = std::fs::remove_file(&bundle);
    let mut command = Command::new(collector);
    command
        .arg("--kubeconfig")
        .arg(kubeconfig)
        .args(["--only", only, "--progress", "none", "-o"])
        .arg(bundle);
    command
}

/// The collector as a release hands it out, or the binary of `CASEFILE_COLLECTOR`; `cargo bench` does not build other
/// crates' binaries.
fn collector() -> anyhow::Result<PathBuf> {
    if let Some(given) = std::env::var_os("CASEFILE_COLLECTOR") {
        return Ok(PathBuf::from(given));
    }
    let built = Command::new(env!("CARGO"))
        .args([
            "build",
            "--profile",
            "dist",
            "--quiet",
            "-p",
            "casefile-collector",
        ])
        .current_dir(bins::checkout())
        .status()?;
    ensure!(built.success(), "the collector does not build");
    let path = bins::folder().with_file_name("dist").join(bins::COLLECTOR);
    ensure!(path.exists(), "{} is missing", path.display());
    Ok(path)
}

fn seconds(command: &mut Command) -> anyhow::Result<f64> {
    let clock = Instant::now();
    let status = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .with_context(|| format!("{command:?}"))?;
    // 4: something is missing, here whatever a made-up server does not have.
    ensure!(
        matches!(status.code(), Some(0 | 4)),
        "{command:?}: {status}"
    );
    Ok(clock.elapsed().as_secs_f64())
}

/// Peak memory in KiB.
fn peak(command: &Command) -> anyhow::Result<i64> {
    let measured = Command::new(std::env::current_exe()?)
        .arg(MEASURE)
        .arg(command.get_program())
        .args(command.get_args())
        .output()?;
    String::from_utf8(measured.stdout)?
        .trim()
        .parse()
        .context("peak memory")
}
