//! The verdict over a pending pod, and the sentence that the scheduler would say.

use std::collections::BTreeMap;

use serde::Serialize;

use super::api::{Node, Pod};
use super::cluster::{Cluster, Release};
use super::hami;
use super::predicates::devices::gives_up_a_claim;
use super::predicates::{Predicate, Prepared, Reason, filter, filter_without, prepare, words};
use super::requests::hami_accounts;

/// What the scheduler would do with a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Every node is left out.
    Unschedulable,
    /// At least one node takes it.
    Fits,
    /// No node is known to take it, and for at least one it could not be decided.
    Undecided,
    /// It waits for its scheduling gates, no node is looked at.
    Gated,
    /// There are no nodes.
    NoNodes,
}

/// What was found for one node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeVerdict {
    /// Node.
    pub node: String,
    /// Why it is left out; empty if nothing that was seen speaks against it.
    pub reasons: Vec<Reason>,
}

/// What was found for a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// What the scheduler would do.
    pub state: State,
    /// What it would say; empty unless [`State::Unschedulable`], [`State::Gated`] or [`State::NoNodes`].
    pub sentence: String,
    /// A reason that rejects the pod before any node is looked at.
    pub rejected: Option<Reason>,
    /// Every node, by name.
    pub nodes: Vec<NodeVerdict>,
    /// Nodes where displacing pods of lower priority would make room.
    pub preemptable: Vec<String>,
    /// What could not be decided, and why.
    pub open: Vec<String>,
}

impl Verdict {
    fn of(state: State, sentence: impl Into<String>) -> Self {
        Self {
            state,
            sentence: sentence.into(),
            rejected: None,
            nodes: Vec::new(),
            preemptable: Vec::new(),
            open: Vec::new(),
        }
    }

    /// How many nodes are left out for each reason, in the scheduler's words.
    pub fn histogram(&self) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        let said = |reason: &&Reason| !reason.says.is_empty();
        for reason in self
            .nodes
            .iter()
            .flat_map(|node| &node.reasons)
            .filter(said)
        {
            *counts.entry(reason.says.as_str()).or_default() += 1;
        }
        counts
    }
}

/// Works out where a pending pod could run, and if nowhere, what the scheduler says.
pub fn explain(pod: &Pod, cluster: &Cluster<'_>) -> Verdict {
    if let Some(gate) = pod.spec.scheduling_gates.first() {
        let sentence = "Scheduling is blocked due to non-empty scheduling gates";
        let mut verdict = Verdict::of(State::Gated, sentence);
        verdict
            .open
            .push(format!("the gate {} is not lifted", gate.name));
        return verdict;
    }
    if cluster.inputs.nodes.is_empty() && cluster.inputs.nodes_complete {
        return Verdict::of(State::NoNodes, "no nodes available to schedule pods");
    }
    let mut prepared = prepare(pod, cluster);
    let mut nodes: Vec<&Node> = cluster.inputs.nodes.clone();
    nodes.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
    let hami = hami_accounts(pod).then(|| hami::Pool::of(cluster));
    let judged = nodes.iter().map(|node| {
        let mut reasons = match &prepared.rejected {
            Some(_) => Vec::new(),
            None => filter(&prepared, node, cluster),
        };
        keep_known(&mut reasons, cluster);
        if let (true, None, Some(pool)) = (reasons.is_empty(), &prepared.rejected, &hami) {
            reasons.extend(pool.filter(pod, node));
        }
        NodeVerdict {
            node: node.metadata.name.clone(),
            reasons,
        }
    });
    let mut verdict = Verdict::of(State::Unschedulable, "");
    verdict.nodes = judged.collect();
    verdict.open = prepared.left_open();
    verdict.rejected = prepared.rejected.clone();
    if !cluster.inputs.pods_complete {
        verdict
            .open
            .push("not all pods were collected, so more may be taken than is counted".into());
    }
    if !cluster.inputs.nodes_complete {
        verdict.open.push("not all nodes were collected".into());
        verdict.state = State::Undecided;
        return verdict;
    }
    let free = verdict.nodes.iter().any(|node| node.reasons.is_empty());
    if verdict.rejected.is_none() && free {
        verdict.state = if verdict.open.is_empty() {
            State::Fits
        } else {
            State::Undecided
        };
        return verdict;
    }
    let preemption = preemption(&mut prepared, cluster, &mut verdict);
    verdict.sentence = sentence(&verdict, &preemption, cluster.release);
    verdict
}

/// A pod that was not collected may be the one that affinity or spread looks for.
fn keep_known(reasons: &mut Vec<Reason>, cluster: &Cluster<'_>) {
    if !cluster.inputs.pods_complete {
        reasons.retain(|one| !matches!(one.predicate, Predicate::Spread | Predicate::PodAffinity));
    }
}

