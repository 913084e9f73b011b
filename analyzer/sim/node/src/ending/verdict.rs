//! The order in which the evidence about an ended container is asked.

use chrono::{DateTime, TimeDelta, Utc};

use super::memory::{Full, Kill};
use super::{Around, Cause, Ending, Run, exit};

/// Clocks of kubelet, runtime and kernel, and the seconds that an event counts in, may differ by this much.
const SLACK: TimeDelta = TimeDelta::seconds(5);
/// An event about the end of a container comes at most a grace period before it.
const LONGEST_GRACE: TimeDelta = TimeDelta::minutes(10);
/// A boot this soon after a container's end took it along.
const BOOT_WINDOW: TimeDelta = TimeDelta::minutes(15);

struct Found {
    cause: Cause,
    because: String,
    kill: Option<usize>,
    event: Option<usize>,
}

impl Found {
    fn of(cause: Cause, because: impl Into<String>) -> Self {
        Self {
            cause,
            because: because.into(),
            kill: None,
            event: None,
        }
    }
}

/// Why a container ended.
#[must_use]
pub fn ending(run: &Run, around: Around<'_>) -> Ending {
    let code = exit::meaning(run.exit_code);
    let found = evicted(run, around)
        .or_else(|| out_of_memory(run, around))
        .or_else(|| cannot_start(run))
        .or_else(|| stopped(run, around))
        .or_else(|| booted(run, around))
        .unwrap_or_else(|| by_code(run, around, &code));
    Ending {
        cause: found.cause,
        because: found.because,
        kill: found.kill,
        event: found.event,
        code,
    }
}

fn evicted(run: &Run, around: Around<'_>) -> Option<Found> {
    if run.pod_reason == "Evicted" {
        return Some(Found::of(
            Cause::Evicted,
            format!("the pod was evicted: {}", run.pod_message),
        ));
    }
    let event = near(run, around, |reason, _| reason == "Evicted")?;
    Some(Found {
        event: Some(event),
        ..Found::of(
            Cause::Evicted,
            format!("the pod was evicted: {}", around.events[event].message),
        )
    })
}

/// An event that fits the end of the container in time.
fn near(run: &Run, around: Around<'_>, wanted: impl Fn(&str, &str) -> bool) -> Option<usize> {
    around
        .events
        .iter()
        .position(|event| wanted(&event.reason, &event.message) && fits(run.finished, event.times))
}

fn fits(
    finished: Option<DateTime<Utc>>,
    (first, last): (Option<DateTime<Utc>>, Option<DateTime<Utc>>),
) -> bool {
    let Some(finished) = finished else {
        return true;
    };
    let early = first.is_none_or(|first| first - SLACK <= finished);
    let late = last.is_none_or(|last| last + LONGEST_GRACE >= finished);
    early && late
}

fn same_moment(kill: &Kill, finished: Option<DateTime<Utc>>) -> bool {
    match (kill.at, finished) {
        (Some(at), Some(finished)) => (finished - at).abs() <= SLACK + SLACK,
        _ => false,
    }
}

/// The kill that ended the container: by its id, else by its pod and the moment.
fn kill_of(run: &Run, around: Around<'_>) -> Option<usize> {
    let by_id = |kill: &&Kill| !run.id.is_empty() && kill.container == run.id;
    let by_pod = |kill: &&Kill| !run.pod_uid.is_empty() && kill.pod_uid == run.pod_uid;
    let position = |wanted: &dyn Fn(&&Kill) -> bool| {
        let hits = around.kills.iter().enumerate();
        let hits: Vec<usize> = hits
            .filter(|(_, kill)| wanted(kill))
            .map(|(at, _)| at)
            .collect();
        let timed = hits
            .iter()
            .copied()
            .find(|at| same_moment(&around.kills[*at], run.finished));
        timed.or(hits.last().copied())
    };
    position(&by_id).or_else(|| position(&|kill| by_pod(kill) && same_moment(kill, run.finished)))
}

fn out_of_memory(run: &Run, around: Around<'_>) -> Option<Found> {
    let said = run.reason == "OOMKilled";
    let killed = said || run.exit_code == 137;
    let Some(at) = killed.then(|| kill_of(run, around)).flatten() else {
        return said.then(|| oom_unexplained(run, around));
    };
    let kill = &around.kills[at];
    let limit = run.memory_limit.as_deref().map_or_else(
        || "no limit of its own".to_owned(),
        |limit| format!("its limit of {limit}"),
    );
    let who = match kill.pid {
        0 => "the kernel killed a process of it".to_owned(),
        pid => format!("the kernel killed {} (pid {pid})", kill.process),
    };
    let (cause, why) = match kill.full {
        Full::Container => (
            Cause::OomContainer,
            format!("the container reached {limit}"),
        ),
        Full::Pod => (Cause::OomPod, "the pod's control group was full".to_owned()),
        Full::Parent => (
            Cause::OomParent,
            "a control group above the pod was full, for all pods of the node together".to_owned(),
        ),
        Full::Node => (Cause::OomNode, "the node had no memory left".to_owned()),
        Full::Unknown => (
            Cause::Oom,
            "which control group was full is not said".to_owned(),
        ),
    };
    Some(Found {
        kill: Some(at),
        ..Found::of(cause, format!("{who}: {why}"))
    })
}

