//! Tables that `kubectl get` and `kubectl describe` print, row by row as the objects they stand for.

use serde_json::{Value, json};

use super::age::seconds;
use super::split::Section;
use super::{Taken, What, columns};
use crate::form::Form;

/// Columns are at least two blanks apart; a cell may hold single ones, such as `7 (67s ago)`.
static GAP: Form = Form::new(r"\s{2,}|\t+");
static OPTION_NAMESPACE: Form = Form::new(r"(?:-n|--namespace)[ =]?(?P<name>[a-z0-9][a-z0-9-]*)");

/// A table: what its columns are called, and the object of a row.
struct Table {
    /// Headings that it starts with, where a namespace may stand before them.
    head: &'static [&'static str],
    row: fn(&Row<'_>) -> Option<Value>,
}

static TABLES: &[Table] = &[
    Table {
        head: &["NAME", "READY", "STATUS", "RESTARTS", "AGE"],
        row: pod,
    },
    Table {
        head: &["NAME", "STATUS", "ROLES", "AGE", "VERSION"],
        row: node,
    },
    // kubectl up to 1.7.
    Table {
        head: &["NAME", "STATUS", "AGE"],
        row: node,
    },
    Table {
        head: &["NAME", "LABELS", "STATUS"],
        row: node,
    },
    Table {
        head: &["LAST SEEN", "TYPE", "REASON", "OBJECT"],
        row: event,
    },
    // kubectl up to 1.11, and up to 1.5.
    Table {
        head: &["LAST SEEN", "FIRST SEEN", "COUNT", "NAME", "KIND"],
        row: old_event,
    },
    Table {
        head: &["LASTSEEN", "FIRSTSEEN", "COUNT", "NAME", "KIND"],
        row: old_event,
    },
    Table {
        head: &["FIRSTSEEN", "LASTSEEN", "COUNT", "NAME", "KIND"],
        row: old_event,
    },
    Table {
        head: &["NAME", "HANDLER", "AGE"],
        row: runtime_class,
    },
    Table {
        head: &["NAME", "DESIRED", "CURRENT", "READY", "UP-TO-DATE"],
        row: daemon_set,
    },
    Table {
        head: &["NAME", "DESIRED", "CURRENT", "READY", "NODE-SELECTOR"],
        row: daemon_set,
    },
];

/// A row by the headings of its table.
pub(super) struct Row<'a> {
    head: &'a [&'a str],
    cells: Vec<&'a str>,
    namespace: &'a str,
}

impl Row<'_> {
    pub(super) fn cell(&self, name: &str) -> &str {
        let at = self.head.iter().position(|head| *head == name);
        at.and_then(|at| self.cells.get(at)).copied().unwrap_or("")
    }

    pub(super) fn namespace(&self) -> &str {
        match self.cell("NAMESPACE") {
            "" => self.namespace,
            named => named,
        }
    }
}

fn cells(line: &str) -> Vec<&str> {
    let cells = row_cells(line);
    // Blanks that a page or a form made one of.
    if cells.len() == 1 && line.contains(' ') {
        return single_cells(line.trim());
    }
    cells
}

/// Cells of a row whose columns are one blank apart: a cell holds none, but for headings and for `7 (67s ago)`.
fn single_cells(line: &str) -> Vec<&str> {
    const HEADS: [&str; 5] = [
        "LAST SEEN",
        "FIRST SEEN",
        "NOMINATED NODE",
        "READINESS GATES",
        "POD ID",
    ];
    let mut found = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let head = HEADS.iter().find(|head| rest.starts_with(**head));
        let mut end = head.map_or_else(|| rest.find(' ').unwrap_or(rest.len()), |head| head.len());
        if let Some(closed) = rest[end..]
            .strip_prefix(" (")
            .and_then(|behind| behind.find(" ago)"))
        {
            end += 2 + closed + 5;
        }
        let (cell, behind) = rest.split_at(end);
        found.push(cell);
        rest = behind.trim_start();
    }
    found
}

/// The namespace that a command line names.
pub(super) fn namespace_of<'a>(section: &Section<'a>) -> &'a str {
    let found = section
        .command
        .and_then(|command| OPTION_NAMESPACE.captures(command)?.name("name"));
    found.map_or("", |name| name.as_str())
}

