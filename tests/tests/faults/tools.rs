//! Every command of the table in turn: missing, hanging, flooding. None of them costs more than its own output.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::sync::Mutex;
use std::time::Instant;

use casefile_bundle::Outcome;
use casefile_collector::cli::Cli;
use casefile_collector::exec::{COMMANDS, Exec, Spec};
use casefile_collector::host::Host;
use casefile_collector::source::{PlanCtx, PlanItem};
use casefile_collector::sources::SOURCES;
use casefile_tests::bins;
use clap::Parser as _;

use crate::desk::{Bundle, Desk, Ran, Row, Seen};
use crate::lab;

pub(crate) const ROWS: &[Row] = &[
    Row {
        fault: "each command of the table is missing",
        run: missing,
    },
    Row {
        fault: "each command of the table in turn hangs",
        run: hangs,
    },
    Row {
        fault: "each command of the table in turn floods",
        run: floods,
    },
];

/// Runs at a time.
const AT_ONCE: usize = 4;
/// Programs whose path is found out when they run; tests of their own look at them.
const FOUND_OUT: &str = "<program>";

/// Source and command, as the plan says it: each command with the first source that runs it.
fn planned() -> BTreeMap<&'static str, Vec<&'static Spec>> {
    let cli = Cli::try_parse_from(["casefile-collector"]).unwrap();
    let options = cli.collect.resolve().unwrap();
    let host = Host::new("/");
    // Where nothing is installed, a line begins with the program's name.
    let exec = Exec::new(true, None);
    let ctx = PlanCtx {
        options: &options,
        host: &host,
        exec: &exec,
    };
    let mut left: Vec<&Spec> = COMMANDS
        .iter()
        .filter(|spec| spec.program != FOUND_OUT)
        .collect();
    let mut planned: BTreeMap<&str, Vec<&Spec>> = BTreeMap::new();
    for source in SOURCES.iter() {
        let lines: Vec<String> = (source.plan)(&ctx)
            .into_iter()
            .filter_map(|item| match item {
                PlanItem::Command { line, .. } => Some(line),
                _ => None,
            })
            .collect();
        let (its, rest) = left
            .into_iter()
            .partition(|spec| lines.iter().any(|line| is_line(line, spec)));
        left = rest;
        planned.insert(source.id, its);
    }
    // Of the two kinds of packages a machine has one.
    let other = |spec: &&Spec| ["rpm", "dpkg-query"].contains(&spec.program);
    assert!(
        left.len() <= 1 && left.iter().all(other),
        "in no plan: {left:?}"
    );
    planned.retain(|_, specs| !specs.is_empty());
    planned
}

fn is_line(line: &str, spec: &Spec) -> bool {
    let (program, args) = line.split_once(' ').unwrap_or((line, ""));
    program.rsplit('/').next() == Some(spec.program) && args == spec.args.join(" ")
}

/// The notes of a machine with nothing on it name each command that its sources ask for.
fn missing() -> Result<Seen, String> {
    lab::root()?;
    let desk = Desk::new();
    let clock = Instant::now();
    let output = Command::new(bins::checkout().join("tests/lab/bare"))
        .arg(bins::find(bins::COLLECTOR))
        .arg(desk.path("out"))
        .args(["collect", "-o", "/shared/bundle.tar.gz"])
        .args(["--progress", "none", "--timeout", "50s"])
        .output()
        .unwrap();
    if output.status.code() == Some(77) {
        return Err("namespaces may not be made here".to_owned());
    }
    let ran = desk.ran(output, clock);
    let bundle = ran.bundle();
    let mut named = 0;
    for (source, specs) in planned() {
        let (_, said) = bundle.told(source);
        for program in specs.iter().map(|spec| spec.program) {
            // Asked of links and of journals that are not there either.
            if program == "ethtool" || program == "journalctl" {
                continue;
            }
            let words = format!("{program} is not installed");
            // Where asking would change something, or nothing can be asked.
            let left = |line: &str| line.starts_with(program) && line.contains("not run");
            assert!(
                said.contains(&words) || said.lines().any(left),
                "{source}: no {words:?} in {said}"
            );
            named += 1;
        }
    }
    let rest = &["/proc/meminfo", "/proc/interrupts"];
    let some = &[Outcome::Collected, Outcome::Partial];
    let mut seen = bundle.row(&ran, "host_info", some, "df is not installed", rest)?;
    seen.said = format!("{named} commands: each \"... is not installed (looked in ...)\"");
    Ok(seen)
}

