//! Objects that decide where pods can run, as the scheduler reads them.

use casefile_bundle::{ANY, Entry};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::pods::fact;
use super::{Document, Item, Parsed, Parser, Read};
use crate::facts::scheduling::{ClusterVersion, Lease, ListOutcome, Namespace};
use crate::facts::{AnyFact, Fact, FactType};
use crate::scheduling::api;

/// Reads claims, volumes, storage classes, quotas, limits, namespaces and leases.
pub(super) static PARSER: Parser = Parser {
    id: "scheduling",
    reads: &[
        Entry::ListIn("persistentvolumeclaims", ANY),
        Entry::ListIn("pvcs", ANY),
        Entry::List("persistentvolumes"),
        Entry::List("pvs"),
        Entry::List("storageclasses"),
        Entry::List("storage-classes"),
        Entry::List("csinodes"),
        Entry::ListIn("resourceclaims", ANY),
        Entry::List("resourceslices"),
        Entry::List("deviceclasses"),
        Entry::ListIn("resourcequotas", ANY),
        Entry::ListIn("resource-quota", ANY),
        Entry::ListIn("limitranges", ANY),
        Entry::List("namespaces"),
        Entry::ListIn("leases", ANY),
        Entry::ListIn("replicasets", ANY),
        Entry::ListIn("jobs", ANY),
    ],
    read: Read::Items(parse),
};

/// Reads the cluster's version and which lists were had.
pub(super) static CLUSTER: Parser = Parser {
    id: "cluster-info",
    reads: &[
        Entry::Cluster("cluster_version.json"),
        Entry::Cluster("resources.json"),
    ],
    read: Read::Whole(parse_cluster),
};

fn parse(item: &Item<'_>) -> Parsed {
    let kind = item.plural();
    let facts = match kind {
        "persistentvolumeclaims" | "pvcs" => one(object::<api::Claim>(item)),
        "persistentvolumes" | "pvs" => one(object::<api::Volume>(item)),
        "storageclasses" | "storage-classes" => one(object::<api::StorageClass>(item)),
        "csinodes" => one(object::<api::CsiNode>(item)),
        "resourceclaims" => one(object::<api::DeviceClaim>(item)),
        "resourceslices" => one(object::<api::Slice>(item)),
        "deviceclasses" => one(object::<api::DeviceClass>(item)),
        "resourcequotas" | "resource-quota" => one(object::<api::Quota>(item)),
        "limitranges" => one(object::<api::LimitRange>(item)),
        "namespaces" => one(wrapped(item, Namespace)),
        "leases" => one(wrapped(item, Lease)),
        kind @ ("replicasets" | "jobs") => {
            let mut facts = one(workload(item));
            facts.extend(super::templates::between(item, kind.trim_end_matches('s')));
            facts
        }
        _ => one(workload(item)),
    };
    if facts.is_empty() && !["replicasets", "jobs"].contains(&kind) {
        return Parsed::problem(
            item.place.clone(),
            format!("an object of {kind} was not read"),
        );
    }
    Parsed {
        facts,
        ..Parsed::default()
    }
}

fn one(found: Option<AnyFact>) -> Vec<AnyFact> {
    found.into_iter().collect()
}

fn read<T: DeserializeOwned>(item: &Item<'_>) -> Option<T> {
    item.read().ok()
}

fn named<T: FactType>(data: T, name: &str, item: &Item<'_>) -> AnyFact {
    fact(data, item, format!("\"name\":\"{name}\"")).into()
}

/// An object as the scheduler reads it; none if it does not parse, which another parser reports for its own kinds.
pub(super) fn object<T>(item: &Item<'_>) -> Option<AnyFact>
where
    T: DeserializeOwned + FactType,
{
    let data: T = read(item)?;
    let subject = data.subject();
    let name = subject.rsplit('/').next().unwrap_or_default().to_owned();
    Some(named(data, &name, item))
}

fn wrapped<T: FactType>(item: &Item<'_>, wrap: fn(api::Plain) -> T) -> Option<AnyFact> {
    let plain: api::Plain = read(item)?;
    let name = plain.metadata.name.clone();
    Some(named(wrap(plain), &name, item))
}

/// A pod that holds resources or waits for a node. Ended pods do neither and are left out.
pub(super) fn pod(item: &Item<'_>) -> Option<AnyFact> {
    let mut pod: api::Pod = read(item)?;
    if pod.ended() {
        return None;
    }
    pod.slim();
    let name = pod.metadata.name.clone();
    Some(named(pod, &name, item))
}

/// A workload that has fewer pods than it wants.
pub(super) fn workload(item: &Item<'_>) -> Option<AnyFact> {
    let mut workload: api::Workload = read(item)?;
    workload.kind = item.singular("");
    if missing(&workload) <= 0 {
        return None;
    }
    let name = workload.metadata.name.clone();
    Some(named(workload, &name, item))
}

/// Pods that a workload wants and that do not exist. A deployment's are its replica sets' affair.
pub(crate) fn missing(workload: &api::Workload) -> i64 {
    let status = &workload.status;
    match (workload.kind.as_str(), workload.spec.replicas) {
        ("replicaset" | "statefulset", Some(wanted)) => {
            wanted.saturating_sub(status.replicas.unwrap_or(0))
        }
        ("daemonset", _) => {
            let wanted = status.desired_number_scheduled.unwrap_or(0);
            wanted.saturating_sub(status.current_number_scheduled.unwrap_or(0))
        }
        _ => 0,
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Version {
    string: String,
    info: VersionInfo,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct VersionInfo {
    git_version: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Lists {
    resources: Vec<ListLine>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ListLine {
    name: String,
    outcome: String,
    path: String,
}

fn parse_cluster(document: &Document<'_>) -> Parsed {
    let stated = |data: AnyFact| Parsed {
        facts: vec![data],
        ..Parsed::default()
    };
    if document.path.ends_with("cluster_version.json") {
        let version: Version = serde_json::from_str(document.text).unwrap_or_default();
        let version = if version.string.is_empty() {
            version.info.git_version
        } else {
            version.string
        };
        if version.is_empty() {
            return Parsed::problem(document.line(1), "the cluster's version was not read");
        }
        let text = version.clone();
        return stated(at(document, ClusterVersion { version }, text));
    }
    let lists: Lists = serde_json::from_str(document.text).unwrap_or_default();
    Parsed {
        facts: lists
            .resources
            .into_iter()
            .map(|line| {
                let text = line.name.clone();
                let outcome = ListOutcome {
                    name: line.name,
                    outcome: line.outcome,
                    path: line.path,
                };
                at(document, outcome, text)
            })
            .collect(),
        ..Parsed::default()
    }
}

/// A fact that stands at the first line that holds a text.
fn at<T: FactType>(document: &Document<'_>, data: T, text: String) -> AnyFact {
    let offset = document.text.find(&format!("\"{text}\"")).unwrap_or(0);
    Fact {
        data,
        place: document.at_offset(offset),
        text: text.into(),
        at: None,
    }
    .into()
}
