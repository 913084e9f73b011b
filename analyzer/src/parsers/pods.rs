//! Pods: what they ask for, where they run, and what state their containers are in.

use super::components::component;
use super::pod_json::{Condition, Object, Spec, Status};
pub(super) use super::pod_json::{ContainerSpec, Meta, Volume};
use super::pod_state::{self, ContainerStatus, Terminated};
use super::{Channel, Item, Parsed, Parser, Read, Said};
use crate::facts::Fact;
use crate::facts::kube::{Container, Pod};
use crate::scheduling::api::Labels;
use crate::shared::Shared;
use casefile_bundle::{ANY, Entry};
use chrono::{DateTime, Utc};
use serde_json::Value;

/// Reads `kubectl get pods -o json`, one namespace an entry.
pub(super) static PARSER: Parser = Parser {
    id: "pods",
    reads: &[Entry::ListIn("pods", ANY), Entry::List("pods")],
    read: Read::Items(parse),
};

/// Reads an RFC 3339 time as the API server writes it.
pub(super) fn time(text: Option<&str>) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(text?)
        .ok()
        .map(|at| at.to_utc())
}

/// Reads a quantity that counts things (`"1"` or `1`); a value that is neither is not read.
pub(super) fn whole_number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

fn parse(item: &Item<'_>) -> Parsed {
    let object: Object = match item.object("pod") {
        Ok(object) => object,
        Err(problem) => return problem,
    };
    let mut parsed = Parsed::default();
    let pod = pod(&object);
    say_conditions(&object, &pod, item, &mut parsed);
    let groups = [
        (
            &object.spec.init_containers,
            &object.status.init_container_statuses,
            true,
        ),
        (
            &object.spec.containers,
            &object.status.container_statuses,
            false,
        ),
    ];
    for (specs, statuses, init) in groups {
        for status in statuses {
            let spec = specs.iter().find(|spec| spec.name == status.name);
            let container = container(&pod, status, spec, init);
            say_container(&container, item, &mut parsed);
            let text = state_text(&container);
            parsed.facts.push(fact(container, item, text).into());
        }
    }
    let text = format!("\"name\":\"{}\"", pod.name);
    parsed.facts.push(fact(pod, item, text).into());
    parsed.facts.extend(super::scheduling::pod(item));
    parsed.facts.extend(super::runs::of_pod(&object, item));
    parsed.facts.extend(super::templates::of_pod(object, item));
    parsed
}

/// A fact whose excerpt is the given text if the line holds it literally, else the object's name.
pub(super) fn fact<T>(data: T, item: &Item<'_>, text: String) -> Fact<T> {
    let held = memchr::memmem::find(item.json, text.as_bytes()).is_some();
    Fact {
        data,
        place: item.place.clone(),
        text: Shared::from(if held { text } else { String::new() }),
        at: None,
    }
}

fn pod(object: &Object) -> Pod {
    let (meta, spec, status) = (&object.metadata, &object.spec, &object.status);
    let ready = status
        .conditions
        .iter()
        .find(|condition| condition.kind == "Ready");
    let is_ready = ready.is_some_and(|condition| condition.status == "True");
    let state = pod_state::printed(&pod_state::Inputs {
        phase: &status.phase,
        reason: status.reason.as_deref(),
        deleting: meta.deletion_timestamp.is_some(),
        ready: is_ready,
        bound: !spec.node_name.is_empty(),
        has_containers: !spec.containers.is_empty(),
        init: &status.init_container_statuses,
        containers: &status.container_statuses,
    });
    let extended = extended_resources(spec);
    let gpus = extended.iter().filter(|(name, _)| is_gpu(name));
    let images = spec.containers.iter().chain(&spec.init_containers);
    Pod {
        healthy: status.phase == "Succeeded" || (status.phase == "Running" && is_ready),
        since: since(status, ready),
        created: time(meta.creation_timestamp.as_deref()),
        restarts: status
            .container_statuses
            .iter()
            .map(|status| status.restart_count)
            .sum(),
        owner: meta
            .owner_references
            .first()
            .map_or_else(String::new, |owner| {
                format!("{}/{}", owner.kind.to_lowercase(), owner.name)
            }),
        component: component(&meta.name, images.map(|container| container.image.as_str())),
        gpus: gpus
            .filter_map(|(_, count)| count.parse::<u64>().ok())
            .sum(),
        extended,
        env: environment(spec.containers.iter().chain(&spec.init_containers)),
        mounts: host_mounts(
            &spec.volumes,
            spec.containers.iter().chain(&spec.init_containers),
        ),
        images: spec
            .containers
            .iter()
            .map(|container| container.image.clone())
            .collect(),
        shm: shm(&spec.volumes, &spec.containers),
        namespace: meta.namespace.clone(),
        name: meta.name.clone(),
        uid: meta.uid.clone(),
        ips: status.pod_ips.iter().map(|one| one.ip.clone()).collect(),
        node: spec.node_name.clone(),
        phase: status.phase.clone(),
        state,
        runtime_class: spec.runtime_class_name.clone(),
        ip: status.pod_ip.clone(),
        host_network: spec.host_network,
        node_selector: spec.node_selector.clone(),
    }
}