/// A command and its source, in rounds in which each source has one bad command at the most.
fn rounds(left_out: &[&str]) -> Vec<Vec<(&'static str, &'static Spec)>> {
    let mut planned = planned();
    for specs in planned.values_mut() {
        specs.retain(|spec| !left_out.contains(&spec.id));
    }
    let most = planned.values().map(Vec::len).max().unwrap_or(0);
    let one = |at: usize| {
        let all = planned.iter();
        all.filter_map(|(source, specs)| Some((*source, *specs.get(at)?)))
            .collect()
    };
    (0..most).map(one).collect()
}

/// Stands for every program: those of the round do what is bad, the others answer with a line.
fn stubs(desk: &Desk, bad: &[(&str, &'static Spec)], does: &str) {
    // Some are asked as nobody.
    let open = std::fs::Permissions::from_mode(0o777);
    for path in ["", "pids"] {
        let path = desk.path(path);
        if !path.exists() {
            std::fs::write(&path, "").unwrap();
        }
        std::fs::set_permissions(&path, open.clone()).unwrap();
    }
    // What nvidia-smi says of memory as text is asked where its XML fails.
    let xml = bad.iter().any(|(_, spec)| spec.id == "nvidia-smi-memory");
    let programs: std::collections::BTreeSet<&str> =
        COMMANDS.iter().map(|spec| spec.program).collect();
    for program in programs.into_iter().filter(|name| *name != FOUND_OUT) {
        let cases: String = bad
            .iter()
            .filter(|(_, spec)| spec.program == program)
            .map(|(_, spec)| {
                let (pattern, id) = (pattern(spec), spec.id);
                format!("{pattern}) echo $$ {id} >>\"${{0%/*}}/../pids\"; {does} ;;\n")
            })
            .collect();
        let text = match program {
            "journalctl" => "echo kubelet.service",
            "docker" => "echo '{\"ID\":\"0123456789ab\",\"Names\":\"web\",\"State\":\"exited\"}'",
            "nvidia-smi" if xml => "[ \"$*\" != '-q -x' ] || exit 1\necho fine",
            _ => "echo fine",
        };
        desk.stub(program, &format!("case \"$*\" in\n{cases}esac\n{text}"));
    }
}

/// Its arguments as the shell compares them; what is filled in when it runs may be anything, and may fall away.
fn pattern(spec: &Spec) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    let words = spec.args.iter().enumerate();
    let parts = words.map(|(at, arg)| {
        let space = if at == 0 { "" } else { " " };
        match arg.split_once('<') {
            Some(("", _)) => "*".to_owned(),
            Some((before, _)) => format!("{}*", quoted(&format!("{space}{before}"))),
            None => quoted(&format!("{space}{arg}")),
        }
    });
    let pattern: String = parts.collect();
    if pattern.is_empty() {
        return "''".to_owned();
    }
    pattern
}

/// One round on this machine, and the journal's command on a mounted disk that has a journal. Ids of commands that were
/// not asked: those of disks and links that this machine does not have.
fn round(bad: &[(&'static str, &'static Spec)], does: &str, args: &[&str]) -> Vec<&'static str> {
    let of_journal = |journal: bool| {
        let its = bad.iter().copied();
        its.filter(|(_, spec)| (spec.program == "journalctl") == journal)
            .collect::<Vec<_>>()
    };
    let mut unasked = Vec::new();
    for (journal, bad) in [(false, of_journal(false)), (true, of_journal(true))] {
        if bad.is_empty() {
            continue;
        }
        let desk = Desk::new();
        stubs(&desk, &bad, does);
        let mut only: Vec<&str> = bad.iter().map(|(source, _)| *source).collect();
        only.push("host_info");
        let only = only.join(",");
        let bin = desk.text("bin");
        let all = [&["--only", &only, "--command-dir", &bin][..], args].concat();
        let ran = if journal {
            let folder = format!("/var/log/journal/{}", "a".repeat(32));
            desk.file(&format!("{folder}/system.journal"), "LPKSHHRH");
            desk.file("/etc/os-release", "ID=ubuntu\n");
            desk.on_tree(&all)
        } else {
            desk.run(&all)
        };
        unasked.extend(check(&desk, &ran, &bad));
    }
    unasked
}

