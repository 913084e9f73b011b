//! The predicates, in the order in which the scheduler's default plugins run.

pub(super) mod devices;
mod disks;
mod interpod;
mod limits;
mod node;
mod resources;
mod spread;
mod volumes;
pub(super) mod words;

use std::collections::BTreeSet;

use serde::Serialize;

use super::api::{Node, Pod};
use super::cluster::{Cluster, Load};

/// What a node was left out for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Predicate {
    /// The node is cordoned.
    Unschedulable,
    /// Another node is named.
    NodeName,
    /// A taint.
    Taint,
    /// Node selector or affinity.
    NodeAffinity,
    /// A port of the node is taken.
    HostPort,
    /// Too many pods.
    MaxPods,
    /// Too little of a resource.
    Resource,
    /// A claim or volume.
    Volume,
    /// Topology spread.
    Spread,
    /// Affinity to, or away from, pods.
    PodAffinity,
    /// A claim for devices.
    Device,
    /// HAMi's accounting of GPUs.
    Hami,
}

/// Why a node was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// What for.
    pub predicate: Predicate,
    /// In the scheduler's words.
    pub says: String,
    /// With names and numbers.
    pub detail: String,
    /// Resource that is short, key of the taint; empty for other reasons.
    pub about: String,
    /// Displacing pods could not help.
    pub unresolvable: bool,
}

impl Reason {
    fn new(predicate: Predicate, says: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            predicate,
            says: says.into(),
            detail: detail.into(),
            about: String::new(),
            unresolvable: true,
        }
    }

    fn resolvable(self) -> Self {
        Self {
            unresolvable: false,
            ..self
        }
    }
}

/// What the pod asks of the cluster as a whole, worked out once.
pub(super) struct Prepared<'a> {
    pub(super) pod: &'a Pod,
    pub(super) requests: super::quantity::Resources,
    interpod: interpod::State<'a>,
    spread: spread::State<'a>,
    volumes: volumes::State<'a>,
    devices: devices::State<'a>,
    /// What could not be decided, and why.
    pub(super) open: Vec<String>,
    /// The nodes that the pod names by `metadata.name`, where it does: no others are filtered.
    named: Option<BTreeSet<&'a str>>,
    /// A reason that rejects the pod before any node is looked at.
    pub(super) rejected: Option<Reason>,
}

/// Works out what the filters need, as the scheduler does before it looks at nodes.
pub(super) fn prepare<'a>(pod: &'a Pod, cluster: &Cluster<'a>) -> Prepared<'a> {
    let mut open = Vec::new();
    let volumes = volumes::State::of(pod, cluster, &mut open);
    let requests = resources::asked(pod, cluster, &mut open);
    let devices = devices::State::of(pod, cluster, &mut open);
    Prepared {
        named: node::named(pod).filter(|_| words::narrows(cluster.release)),
        rejected: volumes.rejected().or_else(|| devices.rejected()),
        devices,
        interpod: interpod::State::of(pod, cluster, &mut open),
        spread: spread::State::of(pod, cluster),
        pod,
        requests,
        volumes,
        open,
    }
}

/// The reasons of the first predicate that leaves a node out; none if the pod fits there as far as can be seen.
pub(super) fn filter(prepared: &Prepared<'_>, node: &Node, cluster: &Cluster<'_>) -> Vec<Reason> {
    let name = node.metadata.name.as_str();
    if let Some(named) = &prepared.named
        && !named.contains(name)
    {
        let all: Vec<&str> = named.iter().copied().collect();
        let detail = format!("the pod may run on {} only (metadata.name)", all.join(", "));
        let says = words::narrowed(cluster.release);
        let reason = Reason::new(Predicate::NodeAffinity, says, detail);
        return vec![if words::narrowed_lost(cluster.release) {
            reason
        } else {
            reason.resolvable()
        }];
    }
    filter_beside(prepared, node, cluster.load(&node.metadata.name), cluster)
}

/// The same as if these pods of the node were gone, which frees more than what the first predicate asked for, and may
/// take away what the pod wants to be beside.
pub(super) fn filter_without<'a>(
    prepared: &mut Prepared<'a>,
    node: &'a Node,
    gone: &[&'a Pod],
    cluster: &Cluster<'a>,
) -> Vec<Reason> {
    let pods = cluster.load(&node.metadata.name).pods.iter().copied();
    let stay = pods.filter(|pod| !gone.iter().any(|other| std::ptr::eq(*other, *pod)));
    let stay = Load::of(stay, cluster.release);
    prepared.shift(node, gone, cluster, -1);
    let reasons = filter_beside(prepared, node, &stay, cluster);
    prepared.shift(node, gone, cluster, 1);
    reasons
}

fn filter_beside(
    prepared: &Prepared<'_>,
    node: &Node,
    load: &Load<'_>,
    cluster: &Cluster<'_>,
) -> Vec<Reason> {
    let pod = prepared.pod;
    let single = node::unschedulable(pod, node)
        .or_else(|| node::taint(pod, node, cluster.release))
        .or_else(|| node::affinity(pod, node, cluster.release))
        .or_else(|| node::ports(pod, load));
    if let Some(reason) = single {
        return vec![reason];
    }
    let short = resources::fit(prepared, node, load, cluster);
    if !short.is_empty() {
        return short;
    }
    let last = prepared
        .volumes
        .filter(node, cluster)
        .or_else(|| prepared.spread.filter(pod, node));
    if let Some(reason) = last {
        return vec![reason];
    }
    match prepared.interpod.filter(node) {
        Some(reason) => {
            let first = words::pod_affinity_first(cluster.release);
            let first = first.map(|says| Reason {
                says: says.to_owned(),
                ..reason.clone()
            });
            first.into_iter().chain([reason]).collect()
        }
        None => prepared.devices.filter(node).into_iter().collect(),
    }
}

impl<'a> Prepared<'a> {
    /// Counts pods of a node in (1) or out (-1).
    fn shift(&mut self, node: &'a Node, pods: &[&'a Pod], cluster: &Cluster<'a>, by: i64) {
        for other in pods {
            self.interpod.count(self.pod, other, node, cluster, by);
            self.spread.shift(self.pod, other, node, by);
        }
        self.volumes.gone = if by < 0 { pods.to_vec() } else { Vec::new() };
    }

    /// What could not be decided once all nodes were looked at.
    pub(super) fn left_open(&self) -> Vec<String> {
        let mut open = self.open.clone();
        open.extend(self.devices.open());
        open
    }
}