/// Since when the pod is in its state: the last change of its readiness, or the end of the container that made
/// it fail, whichever is later. A program may have run long before, ready or not.
fn since(status: &Status, ready: Option<&Condition>) -> Option<DateTime<Utc>> {
    let changed = ready.and_then(|condition| time(condition.last_transition_time.as_deref()));
    let ended = status.container_statuses.iter().filter_map(|container| {
        let ended = container.state.terminated.as_ref()?;
        time(ended.finished_at.as_deref()).filter(|_| ended.exit_code != 0)
    });
    let failed = ended.min().filter(|_| status.phase == "Failed");
    failed.max(changed)
}

fn is_gpu(resource: &str) -> bool {
    resource == "nvidia.com/gpu"
        || resource == "nvidia.com/gpu.shared"
        || resource.starts_with("nvidia.com/mig-")
}

fn extended_resources(spec: &Spec) -> Labels {
    let mut sums = Labels::new();
    for (name, value) in spec
        .containers
        .iter()
        .flat_map(|container| &container.resources.limits)
    {
        if !name.contains('/') {
            continue;
        }
        let before = sums
            .get(name)
            .and_then(|sum| sum.parse::<u64>().ok())
            .unwrap_or(0);
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        let sum =
            whole_number(value).map_or(text, |count| before.saturating_add(count).to_string());
        sums.insert(name.clone(), sum);
    }
    sums
}

/// The variables that a diagnosis reads, of all given containers.
pub(super) fn environment<'a>(containers: impl Iterator<Item = &'a ContainerSpec>) -> Labels {
    containers
        .flat_map(|container| &container.env)
        .filter_map(|variable| Some((variable.name.clone(), variable.value.clone()?)))
        .collect()
}

/// Size of `/dev/shm`: of the volume that is mounted there, else the runtime's own.
fn shm(volumes: &[Volume], containers: &[ContainerSpec]) -> String {
    if containers.is_empty() {
        return String::new();
    }
    let mut mounts = containers.iter().flat_map(|one| &one.volume_mounts);
    let Some(mount) = mounts.find(|mount| mount.mount_path.trim_end_matches('/') == "/dev/shm")
    else {
        return "64 MiB, the runtime's default".to_owned();
    };
    let volume = volumes.iter().find(|volume| volume.name == mount.name);
    let limit = volume.and_then(|volume| volume.empty_dir.as_ref()?.size_limit.clone());
    limit.map_or_else(String::new, |limit| {
        format!("{limit}, the limit of its emptyDir")
    })
}

/// Host paths by the path they are mounted at.
pub(super) fn host_mounts<'a>(
    volumes: &[Volume],
    containers: impl Iterator<Item = &'a ContainerSpec>,
) -> Labels {
    let mounts = containers.flat_map(|container| &container.volume_mounts);
    mounts
        .filter_map(|mount| {
            let volume = volumes.iter().find(|volume| volume.name == mount.name)?;
            Some((
                mount.mount_path.clone(),
                volume.host_path.as_ref()?.path.clone(),
            ))
        })
        .collect()
}

