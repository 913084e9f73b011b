//! `cargo bench -p casefile-tests --bench analyze`: analyses generated bundles and real captures against `gzip -dc` of the
//! same bytes in the same run, and prints medians: wall and processor times, their ratios, peak memory, the rules' share,
//! what ten times the faults cost, and the cost of a byte over sizes.
//!
//! `CASEFILE_BENCH_MIB` sets the size of our own bundles, and the largest of the sizes; data is kept under `target/bench/` and
//! made once. `CASEFILE_BENCH_ANALYZER` names a program that is measured instead of the one that is built.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints its figures"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::ensure;
use nix::sys::resource::{UsageWho, getrusage};

#[path = "analyze/bundle.rs"]
mod bundle;
#[path = "analyze/captures.rs"]
mod captures;
#[path = "analyze/foreign.rs"]
mod foreign;
#[path = "analyze/measure.rs"]
mod measure;
#[path = "analyze/share.rs"]
mod share;

use measure::{MEASURE, Turns, diagnose, peak, target, took};

/// Seeds of our own generator.
const SEEDS: [u64; 3] = [0, 11, 4711];

/// Sizes over which the cost of a byte is told, in MiB; those above the size of the bundles are left out.
const SIZES: [u64; 5] = [10, 100, 1024, 4096, 10_240];

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some([_, program, rest @ ..]) = args
        .iter()
        .position(|arg| arg == MEASURE)
        .map(|at| &args[at..])
    {
        took(Command::new(program).args(rest))?;
        println!("{}", getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss());
        return Ok(());
    }
    let mib: u64 = std::env::var("CASEFILE_BENCH_MIB")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1024);
    let analyzer = analyzer()?;
    for seed in SEEDS {
        let bundle = bundle::bundle(mib, seed)?;
        let turns = Turns::of(&analyzer, &bundle)?;
        let peak = peak(&diagnose(&analyzer, &bundle))?;
        println!(
            "own data of {mib} MiB, seed {seed}: {}, peak {peak} MiB",
            turns.print()
        );
    }
    let bundle = bundle::bundle(mib, SEEDS[0])?;
    report(&analyzer, &bundle)?;
    share::print(&bundle)?;
    sizes(&analyzer, mib)?;
    captures::print(&analyzer)?;
    foreign::print(&analyzer)
}

/// Prints what a MiB costs in bundles of several sizes.
fn sizes(analyzer: &Path, most: u64) -> anyhow::Result<()> {
    for mib in SIZES.into_iter().filter(|mib| *mib <= most) {
        let bundle = bundle::bundle(mib, SEEDS[0])?;
        let Turns { analyze, .. } = Turns::of(analyzer, &bundle)?;
        println!(
            "{mib} MiB: {:.2} s of processor time, {:.2} ms a MiB",
            analyze.processor,
            analyze.processor * 1000.0 / mib as f64
        );
    }
    Ok(())
}

/// Renders the whole report of the bundle and prints its time, memory and sizes.
fn report(analyzer: &Path, bundle: &Path) -> anyhow::Result<()> {
    let out = target().join("bench/report");
    let mut command = Command::new(analyzer);
    command.arg("report").arg(bundle).arg("-o").arg(&out);
    let time = took(&mut command)?;
    let peak = peak(&command)?;
    println!(
        "report: {:.2} s, {:.2} s of processor time, {peak} MiB",
        time.wall, time.processor
    );
    for name in ["report.html", "report.md", "report.json"] {
        let size = fs::metadata(out.join(name))?.len();
        println!("{name:<27} {} KiB", size >> 10);
        ensure!(
            name != "report.html" || size < 3 << 20,
            "the report is too large to be opened with ease"
        );
    }
    Ok(())
}

/// The analyzer as a release hands it out; `cargo bench` does not build other crates' binaries.
fn analyzer() -> anyhow::Result<PathBuf> {
    if let Some(built) = std::env::var_os("CASEFILE_BENCH_ANALYZER") {
        return Ok(built.into());
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args([
            "build",
            "--profile",
            "dist",
            "--quiet",
            "--workspace",
            "--bins",
        ])
        .current_dir(casefile_tests::bins::checkout())
        .status()?;
    ensure!(built.success(), "the analyzer does not build");
    Ok(target().join("dist/casefile-analyzer"))
}
