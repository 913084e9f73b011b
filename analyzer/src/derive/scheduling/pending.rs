//! The verdict over each pending pod.

use std::collections::BTreeSet;

use super::{Known, beside, seen};
use crate::facts::scheduling::{NodeFit, PodFit};
use crate::facts::{AnyFact, Fact};
use crate::scheduling::requests::pod_requests;
use crate::scheduling::said::agrees;
use crate::scheduling::{Cluster, NodeVerdict, Predicate, Reason, State, Verdict, api, explain};
use crate::words;

/// Pending pods that are worked out; those that ask for devices come first.
const MOST_PODS: usize = 200;
/// Nodes of a pod that get a fact of their own.
const MOST_NODES: usize = 32;
/// Names in a list.
const MOST_NAMES: usize = 8;
/// Nodes whose reasons are spelled out in a pod's own fact.
const SPELLED: usize = 3;

pub(super) fn facts(known: &Known<'_>, cluster: &Cluster<'_>) -> Vec<AnyFact> {
    let pods = known.facts.table::<api::Pod>().iter();
    let mut waiting: Vec<&Fact<api::Pod>> = pods.filter(|pod| pod.data.waits()).collect();
    waiting.sort_by_key(|pod| asks_for(&pod.data).is_none());
    let mut facts = Vec::new();
    for pod in waiting.into_iter().take(MOST_PODS) {
        let mut verdict = explain(&pod.data, cluster);
        let agrees = agreement(&pod.data, &mut verdict);
        facts.extend(node_facts(known, &pod.data, &verdict));
        let mut fit = pod_fit(known, &pod.data, cluster, verdict);
        agrees.clone_into(&mut fit.agrees);
        facts.push(beside(fit, pod));
    }
    facts
}

/// The extended resource that a pod asks for, GPUs first.
fn asks_for(pod: &api::Pod) -> Option<(String, i64)> {
    let requests = pod_requests(&pod.spec);
    let extended = requests
        .iter()
        .filter(|(name, amount)| name.contains('/') && *amount > 0);
    let first = extended.min_by_key(|(name, _)| {
        let rank = match *name {
            "nvidia.com/gpu" => 0,
            gpu if gpu.starts_with("nvidia.com/mig-") || gpu == "nvidia.com/gpu.shared" => 1,
            _ => 2,
        };
        (rank, *name)
    });
    first.map(|(name, amount)| (name.to_owned(), amount))
}

/// Compares the verdict with what the scheduler said last. Where the two contradict each other the simulation steps
/// back: the scheduler knows its cluster.
fn agreement(pod: &api::Pod, verdict: &mut Verdict) -> &'static str {
    let conditions = &pod.status.conditions;
    let said = conditions
        .iter()
        .find(|one| one.kind == "PodScheduled" && one.status == "False");
    let Some(said) = said else {
        return "unknown";
    };
    match agrees(&said.message, verdict) {
        None => "unknown",
        Some(true) => "yes",
        Some(false) => {
            verdict.open.push(format!(
                "the scheduler gives other reasons than the collected objects do: {}",
                said.message
            ));
            verdict.state = State::Undecided;
            "no"
        }
    }
}

fn pod_fit(known: &Known<'_>, pod: &api::Pod, cluster: &Cluster<'_>, verdict: Verdict) -> PodFit {
    let (resource, asked) = asks_for(pod).unwrap_or_default();
    let nodes = &cluster.inputs.nodes;
    let candidates = candidates(pod, nodes);
    let said = pod
        .status
        .conditions
        .iter()
        .find(|one| one.kind == "PodScheduled");
    let request = (resource.as_str(), asked);
    let (decides, short) = if exceeds_shown(&verdict, cluster, &candidates, request) {
        ("resource-exceeds-shown".to_owned(), resource.clone())
    } else {
        decides(&verdict, &candidates, request, nodes)
    };
    let histogram = verdict.histogram();
    PodFit {
        namespace: pod.metadata.namespace.clone(),
        name: pod.metadata.name.clone(),
        state: word(verdict.state).to_owned(),
        agrees: String::new(),
        said: said.map_or_else(String::new, |one| one.message.clone()),
        scheduler: pod.scheduler().to_owned(),
        scheduler_seen: seen(known, pod.scheduler()).to_owned(),
        largest: nodes
            .iter()
            .map(|node| node.status.allocatable.of(&resource))
            .max()
            .unwrap_or(0),
        nodes: nodes.len(),
        candidates: candidates.len(),
        detail: detail(&verdict, &candidates),
        reasons: histogram
            .iter()
            .map(|(k, v)| ((*k).to_owned(), *v))
            .collect(),
        fitting: first(
            verdict
                .nodes
                .iter()
                .filter(|one| one.reasons.is_empty() && fits(&verdict)),
        ),
        preemptable: verdict
            .preemptable
            .iter()
            .take(MOST_NAMES)
            .cloned()
            .collect(),
        holders: holders(&resource, &candidates, cluster),
        decides,
        short,
        request: match resource.as_str() {
            "nvidia.com/gpu" => words::count(asked.unsigned_abs(), "GPU"),
            _ => format!("{asked} {resource}"),
        },
        resource,
        asked,
        sentence: verdict.sentence,
        open: verdict.open,
    }
}

