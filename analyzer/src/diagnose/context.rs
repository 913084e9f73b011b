//! Who is hit, and what the environment is: counted and read from facts, nothing guessed.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use super::seen::pods::{named, said_best};
use crate::facts::failing::Failing;
use crate::facts::gpu::{Driver, Gpu};
use crate::facts::kube::{HelmRelease, Node, Pod};
use crate::facts::runtime::ContainerdInstance;
use crate::facts::{Fact, Facts, Rows};
use crate::ledger;
use crate::model::{EnvironmentItem, Impact, ImpactedWorkload, Incident};
use crate::scan::Scanned;

/// Counts what is hit.
pub(super) fn impact(scanned: &Scanned, incidents: &[Incident]) -> Impact {
    let facts = &scanned.facts;
    let mut pods = said_best(facts.table::<Pod>());
    let at_once = named(scanned);
    // One that fails counts at whatever moment it was listed.
    pods.retain(|pod| !pod.data.healthy || at_once.contains(&key(&pod.data)));
    let nodes = facts.table::<Node>();
    let mut impact = Impact::default();
    let mut count = |name: &str, number: usize| {
        impact
            .counts
            .insert(name.to_owned(), u64::try_from(number).unwrap_or(u64::MAX));
    };
    if !pods.is_empty() {
        count("pods", pods.len());
        count(
            "pods_unhealthy",
            pods.iter().filter(|pod| !pod.data.healthy).count(),
        );
    } else {
        // Of a machine that no API server was asked about, its runtime tells what runs.
        let running = ledger::running(facts);
        if running > 0 {
            count("containers_running", running);
        }
    }
    if !nodes.is_empty() {
        let gpu_nodes: Vec<&Fact<Node>> = nodes.iter().filter(|node| node.data.has_gpu).collect();
        let hit: BTreeSet<&str> = incidents
            .iter()
            .flat_map(|one| &one.subjects)
            .map(String::as_str)
            .collect();
        count("nodes", nodes.len());
        count("gpu_nodes", gpu_nodes.len());
        count(
            "gpu_nodes_affected",
            gpu_nodes
                .iter()
                .filter(|node| hit.contains(format!("node/{}", node.data.name).as_str()))
                .count(),
        );
    }
    let allocatable: Vec<u64> = nodes
        .iter()
        .filter_map(|node| node.data.gpu_allocatable)
        .collect();
    if !allocatable.is_empty() {
        impact
            .counts
            .insert("gpus_allocatable".into(), allocatable.iter().sum());
    }
    let gpus = facts.table::<Gpu>();
    if !gpus.is_empty() {
        impact
            .counts
            .insert("gpus".into(), u64::try_from(gpus.len()).unwrap_or(0));
    }
    let down: Vec<&Fact<Pod>> = pods
        .iter()
        .copied()
        .filter(|pod| !pod.data.healthy)
        .collect();
    if !pods.is_empty() {
        let mut count = |name: &str, number: u64| {
            impact.counts.insert(name.to_owned(), number);
        };
        let distinct = |key: fn(&Pod) -> String| {
            let keys: BTreeSet<String> = down.iter().map(|pod| key(&pod.data)).collect();
            u64::try_from(keys.len()).unwrap_or(u64::MAX)
        };
        count("namespaces_affected", distinct(|pod| pod.namespace.clone()));
        count("workloads_affected", distinct(controller));
        count("gpus_wanted", down.iter().map(|pod| pod.data.gpus).sum());
    }
    let placed = placed(facts.table::<Pod>());
    let workloads = down.into_iter().map(|pod| workload(pod, &placed));
    impact.workloads = workloads.collect();
    since_it_failed(facts, &mut impact.workloads);
    impact
        .workloads
        .sort_by(|a, b| b.gpus.cmp(&a.gpus).then_with(|| a.subject.cmp(&b.subject)));
    impact
}

/// What keeps a pod running: its owner, or the pod itself where it has none.
fn controller(pod: &Pod) -> String {
    if pod.owner.is_empty() {
        format!("pod/{}/{}", pod.namespace, pod.name)
    } else {
        format!("{}/{}", pod.namespace, pod.owner)
    }
}

