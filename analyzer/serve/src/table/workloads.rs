//! Rows of what controllers make pods from.

use serde_json::Value;

use super::age;
use super::cell::{AGE, Cell, Column, NAME, Row, col, number, txt, typed, wide};
use super::selector::{containers, labels, selector, shown};
use crate::value::{self, at, has, int, list, text};

const NAMES: Column = wide("Containers");
const IMAGES: Column = wide("Images");
const SELECTOR: Column = wide("Selector");

pub(super) const POD_TEMPLATE: &[Column] =
    &[NAME, col("Containers"), col("Images"), col("Pod Labels")];

pub(super) fn pod_template(row: &Row<'_>) -> Vec<Cell> {
    let (names, images) = containers(row.object, "template.spec.containers");
    let labels = labels(row.object, "template.metadata.labels");
    vec![row.name(), txt(names), txt(images), txt(labels)]
}

pub(super) const REPLICAS: &[Column] = &[
    NAME,
    number("Desired"),
    number("Current"),
    number("Ready"),
    AGE,
    NAMES,
    IMAGES,
    SELECTOR,
];

/// Cells about containers, and the selector in its words.
fn about(row: &Row<'_>, template: &str, selector: String) -> [Cell; 3] {
    let (names, images) = containers(row.object, &format!("{template}.spec.containers"));
    [txt(names), txt(images), txt(selector)]
}

fn replicas(row: &Row<'_>, selector: String) -> Vec<Cell> {
    let mut cells = vec![
        row.name(),
        row.number("spec.replicas"),
        row.number("status.replicas"),
        row.number("status.readyReplicas"),
        row.age(),
    ];
    cells.extend(about(row, "spec.template", selector));
    cells
}

pub(super) fn replication_controller(row: &Row<'_>) -> Vec<Cell> {
    replicas(row, labels(row.object, "spec.selector"))
}

pub(super) fn replica_set(row: &Row<'_>) -> Vec<Cell> {
    replicas(row, shown(at(row.object, "spec.selector")))
}

pub(super) const DAEMON_SET: &[Column] = &[
    NAME,
    number("Desired"),
    number("Current"),
    number("Ready"),
    number("Up-to-date"),
    number("Available"),
    col("Node Selector"),
    AGE,
    NAMES,
    IMAGES,
    SELECTOR,
];

pub(super) fn daemon_set(row: &Row<'_>) -> Vec<Cell> {
    let mut cells = vec![
        row.name(),
        row.number("status.desiredNumberScheduled"),
        row.number("status.currentNumberScheduled"),
        row.number("status.numberReady"),
        row.number("status.updatedNumberScheduled"),
        row.number("status.numberAvailable"),
        txt(labels(row.object, "spec.template.spec.nodeSelector")),
        row.age(),
    ];
    cells.extend(about(
        row,
        "spec.template",
        shown(at(row.object, "spec.selector")),
    ));
    cells
}

pub(super) const DEPLOYMENT: &[Column] = &[
    NAME,
    col("Ready"),
    col("Up-to-date"),
    col("Available"),
    AGE,
    NAMES,
    IMAGES,
    SELECTOR,
];

pub(super) fn deployment(row: &Row<'_>) -> Vec<Cell> {
    let selector = selector(at(row.object, "spec.selector"));
    let mut cells = vec![
        row.name(),
        ready(row),
        row.number("status.updatedReplicas"),
        row.number("status.availableReplicas"),
        row.age(),
    ];
    let selector = selector.unwrap_or_else(|| "<invalid>".to_owned());
    cells.extend(about(row, "spec.template", selector));
    cells
}

fn ready(row: &Row<'_>) -> Cell {
    let (ready, wanted) = (row.int("status.readyReplicas"), row.int("spec.replicas"));
    txt(format!("{ready}/{wanted}"))
}

pub(super) const STATEFUL_SET: &[Column] = &[NAME, col("Ready"), AGE, NAMES, IMAGES];