/// Who holds what the pod asks for, on nodes that would have enough of it.
fn holders(resource: &str, candidates: &BTreeSet<&str>, cluster: &Cluster<'_>) -> Vec<String> {
    let pods = candidates.iter().flat_map(|node| &cluster.load(node).pods);
    let holders = pods.filter(|pod| pod_requests(&pod.spec).of(resource) > 0);
    let names: BTreeSet<String> = holders.map(|pod| pod.id()).collect();
    names.into_iter().take(MOST_NAMES).collect()
}

fn fits(verdict: &Verdict) -> bool {
    matches!(verdict.state, State::Fits | State::Undecided)
}

fn first<'a>(nodes: impl Iterator<Item = &'a NodeVerdict>) -> Vec<String> {
    nodes.take(MOST_NAMES).map(|one| one.node.clone()).collect()
}

fn word(state: State) -> &'static str {
    match state {
        State::Unschedulable => "unschedulable",
        State::Fits => "fits",
        State::Undecided => "undecided",
        State::Gated => "gated",
        State::NoNodes => "no-nodes",
    }
}

/// Nodes that offer enough of every extended resource asked for, whether it is taken or not.
fn candidates<'a>(pod: &api::Pod, nodes: &[&'a api::Node]) -> BTreeSet<&'a str> {
    let requests = pod_requests(&pod.spec);
    let hami = crate::scheduling::requests::hami_accounts(pod);
    let extended: Vec<(&str, i64)> = requests
        .iter()
        .filter(|(name, _)| name.contains('/'))
        .filter(|(name, _)| !hami || *name == "nvidia.com/gpu")
        .collect();
    let enough = nodes.iter().filter(|node| {
        let offers = &node.status.allocatable;
        extended
            .iter()
            .all(|(name, amount)| offers.of(name) >= *amount)
    });
    enough.map(|node| node.metadata.name.as_str()).collect()
}

/// Whether the pod asks for more than any node that is known has, where more nodes may exist.
fn exceeds_shown(
    verdict: &Verdict,
    cluster: &Cluster<'_>,
    candidates: &BTreeSet<&str>,
    (resource, asked): (&str, i64),
) -> bool {
    verdict.state == State::Undecided
        && !cluster.inputs.nodes_complete
        && candidates.is_empty()
        && !resource.is_empty()
        && beyond(&cluster.inputs.nodes, resource, asked) == "resource-exceeds-node"
}

/// What keeps the pod from every candidate, and the resource that is short on all of them.
fn decides(
    verdict: &Verdict,
    candidates: &BTreeSet<&str>,
    (resource, asked): (&str, i64),
    nodes: &[&api::Node],
) -> (String, String) {
    if verdict.state != State::Unschedulable {
        return (String::new(), String::new());
    }
    if let Some(reason) = &verdict.rejected {
        return (predicate(reason.predicate), String::new());
    }
    if candidates.is_empty() && !resource.is_empty() {
        return (
            beyond(nodes, resource, asked).to_owned(),
            resource.to_owned(),
        );
    }
    let judged = verdict.nodes.iter();
    let reasons: Vec<&[Reason]> = judged
        .filter(|one| candidates.contains(one.node.as_str()))
        .map(|one| one.reasons.as_slice())
        .collect();
    let all = reasons.iter().flat_map(|one| one.iter());
    let kinds: BTreeSet<String> = all.map(kind).collect();
    let mut kinds = kinds.into_iter();
    let decides = match (kinds.next(), kinds.next()) {
        (Some(only), None) => only,
        _ => "mixed".to_owned(),
    };
    (decides, short_everywhere(&reasons))
}

