//! The resolver against real containerd binaries: generated trees of root files, imports and drop-ins, the
//! effective configuration compared with `containerd -c FILE config dump`, the CRI service with that of a
//! running daemon, and the handler check with a sandbox request over CRI.
//!
//! Binaries come from `CASEFILE_CONTAINERD_BINS` (paths joined by colons) or `containerd` on the path; without
//! any the tests skip. `CASEFILE_CONTAINERD_TREES` sets the number of trees for each binary,
//! `CASEFILE_CONTAINERD_DAEMONS` that of daemons that are started, `CASEFILE_CONTAINERD_SANDBOXES` that of
//! trees whose handlers are asked for.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of a test stop it where they cannot go on, and print what they counted"
)]

mod corpus;
mod daemon;
mod dump;
mod sandbox;
mod trees;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use casefile_sim_node::containerd::{
    Answer, EffectiveConfig, MapTree, RootFile, Starts, cri_view, parse, resolve,
};

use daemon::{Daemon, last_word};
use dump::{Outcome, compare, facts_of_dump};
use trees::{Dice, write_tree};

fn binaries() -> Vec<PathBuf> {
    if let Ok(list) = std::env::var("CASEFILE_CONTAINERD_BINS") {
        return list
            .split(':')
            .filter(|path| !path.is_empty())
            .map(PathBuf::from)
            .collect();
    }
    runs("containerd")
        .then(|| PathBuf::from("containerd"))
        .into_iter()
        .collect()
}

fn runs(program: &str) -> bool {
    let out = Command::new(program).arg("--version").output();
    out.is_ok_and(|out| out.status.success())
}

fn version_of(binary: &Path) -> String {
    let out = Command::new(binary)
        .arg("--version")
        .output()
        .expect("binary runs");
    String::from_utf8_lossy(&out.stdout).trim().to_owned()
}

fn number(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A generated tree on disk, and what we make of it.
struct Case {
    dir: tempfile::TempDir,
    root: String,
    config: EffectiveConfig,
}

fn case(seed: u64, version: &str) -> Case {
    let mut dir = tempfile::tempdir().unwrap();
    dir.disable_cleanup(std::env::var_os("CASEFILE_KEEP_TREES").is_some());
    let mut tree = MapTree::whole();
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let root = write_tree(&mut dice, dir.path(), &mut tree);
    let file = RootFile {
        path: &root,
        explicit: true,
    };
    let config = resolve(&tree, file, Some(version));
    Case { dir, root, config }
}

/// Prints what differs and fails where anything does.
fn verdict(what: &str, differs: &[String]) {
    for line in differs {
        println!("  {line}");
    }
    assert!(differs.is_empty(), "{} {what} differ", differs.len());
}

#[test]
fn effective_configurations_equal_those_of_real_containerds() {
    let binaries = binaries();
    if binaries.is_empty() {
        println!("skipped: no containerd on the path and CASEFILE_CONTAINERD_BINS is not set");
        return;
    }
    let trees = number("CASEFILE_CONTAINERD_TREES", 60);
    let mut all = Vec::new();
    for binary in binaries {
        let version = version_of(&binary);
        let defaults = built_in(&binary, &version);
        let (mut equal, mut explained, mut refused) = (0, BTreeMap::<&str, u64>::new(), 0);
        let mut differs = Vec::new();
        for seed in 1..=trees {
            let case = case(seed, &version);
            refused += u64::from(case.config.starts() == Starts::No);
            match compare(&binary, &case.root, &case.config, &defaults) {
                Outcome::Equal => equal += 1,
                Outcome::Explained(why) => *explained.entry(why).or_default() += 1,
                Outcome::Differs(how) => differs.push(format!("seed {seed}: {how}")),
            }
        }
        let known: u64 = explained.values().sum();
        println!(
            "{version}\n  {trees} trees, {equal} equal, {known} explained, {} differ; {refused} refused",
            differs.len()
        );
        for (why, count) in explained {
            println!("  {count} x {why}");
        }
        all.extend(differs);
    }
    verdict("trees", &all);
}

/// The facts of `containerd config default`.
fn built_in(binary: &Path, version: &str) -> dump::Facts {
    let out = Command::new(binary)
        .args(["config", "default"])
        .output()
        .expect("binary runs");
    let text = String::from_utf8_lossy(&out.stdout);
    let section = parse::parse(&text, "default", "default").expect("TOML");
    facts_of_dump(&section, version.contains(" 1."))
}

/// The binaries to start as daemons, and how many trees of each; none where that cannot be done here.
fn daemons(variable: &str) -> Option<(Vec<PathBuf>, u64)> {
    let binaries = binaries();
    let count = number(variable, 0);
    let can = !binaries.is_empty() && runs("ctr") && count > 0;
    if !can {
        println!(
            "skipped: needs containerd, ctr, root and {variable}=N to start N daemons of each"
        );
    }
    can.then_some((binaries, count))
}

#[test]
fn the_cri_service_comes_up_where_we_say_so() {
    let Some((binaries, count)) = daemons("CASEFILE_CONTAINERD_DAEMONS") else {
        return;
    };
    let mut differs = Vec::new();
    for binary in binaries {
        let version = version_of(&binary);
        let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
        for seed in 1..=count {
            let case = case(seed, &version);
            let cri = cri_view(&case.config);
            let starts = case.config.starts() != Starts::No;
            if starts && cri.available == Answer::Unknown {
                *seen.entry("left undecided by us").or_default() += 1;
                continue;
            }
            let ours = starts.then_some(cri.available == Answer::Yes);
            let real = Daemon::start(&binary, &case.root, case.dir.path()).map(|daemon| daemon.cri);
            let name = match real {
                None => "refuses to start",
                Some(false) => "runs without CRI",
                Some(true) => "runs with CRI",
            };
            *seen.entry(name).or_default() += 1;
            if real != ours {
                let problems = case.config.problems.iter().chain(&cri.problems);
                let said: Vec<String> = problems.map(ToString::to_string).collect();
                let line = last_word(case.dir.path());
                differs.push(format!(
                    "{version} seed {seed}: real {real:?}, ours {ours:?}: {line} | {said:?}"
                ));
            }
        }
        println!("{version}\n  {count} daemons: {seen:?}");
    }
    verdict("daemons", &differs);
}

#[test]
fn a_real_sandbox_request_finds_the_handlers_that_we_say_resolve() {
    let Some((binaries, count)) = daemons("CASEFILE_CONTAINERD_SANDBOXES") else {
        return;
    };
    let mut all = Vec::new();
    for binary in binaries {
        let version = version_of(&binary);
        let mut tally = sandbox::Tally::default();
        for seed in 1..=count {
            let case = case(seed, &version);
            let cri = cri_view(&case.config);
            let before = tally.differs.len();
            sandbox::compare(
                &binary,
                &case.root,
                case.dir.path(),
                &case.config,
                &cri,
                &mut tally,
            );
            for line in &mut tally.differs[before..] {
                *line = format!("{version} seed {seed}: {line}");
            }
        }
        println!(
            "{version}\n  {count} trees, {} answers differ",
            tally.differs.len()
        );
        for (what, count) in tally.seen.iter().chain(&tally.explained) {
            println!("  {count} x {what}");
        }
        all.extend(tally.differs);
    }
    verdict("answers", &all);
}