pub(super) fn stateful_set(row: &Row<'_>) -> Vec<Cell> {
    let (names, images) = containers(row.object, "spec.template.spec.containers");
    vec![row.name(), ready(row), row.age(), txt(names), txt(images)]
}

pub(super) const JOB: &[Column] = &[
    NAME,
    col("Status"),
    col("Completions"),
    col("Duration"),
    AGE,
    NAMES,
    IMAGES,
    SELECTOR,
];

pub(super) fn job(row: &Row<'_>) -> Vec<Cell> {
    let mut cells = vec![
        row.name(),
        txt(job_status(row)),
        txt(completions(row)),
        txt(duration(row)),
        row.age(),
    ];
    cells.extend(about(
        row,
        "spec.template",
        shown(at(row.object, "spec.selector")),
    ));
    cells
}

fn completions(row: &Row<'_>) -> String {
    let done = row.int("status.succeeded");
    let parallel = row.int("spec.parallelism");
    match at(row.object, "spec.completions").as_i64() {
        Some(wanted) => format!("{done}/{wanted}"),
        None if parallel > 1 => format!("{done}/1 of {parallel}"),
        None => format!("{done}/1"),
    }
}

fn duration(row: &Row<'_>) -> String {
    let end = value::time(row.object, "status.completionTime").unwrap_or(row.now);
    let start = value::time(row.object, "status.startTime");
    start.map_or_else(String::new, |start| age::between(start, end))
}

