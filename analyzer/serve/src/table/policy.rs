//! Rows of who may do what: roles, certificates, admission, priorities, disruption budgets.

use serde_json::Value;

use super::age;
use super::cell::{AGE, Cell, Column, NAME, Row, col, number, txt, typed, wide};
use super::selector::{go_syntax, labels};
use super::workloads::some_quantity;
use crate::value::{at, has, text};

pub(super) const BINDING: &[Column] = &[
    NAME,
    col("Role"),
    AGE,
    wide("Users"),
    wide("Groups"),
    wide("ServiceAccounts"),
];

pub(super) fn binding(row: &Row<'_>) -> Vec<Cell> {
    let role = at(row.object, "roleRef");
    let subjects = |kind: &str| {
        let of_kind = row
            .list("subjects")
            .iter()
            .filter(|one| text(one, "kind") == kind);
        let names: Vec<String> = of_kind
            .map(|one| match kind {
                "ServiceAccount" => format!("{}/{}", text(one, "namespace"), text(one, "name")),
                _ => text(one, "name").to_owned(),
            })
            .collect();
        txt(names.join(", "))
    };
    vec![
        row.name(),
        txt(format!("{}/{}", text(role, "kind"), text(role, "name"))),
        row.age(),
        subjects("User"),
        subjects("Group"),
        subjects("ServiceAccount"),
    ]
}

pub(super) const SIGNING_REQUEST: &[Column] = &[
    NAME,
    AGE,
    col("SignerName"),
    col("Requestor"),
    col("RequestedDuration"),
    col("Condition"),
];

pub(super) fn signing_request(row: &Row<'_>) -> Vec<Cell> {
    let is = |kind: &str| {
        row.list("status.conditions")
            .iter()
            .any(|one| text(one, "type") == kind)
    };
    let mut status = if is("Denied") {
        "Denied"
    } else if is("Approved") {
        "Approved"
    } else {
        "Pending"
    }
    .to_owned();
    if is("Failed") {
        status.push_str(",Failed");
    }
    if !row.text("status.certificate").is_empty() {
        status.push_str(",Issued");
    }
    let duration = at(row.object, "spec.expirationSeconds").as_i64();
    vec![
        row.name(),
        row.age(),
        row.filled("spec.signerName", "<none>"),
        row.copy("spec.username"),
        txt(duration.map_or_else(|| "<none>".to_owned(), age::human)),
        txt(status),
    ]
}

pub(super) const TRUST_BUNDLE: &[Column] = &[NAME, col("SignerName")];

pub(super) fn trust_bundle(row: &Row<'_>) -> Vec<Cell> {
    vec![row.name(), row.filled("spec.signerName", "<none>")]
}

pub(super) const POD_CERTIFICATE: &[Column] = &[
    NAME,
    col("PodName"),
    col("ServiceAccountName"),
    col("NodeName"),
    col("SignerName"),
    col("State"),
    col("UnverifiedUserAnnotations"),
];

pub(super) fn pod_certificate(row: &Row<'_>) -> Vec<Cell> {
    let mut states = row
        .list("status.conditions")
        .iter()
        .rev()
        .map(|one| text(one, "type"));
    let state = states.find(|state| matches!(*state, "Issued" | "Denied" | "Failed"));
    vec![
        row.name(),
        row.copy("spec.podName"),
        row.copy("spec.serviceAccountName"),
        row.copy("spec.nodeName"),
        row.copy("spec.signerName"),
        txt(state.unwrap_or("Pending")),
        txt(labels(row.object, "spec.unverifiedUserAnnotations")),
    ]
}

pub(super) const WEBHOOKS: &[Column] = &[NAME, number("Webhooks"), AGE];

pub(super) fn webhooks(row: &Row<'_>) -> Vec<Cell> {
    vec![row.name(), row.count("webhooks"), row.age()]
}

pub(super) const VALIDATING_POLICY: &[Column] =
    &[NAME, number("Validations"), col("ParamKind"), AGE];
pub(super) const MUTATING_POLICY: &[Column] = &[NAME, number("Mutations"), col("ParamKind"), AGE];

pub(super) fn validating_policy(row: &Row<'_>) -> Vec<Cell> {
    vec![
        row.name(),
        row.count("spec.validations"),
        parameter_kind(row),
        row.age(),
    ]
}

pub(super) fn mutating_policy(row: &Row<'_>) -> Vec<Cell> {
    vec![
        row.name(),
        row.count("spec.mutations"),
        parameter_kind(row),
        row.age(),
    ]
}

