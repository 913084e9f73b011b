//! Rows of nodes, namespaces, events and what else a cluster is made of.

use std::collections::BTreeSet;

use serde_json::Value;

use super::age;
use super::cell::{AGE, Cell, Column, NAME, Row, col, named, txt, wide};
use super::workloads::some_quantity;
use crate::value::{self, at, has, int, list, text};

pub(super) const NODE: &[Column] = &[
    NAME,
    col("Status"),
    col("Roles"),
    AGE,
    col("Version"),
    wide("Internal-IP"),
    wide("External-IP"),
    wide("OS-Image"),
    wide("Kernel-Version"),
    wide("Container-Runtime"),
];

pub(super) fn node(row: &Row<'_>) -> Vec<Cell> {
    let conditions = row.list("status.conditions").iter();
    let ready = conditions.rev().find(|one| text(one, "type") == "Ready");
    let mut status = match ready.map(|one| text(one, "status")) {
        Some("True") => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    }
    .to_owned();
    if value::flag(row.object, "spec.unschedulable") {
        status.push_str(",SchedulingDisabled");
    }
    let address = |kind: &str| {
        let mut all = row.list("status.addresses").iter();
        let found = all.find(|one| text(one, "type") == kind);
        txt(found.map_or("<none>", |one| text(one, "address")))
    };
    let mut kernel = match row.text("status.nodeInfo.kernelVersion") {
        "" => "<unknown>".to_owned(),
        known => known.to_owned(),
    };
    let architecture = row.text("status.nodeInfo.architecture");
    if !architecture.is_empty() {
        kernel = format!("{kernel} ({architecture})");
    }
    vec![
        row.name(),
        txt(status),
        txt(roles(row.object)),
        row.age(),
        row.copy("status.nodeInfo.kubeletVersion"),
        address("InternalIP"),
        address("ExternalIP"),
        row.filled("status.nodeInfo.osImage", "<unknown>"),
        txt(kernel),
        row.filled("status.nodeInfo.containerRuntimeVersion", "<unknown>"),
    ]
}

fn roles(node: &Value) -> String {
    let mut roles = BTreeSet::new();
    for (label, value) in value::map(node, "metadata.labels") {
        match label.strip_prefix("node-role.kubernetes.io/") {
            Some(role) if !role.is_empty() => roles.insert(role),
            None if label == "kubernetes.io/role" && !value.is_empty() => roles.insert(value),
            _ => false,
        };
    }
    let roles: Vec<&str> = roles.into_iter().collect();
    if roles.is_empty() {
        "<none>".to_owned()
    } else {
        roles.join(",")
    }
}

pub(super) const NAMESPACE: &[Column] = &[NAME, col("Status"), AGE];

pub(super) fn namespace(row: &Row<'_>) -> Vec<Cell> {
    vec![row.name(), row.copy("status.phase"), row.age()]
}

pub(super) const EVENT: &[Column] = &[
    col("Last Seen"),
    col("Type"),
    col("Reason"),
    col("Object"),
    wide("Subobject"),
    wide("Source"),
    col("Message"),
    wide("First Seen"),
    wide("Count"),
    named("Name", true),
];

/// Fields of an event that the two versions of events name differently.
struct EventFields {
    object: &'static str,
    message: &'static str,
    first: &'static str,
    last: &'static str,
    count: &'static str,
    source: &'static str,
    controller: &'static str,
}

const OF_CORE: EventFields = EventFields {
    object: "involvedObject",
    message: "message",
    first: "firstTimestamp",
    last: "lastTimestamp",
    count: "count",
    source: "source",
    controller: "reportingComponent",
};

const OF_EVENTS: EventFields = EventFields {
    object: "regarding",
    message: "note",
    first: "deprecatedFirstTimestamp",
    last: "deprecatedLastTimestamp",
    count: "deprecatedCount",
    source: "deprecatedSource",
    controller: "reportingController",
};

pub(super) fn event(row: &Row<'_>) -> Vec<Cell> {
    let fields = if row.has("regarding") {
        OF_EVENTS
    } else {
        OF_CORE
    };
    let time = |path: &str| value::time(row.object, path);
    let first = age::since(time(fields.first).or(time("eventTime")), row.now);
    let mut last = match time(fields.last) {
        Some(at) => age::since(Some(at), row.now),
        None => first.clone(),
    };
    let mut count = int(row.object, fields.count);
    if row.has("series") {
        last = row.ago("series.lastObservedTime");
        count = row.int("series.count");
    } else if count == 0 {
        count = 1;
    }
    let object = &row.object[fields.object];
    let kind = text(object, "kind").to_lowercase();
    let target = match text(object, "name") {
        "" => kind,
        name => format!("{kind}/{name}"),
    };
    let source = &row.object[fields.source];
    let or = |known: &'static str, other: &'static str| match text(source, known) {
        "" => row.text(other),
        text => text,
    };
    let component = or("component", fields.controller);
    let source = match or("host", "reportingInstance") {
        "" => component.to_owned(),
        host => format!("{component}, {host}"),
    };
    vec![
        txt(last),
        row.copy("type"),
        row.copy("reason"),
        txt(target),
        txt(text(object, "fieldPath")),
        txt(source),
        txt(row.text(fields.message).trim()),
        txt(first),
        Cell::Int(count),
        row.name(),
    ]
}

pub(super) const CONFIG_MAP: &[Column] = &[NAME, col("Data"), AGE];

fn entries(object: &Value, field: &str) -> i64 {
    let entries = object[field].as_object().map_or(0, serde_json::Map::len);
    entries.try_into().unwrap_or(i64::MAX)
}