/// Takes a table with its head.
pub(super) fn take(section: &Section<'_>, at: usize) -> Taken {
    let line = section.line(at);
    if !line
        .trim_start()
        .starts_with(|first: char| first.is_ascii_uppercase())
        || line.len() > 1000
    {
        return Taken::No;
    }
    let head = cells(line);
    let bare = head.strip_prefix(&["NAMESPACE"]).unwrap_or(&head);
    let known = TABLES.iter().find(|table| bare.starts_with(table.head));
    let row = known.map_or_else(|| columns::row_of(section, &head), |table| Some(table.row));
    let Some(row_of) = row else {
        return Taken::No;
    };
    let lines = section.run(at, |line| !line.trim().is_empty() && line.len() < 16_384);
    let mut found = Vec::new();
    for offset in 1..lines {
        let row = Row {
            head: &head,
            cells: aligned(&head, cells(section.line(at + offset))),
            namespace: namespace_of(section),
        };
        if let Some(object) = row_of(&row).filter(|_| row.cells.len() + 1 >= bare.len().min(4)) {
            found.push((What::Object(object), offset));
        }
    }
    Taken::Found(found, lines)
}

/// The cells of a row below their headings: the part of an object that an event is about is mostly empty.
fn aligned<'a>(head: &[&str], mut cells: Vec<&'a str>) -> Vec<&'a str> {
    let empty = head.iter().position(|name| *name == "SUBOBJECT");
    if let Some(at) = empty.filter(|at| cells.len() + 1 == head.len() && *at <= cells.len()) {
        cells.insert(at, "");
    }
    cells
}

/// The first number of a text such as `7 (67s ago)`.
pub(super) fn count(text: &str) -> u64 {
    let digits = text.split(|letter: char| !letter.is_ascii_digit()).next();
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'))
}

pub(super) fn some(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty() && !text.starts_with('<'))
}

fn pod(row: &Row<'_>) -> Option<Value> {
    let (name, status) = (row.cell("NAME"), row.cell("STATUS"));
    // `kubectl get all` says what each is.
    let name = name.strip_prefix("pod/").unwrap_or(name);
    let (ready, of) = row.cell("READY").split_once('/')?;
    if !is_name(name) {
        return None;
    }
    let mut object = pod_object(
        name,
        row.namespace(),
        status,
        ready == of,
        count(row.cell("RESTARTS")),
    );
    object["spec"]["nodeName"] = json!(some(row.cell("NODE")).unwrap_or(""));
    object["status"]["podIP"] = json!(some(row.cell("IP")));
    Some(object)
}

/// A pod of which only the printed state is known.
pub(super) fn pod_object(
    name: &str,
    namespace: &str,
    state: &str,
    ready: bool,
    restarts: u64,
) -> Value {
    let (phase, waiting) = match state {
        "Running" | "Pending" | "Failed" | "Succeeded" | "Unknown" => (state, None),
        "Completed" => ("Succeeded", None),
        "Evicted" | "OutOfcpu" | "OutOfmemory" | "UnexpectedAdmissionError" => ("Failed", None),
        "Terminating" | "NotReady" => ("Running", None),
        "CrashLoopBackOff" | "Error" | "OOMKilled" => ("Running", Some(state)),
        other => ("Pending", Some(other)),
    };
    let reason = (phase == "Failed" && state != "Failed").then_some(state);
    let (init, container) = match waiting {
        Some(state) if state.starts_with("Init:") => (state.strip_prefix("Init:"), None),
        waiting => (None, waiting),
    };
    let of = |reason: Option<&str>| match reason {
        Some(reason) => {
            json!([{ "name": "", "restartCount": restarts, "state": { "waiting": { "reason": reason } } }])
        }
        None => json!([]),
    };
    let containers = match (container, init) {
        (None, None) if restarts > 0 => {
            json!([{ "name": "", "restartCount": restarts, "ready": ready, "state": { "running": {} } }])
        }
        (reason, _) => of(reason),
    };
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": name, "namespace": namespace,
            "deletionTimestamp": (state == "Terminating").then_some("unknown"),
        },
        "spec": { "nodeName": "" },
        "status": {
            "phase": phase, "reason": reason,
            "conditions": [{ "type": "Ready", "status": if ready && phase == "Running" { "True" } else { "False" } }],
            // `Init:0/1` is progress and no reason.
            "initContainerStatuses": of(init.filter(|state| !state.contains('/'))),
            "containerStatuses": containers,
        },
    })
}