fn parameter_kind(row: &Row<'_>) -> Cell {
    let kind = at(row.object, "spec.paramKind");
    match kind {
        Value::Null => txt("<unset>"),
        kind => txt(format!(
            "{}/{}",
            text(kind, "apiVersion"),
            text(kind, "kind")
        )),
    }
}

pub(super) const POLICY_BINDING: &[Column] = &[NAME, col("PolicyName"), col("ParamRef"), AGE];

pub(super) fn policy_binding(row: &Row<'_>) -> Vec<Cell> {
    let reference = at(row.object, "spec.paramRef");
    let parameter = match (text(reference, "namespace"), text(reference, "name")) {
        ("", "") | (_, "") if has(reference, "selector") => go_syntax(&reference["selector"]),
        (_, "") => "<unset>".to_owned(),
        ("", name) => format!("*/{name}"),
        (namespace, name) => format!("{namespace}/{name}"),
    };
    vec![
        row.name(),
        row.copy("spec.policyName"),
        txt(parameter),
        row.age(),
    ]
}

pub(super) const FLOW_SCHEMA: &[Column] = &[
    NAME,
    col("PriorityLevel"),
    col("MatchingPrecedence"),
    col("DistinguisherMethod"),
    AGE,
    col("MissingPL"),
];

pub(super) fn flow_schema(row: &Row<'_>) -> Vec<Cell> {
    let mut conditions = row.list("status.conditions").iter();
    let dangling = conditions.find(|one| text(one, "type") == "Dangling");
    vec![
        row.name(),
        row.copy("spec.priorityLevelConfiguration.name"),
        row.number("spec.matchingPrecedence"),
        row.or("spec.distinguisherMethod.type", "<none>"),
        row.age(),
        txt(dangling.map_or("?", |one| text(one, "status"))),
    ]
}

pub(super) const PRIORITY_LEVEL: &[Column] = &[
    NAME,
    col("Type"),
    col("NominalConcurrencyShares"),
    col("Queues"),
    col("HandSize"),
    col("QueueLengthLimit"),
    AGE,
];

pub(super) fn priority_level(row: &Row<'_>) -> Vec<Cell> {
    let limited = at(row.object, "spec.limited");
    let queuing = at(limited, "limitResponse.queuing");
    let of = |known: &Value, field: &str| match known {
        Value::Null => txt("<none>"),
        known => Cell::Int(known[field].as_i64().unwrap_or(0)),
    };
    vec![
        row.name(),
        row.copy("spec.type"),
        of(limited, "nominalConcurrencyShares"),
        of(queuing, "queues"),
        of(queuing, "handSize"),
        of(queuing, "queueLengthLimit"),
        row.age(),
    ]
}

pub(super) const PRIORITY_CLASS: &[Column] = &[
    NAME,
    number("Value"),
    typed("Global-Default", "boolean"),
    AGE,
    col("PreemptionPolicy"),
];

pub(super) fn priority_class(row: &Row<'_>) -> Vec<Cell> {
    vec![
        row.name(),
        row.number("value"),
        row.switch("globalDefault", false),
        row.age(),
        row.copy("preemptionPolicy"),
    ]
}

pub(super) const RUNTIME_CLASS: &[Column] = &[NAME, col("Handler"), AGE];

pub(super) fn runtime_class(row: &Row<'_>) -> Vec<Cell> {
    vec![row.name(), row.copy("handler"), row.age()]
}

pub(super) const DISRUPTION_BUDGET: &[Column] = &[
    NAME,
    col("Min Available"),
    col("Max Unavailable"),
    number("Allowed Disruptions"),
    AGE,
];

pub(super) fn disruption_budget(row: &Row<'_>) -> Vec<Cell> {
    let bound = |path: &str| {
        let known = some_quantity(at(row.object, path));
        txt(known.unwrap_or_else(|| "N/A".to_owned()))
    };
    vec![
        row.name(),
        bound("spec.minAvailable"),
        bound("spec.maxUnavailable"),
        row.number("status.disruptionsAllowed"),
        row.age(),
    ]
}

pub(super) const CREATED: &[Column] = &[NAME, typed("Created At", "date")];

/// The row of kinds that have no printer of their own.
pub(super) fn created(row: &Row<'_>) -> Vec<Cell> {
    vec![row.name(), row.copy("metadata.creationTimestamp")]
}
