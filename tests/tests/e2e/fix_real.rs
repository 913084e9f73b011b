//! Each kind of change on the real program where one runs here, beside what the replay said: one table.
//!
//! `apply.sh` runs in namespaces of its own, with /etc and /var overlaid, so nothing of the machine changes.

mod api;
mod booted;
mod crio;
mod helm;
mod kinds;
mod rows;
mod templates;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use casefile_catalogue_files::examples::examples;
use casefile_tests::bins;

use crate::fix_cluster;
use crate::support::{Ended, ended, run, skip};
use rows::ROWS;
pub(crate) use rows::Row;

/// `CASEFILE_REAL_ROWS=WORDS` picks rows.
#[test]
fn what_the_replay_says_of_each_kind_is_what_the_real_program_does() {
    let test = "what_the_replay_says_of_each_kind_is_what_the_real_program_does";
    if !namespaces() {
        skip(
            test,
            "needs root and namespaces, for overlays and a firewall",
        );
        return;
    }
    let wanted = std::env::var("CASEFILE_REAL_ROWS").unwrap_or_default();
    let machine = settings();
    let cluster = fix_cluster::runnable();
    let rows: Vec<(&Row, bool)> = ROWS
        .iter()
        .map(|row| (row, false))
        .chain(cluster.iter().map(|row| (row, true)))
        .filter(|(row, _)| row.kind.contains(&wanted) && there(row))
        .collect();
    let mut table = String::from(
        "\n| kind | program | what-if | real | agree | taken back |\n|---|---|---|---|---|---|\n",
    );
    let mut wrong = Vec::new();
    let (of_cluster, of_machine): (Vec<_>, Vec<_>) =
        rows.iter().partition(|(_, of_cluster)| *of_cluster);
    let done = tried_all(&of_machine, 6).into_iter();
    let done = done.chain(tried_all(&of_cluster, 2));
    for ((row, _), [said, real, back]) in of_machine.iter().chain(&of_cluster).zip(done) {
        // Of a step that no replay can show, only the real program tells whether it was made.
        let agree = said == real || said == "needs a runtime step" && real == "gone";
        let _ = writeln!(
            table,
            "| {} | {} | {said} | {real} | {} | {back} |",
            row.kind,
            row.program,
            if agree { "yes" } else { "NO" }
        );
        if !agree || back == "no" && !has_no_way_back(row) {
            wrong.push(row.kind);
        }
    }
    print(&table);
    assert_eq!(machine, settings(), "a setting of the machine was changed");
    assert!(wrong.is_empty(), "{wrong:?}{table}");
}

/// What the replay says of each row, what the real program did, and whether it was taken back. Each row has a folder, namespaces
/// or a server of its own, and those of a machine wait for programs nearly all of the time, so several are tried at once.
fn tried_all(rows: &[(&Row, bool)], at_once: usize) -> Vec<[String; 3]> {
    let next = AtomicUsize::new(0);
    let work = || {
        let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < rows.len());
        std::iter::from_fn(take)
            .map(|at| (at, tried(rows[at].0, rows[at].1)))
            .collect::<Vec<_>>()
    };
    let mut done: Vec<(usize, [String; 3])> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once).map(|_| scope.spawn(work)).collect();
        let done = workers.into_iter().map(|one| one.join().unwrap());
        done.flatten().collect()
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, row)| row).collect()
}

fn tried(row: &Row, on_cluster: bool) -> [String; 3] {
    let folder = tempfile::tempdir().unwrap();
    let mut input = state(row.state, folder.path());
    if on_cluster {
        let redacted = folder.path().join("redacted");
        fix_cluster::with_secrets(&input, &redacted, fix_cluster::PLACEHOLDER);
        input = redacted;
    }
    let said = what_if(row, &input, folder.path());
    let (real, back) = if on_cluster {
        fix_cluster::apply(row, &input, folder.path())
    } else {
        told_by("apart", row, &input, folder.path())
    };
    [said, real, back.to_owned()]
}

/// What has no way back: the file that a restart made take effect was there before, a clock is not set wrong again, an
/// image comes back when a pod pulls it, a pod is made by its controller, and helm does not know what was changed beside it.
pub(crate) fn has_no_way_back(row: &Row) -> bool {
    let kinds = [
        "restart",
        "time-service",
        "image-removal",
        "pod-restart",
        "helm-again",
        "claim-size",
    ];
    kinds.iter().any(|kind| row.kind.starts_with(kind))
}