fn sentence(verdict: &Verdict, preemption: &str, release: Release) -> String {
    let nodes = verdict.nodes.len();
    let reasons = match &verdict.rejected {
        Some(reason) if words::counts_rejection(release) => format!("{nodes} {}", reason.says),
        Some(reason) => reason.says.clone(),
        None => joined(&verdict.histogram()),
    };
    // Nothing is said of nodes that were left out before filtering, and no other may be there.
    let reasons = match reasons.is_empty() && !words::counts_rejection(release) {
        true => String::new(),
        false => format!(" {reasons}."),
    };
    let sentence = format!("0/{nodes} nodes are available:{reasons}");
    if preemption.is_empty() || !words::tells_preemption(release) {
        sentence
    } else {
        let dot = if words::doubles_dot(release) { "." } else { "" };
        format!("{sentence} {preemption}{dot}")
    }
}

/// Reasons with their counts in the order that the scheduler prints them: sorted as text.
fn joined(histogram: &BTreeMap<&str, usize>) -> String {
    let mut parts: Vec<String> = histogram
        .iter()
        .map(|(reason, count)| format!("{count} {reason}"))
        .collect();
    parts.sort();
    parts.join(", ")
}

/// Release from which the plugin for device claims speaks before preemption does.
const DEVICE_CLAIMS: Release = Release {
    minor: 34,
    patch: 0,
};

/// What the scheduler says of displacing other pods; nothing if that would make room.
fn preemption<'a>(
    prepared: &mut Prepared<'a>,
    cluster: &Cluster<'a>,
    verdict: &mut Verdict,
) -> String {
    let pod = prepared.pod;
    let claims = !pod.spec.resource_claims.is_empty();
    let reasons: Vec<&Reason> = verdict
        .nodes
        .iter()
        .flat_map(|node| &node.reasons)
        .collect();
    if let Some(reason) = &verdict.rejected
        && reason.predicate == Predicate::Volume
        && let Some(says) = words::rejected_by_volumes(cluster.release)
    {
        return says.to_owned();
    }
    let prefix = if gives_up_a_claim(pod, cluster, &reasons) {
        "deallocation of ResourceClaim completed, "
    } else if claims && verdict.rejected.is_none() {
        "still not schedulable, "
    } else if claims || cluster.release >= DEVICE_CLAIMS {
        "no new claims to deallocate, "
    } else {
        ""
    };
    if pod.spec.preemption_policy == "Never" {
        return format!("{prefix}preemption: not eligible due to preemptionPolicy=Never.");
    }
    let (says, makes_room) = displacing(prepared, cluster, verdict);
    let nodes = verdict.nodes.len();
    let says: BTreeMap<&str, usize> = says
        .iter()
        .map(|(reason, count)| (reason.as_str(), *count))
        .collect();
    let text = format!(
        "{prefix}preemption: 0/{nodes} nodes are available: {}.",
        joined(&says)
    );
    let nobody = makes_room.is_empty();
    verdict.preemptable = makes_room;
    if nobody { text } else { String::new() }
}

/// What is said of the nodes where displacing pods does not help, and the nodes where it does.
fn displacing<'a>(
    prepared: &mut Prepared<'a>,
    cluster: &Cluster<'a>,
    verdict: &Verdict,
) -> (BTreeMap<String, usize>, Vec<String>) {
    let mut says: BTreeMap<String, usize> = BTreeMap::new();
    let mut say = |reason: &str| *says.entry(reason.to_owned()).or_default() += 1;
    let mut makes_room = Vec::new();
    for judged in &verdict.nodes {
        let lost = verdict.rejected.is_some() || judged.reasons.iter().any(|one| one.unresolvable);
        if lost {
            say("Preemption is not helpful for scheduling");
            continue;
        }
        let still = cluster
            .node(&judged.node)
            .and_then(|node| without_lower(prepared, node, cluster));
        match still {
            None => say("No preemption victims found for incoming pod"),
            Some(reasons) if reasons.is_empty() => makes_room.push(judged.node.clone()),
            Some(reasons) => reasons.iter().for_each(|reason| say(&reason.says)),
        }
    }
    (says, makes_room)
}

/// Why a node without its pods of lower priority is left out still; `None` if it has no such pods.
fn without_lower<'a>(
    prepared: &mut Prepared<'a>,
    node: &'a Node,
    cluster: &Cluster<'a>,
) -> Option<Vec<Reason>> {
    let priority = prepared.pod.priority();
    let pods = cluster.load(&node.metadata.name).pods.iter().copied();
    let lower: Vec<&Pod> = pods.filter(|other| other.priority() < priority).collect();
    if lower.is_empty() {
        return None;
    }
    let mut reasons = filter_without(prepared, node, &lower, cluster);
    keep_known(&mut reasons, cluster);
    Some(reasons)
}
