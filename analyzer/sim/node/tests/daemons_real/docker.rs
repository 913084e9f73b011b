//! Docker: acceptance and its reason, and what a daemon that came up says of itself.

use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use casefile_sim_node::containerd::{Evidence, MapTree};
use casefile_sim_node::runtimes::docker::{Docker, Effective, Release, effective, validate};
use casefile_sim_node::runtimes::{Fault, REFUSES};

use crate::dice::Dice;
use crate::docker_files::{Case, to_start, to_validate, write};
use crate::{apart, info, number, programs, verdict, version_of};

/// A reason by the words that both use, the daemon and we; the first that fits.
const REASONS: &[(&str, &[&str])] = &[
    ("circle", &["too many levels"]),
    (
        "no file",
        &["no such file or directory", "which does not exist"],
    ),
    ("unknown key", &["match any configuration option"]),
    (
        "twice",
        &["specified both as a flag", "must not both be specified"],
    ),
    (
        "text",
        &[
            "not the json of a table",
            "invalid character",
            "unexpected end of json",
            ": eof",
            "go value of type map",
        ],
    ),
    (
        "type",
        &[
            "cannot unmarshal",
            "invalid ip address",
            "unable to parse ip",
            "invalid size",
            "is not an ip address",
            "invalid cidr",
            "parseaddr",
        ],
    ),
    ("level", &["logging level"]),
    ("format", &["invalid log format"]),
    ("domain", &["is not a valid domain"]),
    (
        "label",
        &[
            "bad attribute format",
            "label com.docker",
            "conflict labels",
        ],
    ),
    (
        "number",
        &[
            "invalid default mtu",
            "invalid max",
            "invalid network-diagnostic-port",
        ],
    ),
    ("reserved", &["is reserved"]),
    ("default runtime", &["specified default runtime"]),
    ("host", &["invalid bind address"]),
    ("mirror", &["invalid mirror"]),
    ("insecure", &["insecure registry", "invalid index name"]),
    ("cors", &["api-cors-header\" config parameter"]),
    ("exec-opt", &["invalid exec-opt"]),
    ("proxy", &["invalid userland-proxy-path"]),
    ("ipc", &["ipc mode"]),
    ("cgroup namespace", &["cgroup namespace"]),
    ("driver", &["native.cgroupdriver"]),
    ("parent", &["cgroup-parent for systemd"]),
    ("bridge", &["mutually exclusive"]),
    ("icc", &["to function"]),
    ("ip6tables", &["if experimental features"]),
    (
        "runtime",
        &[
            "either a runtimetype",
            "cannot configure both",
            "options cannot be used",
            "args cannot be used",
        ],
    ),
    ("storage", &["storage-driver has been deprecated"]),
    ("log option", &["unknown log opt"]),
];

fn reason(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    let said = |words: &&[&str]| words.iter().any(|word| text.contains(word));
    REASONS
        .iter()
        .find(|(_, words)| said(words))
        .map(|(name, _)| *name)
}

/// 20.10 cannot validate: it is started without a containerd, and what comes after its configuration is no refusal.
const LATER: [&str; 4] = [
    "failed to start containerd",
    "failed to start daemon",
    "failed to load listeners",
    "no sockets found",
];

/// The daemon's word: `None` where it accepts.
fn real(program: &Path, release: Release, folder: &Path, flags: &[String]) -> Option<String> {
    let mut words = flags.to_vec();
    let log = folder.join("log");
    if release > Release::V20 {
        words.push("--validate".to_owned());
    }
    let mut command = apart::command(folder, program, &words);
    if release == Release::V20 {
        command.env("PROGRAM_PATH", "/nowhere");
    }
    let mut child = apart::start(&mut command, &log);
    let limit = if release == Release::V20 { 6 } else { 30 };
    let ended = apart::wait(&mut child, Duration::from_secs(limit));
    let text = std::fs::read_to_string(&log).unwrap();
    let last = text
        .lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    let last = last.to_owned();
    assert!(!text.contains("apart: "), "{text}");
    match ended {
        Some(true) | None => None,
        Some(false) if release == Release::V20 && LATER.iter().any(|word| last.contains(word)) => {
            None
        }
        Some(false) => Some(last),
    }
}

fn asked<T>(case: &Case, tree: &MapTree, release: Release, ask: impl Fn(Docker<'_>) -> T) -> T {
    let mut words = vec!["dockerd".to_owned()];
    words.extend(case.flags.clone());
    let evidence = Evidence {
        path: String::new(),
        line: 0,
        text: String::new(),
    };
    ask(Docker {
        tree,
        process: Some((&words, &evidence)),
        cgroup_v2: Some(Path::new("/sys/fs/cgroup/cgroup.controllers").exists()),
        release: Some(release),
    })
}

fn refusals(faults: &[Fault]) -> Vec<&Fault> {
    faults
        .iter()
        .filter(|fault| fault.kind == REFUSES)
        .collect()
}

/// How the daemon's word and ours compare: the name of the pair, or what differs.
fn compared(real: Option<&str>, ours: &[&Fault]) -> Result<&'static str, String> {
    let said: Vec<&str> = ours.iter().map(|fault| fault.detail.as_str()).collect();
    match (real, said.first()) {
        (None, None) => Ok("accepted"),
        (Some(word), None)
            if word.contains("error initializing graphdriver: driver not supported") =>
        {
            Ok("refused for a storage driver that the kernel here lacks")
        }
        // What the host has is not looked at here.
        (Some(word), None) if word.contains("looking up the specified runtime path") => {
            Ok("refused for a default runtime with arguments whose program is not on this machine")
        }
        (None, Some(_)) => Err(format!("the daemon accepts, we say {said:?}")),
        (Some(word), None) => Err(format!("the daemon refuses: {word}")),
        (Some(word), Some(_)) => {
            let reasons: Vec<_> = said.iter().map(|text| reason(text)).collect();
            match reason(word) {
                None => Err(format!(
                    "a word of the daemon that no reason here fits: {word} | {said:?}"
                )),
                Some(name) if reasons[0] == Some(name) => {
                    Ok("refused, the daemon's reason is our first")
                }
                Some(name) if reasons.contains(&Some(name)) => {
                    Ok("refused, the daemon's reason is among ours")
                }
                Some(name) => Err(format!(
                    "the daemon's reason is {name}: {word}; ours are {said:?}"
                )),
            }
        }
    }
}