/// The status says it and no line of the kernel does.
fn oom_unexplained(run: &Run, around: Around<'_>) -> Found {
    let limit = run.memory_limit.as_deref().unwrap_or("none");
    let kernel = if around.kernel_captured {
        "the captured kernel messages do not show the kill"
    } else {
        "kernel messages were not captured"
    };
    Found::of(
        Cause::Oom,
        format!(
            "the kubelet says OOMKilled (memory limit {limit}); {kernel}, so which control group was full is not known"
        ),
    )
}

fn cannot_start(run: &Run) -> Option<Found> {
    let start = matches!(
        run.reason.as_str(),
        "StartError" | "ContainerCannotRun" | "CreateContainerError"
    );
    let cause = match run.exit_code {
        126 | 127 => Cause::BadCommand,
        _ if start && is_command(&run.message) => Cause::BadCommand,
        _ if start => Cause::CannotStart,
        _ => return None,
    };
    let message = if run.message.is_empty() {
        exit::meaning(run.exit_code).words
    } else {
        run.message.clone()
    };
    Some(Found::of(cause, message))
}

fn is_command(message: &str) -> bool {
    [
        "executable file not found",
        "exec format error",
        "permission denied: unknown",
    ]
    .iter()
    .any(|words| message.contains(words))
}

/// The kubelet's own words about stopping it.
fn stopped(run: &Run, around: Around<'_>) -> Option<Found> {
    let of_container = |message: &str| {
        message.contains(&format!("ontainer {} ", run.name))
            || message.contains(&format!("\"{}\"", run.name))
            // "Killing container with id docker://app:Container failed liveness probe", before 1.13.
            || message.contains(&format!("://{}:", run.name))
    };
    let probe = |word: &str| {
        near(run, around, |reason, message| {
            reason == "Killing" && message.contains(word) && of_container(message)
        })
    };
    let late = if run.exit_code == 137 {
        "; it did not end within its grace period"
    } else {
        ""
    };
    let found = |event: usize, cause, what: &str| Found {
        event: Some(event),
        ..Found::of(cause, format!("{what}{late}"))
    };
    // A program that ends well when it is asked to was ended all the same.
    if run.exit_code != 0 || run.finished.is_some() {
        if let Some(event) = probe("failed startup probe") {
            return Some(found(
                event,
                Cause::Startup,
                "the kubelet ended it: its startup probe failed",
            ));
        }
        if let Some(event) = probe("failed liveness probe") {
            return Some(found(
                event,
                Cause::Liveness,
                "the kubelet ended it: its liveness probe failed",
            ));
        }
    }
    if let Some(event) = near(run, around, |reason, _| {
        reason == "Preempted" || reason == "Preempting"
    }) {
        return Some(found(
            event,
            Cause::Preempted,
            "another pod of a higher priority took its place",
        ));
    }
    let asked = run.deleted.is_some() || run.exit_code >= 128;
    if !asked {
        return None;
    }
    let stopping = format!("Stopping container {}", run.name);
    let event = near(run, around, |reason, message| {
        (reason == "Killing" && message.starts_with(&stopping)) || reason == "TaintManagerEviction"
    });
    let deleted = run
        .deleted
        .is_some_and(|at| run.finished.is_none_or(|end| end + LONGEST_GRACE >= at));
    match (event, deleted) {
        (Some(event), _) => Some(found(
            event,
            Cause::Deleted,
            "the kubelet was asked to stop it",
        )),
        (None, true) => Some(Found::of(
            Cause::Deleted,
            format!("its pod is being deleted{late}"),
        )),
        (None, false) => None,
    }
}

fn booted(run: &Run, around: Around<'_>) -> Option<Found> {
    let lost =
        run.exit_code == 255 || matches!(run.reason.as_str(), "ContainerStatusUnknown" | "Unknown");
    let finished = run.finished?;
    let boot = around.boots.iter().find(|boot| {
        let after = **boot - finished;
        // The runtime dates a container that a crash took along when it comes up again.
        after <= BOOT_WINDOW
            && after >= -BOOT_WINDOW
            && run.started.is_none_or(|start| start < **boot)
    })?;
    (lost || run.exit_code == 143 || run.exit_code == 137).then(|| {
        Found::of(
            Cause::NodeBoot,
            format!("the node was booted at {}", boot.to_rfc3339()),
        )
    })
}

fn by_code(run: &Run, around: Around<'_>, code: &exit::Meaning) -> Found {
    match (run.exit_code, code.signal) {
        (0, _) => Found::of(Cause::Completed, code.words.clone()),
        (_, Some(9)) => {
            let memory = if around.kernel_captured {
                "the captured kernel messages show no kill for memory"
            } else {
                "kernel messages were not captured, so a kill for memory is not excluded"
            };
            Found::of(
                Cause::Signal,
                format!("{}; no event tells by whom, and {memory}", code.words),
            )
        }
        (_, Some(signal)) if exit::is_fault(signal) => Found::of(Cause::Crash, code.words.clone()),
        (_, Some(_)) => Found::of(
            Cause::Signal,
            format!("{}; no event tells by whom", code.words),
        ),
        (255, None) if run.reason != "Error" => Found::of(Cause::Unknown, code.words.clone()),
        _ => Found::of(
            Cause::Application,
            format!("exit code {}: {}", run.exit_code, code.words),
        ),
    }
}