/// Each bad command that was asked is gone, and its source says that it did not end well.
fn check(desk: &Desk, ran: &Ran, bad: &[(&'static str, &'static Spec)]) -> Vec<&'static str> {
    let bundle = ran.bundle();
    assert!(!ran.stderr.contains("panicked"), "{ran:?}");
    let asked = std::fs::read_to_string(desk.path("pids")).unwrap();
    for pid in asked.lines().filter_map(|line| line.split(' ').next()) {
        assert!(!lab::alive(pid), "{pid} was left behind: {asked}");
    }
    let mut unasked = Vec::new();
    for (source, spec) in bad {
        let end = format!(" {}", spec.id);
        let (outcome, said) = bundle.told(source);
        if !asked.lines().any(|line| line.ends_with(&end)) {
            assert!(
                is_left_out(spec, outcome, &said),
                "{source} never asked {}: {outcome:?}: {said}",
                spec.id
            );
            unasked.push(spec.id);
            continue;
        }
        let named = said.contains(spec.program) || cut_of(&bundle, spec).is_some();
        assert!(
            outcome != Outcome::Collected && named,
            "{source}, {}: {outcome:?}: {said}",
            spec.id
        );
    }
    unasked
}

/// A command may be left out where there is nothing to ask it about, and where asking would write.
fn is_left_out(spec: &Spec, outcome: Outcome, said: &str) -> bool {
    const ABOUT: [&str; 3] = ["<device>", "<interface>", "<container>"];
    let not_run = |line: &str| line.starts_with(spec.program) && line.contains("not run");
    spec.args.iter().any(|arg| ABOUT.contains(arg))
        || outcome == Outcome::Skipped
        || said.lines().any(not_run)
}

fn cut_of(bundle: &Bundle, spec: &Spec) -> Option<String> {
    let file = spec
        .file
        .map_or_else(|| format!("{}.out", spec.id), str::to_owned);
    bundle.cut(&format!("/commands/{file}"))
}

/// All rounds, some at a time.
fn all(does: &'static str, args: &'static [&'static str], how: &str, left_out: &[&str]) -> Seen {
    let clock = Instant::now();
    let rounds = rounds(left_out);
    let commands: usize = rounds.iter().map(Vec::len).sum();
    let queue = Mutex::new(rounds.iter());
    let unasked = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(bad) = { queue.lock().unwrap().next() } {
                    let missed = round(bad, does, args);
                    unasked.lock().unwrap().extend(missed);
                }
            });
        }
    });
    let mut unasked = unasked.into_inner().unwrap();
    unasked.sort_unstable();
    Seen {
        said: format!(
            "{} commands: each {how}, named and gone",
            commands - unasked.len()
        ),
        rest: format!(
            "a bundle each time; nothing to ask here: {}",
            unasked.join(", ")
        ),
        took: clock.elapsed(),
    }
}

fn hangs() -> Result<Seen, String> {
    Ok(all(
        "exec sleep 600",
        &["--source-timeout", "4s"],
        "stopped",
        &[],
    ))
}

fn floods() -> Result<Seen, String> {
    // It measures how far back the journal's share reaches and is stopped when that is known: nothing of it is kept.
    let measures = ["journal-newest"];
    let args = &["--source-max-size", "2MiB"];
    Ok(all("exec yes", args, "cut", &measures))
}
