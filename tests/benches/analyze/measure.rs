//! Runs of a command: wall time, processor time, peak memory.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use nix::sys::resource::{UsageWho, getrusage};

/// Runs of each kind; the median counts.
pub(crate) const RUNS: usize = 3;

/// Asks this program to run a command once and print its peak memory: a process' children share one
/// high-water mark, and the compiler was a child too.
pub(crate) const MEASURE: &str = "--peak-memory-of";

/// What one run took, in seconds.
#[derive(Clone, Copy)]
pub(crate) struct Took {
    pub(crate) wall: f64,
    /// User and system time together, which other programs on the machine disturb less.
    pub(crate) processor: f64,
}

/// Both in turns, so that what else the machine does strikes both; the run whose ratio of wall times is the median.
pub(crate) struct Turns {
    pub(crate) analyze: Took,
    pub(crate) gzip: Took,
}

impl Turns {
    /// Diagnoses a packed input and inflates it.
    pub(crate) fn of(analyzer: &Path, packed: &Path) -> anyhow::Result<Self> {
        Self::between(analyzer, packed, packed)
    }

    /// The same for an input that is packed elsewhere for comparison.
    pub(crate) fn between(analyzer: &Path, input: &Path, packed: &Path) -> anyhow::Result<Self> {
        let mut runs = Vec::new();
        for _ in 0..RUNS {
            let gzip = took(Command::new("gzip").arg("-dc").arg(packed))?;
            let analyze = took(&mut diagnose(analyzer, input))?;
            runs.push(Self { analyze, gzip });
        }
        let ratio = |turns: &Self| turns.analyze.wall / turns.gzip.wall;
        runs.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
        Ok(runs.swap_remove(RUNS / 2))
    }

    /// One line of figures.
    pub(crate) fn print(&self) -> String {
        let Self { analyze, gzip } = self;
        format!(
            "{:.2} s against {:.2} s of gzip -dc, ratio {:.2}; processor {:.2} s against {:.2} s, ratio {:.2}",
            analyze.wall,
            gzip.wall,
            analyze.wall / gzip.wall,
            analyze.processor,
            gzip.processor,
            analyze.processor / gzip.processor
        )
    }
}

/// The command that diagnoses an input.
pub(crate) fn diagnose(analyzer: &Path, input: &Path) -> Command {
    let mut command = Command::new(analyzer);
    command.args(["diagnose", "--format", "json"]).arg(input);
    command
}

/// Runs a command to its end.
pub(crate) fn took(command: &mut Command) -> anyhow::Result<Took> {
    let used = || -> anyhow::Result<f64> {
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
        let both = [usage.user_time(), usage.system_time()];
        let micros = both.map(|time| time.tv_sec() * 1_000_000 + time.tv_usec());
        let micros = u64::try_from(micros.iter().sum::<i64>())?;
        Ok(Duration::from_micros(micros).as_secs_f64())
    };
    let (before, start) = (used()?, Instant::now());
    let status = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(Took {
        wall: start.elapsed().as_secs_f64(),
        processor: used()? - before,
    })
}

/// The peak memory of a command in MiB.
pub(crate) fn peak(command: &Command) -> anyhow::Result<i64> {
    let measured = Command::new(std::env::current_exe()?)
        .arg(MEASURE)
        .arg(command.get_program())
        .args(command.get_args())
        .output()?;
    let peak = String::from_utf8(measured.stdout)?;
    Ok(peak.trim().parse::<i64>().context("peak memory")? / 1024)
}

/// The folder that cargo builds into.
pub(crate) fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    target.unwrap_or_else(|| casefile_tests::bins::checkout().join("target"))
}