#[test]
fn dockerd_takes_and_refuses_the_files_that_we_say() {
    let mut all = Vec::new();
    for program in programs("CASEFILE_DOCKERD_BINS", "dockerd") {
        let (version, release) = known(&program);
        let count = number("CASEFILE_DOCKERD_FILES", 40);
        let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
        for seed in 1..=count {
            let dir = tempfile::tempdir().unwrap();
            let mut tree = MapTree::whole();
            let mut case = to_validate(&mut Dice::new(seed));
            write(&mut case, dir.path(), &mut tree);
            let mut faults = asked(&case, &tree, release, |docker| validate(docker, release));
            if release == Release::V20 {
                // What it looks at before it starts its containerd counts as well, since it cannot only validate.
                let started = asked(&case, &tree, release, |docker| {
                    effective(docker).unwrap().resolved.faults
                });
                let early = ["level"];
                faults = started
                    .into_iter()
                    .filter(|fault| {
                        faults.contains(fault)
                            || reason(&fault.detail).is_some_and(|name| early.contains(&name))
                    })
                    .collect();
            }
            let word = real(&program, release, dir.path(), &case.flags);
            match compared(word.as_deref(), &refusals(&faults)) {
                Ok(name) => *seen.entry(name).or_default() += 1,
                Err(how) => all.push(format!(
                    "{version} seed {seed}: {how} | {} {:?} {:?}",
                    case.json.replace('\n', " "),
                    case.flags,
                    case.lies
                )),
            }
        }
        println!(
            "{version}\n  {count} configurations to validate: {seen:?}, {} differ",
            all.len()
        );
    }
    verdict("configurations", &all);
}

fn known(program: &Path) -> (String, Release) {
    let text = version_of(program).unwrap();
    let word = text.split_whitespace().nth(2).unwrap_or_default();
    let release = Release::of(word.trim_end_matches(',')).expect("a version of Docker");
    (text, release)
}

/// A daemon that came up with its own containerd, or why it did not.
fn started(program: &Path, folder: &Path, flags: &[String]) -> Result<info::Said, String> {
    let socket = folder.join("d.sock");
    let mut words = flags.to_vec();
    words.extend(["-H".to_owned(), format!("unix://{}", socket.display())]);
    let log = folder.join("log");
    let mut child = apart::start(&mut apart::command(folder, program, &words), &log);
    for _ in 0..400 {
        std::thread::sleep(Duration::from_millis(50));
        if child.try_wait().unwrap().is_some() {
            let text = std::fs::read_to_string(&log).unwrap();
            assert!(!text.contains("apart: "), "{text}");
            return Err(text.lines().last().unwrap_or_default().to_owned());
        }
        if let Some(said) = UnixStream::connect(&socket).ok().and_then(info::ask) {
            apart::end(&mut child);
            return Ok(said);
        }
    }
    apart::end(&mut child);
    Err("does not answer within twenty seconds".to_owned())
}

#[test]
fn a_dockerd_that_is_started_has_the_runtimes_and_settings_that_we_say() {
    let count = number("CASEFILE_DOCKERD_STARTS", 6);
    let mut all = Vec::new();
    for program in programs("CASEFILE_DOCKERD_BINS", "dockerd") {
        if Command::new("containerd")
            .arg("--version")
            .output()
            .is_err()
        {
            println!("skipped: needs containerd");
            return;
        }
        let (version, release) = known(&program);
        let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
        for seed in 1..=count {
            let dir = tempfile::tempdir().unwrap();
            let mut tree = MapTree::whole();
            let mut case = to_start(&mut Dice::new(seed.wrapping_add(7000)));
            write(&mut case, dir.path(), &mut tree);
            let ours: Effective = asked(&case, &tree, release, |docker| effective(docker).unwrap());
            let theirs = started(&program, dir.path(), &case.flags);
            let refused = refusals(&ours.resolved.faults);
            let how = match &theirs {
                Err(word) => compared(Some(word), &refused),
                Ok(_) if !refused.is_empty() => compared(None, &refused),
                Ok(said) => said
                    .compare(&ours)
                    .map(|()| "came up, and all settings are equal"),
            };
            match how {
                Ok(name) => *seen.entry(name).or_default() += 1,
                Err(how) => all.push(format!(
                    "{version} seed {seed}: {how} | {} {:?}",
                    case.json.replace('\n', " "),
                    case.flags
                )),
            }
        }
        println!(
            "{version}\n  {count} daemons started: {seen:?}, {} differ",
            all.len()
        );
    }
    verdict("daemons", &all);
}
