//! Nodes and RuntimeClasses.

use std::collections::BTreeMap;

use casefile_bundle::Entry;
use serde::Deserialize;
use serde_json::Value;

use super::pods::{Meta, fact, time, whole_number};
use super::{Channel, Item, Parsed, Parser, Read, Said};
use crate::facts::kube::{Node, RuntimeClass};

/// Reads `kubectl get nodes -o json`.
pub(super) static PARSER: Parser = Parser {
    id: "nodes",
    reads: &[Entry::List("nodes")],
    read: Read::Items(parse_node),
};

/// Reads `kubectl get runtimeclasses -o json`.
pub(super) static RUNTIME_CLASSES: Parser = Parser {
    id: "runtime-classes",
    reads: &[
        Entry::List("runtimeclasses"),
        Entry::Custom("runtimeclasses.node.k8s.io"),
    ],
    read: Read::Items(parse_runtime_class),
};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Taint {
    key: String,
    value: String,
    effect: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Spec {
    #[serde(rename = "podCIDR")]
    pod_cidr: Option<String>,
    #[serde(rename = "podCIDRs")]
    pod_cidrs: Vec<String>,
    taints: Vec<Taint>,
    unschedulable: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Condition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
    reason: String,
    message: String,
    last_transition_time: Option<String>,
    last_heartbeat_time: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Info {
    container_runtime_version: String,
    kubelet_version: String,
    kernel_version: String,
    os_image: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Address {
    #[serde(rename = "type")]
    kind: String,
    address: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    capacity: BTreeMap<String, Value>,
    allocatable: BTreeMap<String, Value>,
    conditions: Vec<Condition>,
    addresses: Vec<Address>,
    node_info: Info,
    /// Not of the API: what `kubectl describe node` lists.
    listed_pods: Vec<String>,
    /// Not of the API: what the pods on it ask for, as `kubectl describe node` adds it up.
    requested: BTreeMap<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Object {
    metadata: Meta,
    spec: Spec,
    status: Status,
}

fn parse_node(item: &Item<'_>) -> Parsed {
    let object: Object = match item.object("node") {
        Ok(object) => object,
        Err(problem) => return problem,
    };
    let mut parsed = Parsed::default();
    for condition in &object.status.conditions {
        let wanted = if condition.kind == "Ready" {
            "True"
        } else {
            "False"
        };
        if condition.status != wanted && !condition.message.is_empty() {
            // Apart, since only what stands there literally can be quoted.
            for text in [&condition.reason, &condition.message] {
                parsed.said.push(Said {
                    channel: Channel::Status,
                    subject: format!("node/{}", object.metadata.name).into(),
                    text: text.into(),
                    place: item.place.clone(),
                    at: time(condition.last_transition_time.as_deref()),
                    count: 1,
                });
            }
        }
    }
    let node = node(object);
    let text = format!("\"name\":\"{}\"", node.name);
    parsed.facts.push(fact(node, item, text).into());
    let scheduled = super::scheduling::object::<crate::scheduling::api::Node>(item);
    parsed.facts.extend(scheduled);
    parsed
}

fn node(object: Object) -> Node {
    let Object {
        metadata,
        spec,
        status,
    } = object;
    let gpus = |of: &BTreeMap<String, Value>| of.get("nvidia.com/gpu").and_then(whole_number);
    let labelled = is_labelled(&metadata.labels);
    let mut pod_cidrs = spec.pod_cidrs;
    if let Some(single) = spec.pod_cidr.filter(|single| !pod_cidrs.contains(single)) {
        pod_cidrs.push(single);
    }
    let gpu_capacity = gpus(&status.capacity);
    let gpu_allocatable = gpus(&status.allocatable);
    let beats = status.conditions.iter();
    let heartbeat = beats.filter_map(|one| time(one.last_heartbeat_time.as_deref()));
    let heartbeat = heartbeat.max();
    let mut conditions = status.conditions.iter();
    let condition = conditions.find(|one| one.kind == "Ready");
    let (up, down) = match condition {
        Some(one) if one.status == "True" => (Some(one), None),
        other => (None, other),
    };
    let since =
        |one: Option<&Condition>| one.and_then(|one| time(one.last_transition_time.as_deref()));
    Node {
        ready_since: since(up),
        heartbeat,
        ready: up.is_some(),
        not_ready_since: since(down),
        not_ready: down.map_or_else(String::new, |one| one.message.clone()),
        conditions: status
            .conditions
            .into_iter()
            .map(|one| (one.kind, one.status))
            .collect(),
        runtime: status.node_info.container_runtime_version,
        kubelet: status.node_info.kubelet_version,
        kernel: status.node_info.kernel_version,
        listed_pods: status.listed_pods,
        os: status.node_info.os_image,
        gpu_capacity,
        gpu_allocatable,
        gpu_free: gpu_allocatable
            .zip(gpus(&status.requested))
            .map(|(all, taken)| all.saturating_sub(taken)),
        has_gpu: labelled || gpu_capacity.is_some_and(|count| count > 0),
        pod_cidrs,
        addresses: status
            .addresses
            .into_iter()
            .filter(|one| one.kind == "InternalIP")
            .map(|one| one.address)
            .collect(),
        cordoned: spec.unschedulable,
        taints: spec
            .taints
            .into_iter()
            .map(|taint| format!("{}={}:{}", taint.key, taint.value, taint.effect))
            .collect(),
        cri_socket: metadata
            .annotations
            .get("kubeadm.alpha.kubernetes.io/cri-socket")
            .cloned(),
        hami_handshake: metadata
            .annotations
            .get("hami.io/node-handshake")
            .cloned()
            .unwrap_or_default(),
        labels: metadata
            .labels
            .into_iter()
            .filter(|(key, _)| tells_of_gpus(key))
            .collect(),
        name: metadata.name,
    }
}

/// Whether feature discovery found a GPU of NVIDIA.
fn is_labelled(labels: &BTreeMap<String, String>) -> bool {
    let present = [
        "nvidia.com/gpu.present",
        "feature.node.kubernetes.io/pci-10de.present",
    ];
    let mut values = present.iter().filter_map(|label| labels.get(*label));
    values.any(|value| value == "true")
}

fn tells_of_gpus(label: &str) -> bool {
    let parts = ["nvidia.com/", "hami.io/", "feature.node.kubernetes.io/pci-"];
    parts.iter().any(|part| label.starts_with(part))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RuntimeClassObject {
    metadata: Meta,
    handler: String,
}

fn parse_runtime_class(item: &Item<'_>) -> Parsed {
    match serde_json::from_slice::<RuntimeClassObject>(item.json) {
        Ok(object) => {
            let text = format!("\"handler\":\"{}\"", object.handler);
            let class = RuntimeClass {
                name: object.metadata.name,
                handler: object.handler,
            };
            Parsed {
                facts: vec![fact(class, item, text).into()],
                ..Parsed::default()
            }
        }
        Err(error) => Parsed::problem(
            item.place.clone(),
            format!("runtime class not read: {error}"),
        ),
    }
}
