//! The one word that `kubectl get pods` prints for a pod, computed as kubectl does.

use serde::Deserialize;

/// The state of one container as the kubelet reports it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ContainerState {
    pub(super) waiting: Option<Waiting>,
    pub(super) running: Option<Running>,
    pub(super) terminated: Option<Terminated>,
}

/// A container that does not run yet.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Waiting {
    pub(super) reason: Option<String>,
    pub(super) message: Option<String>,
}

/// A container that runs.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Running {
    pub(super) started_at: Option<String>,
}

/// A container that ended.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Terminated {
    pub(super) reason: Option<String>,
    pub(super) message: Option<String>,
    pub(super) exit_code: i64,
    pub(super) signal: i64,
    pub(super) started_at: Option<String>,
    pub(super) finished_at: Option<String>,
    #[serde(rename = "containerID")]
    pub(super) container_id: Option<String>,
}

/// A container's status.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ContainerStatus {
    pub(super) name: String,
    #[serde(rename = "containerID")]
    pub(super) container_id: Option<String>,
    pub(super) ready: bool,
    pub(super) restart_count: u64,
    pub(super) state: ContainerState,
    pub(super) last_state: ContainerState,
}

/// What the printed state depends on.
pub(super) struct Inputs<'a> {
    pub(super) phase: &'a str,
    pub(super) reason: Option<&'a str>,
    pub(super) deleting: bool,
    pub(super) ready: bool,
    pub(super) bound: bool,
    pub(super) has_containers: bool,
    pub(super) init: &'a [ContainerStatus],
    pub(super) containers: &'a [ContainerStatus],
}

/// The printed state.
pub(super) fn printed(pod: &Inputs<'_>) -> String {
    let mut state = pod.reason.unwrap_or(pod.phase).to_owned();
    if let Some(init) = init_state(pod.init) {
        state = init;
    } else {
        state = containers_state(pod, state);
    }
    if pod.deleting {
        return if pod.reason == Some("NodeLost") {
            "Unknown".into()
        } else {
            "Terminating".into()
        };
    }
    // A pod that is bound but has no container status yet is waiting for its sandbox.
    let silent = pod.containers.is_empty() && pod.init.is_empty();
    if state == "Pending" && pod.bound && pod.has_containers && silent {
        return "ContainerCreating".into();
    }
    state
}

fn init_state(init: &[ContainerStatus]) -> Option<String> {
    for (index, status) in init.iter().enumerate() {
        let state = &status.state;
        match (&state.terminated, &state.waiting) {
            (Some(ended), _) if ended.exit_code == 0 => {}
            (Some(ended), _) => return Some(format!("Init:{}", ended_word(ended))),
            (None, _) if state.running.is_some() && status.ready => {}
            (
                None,
                Some(Waiting {
                    reason: Some(reason),
                    ..
                }),
            ) if !reason.is_empty() && reason != "PodInitializing" => {
                return Some(format!("Init:{reason}"));
            }
            _ => return Some(format!("Init:{index}/{}", init.len())),
        }
    }
    None
}

fn containers_state(pod: &Inputs<'_>, start: String) -> String {
    let mut state = start;
    let mut running = false;
    for status in pod.containers.iter().rev() {
        match (&status.state.waiting, &status.state.terminated) {
            (
                Some(Waiting {
                    reason: Some(reason),
                    ..
                }),
                _,
            ) if !reason.is_empty() => {
                state.clone_from(reason);
            }
            (_, Some(ended)) => state = ended_word(ended),
            _ if status.ready && status.state.running.is_some() => running = true,
            _ => {}
        }
    }
    if state == "Completed" && running {
        state = if pod.ready {
            "Running".into()
        } else {
            "NotReady".into()
        };
    }
    state
}

fn ended_word(ended: &Terminated) -> String {
    match (&ended.reason, ended.signal) {
        (Some(reason), _) if !reason.is_empty() => reason.clone(),
        (_, 0) => format!("ExitCode:{}", ended.exit_code),
        (_, signal) => format!("Signal:{signal}"),
    }
}