/// The nodes of pods by namespace and name: a list may lack what the description of a pod says.
fn placed(pods: Rows<'_, Pod>) -> BTreeMap<(&str, &str), &str> {
    let bound = pods.iter().filter(|pod| !pod.data.node.is_empty());
    bound
        .map(|pod| (key(&pod.data), pod.data.node.as_str()))
        .collect()
}

fn key(pod: &Pod) -> (&str, &str) {
    (pod.namespace.as_str(), pod.name.as_str())
}

fn workload(pod: &Fact<Pod>, placed: &BTreeMap<(&str, &str), &str>) -> ImpactedWorkload {
    let elsewhere = || placed.get(&key(&pod.data)).map(|node| (*node).to_owned());
    ImpactedWorkload {
        subject: format!("pod/{}/{}", pod.data.namespace, pod.data.name),
        state: pod.data.state.clone(),
        restarts: pod.data.restarts,
        since: pod.data.since.or(pod.data.created),
        gpus: pod.data.gpus,
        node: match pod.data.node.is_empty() {
            true => elsewhere().unwrap_or_default(),
            false => pod.data.node.clone(),
        },
        place: pod.place.clone(),
    }
}

/// One that ends again and again fails for longer than it has not been ready this time.
fn since_it_failed(facts: &Facts, workloads: &mut [ImpactedWorkload]) {
    let since: BTreeMap<&str, DateTime<Utc>> = facts
        .table::<Failing>()
        .iter()
        .filter_map(|one| Some((one.data.subject.as_str(), one.data.since?)))
        .collect();
    for one in workloads {
        let failed = since.get(one.subject.as_str()).copied();
        one.since = one.since.into_iter().chain(failed).min();
    }
}

/// Versions and machines.
pub(super) fn environment(facts: &Facts) -> Vec<EnvironmentItem> {
    let mut items = Vec::new();
    for node in facts.table::<Node>() {
        let Node {
            name,
            os,
            kernel,
            kubelet,
            runtime,
            ..
        } = &node.data;
        add(&mut items, format!("Node {name}"), os, node);
        add(&mut items, format!("Kernel of {name}"), kernel, node);
        add(&mut items, format!("Kubelet of {name}"), kubelet, node);
        add(
            &mut items,
            format!("Container runtime of {name}"),
            runtime,
            node,
        );
    }
    for one in facts.table::<ContainerdInstance>() {
        add(
            &mut items,
            format!("containerd {}", one.data.id),
            &instance(&one.data),
            one,
        );
    }
    for driver in facts.table::<Driver>() {
        add(
            &mut items,
            "NVIDIA driver".into(),
            &driver.data.version,
            driver,
        );
        add(
            &mut items,
            "CUDA of the driver".into(),
            &driver.data.cuda,
            driver,
        );
        add(
            &mut items,
            "NVIDIA kernel module".into(),
            &driver.data.module,
            driver,
        );
    }
    for gpu in facts.table::<Gpu>() {
        add(
            &mut items,
            format!("GPU {}", gpu.data.card.bus_id),
            &gpu.data.card.name,
            gpu,
        );
    }
    for release in facts.table::<HelmRelease>() {
        let HelmRelease {
            namespace,
            name,
            chart,
            version,
            revision,
            status,
        } = &release.data;
        let value = format!("{chart} {version}, revision {revision}, {status}");
        add(
            &mut items,
            format!("Helm release {namespace}/{name}"),
            &value,
            release,
        );
    }
    items
}

fn instance(one: &ContainerdInstance) -> String {
    let used = match one.used_by_kubelet.as_str() {
        "yes" => ", used by the kubelet",
        "no" => ", not used by the kubelet",
        _ => "",
    };
    let version = if one.version.is_empty() {
        "version unknown"
    } else {
        &one.version
    };
    format!("{version}, config {}{used}", one.config)
}

fn add<T>(items: &mut Vec<EnvironmentItem>, label: String, value: &str, fact: &Fact<T>) {
    let known = items
        .iter()
        .any(|item| item.label == label && item.value == value);
    if !value.is_empty() && !known {
        items.push(EnvironmentItem {
            label,
            value: value.to_owned(),
            place: Some(fact.place.clone()),
        });
    }
}