pub(crate) fn print(text: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// The machine's kernel settings, as far as nobody else changes them meanwhile.
fn settings() -> BTreeMap<PathBuf, String> {
    let folders = [
        "vm",
        "kernel",
        "fs",
        "fs/inotify",
        "net/ipv4",
        "net/ipv4/conf/all",
    ];
    // The kernel moves these by itself.
    let restless = ["ns_last_pid", "tainted", "perf_event_max_sample_rate"];
    let files = folders.iter().filter_map(|folder| {
        let folder = Path::new("/proc/sys").join(folder);
        std::fs::read_dir(folder).ok()
    });
    let paths = files.flatten().map(|file| file.unwrap().path());
    let set = paths.filter(|path| {
        let mode = |data: std::fs::Metadata| data.permissions().mode();
        path.is_file()
            && path.metadata().is_ok_and(|data| mode(data) & 0o200 != 0)
            && !restless.iter().any(|name| path.ends_with(name))
    });
    let read = set.filter_map(|path| {
        let text = std::fs::read_to_string(&path).ok()?;
        Some((path, text))
    });
    read.collect()
}

/// A containerd 2 among those that `CASEFILE_CONTAINERD_BINS` names; Debian 12 has none.
fn containerd2() -> Option<String> {
    let all = std::env::var("CASEFILE_CONTAINERD_BINS").ok()?;
    let second = |path: &&str| {
        let asked = Command::new(path).arg("--version").output();
        asked.is_ok_and(|said| String::from_utf8_lossy(&said.stdout).contains("/v2 "))
    };
    all.split(':').find(second).map(str::to_owned)
}

/// Whether the program of a row is installed.
fn there(row: &Row) -> bool {
    if row.program == "containerd 2" && containerd2().is_none() {
        skip(row.kind, "CASEFILE_CONTAINERD_BINS names no containerd 2");
        return false;
    }
    let program = row.program.split([' ', ',']).next().unwrap_or_default();
    let needs_it = [
        "iptables",
        "iptables-nft",
        "iptables-legacy",
        "containerd",
        "dockerd",
        "ufw",
        "systemd-analyze",
        "kubectl",
        "firewall-cmd",
        "nft",
        "ethtool",
        "nvidia-ctk",
        "crictl",
    ]
    .contains(&program);
    let found = Command::new("which")
        .arg(program)
        .output()
        .is_ok_and(|output| output.status.success());
    if needs_it && !found {
        skip(row.kind, &format!("needs {program}"));
    }
    !needs_it || found
}

fn namespaces() -> bool {
    Command::new("unshare")
        .args(["--mount", "--net", "--uts", "--fork", "true"])
        .status()
        .is_ok_and(|status| status.success())
}

/// A sample's bundle, or the files of the last example of a rule; `RULE@PROGRAM` has the dump of another iptables.
pub(crate) fn state(name: &str, folder: &Path) -> PathBuf {
    let sample = bins::checkout().join("samples").join(name).join("bundle");
    if sample.is_dir() {
        return sample;
    }
    let (name, program) = name.split_once('@').unwrap_or((name, "iptables"));
    let (name, wanted) = name.split_once('#').unwrap_or((name, ""));
    let rule = bins::checkout()
        .join("analyzer/rules")
        .join(format!("{name}.yaml"));
    let rule: serde_json::Value =
        serde_saphyr::from_str(&std::fs::read_to_string(rule).unwrap()).unwrap();
    let examples = examples(rule["examples"].as_array().unwrap()).unwrap();
    let mut latest = examples.iter().rev();
    let example = latest.find(|one| one.name.contains(wanted)).unwrap();
    let root = folder.join("state");
    for (path, text) in &example.files {
        let own = format!("/{program}-save.out");
        let path = root.join(path.replace("/iptables-save.out", &own));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    root
}

/// What `fix` says of the cause.
pub(crate) fn what_if(row: &Row, input: &Path, folder: &Path) -> String {
    let output = folder.join("fix");
    let mut arguments = vec![
        "fix".to_owned(),
        input.display().to_string(),
        "-o".into(),
        output.display().to_string(),
    ];
    if let Some(text) = row.proposal {
        let file = folder.join("changes.yaml");
        std::fs::write(&file, text).unwrap();
        arguments.extend([
            "--what-if".into(),
            file.display().to_string(),
            "--cause".into(),
            row.cause.into(),
        ]);
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let said = run(bins::ANALYZER, &arguments);
    assert_eq!(said.code, 0, "{}: {said:?}", row.kind);
    let own = said
        .out
        .lines()
        .find(|line| row.proposal.is_some() || line.ends_with(&format!("({})", row.cause)));
    let own = own.unwrap_or_else(|| panic!("{}: {said:?}", row.kind));
    let word = own.split(':').next().unwrap();
    // The real program here is asked for what the files make of it; a unit's new start has a test of its own.
    word.trim_end_matches(" after a runtime step").to_owned()
}

/// The folder that `fix` wrote for a row.
pub(crate) fn written(row: &Row, folder: &Path) -> PathBuf {
    folder.join("fix").join(if row.proposal.is_some() {
        "proposal"
    } else {
        row.cause
    })
}

/// Runs apply.sh on a machine of the laboratory: whether the fault is gone, and whether taking back brings it again.
fn told_by(machine: &str, row: &Row, input: &Path, folder: &Path) -> (String, &'static str) {
    told(
        row,
        &ended(on(machine, row, input, folder).output().unwrap()),
    )
}

/// That run, as a command.
fn on(machine: &str, row: &Row, input: &Path, folder: &Path) -> Command {
    let node = std::fs::read_dir(input.join("nodes"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .file_name();
    let mut command = Command::new(bins::checkout().join("tests/lab").join(machine));
    command
        .env("NODE", node)
        .env("STATE", input)
        .env("FIX", written(row, folder))
        .env("BINARIES", bins::folder())
        .env("BACKUP_DIR", folder.join("backup"))
        .env("CONTAINERD2", containerd2().unwrap_or_default())
        .env("BEFORE", row.before)
        .env("FAULTY", row.faulty);
    command
}

/// Killed before commands that can change anything, on the real programs of firewalls and of the node: taking back and a
/// run that begins again end clean. `CASEFILE_KILL_STEP=1` stops before each such command.
#[test]
fn a_change_of_the_real_programs_that_is_killed_ends_clean() {
    let test = "a_change_of_the_real_programs_that_is_killed_ends_clean";
    if !namespaces() {
        skip(
            test,
            "needs root and namespaces, for overlays and a firewall",
        );
        return;
    }
    let step = std::env::var("CASEFILE_KILL_STEP").unwrap_or_else(|_| "9".into());
    let kinds = [
        "ufw-route",
        "iptables",
        "nft-rule",
        "file-owner",
        "link-feature",
        "sysctl",
    ];
    let mut table =
        String::from("\n| kind, killed on the way | program | times |\n|---|---|---|\n");
    let own = |row: &&Row| kinds.iter().any(|kind| row.kind.starts_with(kind)) && there(row);
    for row in ROWS.iter().filter(own) {
        let folder = tempfile::tempdir().unwrap();
        let input = state(row.state, folder.path());
        if !["gone", "needs a runtime step"].contains(&what_if(row, &input, folder.path()).as_str())
        {
            continue;
        }
        let mut command = on("apart", row, &input, folder.path());
        let ended = ended(command.env("KILL_STEP", &step).output().unwrap());
        let times = times_killed(&ended).unwrap_or_else(|| panic!("{}: {ended:?}", row.kind));
        let _ = writeln!(table, "| {} | {} | {times} |", row.kind, row.program);
        assert!(times > 1, "{}: {ended:?}", row.kind);
    }
    print(&table);
}

/// How often a run died, where each end was clean.
pub(crate) fn times_killed(ended: &Ended) -> Option<usize> {
    let last = ended.out.trim().strip_prefix("killed ")?;
    last.strip_suffix(" times")?.parse().ok()
}

/// What a run of apply.sh and of taking it back printed.
pub(crate) fn told(row: &Row, ended: &Ended) -> (String, &'static str) {
    assert_eq!(ended.code, 0, "{}: {ended:?}", row.kind);
    let mut lines = ended
        .out
        .lines()
        .filter(|line| ["gone", "still there", "taken back"].contains(line));
    let real = lines
        .next()
        .unwrap_or_else(|| panic!("{}: {ended:?}", row.kind))
        .to_owned();
    let back = if lines.next().is_some() {
        "yes"
    } else if real == "gone" {
        "no"
    } else {
        "nothing was changed"
    };
    (real, back)
}
