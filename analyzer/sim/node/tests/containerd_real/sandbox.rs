//! The handler check beside what a real CRI service answers to `RunPodSandbox`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use casefile_sim_node::containerd::{Answer, ConfigProblem, Cri, EffectiveConfig};
use casefile_tests::cri::{Outcome, Pod, ask_for_sandbox};

use crate::daemon::{Daemon, last_word};

/// Every name that the generated trees define, the default, and one that none defines.
const HANDLERS: [&str; 7] = [
    "",
    "runc",
    "nvidia",
    "nvidia-cdi",
    "kata",
    "untrusted",
    "nosuch",
];

/// What came of the requests on one or more trees.
#[derive(Default)]
pub(crate) struct Tally {
    /// Trees, and handlers asked for, by what happened.
    pub(crate) seen: BTreeMap<&'static str, u64>,
    /// Answers that we leave open, and why.
    pub(crate) explained: BTreeMap<&'static str, u64>,
    /// Answers that are not ours.
    pub(crate) differs: Vec<String>,
}

const AT_RANDOM: &str = "left open: a file has the CRI table under two names, and containerd keeps one of them at random";
const FROM_WORKING_DIRECTORY: &str =
    "left open: an import pattern counts from the daemon's working directory, which no file tells";
const SNAPSHOTTER_FIRST: &str =
    "a handler without runtime_type fails at its snapshotter, before its runtime is asked for";

/// Why an answer of ours is not that of the request, where that is as it should be.
fn explained(
    config: &EffectiveConfig,
    because: &str,
    ours: Answer,
    outcome: &Outcome,
) -> Option<&'static str> {
    let ambiguous =
        |problem: &ConfigProblem| matches!(problem, ConfigProblem::AmbiguousTable { .. });
    match ours {
        Answer::Unknown if config.problems.iter().any(ambiguous) => Some(AT_RANDOM),
        Answer::Unknown if because.contains("working directory of the daemon") => {
            Some(FROM_WORKING_DIRECTORY)
        }
        Answer::No if because.ends_with("has no runtime_type") => {
            (outcome.message.contains("snapshotter") && outcome.message.contains("was not found"))
                .then_some(SNAPSHOTTER_FIRST)
        }
        _ => None,
    }
}

/// How far a real sandbox request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Real {
    /// `no runtime for "x" is configured`: the look-up failed.
    Unknown,
    /// The handler exists and names no runtime to start.
    NoType,
    /// The handler was found; what failed later (network, shim, cgroup) is not about its name.
    Found,
    /// The request ended before the look-up.
    NotReached,
}

fn classify(outcome: &Outcome) -> Real {
    let text = &outcome.message;
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if outcome.code == 0 {
        Real::Found
    } else if says(&["no runtime for"]) {
        Real::Unknown
    } else if says(&["invalid runtime name", "Runtime.Name must be set"]) {
        Real::NoType
    } else if says(&["failed to get sandbox image"]) {
        Real::NotReached
    } else {
        Real::Found
    }
}

/// Asks for every handler of a tree; where the daemon or its CRI service does not run, no sandbox can be made.
pub(crate) fn compare(
    binary: &Path,
    root: &str,
    dir: &Path,
    config: &EffectiveConfig,
    cri: &Cri,
    tally: &mut Tally,
) {
    let daemon = Daemon::start(binary, root, dir);
    let serving = daemon.as_ref().is_some_and(|daemon| daemon.cri);
    let state = match &daemon {
        None => "trees: refuses to start",
        Some(_) if serving => "trees: serves CRI",
        Some(_) => "trees: runs without CRI",
    };
    *tally.seen.entry(state).or_default() += 1;
    let Some(daemon) = daemon.filter(|_| serving) else {
        for handler in HANDLERS {
            let check = cri.check(config, handler);
            if check.resolves != Answer::No {
                let said = last_word(dir);
                let ours = format!("{:?}: {}", check.resolves, check.because);
                tally
                    .differs
                    .push(format!("{handler:?}: no CRI service ({said}); ours {ours}"));
            }
        }
        return;
    };
    daemon.import_pause(&cri.sandbox_image.value, dir);
    for (number, handler) in (1..).zip(HANDLERS) {
        one(&daemon, number, handler, config, cri, tally);
    }
}

fn one(
    daemon: &Daemon,
    number: u32,
    handler: &str,
    config: &EffectiveConfig,
    cri: &Cri,
    tally: &mut Tally,
) {
    let outcome = ask(daemon, number, handler);
    let real = classify(&outcome);
    let check = cri.check(config, handler);
    let kind = match real {
        Real::Unknown => "requests: no such handler",
        Real::NoType => "requests: handler without a runtime",
        Real::Found => "requests: handler found",
        Real::NotReached => "requests: ended before the look-up",
    };
    *tally.seen.entry(kind).or_default() += 1;
    if let Some(why) = explained(config, &check.because, check.resolves, &outcome) {
        *tally.explained.entry(why).or_default() += 1;
        return;
    }
    let equal = match check.resolves {
        Answer::Yes => real == Real::Found,
        Answer::No => matches!(real, Real::Unknown | Real::NoType),
        Answer::Unknown => false,
    };
    if !equal {
        let ours = format!("{:?}: {}", check.resolves, check.because);
        tally.differs.push(format!(
            "{handler:?}: real {real:?} ({}); ours {ours}",
            outcome.message
        ));
    }
}

/// A request; again where the CRI service has not yet noticed the imported image.
fn ask(daemon: &Daemon, number: u32, handler: &str) -> Outcome {
    let mut attempt = 0;
    loop {
        let pod = Pod {
            name: format!("probe-{number}"),
            namespace: "default".to_owned(),
            uid: format!("uid-{number}"),
            attempt,
            host_network: true,
        };
        let outcome = ask_for_sandbox(&daemon.socket, &pod, handler).unwrap();
        attempt += 1;
        if classify(&outcome) != Real::NotReached || attempt > 10 {
            return outcome;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}
