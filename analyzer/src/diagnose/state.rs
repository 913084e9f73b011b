//! The state that pictures and overviews show: facts gathered by node, component and namespace.

use std::collections::BTreeMap;

use super::hami;
use crate::facts::gpu::Gpu;
use crate::facts::kube::{Event, Node, Pod, Workload};
use crate::facts::{Fact, FactType, Facts, Rows};
use crate::model::Figure;
use crate::model::state::{
    Activity, Allocation, Card, ComponentState, NodeState, PacketPath, RuntimeLayers, State,
};
use crate::tables;

/// Parts of the GPU stack, each after the ones that it needs. Others are no part of it.
const STACK: &[&str] = &[
    "gpu-operator",
    "node-feature-discovery",
    "driver",
    "fabric-manager",
    "toolkit",
    "device-plugin",
    "hami-device-plugin",
    "hami-scheduler",
    "vgpu-manager",
    "gpu-feature-discovery",
    "mig-manager",
    "dcgm-exporter",
    "validator",
    "cni",
    "dns",
];
/// Repeated things that are kept.
const MOST_ACTIVITY: usize = 40;

/// Verdicts on a packet that is too large for its way.
const SIZES: [&str; 4] = ["black-hole", "fragmented", "told", "clamped"];

/// Gathers the state.
pub(super) fn build(facts: &Facts) -> State {
    State {
        nodes: nodes(facts),
        components: components(facts),
        allocation: allocation(facts),
        activity: activity(facts),
        packet_paths: packet_paths(facts),
        runtime_layers: layers(facts),
        hami: hami::build(facts),
    }
}

/// The drawings that belong to the tables which a rule names.
pub(super) fn figures(names: &[String], facts: &Facts) -> Vec<Figure> {
    let names_one = |known: &[&str]| names.iter().any(|name| known.contains(&name.as_str()));
    let mut figures = Vec::new();
    if names_one(&tables::OF_CONTAINERD) {
        figures.extend(layers(facts).into_iter().map(Figure::RuntimeLayers));
    }
    if names_one(&tables::OF_FIREWALL) {
        let blocked = unique(facts.table::<PacketPath>())
            .into_iter()
            .filter(|path| path.verdict == "dropped" || path.verdict == "rejected");
        figures.extend(blocked.take(1).map(Figure::PacketPath));
    }
    if names_one(&[tables::OF_SIZES]) {
        let too_large = unique(facts.table::<PacketPath>())
            .into_iter()
            .filter(|path| SIZES.contains(&path.verdict.as_str()));
        figures.extend(too_large.take(1).map(Figure::PacketPath));
    }
    figures
}

/// Packets followed through rules, then those followed by their size.
fn packet_paths(facts: &Facts) -> Vec<PacketPath> {
    let mut paths: Vec<PacketPath> = unique(facts.table::<PacketPath>());
    paths.sort_by_key(|path| SIZES.contains(&path.verdict.as_str()));
    paths
}

fn layers(facts: &Facts) -> Vec<RuntimeLayers> {
    let mut layers: Vec<RuntimeLayers> = unique(facts.table::<RuntimeLayers>());
    layers.sort_by_key(|one| {
        (
            one.node.clone(),
            one.used_by_kubelet != "yes",
            one.instance.clone(),
        )
    });
    layers
}

pub(super) fn unique<T: PartialEq + FactType>(facts: Rows<'_, T>) -> Vec<T> {
    let mut all: Vec<T> = Vec::new();
    for fact in facts {
        if !all.contains(&fact.data) {
            all.push(fact.data.clone());
        }
    }
    all
}

/// Whether a pod still holds what it asks for.
pub(super) fn holds(pod: &Pod) -> bool {
    !pod.node.is_empty() && pod.phase != "Succeeded" && pod.phase != "Failed"
}

