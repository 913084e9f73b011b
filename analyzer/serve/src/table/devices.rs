//! Rows of devices that pods claim, and of groups of pods.

use serde_json::Value;

use super::cell::{AGE, Cell, Column, NAME, Row, col, number, txt};
use super::cluster::has_status;
use crate::value::{at, has, int, text};

pub(super) const CLAIM: &[Column] = &[NAME, col("State"), AGE];

pub(super) fn claim(row: &Row<'_>) -> Vec<Cell> {
    let mut states = Vec::new();
    if row.is_deleted() {
        states.push("deleted");
    }
    if row.has("status.allocation") {
        states.push("allocated");
        if !row.list("status.reservedFor").is_empty() {
            states.push("reserved");
        }
    } else if !row.is_deleted() {
        states.push("pending");
    }
    vec![row.name(), txt(states.join(",")), row.age()]
}

pub(super) const SLICE: &[Column] = &[NAME, col("Node"), col("Driver"), col("Pool"), AGE];

pub(super) fn slice(row: &Row<'_>) -> Vec<Cell> {
    vec![
        row.name(),
        row.copy("spec.nodeName"),
        row.copy("spec.driver"),
        row.copy("spec.pool.name"),
        row.age(),
    ]
}

pub(super) const TAINT: &[Column] = &[
    NAME,
    col("Key"),
    col("Value"),
    col("Effect"),
    col("TimeAdded"),
    AGE,
];

pub(super) fn taint(row: &Row<'_>) -> Vec<Cell> {
    let added = "spec.taint.timeAdded";
    vec![
        row.name(),
        row.copy("spec.taint.key"),
        row.copy("spec.taint.value"),
        row.copy("spec.taint.effect"),
        if row.has(added) {
            row.since(added)
        } else {
            txt("")
        },
        row.age(),
    ]
}

pub(super) const POOL_STATUS: &[Column] = &[
    NAME,
    col("Driver"),
    col("Total"),
    col("Available"),
    col("Allocated"),
    col("Unavailable"),
    col("Errors"),
    number("Pools"),
    col("Status"),
    col("Completed"),
];

pub(super) fn pool_status(row: &Row<'_>) -> Vec<Cell> {
    let held = row.list("status.conditions").iter().find(|one| {
        text(one, "status") == "True" && matches!(text(one, "type"), "Complete" | "Failed")
    });
    let state = held.map_or("Pending", |one| text(one, "type"));
    let pools = row.list("status.pools");
    let count = row.int("status.poolCount");
    let listed = i64::try_from(pools.len()).unwrap_or(i64::MAX);
    let shown = if state == "Complete" && count > listed {
        format!("Complete ({listed}/{count} pools)")
    } else {
        state.to_owned()
    };
    let counted = has_status(row) && state != "Failed";
    let sum = |of: &dyn Fn(&Value) -> i64| match counted {
        true => Cell::Int(pools.iter().map(of).sum()),
        false => txt("-"),
    };
    let done = held.filter(|_| state == "Complete");
    let done = done.and_then(|one| crate::value::time(one, "lastTransitionTime"));
    vec![
        row.name(),
        row.copy("spec.driver"),
        sum(&|pool| int(pool, "totalDevices")),
        sum(&|pool| int(pool, "availableDevices")),
        sum(&|pool| int(pool, "allocatedDevices")),
        sum(&|pool| int(pool, "unavailableDevices")),
        sum(&|pool| i64::from(has(pool, "validationError"))),
        Cell::Int(count),
        txt(shown),
        txt(done.map_or_else(
            || "<none>".to_owned(),
            |at| super::age::between(at, row.now),
        )),
    ]
}

pub(super) const POD_GROUP: &[Column] = &[NAME, col("Policy"), col("Workload"), col("Status"), AGE];

pub(super) fn pod_group(row: &Row<'_>) -> Vec<Cell> {
    let last = |kind: &str| {
        let conditions = row.list("status.conditions").iter();
        conditions.rev().find(|one| text(one, "type") == kind)
    };
    let mut status = match last("PodGroupScheduled").map(|one| text(one, "status")) {
        Some("True") => "Scheduled",
        Some(_) => "Unschedulable",
        None => "Pending",
    };
    if let Some(disrupted) = last("DisruptionTarget") {
        status = text(disrupted, "reason");
    }
    let template = at(row.object, "spec.podGroupTemplateRef");
    let workload = match template {
        Value::Null => "<none>",
        template => text(template, "workload.workloadName"),
    };
    let gang = row.has("spec.schedulingPolicy.gang");
    vec![
        row.name(),
        txt(if gang { "Gang" } else { "Basic" }),
        txt(workload),
        txt(status),
        row.age(),
    ]
}
