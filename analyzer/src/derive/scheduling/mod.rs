//! Scheduling: where each pending pod would fit and why not elsewhere, and what is taken of each node.

mod accounts;
mod pending;

use super::{Deriver, Known};
use crate::facts::kube::{Event, Workload};
use crate::facts::scheduling::{ClusterVersion, Lease, ListOutcome, Namespace};
use crate::facts::{AnyFact, Fact, FactType};
use crate::scheduling::{Cluster, Inputs, api};

/// Joins pods, nodes, claims, volumes, quotas and the scheduler's own words.
pub(super) static DERIVER: Deriver = Deriver {
    id: "scheduling",
    derive,
};

fn derive(known: &Known<'_>) -> Vec<AnyFact> {
    let nodes = known.facts.table::<api::Node>();
    if nodes.is_empty() && !collected(known, "nodes", "nodes.json") {
        return Vec::new();
    }
    let cluster = Cluster::new(inputs(known));
    let mut facts = pending::facts(known, &cluster);
    facts.extend(accounts::facts(known, &cluster));
    facts
}

fn inputs<'a>(known: &'a Known<'_>) -> Inputs<'a> {
    let version = known.facts.table::<ClusterVersion>().first();
    let namespaces = known.facts.table::<Namespace>().iter();
    Inputs {
        nodes: all(known),
        pods: all(known),
        pods_complete: known.facts.table::<ListOutcome>().iter().any(|list| {
            let list = &list.data;
            list.name == "pods" && list.outcome == "collected" && list.path == "/api/v1/pods"
        }),
        claims: collected(known, "persistentvolumeclaims", "pvcs").then(|| all(known)),
        volumes: collected(known, "persistentvolumes", "pvs.json").then(|| all(known)),
        classes: collected(known, "storageclasses", "storage-classes.json").then(|| all(known)),
        namespaces: collected(known, "namespaces", "namespaces.json")
            .then(|| namespaces.map(|one| &one.data.0).collect()),
        quotas: all(known),
        limit_ranges: all(known),
        version: version.map_or_else(String::new, |fact| fact.data.version.clone()),
    }
}

fn all<'a, T: FactType>(known: &'a Known<'_>) -> Vec<&'a T> {
    known
        .facts
        .table::<T>()
        .iter()
        .map(|fact| &fact.data)
        .collect()
}

/// Whether a kind of object was listed: the collector says so, or there is a file of it.
fn collected(known: &Known<'_>, kind: &str, other: &str) -> bool {
    let listed = known.facts.table::<ListOutcome>().iter().any(|list| {
        let name = list.data.name.split('.').next();
        name == Some(kind) && matches!(list.data.outcome.as_str(), "collected" | "partial")
    });
    listed
        || known.paths.iter().any(|path| {
            let rest = path.strip_prefix("cluster-resources/");
            rest.is_some_and(|rest| rest.starts_with(kind) || rest.starts_with(other))
        })
}

/// Whether there is a sign of a scheduler: its lease, an event that it wrote, or a pod named after it.
fn seen(known: &Known<'_>, scheduler: &str) -> &'static str {
    let lease = if scheduler == "default-scheduler" {
        "kube-scheduler"
    } else {
        scheduler
    };
    let leases = known.facts.table::<Lease>();
    let named = |name: &str| name.contains(lease);
    let mut events = known.facts.table::<Event>().iter();
    if events.any(|event| event.data.reporter == scheduler)
        || leases.iter().any(|one| one.data.0.metadata.name == lease)
        || all::<api::Pod>(known)
            .iter()
            .any(|pod| named(&pod.metadata.name))
        || all::<Workload>(known).iter().any(|one| named(&one.name))
    {
        return "yes";
    }
    if collected(known, "leases", "leases") && !leases.is_empty() {
        "no"
    } else {
        "unknown"
    }
}

/// A fact that stands where an object was read.
fn beside<T: FactType, U>(data: T, object: &Fact<U>) -> AnyFact {
    Fact {
        data,
        place: object.place.clone(),
        text: object.text.clone(),
        at: None,
    }
    .into()
}
