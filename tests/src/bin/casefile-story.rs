//! `casefile-story`: makes the real refusals of the model incident, and its journal from what was printed.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use casefile_tests::cri::run_pod_sandbox;
use casefile_tests::story::{Captured, State, attempts, journal};
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Parts of the model incident")]
struct Options {
    #[command(subcommand)]
    part: Part,
}

#[derive(Subcommand)]
enum Part {
    /// Asks a runtime for each sandbox of the story; prints its answers, one a line
    Ask { state: String, socket: PathBuf },
    /// Prints the journal in the export format
    Journal {
        state: String,
        /// Folder with snap-containerd.log, host-containerd.log, answers, kernel.log and pids
        captured: PathBuf,
    },
}

fn main() -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    match Options::parse().part {
        Part::Ask { state, socket } => {
            for answer in ask(state_of(&state)?, &socket)? {
                writeln!(out, "{answer}")?;
            }
        }
        Part::Journal { state, captured } => {
            let captured = read(&captured)?;
            out.write_all(journal(state_of(&state)?, &captured).export().as_bytes())?;
        }
    }
    Ok(())
}

fn state_of(name: &str) -> anyhow::Result<State> {
    State::of(name).with_context(|| format!("no state is called {name:?}"))
}

fn ask(state: State, socket: &Path) -> anyhow::Result<Vec<String>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut answers = Vec::new();
    for attempt in attempts(state) {
        let outcome = runtime.block_on(run_pod_sandbox(socket, &attempt.pod, "nvidia"))?;
        anyhow::ensure!(outcome.code == 2, "the runtime answered {outcome:?}");
        answers.push(outcome.message);
    }
    Ok(answers)
}

fn read(folder: &Path) -> anyhow::Result<Captured> {
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    let pids: Vec<u32> = text("pids")
        .split_whitespace()
        .filter_map(|pid| pid.parse().ok())
        .collect();
    Ok(Captured {
        snap_containerd: text("snap-containerd.log"),
        host_containerd: text("host-containerd.log"),
        answers: text("answers").lines().map(str::to_owned).collect(),
        kernel: text("kernel.log").lines().map(str::to_owned).collect(),
        pids: pids
            .try_into()
            .map_err(|pids| anyhow::anyhow!("three pids are wanted, not {pids:?}"))?,
    })
}