/// Why no node offers enough of a resource.
fn beyond(nodes: &[&api::Node], resource: &str, asked: i64) -> &'static str {
    let most = |list: fn(&api::Node) -> &crate::scheduling::quantity::Resources| {
        let amounts = nodes.iter().map(|node| list(node).of(resource));
        amounts.max().unwrap_or(0)
    };
    if most(|node| &node.status.capacity) >= asked {
        "resource-unhealthy"
    } else if most(|node| &node.status.allocatable) > 0 {
        "resource-exceeds-node"
    } else {
        "resource-not-offered"
    }
}

fn short_everywhere(reasons: &[&[Reason]]) -> String {
    let short_on = |reasons: &[Reason], resource: &str| {
        let mut reasons = reasons.iter();
        reasons.any(|one| one.predicate == Predicate::Resource && one.about == resource)
    };
    let first = reasons.first().into_iter().flat_map(|one| one.iter());
    first
        .filter(|reason| reason.predicate == Predicate::Resource)
        .find(|reason| reasons.iter().all(|one| short_on(one, &reason.about)))
        .map_or_else(String::new, |reason| reason.about.clone())
}

/// The word for a reason; taints that Kubernetes sets for a node's state are told from those that people set.
fn kind(reason: &Reason) -> String {
    let set_for_state = ["node.kubernetes.io/", "node.cloudprovider.kubernetes.io/"];
    let about = &reason.about;
    if reason.predicate == Predicate::Taint
        && set_for_state.iter().any(|one| about.starts_with(one))
    {
        "state-taint".to_owned()
    } else {
        predicate(reason.predicate)
    }
}

fn predicate(predicate: Predicate) -> String {
    let word = match predicate {
        Predicate::Unschedulable => "unschedulable",
        Predicate::NodeName => "node-name",
        Predicate::Taint => "taint",
        Predicate::NodeAffinity => "node-affinity",
        Predicate::HostPort => "host-port",
        Predicate::MaxPods => "max-pods",
        Predicate::Device => "device",
        Predicate::Resource => "resource-taken",
        Predicate::Volume => "volume",
        Predicate::Spread => "spread",
        Predicate::PodAffinity => "pod-affinity",
        Predicate::Hami => "hami",
    };
    word.to_owned()
}

fn detail(verdict: &Verdict, candidates: &BTreeSet<&str>) -> String {
    if let Some(reason) = &verdict.rejected {
        return reason.detail.clone();
    }
    let mut judged: Vec<&NodeVerdict> = verdict
        .nodes
        .iter()
        .filter(|one| !one.reasons.is_empty())
        .collect();
    judged.sort_by_key(|one| !candidates.contains(one.node.as_str()));
    let spelled = judged.iter().take(SPELLED).map(|one| {
        let reasons: Vec<&str> = one
            .reasons
            .iter()
            .map(|reason| reason.detail.as_str())
            .collect();
        format!("{}: {}", one.node, reasons.join("; "))
    });
    spelled.collect::<Vec<_>>().join(". ")
}

fn node_facts(known: &Known<'_>, pod: &api::Pod, verdict: &Verdict) -> Vec<AnyFact> {
    let nodes = known.facts.table::<api::Node>();
    let left_out = verdict.nodes.iter().filter(|one| !one.reasons.is_empty());
    let mut facts = Vec::new();
    for judged in left_out.take(MOST_NODES) {
        let Some(node) = nodes
            .iter()
            .find(|node| node.data.metadata.name == judged.node)
        else {
            continue;
        };
        for reason in &judged.reasons {
            let fit = NodeFit {
                namespace: pod.metadata.namespace.clone(),
                pod: pod.metadata.name.clone(),
                node: judged.node.clone(),
                predicate: kind(reason),
                says: reason.says.clone(),
                detail: reason.detail.clone(),
                about: reason.about.clone(),
            };
            facts.push(beside(fit, node));
        }
    }
    facts
}
