//! The row of a pod: what its containers say together, as `kubectl get pods` shows it.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::age;
use super::cell::{AGE, Cell, Column, NAME, Row, col, txt, wide};
use crate::value::{flag, has, int, list, some_text, text, time};

pub(super) const COLUMNS: &[Column] = &[
    NAME,
    col("Ready"),
    col("Status"),
    col("Restarts"),
    AGE,
    wide("IP"),
    wide("Node"),
    wide("Nominated Node"),
    wide("Readiness Gates"),
];

/// What the row reads besides the metadata.
pub(super) const FIELDS: &[&str] = &[
    "spec.containers.name",
    "spec.initContainers.name",
    "spec.initContainers.restartPolicy",
    "spec.nodeName",
    "spec.readinessGates",
    "status",
];

/// What containers add up to.
struct State {
    reason: String,
    restarts: i64,
    last_restart: Option<DateTime<Utc>>,
    ready: usize,
}

pub(super) fn row(row: &Row<'_>) -> Vec<Cell> {
    let pod = row.object;
    let sidecars = sidecars(pod);
    let total = list(pod, "spec.containers").len() + sidecars.len();
    let mut state = State {
        reason: first_reason(pod),
        restarts: 0,
        last_restart: None,
        ready: 0,
    };
    let (initializing, of_sidecars) = init(pod, &sidecars, &mut state);
    if !initializing
        || condition(pod, "Initialized").is_some_and(|one| text(one, "status") == "True")
    {
        (state.restarts, state.last_restart) = of_sidecars;
        main(pod, &mut state);
    }
    let phase = text(pod, "status.phase");
    if row.is_deleted() {
        if text(pod, "status.reason") == "NodeLost" {
            state.reason = "Unknown".to_owned();
        } else if !matches!(phase, "Succeeded" | "Failed") {
            state.reason = "Terminating".to_owned();
        }
    }
    let restarts = match state.last_restart {
        Some(at) if state.restarts != 0 => {
            format!("{} ({} ago)", state.restarts, age::between(at, row.now))
        }
        _ => state.restarts.to_string(),
    };
    let ip = list(pod, "status.podIPs")
        .first()
        .map_or("", |one| text(one, "ip"));
    vec![
        row.name(),
        txt(format!("{}/{total}", state.ready)),
        txt(state.reason),
        txt(restarts),
        row.age(),
        txt(if ip.is_empty() { "<none>" } else { ip }),
        row.filled("spec.nodeName", "<none>"),
        row.filled("status.nominatedNodeName", "<none>"),
        txt(gates(pod)),
    ]
}

/// Why a table calls the row completed: the pod's phase, and a sentence.
pub(super) fn completed(pod: &Value) -> Option<(&'static str, &'static str)> {
    match text(pod, "status.phase") {
        "Succeeded" => Some(("Succeeded", "The pod has completed successfully.")),
        "Failed" => Some(("Failed", "The pod failed.")),
        _ => None,
    }
}

fn first_reason(pod: &Value) -> String {
    let conditions = list(pod, "status.conditions");
    let gated = |one: &&Value| {
        text(one, "type") == "PodScheduled" && text(one, "reason") == "SchedulingGated"
    };
    if conditions.iter().any(|one| gated(&one)) {
        return "SchedulingGated".to_owned();
    }
    let reason = text(pod, "status.reason");
    let phase = text(pod, "status.phase");
    if reason.is_empty() { phase } else { reason }.to_owned()
}

/// Init containers that run beside the others.
fn sidecars(pod: &Value) -> BTreeSet<&str> {
    let all = list(pod, "spec.initContainers").iter();
    all.filter(|one| text(one, "restartPolicy") == "Always")
        .map(|one| text(one, "name"))
        .collect()
}

fn condition<'v>(pod: &'v Value, name: &str) -> Option<&'v Value> {
    let mut all = list(pod, "status.conditions").iter();
    all.find(|one| text(one, "type") == name)
}

/// Takes in the init containers up to the one that is not through; says whether there is one, and the restarts of sidecars.
fn init(
    pod: &Value,
    sidecars: &BTreeSet<&str>,
    state: &mut State,
) -> (bool, (i64, Option<DateTime<Utc>>)) {
    let declared = list(pod, "spec.initContainers").len();
    let mut of_sidecars = (0, None);
    for (index, status) in list(pod, "status.initContainerStatuses").iter().enumerate() {
        let restarts = int(status, "restartCount");
        let ended = time(status, "lastState.terminated.finishedAt");
        state.restarts += restarts;
        state.last_restart = state.last_restart.max(ended);
        let is_sidecar = sidecars.contains(text(status, "name"));
        if is_sidecar {
            of_sidecars.0 += restarts;
            of_sidecars.1 = of_sidecars.1.max(ended);
        }
        let terminated = has(status, "state.terminated");
        if terminated && int(status, "state.terminated.exitCode") == 0 {
            continue;
        }
        if is_sidecar && flag(status, "started") {
            state.ready += usize::from(flag(status, "ready"));
            continue;
        }
        let waiting = text(status, "state.waiting.reason");
        state.reason = if terminated {
            format!("Init:{}", end_of(status))
        } else if !matches!(waiting, "" | "PodInitializing") {
            format!("Init:{waiting}")
        } else {
            format!("Init:{index}/{declared}")
        };
        return (true, of_sidecars);
    }
    (false, of_sidecars)
}

/// How a container ended: the reason, else the signal or exit code.
fn end_of(status: &Value) -> String {
    let reason = text(status, "state.terminated.reason");
    let signal = int(status, "state.terminated.signal");
    if !reason.is_empty() {
        reason.to_owned()
    } else if signal != 0 {
        format!("Signal:{signal}")
    } else {
        format!("ExitCode:{}", int(status, "state.terminated.exitCode"))
    }
}

fn main(pod: &Value, state: &mut State) {
    let mut running = false;
    let mut error = None;
    for status in list(pod, "status.containerStatuses").iter().rev() {
        state.restarts += int(status, "restartCount");
        let ended = time(status, "lastState.terminated.finishedAt");
        state.last_restart = state.last_restart.max(ended);
        let waiting = text(status, "state.waiting.reason");
        if !waiting.is_empty() {
            waiting.clone_into(&mut state.reason);
        } else if has(status, "state.terminated") {
            state.reason = end_of(status);
            if int(status, "state.terminated.exitCode") != 0 {
                error = Some(state.reason.clone());
            }
        } else if flag(status, "ready") && has(status, "state.running") {
            running = true;
            state.ready += 1;
        }
    }
    if state.reason == "Completed" {
        let is_ready = list(pod, "status.conditions")
            .iter()
            .any(|one| text(one, "type") == "Ready" && text(one, "status") == "True");
        if running && is_ready {
            "Running".clone_into(&mut state.reason);
        } else if let Some(error) = error {
            state.reason = error;
        } else if running {
            "NotReady".clone_into(&mut state.reason);
        }
    }
}

fn gates(pod: &Value) -> String {
    let gates = list(pod, "spec.readinessGates");
    if gates.is_empty() {
        return "<none>".to_owned();
    }
    let open = |gate: &&Value| {
        some_text(gate, "conditionType")
            .and_then(|name| condition(pod, name))
            .is_some_and(|one| text(one, "status") == "True")
    };
    format!(
        "{}/{}",
        gates.iter().filter(|gate| open(gate)).count(),
        gates.len()
    )
}