fn container(
    pod: &Pod,
    status: &ContainerStatus,
    spec: Option<&ContainerSpec>,
    init: bool,
) -> Container {
    let mut container = Container {
        namespace: pod.namespace.clone(),
        pod: pod.name.clone(),
        name: status.name.clone(),
        id: id_of(status.container_id.as_deref().unwrap_or_default()),
        image: spec.map(|spec| spec.image.clone()).unwrap_or_default(),
        memory_limit: spec.and_then(memory_limit).unwrap_or_default(),
        component: pod.component.clone(),
        restarts: status.restart_count,
        init,
        ..Container::default()
    };
    if let Some(waiting) = &status.state.waiting {
        container.state = "waiting".into();
        container.reason = waiting.reason.clone().unwrap_or_default();
        container.message = waiting.message.clone().unwrap_or_default();
    } else if let Some(ended) = &status.state.terminated {
        container.state = "terminated".into();
        container.reason = ended.reason.clone().unwrap_or_default();
        container.message = ended.message.clone().unwrap_or_default();
        container.exit_code = Some(ended.exit_code);
    } else if status.state.running.is_some() {
        container.state = "running".into();
    }
    if let Some(Terminated {
        reason,
        message,
        exit_code,
        ..
    }) = &status.last_state.terminated
    {
        container.last_reason = reason.clone().unwrap_or_default();
        container.last_message = message.clone().unwrap_or_default();
        container.exit_code = container.exit_code.or(Some(*exit_code));
    }
    container
}

/// The limit of memory as the pod states it, such as `128Mi`.
pub(super) fn memory_limit(spec: &ContainerSpec) -> Option<String> {
    let limit = spec.resources.limits.get("memory")?;
    let text = limit.as_str().map(str::to_owned);
    Some(text.unwrap_or_else(|| limit.to_string()))
}

/// `containerd://f00d` gives `f00d`.
fn id_of(container_id: &str) -> String {
    let (_, id) = container_id.rsplit_once('/').unwrap_or_default();
    id.to_owned()
}

fn state_text(container: &Container) -> String {
    match container.state.as_str() {
        "waiting" | "terminated" if !container.reason.is_empty() => {
            format!("\"reason\":\"{}\"", container.reason)
        }
        _ => format!("\"name\":\"{}\"", container.name),
    }
}

fn say_conditions(object: &Object, pod: &Pod, item: &Item<'_>, parsed: &mut Parsed) {
    let conditions = object
        .status
        .conditions
        .iter()
        .filter(|condition| condition.status != "True");
    let mut texts: Vec<(String, Option<DateTime<Utc>>)> = conditions
        .filter_map(|condition| {
            let message = condition
                .message
                .as_deref()
                .filter(|message| !message.is_empty())?;
            let reason = condition.reason.as_deref().unwrap_or(&condition.kind);
            Some((
                format!("{reason}: {message}"),
                time(condition.last_transition_time.as_deref()),
            ))
        })
        .collect();
    if let Some(message) = &object.status.message {
        let reason = object.status.reason.as_deref().unwrap_or("status");
        texts.push((format!("{reason}: {message}"), None));
    }
    for (text, at) in texts {
        parsed
            .said
            .push(said(pod.namespace.as_str(), &pod.name, text, item, at));
    }
}

fn say_container(container: &Container, item: &Item<'_>, parsed: &mut Parsed) {
    for text in [&container.message, &container.last_message] {
        if !text.is_empty() {
            let (namespace, pod) = (&container.namespace, &container.pod);
            parsed
                .said
                .push(said(namespace, pod, text.clone(), item, None));
        }
    }
}

fn said(
    namespace: &str,
    pod: &str,
    text: String,
    item: &Item<'_>,
    at: Option<DateTime<Utc>>,
) -> Said {
    Said {
        channel: Channel::Status,
        subject: format!("pod/{namespace}/{pod}").into(),
        text: text.into(),
        place: item.place.clone(),
        at,
        count: 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_that_failed_is_in_that_state_since_its_container_ended() {
        let since = |phase: &str| {
            let status: Status = serde_json::from_value(serde_json::json!({
                "phase": phase,
                "conditions": [{ "type": "Ready", "status": "False", "lastTransitionTime": "2026-11-20T08:50:00Z" }],
                "containerStatuses": [{ "name": "main", "state": { "terminated": {
                    "exitCode": 1, "finishedAt": "2026-11-20T09:47:03Z"
                } } }],
            }))
            .unwrap();
            super::since(&status, status.conditions.first()).map(|at| at.to_rfc3339())
        };
        assert_eq!(
            since("Failed").as_deref(),
            Some("2026-11-20T09:47:03+00:00")
        );
        assert_eq!(
            since("Running").as_deref(),
            Some("2026-11-20T08:50:00+00:00"),
            "one container of several ended"
        );
    }
}