pub(super) fn nodes(facts: &Facts) -> Vec<NodeState> {
    let mut nodes: BTreeMap<String, NodeState> = BTreeMap::new();
    for node in facts.table::<Node>() {
        let Node {
            name, conditions, ..
        } = &node.data;
        let pressures = conditions
            .iter()
            .filter(|(condition, status)| *condition != "Ready" && *status == "True");
        let state = NodeState {
            name: name.clone(),
            ready: Some(node.data.ready),
            cordoned: node.data.cordoned,
            pressures: pressures.map(|(condition, _)| condition.clone()).collect(),
            gpu: node.data.has_gpu,
            capacity: node.data.gpu_capacity,
            allocatable: node.data.gpu_allocatable,
            place: Some(node.place.clone()),
            ..NodeState::default()
        };
        nodes.insert(name.clone(), state);
    }
    for gpu in facts.table::<Gpu>() {
        let name = gpu.data.node.clone();
        let node = nodes.entry(name.clone()).or_insert_with(|| NodeState {
            name,
            gpu: true,
            ..NodeState::default()
        });
        if !node
            .cards
            .iter()
            .any(|card| card.bus_id == gpu.data.card.bus_id)
        {
            node.cards.push(card(gpu));
        }
    }
    for pod in facts.table::<Pod>().iter().map(|pod| &pod.data) {
        if let Some(node) = nodes.get_mut(&pod.node).filter(|_| holds(pod)) {
            node.taken = node.taken.saturating_add(pod.gpus);
        }
    }
    nodes.into_values().collect()
}

pub(super) fn card(gpu: &Fact<Gpu>) -> Card {
    let data = &gpu.data.card;
    let mut trouble = Vec::new();
    if let Some(errors) = data.ecc_uncorrectable.filter(|errors| *errors > 0) {
        trouble.push(match errors {
            1 => "1 uncorrectable ECC error".to_owned(),
            _ => format!("{errors} uncorrectable ECC errors"),
        });
    }
    if data.remap_pending == Some(true) {
        trouble.push("row remapping pending".to_owned());
    }
    if data.remap_failed == Some(true) {
        trouble.push("row remapping failed".to_owned());
    }
    if data.retirement_pending == Some(true) {
        trouble.push("page retirement pending".to_owned());
    }
    let lowered = data.slowdowns.iter().filter(|why| *why != "sw-power-cap");
    trouble.extend(lowered.map(|why| format!("clocks lowered: {why}")));
    if !data.trouble.is_empty() {
        trouble.push(data.trouble.clone());
    }
    if !data.recovery_action.is_empty() {
        trouble.push(format!("asks for: {}", data.recovery_action));
    }
    Card {
        bus_id: data.bus_id.clone(),
        name: data.name.clone(),
        temperature: data.temperature,
        trouble,
        memory_mib: data.memory,
        memory_used_mib: data.memory_used,
        place: Some(gpu.place.clone()),
        ..Card::default()
    }
}

