//! Scheduling: where each pending pod would fit and why not elsewhere, and what is taken of each node.

mod accounts;
mod pending;

use casefile_bundle::Entry;

use super::{Deriver, Known};
use crate::facts::kube::{Event, Workload};
use crate::facts::scheduling::{ClusterVersion, Lease, ListOutcome, Namespace};
use crate::facts::{AnyFact, Fact, FactType};
use crate::model::state::HamiSetting;
use crate::scheduling::hami::Defaults;
use crate::scheduling::{Cluster, Inputs, api};

/// Joins pods, nodes, claims, volumes, quotas and the scheduler's own words.
pub(super) static DERIVER: Deriver = Deriver {
    id: "scheduling",
    derive,
};

fn derive(known: &Known<'_>) -> Vec<AnyFact> {
    let nodes = known.facts.table::<api::Node>();
    if nodes.is_empty() && !nodes_complete(known) {
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
        pods_complete: listed(known, "pods"),
        nodes_complete: nodes_complete(known),
        claims: listed(known, "persistentvolumeclaims").then(|| all(known)),
        volumes: listed(known, "persistentvolumes").then(|| all(known)),
        classes: listed(known, "storageclasses").then(|| all(known)),
        csi_nodes: listed(known, "csinodes").then(|| all(known)),
        device_claims: listed(known, "resourceclaims").then(|| all(known)),
        slices: listed(known, "resourceslices").then(|| all(known)),
        device_classes: listed(known, "deviceclasses").then(|| all(known)),
        namespaces: listed(known, "namespaces")
            .then(|| namespaces.map(|one| &one.data.0).collect()),
        hami: hami_defaults(known),
        quotas: all(known),
        limit_ranges: all(known),
        version: version.map_or_else(String::new, |fact| fact.data.version.clone()),
    }
}

/// HAMi's settings from the values of its release; what is not there has the chart's default.
fn hami_defaults(known: &Known<'_>) -> Defaults {
    let number = |name: &str| {
        let mut settings = known.facts.table::<HamiSetting>().iter();
        let setting = settings.find(|setting| setting.data.name == name)?;
        setting.data.value.parse().ok().filter(|value| *value >= 0)
    };
    Defaults {
        memory: number("defaultMem").unwrap_or(0),
        cores: number("defaultCores").unwrap_or(0),
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

/// Whether the collector says that it had the whole list of a kind of object, and all of it could be read.
fn listed(known: &Known<'_>, kind: &str) -> bool {
    let list = Entry::Objects(kind).path();
    let mut broken = known.broken.iter();
    let is_list = |path: &String| path.starts_with(&list) && !path.contains("/logs/");
    !broken.any(is_list) && collected(known, kind)
}

fn collected(known: &Known<'_>, kind: &str) -> bool {
    known.facts.table::<ListOutcome>().iter().any(|list| {
        let list = &list.data;
        let name = list.name.split('.').next();
        name == Some(kind) && list.outcome == "collected" && !list.path.contains("/namespaces/")
    })
}

/// Whether the nodes are all there are. Pasted objects are some of them; a list of the cluster that was read to its
/// end is the whole.
fn nodes_complete(known: &Known<'_>) -> bool {
    let list = &Entry::List("nodes").path();
    !known.broken.contains(list)
        && (collected(known, "nodes") || known.paths.contains(list.as_str()))
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
    if listed(known, "leases") && !leases.is_empty() {
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