fn node(row: &Row<'_>) -> Option<Value> {
    let (name, status) = (row.cell("NAME"), row.cell("STATUS"));
    let name = name.strip_prefix("node/").unwrap_or(name);
    let ready = status.split(',').any(|word| word == "Ready");
    let known = ready || status.contains("NotReady");
    // Namespaces and claims have a status and an age, too.
    if !is_name(name) || !(known || status.contains("Unknown") || !row.cell("ROLES").is_empty()) {
        return None;
    }
    let conditions = if known {
        json!([{ "type": "Ready", "status": if ready { "True" } else { "False" } }])
    } else {
        json!([])
    };
    let address = some(row.cell("INTERNAL-IP"));
    Some(json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": name },
        "spec": { "unschedulable": status.contains("SchedulingDisabled") },
        "status": {
            "conditions": conditions,
            "addresses": address.map(|one| json!([{ "type": "InternalIP", "address": one }])).unwrap_or(json!([])),
            "nodeInfo": {
                "kubeletVersion": row.cell("VERSION"),
                "osImage": row.cell("OS-IMAGE"),
                "kernelVersion": row.cell("KERNEL-VERSION"),
                "containerRuntimeVersion": row.cell("CONTAINER-RUNTIME"),
            },
        },
    }))
}

fn event(row: &Row<'_>) -> Option<Value> {
    let (kind, name) = row.cell("OBJECT").split_once('/')?;
    let message = row.cell("MESSAGE");
    event_object(
        &About {
            kind,
            name,
            namespace: row.namespace(),
        },
        row.cell("TYPE"),
        row.cell("REASON"),
        message,
        (1, seconds(row.cell("LAST SEEN"))),
    )
}

/// A row of the columns that older kubectl printed, of which one may be empty: they are told by the type, which never is.
fn old_event(row: &Row<'_>) -> Option<Value> {
    let at = row
        .cells
        .iter()
        .position(|cell| matches!(*cell, "Normal" | "Warning"))?;
    let reason = row.cells.get(at + 1)?;
    let message = row
        .cells
        .get(at + 3..)
        .map(|cells| cells.join(" "))
        .unwrap_or_default();
    // An event is called by its object and a number.
    let name = row.cell("NAME");
    let name = name.rsplit_once('.').map_or(name, |(object, _)| object);
    let about = About {
        kind: row.cell("KIND"),
        name,
        namespace: row.namespace(),
    };
    let times = count(row.cell("COUNT")).max(1);
    let ago = seconds(row.cell("LAST SEEN"));
    event_object(&about, row.cells[at], reason, &message, (times, ago))
}

/// What an event is about.
pub(super) struct About<'a> {
    pub(super) kind: &'a str,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
}

/// An event as the API server would give it; its times are not known, but how long ago it was seen last, in seconds, by
/// the clock of whoever printed the table. That is no field of the API.
pub(super) fn event_object(
    about: &About<'_>,
    kind: &str,
    reason: &str,
    message: &str,
    (times, ago): (u64, Option<i64>),
) -> Option<Value> {
    if !matches!(kind, "Normal" | "Warning") || reason.is_empty() {
        return None;
    }
    Some(json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": { "namespace": about.namespace },
        "type": kind, "reason": reason, "message": message, "count": times, "ago": ago,
        "involvedObject": { "kind": about.kind, "namespace": about.namespace, "name": about.name },
    }))
}

fn runtime_class(row: &Row<'_>) -> Option<Value> {
    let (name, handler) = (row.cell("NAME"), row.cell("HANDLER"));
    (is_name(name) && is_name(handler)).then(|| {
        json!({
            "apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass",
            "metadata": { "name": name }, "handler": handler,
        })
    })
}

fn daemon_set(row: &Row<'_>) -> Option<Value> {
    let name = row.cell("NAME");
    let number = |column: &str| row.cell(column).parse::<u64>().ok();
    let (desired, ready) = (number("DESIRED")?, number("READY")?);
    let name = name.strip_prefix("daemonset.apps/").unwrap_or(name);
    is_name(name).then(|| {
        json!({
            "apiVersion": "apps/v1", "kind": "DaemonSet",
            "metadata": { "name": name, "namespace": row.namespace() },
            "status": { "desiredNumberScheduled": desired, "numberReady": ready },
        })
    })
}

/// The cells of a row of a describe's table.
pub(super) fn row_cells(line: &str) -> Vec<&str> {
    match GAP.on(line) {
        Some(gap) => gap.split(line.trim()).collect(),
        None => Vec::new(),
    }
}