fn components(facts: &Facts) -> Vec<ComponentState> {
    let rank = |component: &str| STACK.iter().position(|known| *known == component);
    let mut rows: Vec<(usize, ComponentState)> = Vec::new();
    let mut pods: Vec<&Fact<Pod>> = facts.table::<Pod>().iter().collect();
    // The longest name first: a pod of `gpu-operator-x` is none of `gpu-operator`.
    let mut workloads: Vec<&Fact<Workload>> = facts.table::<Workload>().iter().collect();
    workloads.sort_by_key(|one| std::cmp::Reverse(one.data.name.len()));
    for workload in workloads {
        let data = &workload.data;
        let Some(rank) = rank(&data.component) else {
            continue;
        };
        let (own, rest): (Vec<_>, Vec<_>) = pods
            .into_iter()
            .partition(|pod| pod.data.namespace == data.namespace && owned(&pod.data, &data.name));
        pods = rest;
        // Pods are the truth where they were listed; a workload's status may lag behind.
        let ready = if own.is_empty() {
            data.ready
        } else {
            running(&own)
        };
        rows.push((
            rank,
            ComponentState {
                component: data.component.clone(),
                subject: format!("{}/{}/{}", data.kind, data.namespace, data.name),
                desired: data.desired.max(own.len() as u64),
                ready,
                version: version(&data.images),
                troubled: troubled(&own),
                place: Some(workload.place.clone()),
            },
        ));
    }
    rows.extend(ownerless(&pods, rank));
    rows.sort_by(|a, b| (a.0, &a.1.subject).cmp(&(b.0, &b.1.subject)));
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Pods of the stack whose workload is not in the input, by what their owner is called.
fn ownerless(
    pods: &[&Fact<Pod>],
    rank: impl Fn(&str) -> Option<usize>,
) -> Vec<(usize, ComponentState)> {
    let mut groups: BTreeMap<(usize, String), Vec<&Fact<Pod>>> = BTreeMap::new();
    for pod in pods {
        let data = &pod.data;
        let Some(rank) = rank(&data.component) else {
            continue;
        };
        let subject = match data.owner.split_once('/') {
            Some((kind, name)) => format!("{kind}/{}/{name}", data.namespace),
            None => format!("pod/{}/{}", data.namespace, data.name),
        };
        groups.entry((rank, subject)).or_default().push(pod);
    }
    let rows = groups.into_iter().map(|((rank, subject), own)| {
        let row = ComponentState {
            component: own[0].data.component.clone(),
            subject,
            desired: own.len() as u64,
            ready: running(&own),
            version: version(&own[0].data.images),
            troubled: troubled(&own),
            place: Some(own[0].place.clone()),
        };
        (rank, row)
    });
    rows.collect()
}

fn running(pods: &[&Fact<Pod>]) -> u64 {
    pods.iter().filter(|pod| pod.data.healthy).count() as u64
}

fn troubled(pods: &[&Fact<Pod>]) -> Vec<String> {
    let states = pods.iter().filter(|pod| !pod.data.healthy);
    let mut states: Vec<String> = states.map(|pod| pod.data.state.clone()).collect();
    states.sort();
    states.dedup();
    states
}

/// Whether a pod belongs to the workload: by its owner, or by its name where a replica set stands between.
fn owned(pod: &Pod, workload: &str) -> bool {
    pod.owner.ends_with(&format!("/{workload}")) || pod.name.starts_with(&format!("{workload}-"))
}

/// The tag of the first image that has one.
fn version(images: &[String]) -> String {
    let tag = |image: &String| {
        let name = image.split('@').next().unwrap_or(image);
        let last = name.rsplit('/').next().unwrap_or(name);
        last.split_once(':').map(|(_, tag)| tag.to_owned())
    };
    images.iter().find_map(tag).unwrap_or_default()
}

fn allocation(facts: &Facts) -> Vec<Allocation> {
    let mut rows: BTreeMap<String, Allocation> = BTreeMap::new();
    for pod in facts.table::<Pod>().iter().map(|pod| &pod.data) {
        let ended = pod.phase == "Succeeded" || pod.phase == "Failed";
        if pod.gpus == 0 || (ended && pod.healthy) {
            continue;
        }
        let row = rows.entry(pod.namespace.clone()).or_default();
        row.namespace.clone_from(&pod.namespace);
        row.gpus = row.gpus.saturating_add(pod.gpus);
        match (pod.phase.as_str(), pod.healthy) {
            ("Pending", _) => row.pending += 1,
            (_, true) => row.running += 1,
            (_, false) => row.failing += 1,
        }
        let memory = pod.extended.get("nvidia.com/gpumem");
        if let Some(mib) = memory.and_then(|text| text.parse::<u64>().ok())
            && pod.phase == "Running"
        {
            let sum = row.memory_mib.unwrap_or(0).saturating_add(mib);
            row.memory_mib = Some(sum);
        }
    }
    rows.into_values().collect()
}

fn activity(facts: &Facts) -> Vec<Activity> {
    let mut rows = Vec::new();
    for event in facts.table::<Event>() {
        let data = &event.data;
        let (Some(first), Some(last)) = (data.first, data.last) else {
            continue;
        };
        if data.kind == "Warning" {
            rows.push(Activity {
                kind: "event".to_owned(),
                subject: data.object.to_string(),
                what: data.reason.to_string(),
                first,
                last: last.max(first),
                count: data.count.max(1),
                place: event.place.clone(),
            });
        }
        if rows.len() > 64 * MOST_ACTIVITY {
            keep_most(&mut rows);
        }
    }
    for pod in facts.table::<Pod>() {
        let data = &pod.data;
        let (Some(first), Some(last)) = (data.created, data.since.or(data.created)) else {
            continue;
        };
        if data.restarts > 0 {
            rows.push(Activity {
                kind: "restarts".to_owned(),
                subject: format!("pod/{}/{}", data.namespace, data.name),
                what: data.state.clone(),
                first,
                last: last.max(first),
                count: data.restarts,
                place: pod.place.clone(),
            });
        }
    }
    keep_most(&mut rows);
    rows
}

/// Keeps what was repeated most often.
fn keep_most(rows: &mut Vec<Activity>) {
    rows.sort_by(|a, b| {
        let order = b.count.cmp(&a.count).then(a.first.cmp(&b.first));
        order.then_with(|| (&a.subject, &a.what, &a.place).cmp(&(&b.subject, &b.what, &b.place)))
    });
    rows.truncate(MOST_ACTIVITY);
}