fn job_status(row: &Row<'_>) -> &'static str {
    let is = |name: &str| {
        let mut conditions = row.list("status.conditions").iter();
        let found = conditions.find(|one| text(one, "type") == name);
        found.is_some_and(|one| text(one, "status") == "True")
    };
    if is("Complete") {
        "Complete"
    } else if is("Failed") {
        "Failed"
    } else if row.is_deleted() {
        "Terminating"
    } else {
        let named = ["Suspended", "FailureTarget", "SuccessCriteriaMet"];
        named.into_iter().find(|name| is(name)).unwrap_or("Running")
    }
}

pub(super) const CRON_JOB: &[Column] = &[
    NAME,
    col("Schedule"),
    col("Timezone"),
    typed("Suspend", "boolean"),
    number("Active"),
    col("Last Schedule"),
    AGE,
    NAMES,
    IMAGES,
    SELECTOR,
];

pub(super) fn cron_job(row: &Row<'_>) -> Vec<Cell> {
    let suspended = match at(row.object, "spec.suspend").as_bool() {
        Some(true) => "True",
        Some(false) => "False",
        None => "<unset>",
    };
    let last = if row.has("status.lastScheduleTime") {
        row.since("status.lastScheduleTime")
    } else {
        txt("<none>")
    };
    let mut cells = vec![
        row.name(),
        row.copy("spec.schedule"),
        row.or("spec.timeZone", "<none>"),
        txt(suspended),
        row.count("status.active"),
        last,
        row.age(),
    ];
    let selector = shown(at(row.object, "spec.jobTemplate.spec.selector"));
    cells.extend(about(row, "spec.jobTemplate.spec.template", selector));
    cells
}

pub(super) const CONTROLLER_REVISION: &[Column] = &[NAME, col("Controller"), col("Revision"), AGE];

pub(super) fn controller_revision(row: &Row<'_>) -> Vec<Cell> {
    let owners = row.list("metadata.ownerReferences");
    let owner = owners.iter().find(|one| value::flag(one, "controller"));
    let controller = owner.map_or_else(|| "<none>".to_owned(), owner_name);
    vec![
        row.name(),
        txt(controller),
        row.number("revision"),
        row.age(),
    ]
}

fn owner_name(owner: &Value) -> String {
    let group = text(owner, "apiVersion")
        .split_once('/')
        .map_or("", |(group, _)| group);
    let kind = text(owner, "kind").to_lowercase();
    let dot = if group.is_empty() { "" } else { "." };
    format!(
        "{kind}{dot}{}/{}",
        group.to_lowercase(),
        text(owner, "name")
    )
}

pub(super) const SCALE: &[Column] = &[
    Column { format: "", ..NAME },
    number("Desired"),
    number("Available"),
    AGE,
];

pub(super) fn scale(row: &Row<'_>) -> Vec<Cell> {
    vec![
        row.name(),
        row.number("spec.replicas"),
        row.number("status.replicas"),
        row.age(),
    ]
}

pub(super) const AUTOSCALER: &[Column] = &[
    NAME,
    col("Reference"),
    col("Targets"),
    col("MinPods"),
    col("MaxPods"),
    col("Replicas"),
    AGE,
];

pub(super) fn autoscaler(row: &Row<'_>) -> Vec<Cell> {
    let target = at(row.object, "spec.scaleTargetRef");
    let least = at(row.object, "spec.minReplicas").as_i64();
    vec![
        row.name(),
        txt(format!("{}/{}", text(target, "kind"), text(target, "name"))),
        txt(metrics(row.object)),
        txt(least.map_or_else(|| "<unset>".to_owned(), |least| least.to_string())),
        row.number("spec.maxReplicas"),
        row.number("status.currentReplicas"),
        row.age(),
    ]
}

/// Targets and current values. Version 1 has CPU in fields of their own and all else in annotations.
fn metrics(object: &Value) -> String {
    let (specs, statuses) = match at(object, "spec.metrics") {
        Value::Array(specs) => (
            specs.clone(),
            list(object, "status.currentMetrics").to_vec(),
        ),
        _ => super::hpa::of_version_1(object),
    };
    if specs.is_empty() {
        return "<none>".to_owned();
    }
    let shown: Vec<String> = specs
        .iter()
        .enumerate()
        .map(|(index, spec)| metric(spec, statuses.get(index).unwrap_or(&Value::Null)))
        .collect();
    match shown.len() {
        0..=2 => shown.join(", "),
        more => format!("{} + {} more...", shown[..2].join(", "), more - 2),
    }
}

fn metric(spec: &Value, status: &Value) -> String {
    let field = match text(spec, "type") {
        "External" => "external",
        "Pods" => "pods",
        "Object" => "object",
        "Resource" => "resource",
        "ContainerResource" => "containerResource",
        _ => return "<unknown type>".to_owned(),
    };
    let (spec, status) = (&spec[field], &status[field]);
    let current = &status["current"];
    let target = &spec["target"];
    let quantity = |of: &Value, name: &str| {
        let known = some_quantity(&of[name]);
        known.unwrap_or_else(|| "0".to_owned())
    };
    let or_unknown = |known: bool, text: String| if known { text } else { "<unknown>".to_owned() };
    let average = has(target, "averageValue");
    match field {
        "pods" => {
            let now = or_unknown(!status.is_null(), quantity(current, "averageValue"));
            format!("{now}/{}", quantity(target, "averageValue"))
        }
        "external" | "object" if average => {
            let now = or_unknown(
                has(current, "averageValue"),
                quantity(current, "averageValue"),
            );
            format!("{now}/{} (avg)", quantity(target, "averageValue"))
        }
        "external" | "object" => {
            let now = or_unknown(!status.is_null(), quantity(current, "value"));
            format!("{now}/{}", quantity(target, "value"))
        }
        _ if average => {
            let now = or_unknown(!status.is_null(), quantity(current, "averageValue"));
            format!(
                "{}: {now}/{}",
                text(spec, "name"),
                quantity(target, "averageValue")
            )
        }
        _ => {
            let percent = |of: &Value, unset: &str| match at(of, "averageUtilization").as_i64() {
                Some(_) => format!("{}%", int(of, "averageUtilization")),
                None => unset.to_owned(),
            };
            let (now, wanted) = (percent(current, "<unknown>"), percent(target, "<auto>"));
            format!("{}: {now}/{wanted}", text(spec, "name"))
        }
    }
}

/// A quantity as the server writes it, which is how objects hold it.
pub(super) fn some_quantity(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