pub(super) fn config_map(row: &Row<'_>) -> Vec<Cell> {
    let data = entries(row.object, "data") + entries(row.object, "binaryData");
    vec![row.name(), Cell::Int(data), row.age()]
}

pub(super) const SECRET: &[Column] = &[NAME, col("Type"), col("Data"), AGE];

pub(super) fn secret(row: &Row<'_>) -> Vec<Cell> {
    vec![
        row.name(),
        row.copy("type"),
        Cell::Int(entries(row.object, "data")),
        row.age(),
    ]
}

pub(super) const NAME_AND_AGE: &[Column] = &[NAME, AGE];

pub(super) fn name_and_age(row: &Row<'_>) -> Vec<Cell> {
    vec![row.name(), row.age()]
}

pub(super) const QUOTA: &[Column] = &[NAME, col("Request"), col("Limit"), AGE];

pub(super) fn quota(row: &Row<'_>) -> Vec<Cell> {
    let hard = at(row.object, "status.hard").as_object();
    let used = at(row.object, "status.used");
    let mut names: Vec<&String> = hard.into_iter().flat_map(serde_json::Map::keys).collect();
    names.sort_unstable();
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    for name in names {
        let amount = |of: &Value| some_quantity(&of[name]).unwrap_or_else(|| "0".to_owned());
        let shown = format!(
            "{name}: {}/{}",
            amount(used),
            amount(at(row.object, "status.hard"))
        );
        if name.starts_with("limits.") {
            limits.push(shown)
        } else {
            requests.push(shown)
        }
    }
    vec![
        row.name(),
        txt(requests.join(", ")),
        txt(limits.join(", ")),
        row.age(),
    ]
}

pub(super) const COMPONENT: &[Column] = &[NAME, col("Status"), col("Message"), col("Error")];

pub(super) fn component(row: &Row<'_>) -> Vec<Cell> {
    let mut conditions = row.list("conditions").iter();
    let healthy = conditions.find(|one| text(one, "type") == "Healthy");
    let status = match healthy.map(|one| text(one, "status")) {
        Some("True") => "Healthy",
        Some(_) => "Unhealthy",
        None => "Unknown",
    };
    let field = |name| txt(healthy.map_or("", |one| text(one, name)));
    vec![row.name(), txt(status), field("message"), field("error")]
}

pub(super) const LEASE: &[Column] = &[NAME, col("Holder"), AGE];

pub(super) fn lease(row: &Row<'_>) -> Vec<Cell> {
    vec![row.name(), row.copy("spec.holderIdentity"), row.age()]
}

pub(super) const LEASE_CANDIDATE: &[Column] = &[
    NAME,
    col("LeaseName"),
    col("BinaryVersion"),
    col("EmulationVersion"),
    AGE,
];

pub(super) fn lease_candidate(row: &Row<'_>) -> Vec<Cell> {
    vec![
        row.name(),
        row.copy("spec.leaseName"),
        row.copy("spec.binaryVersion"),
        row.copy("spec.emulationVersion"),
        row.age(),
    ]
}

pub(super) const API_SERVICE: &[Column] = &[NAME, col("Service"), col("Available"), AGE];

pub(super) fn api_service(row: &Row<'_>) -> Vec<Cell> {
    let service = at(row.object, "spec.service");
    let service = match service {
        Value::Null => "Local".to_owned(),
        service => format!("{}/{}", text(service, "namespace"), text(service, "name")),
    };
    let mut conditions = row.list("status.conditions").iter();
    let available = conditions.find(|one| text(one, "type") == "Available");
    let available = match available.map(|one| (text(one, "status"), text(one, "reason"))) {
        None => "Unknown".to_owned(),
        Some((status, reason)) if status != "True" && !reason.is_empty() => {
            format!("{status} ({reason})")
        }
        Some((status, _)) => status.to_owned(),
    };
    vec![row.name(), txt(service), txt(available), row.age()]
}

pub(super) const STORAGE_VERSION: &[Column] = &[
    NAME,
    col("CommonEncodingVersion"),
    col("StorageVersions"),
    AGE,
];

pub(super) fn storage_version(row: &Row<'_>) -> Vec<Cell> {
    let versions: Vec<String> = list(row.object, "status.storageVersions")
        .iter()
        .map(|one| {
            format!(
                "{}={}",
                text(one, "apiServerID"),
                text(one, "encodingVersion")
            )
        })
        .collect();
    let shown = match super::selector::first(&versions, 3) {
        text if text.is_empty() => "<unset>".to_owned(),
        text => text,
    };
    vec![
        row.name(),
        row.or("status.commonEncodingVersion", "<unset>"),
        txt(shown),
        row.age(),
    ]
}

pub(super) const MIGRATION: &[Column] = &[
    Column { format: "", ..NAME },
    col("Resource"),
    col("Status"),
];

pub(super) fn migration(row: &Row<'_>) -> Vec<Cell> {
    let resource = at(row.object, "spec.resource");
    let shown = match text(resource, "group") {
        "" => text(resource, "resource").to_owned(),
        group => format!("{}.{group}", text(resource, "resource")),
    };
    let held = row.list("status.conditions").iter().rev().find(|one| {
        text(one, "status") == "True"
            && matches!(text(one, "type"), "Running" | "Failed" | "Succeeded")
    });
    let status = held.map_or("Unknown", |one| text(one, "type"));
    vec![row.name(), txt(shown), txt(status)]
}

/// Whether an object has a status at all; a request that nobody worked on has none.
pub(super) fn has_status(row: &Row<'_>) -> bool {
    has(row.object, "status")
}
