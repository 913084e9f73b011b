//! `kubectl describe` of a pod or a node, as the object it stands for, and its events.

use serde_json::{Map, Value, json};

use super::age::seconds;
use super::dedent::indent_of;
use super::described::{Entry, Unfinished, get, text, tree};
use super::split::Section;
use super::tables::{About, event_object, row_cells};
use super::{Taken, What};

/// Takes a description: it starts with `Name:`, and has what only pods or nodes have.
pub(super) fn take(section: &Section<'_>, at: usize) -> Taken {
    let line = section.line(at);
    let base = indent_of(line);
    let start = line.trim_start();
    // The middle of a node's description is often all that is pasted of it.
    let middle = start.trim_end() == "Capacity:" && has_allocatable(section, at, base);
    if !start.starts_with("Name:") && !middle {
        return container(section, at);
    }
    let mut blank = 0;
    let mut command = Unfinished::default();
    let lines = section.run(at, |line| {
        let goes_on = command.takes(line);
        let apart = blank >= 2;
        blank = if line.trim().is_empty() { blank + 1 } else { 0 };
        let another = line.trim_start().starts_with("Name:")
            && indent_of(line) == base
            && !std::ptr::eq(line, section.line(at));
        let key = line
            .split_once(':')
            .is_some_and(|(key, _)| is_heading(key.trim()));
        // A command of several lines may hold any number of empty ones; behind as many, what is not indented is another text.
        let own = indent_of(line) > base || goes_on || (key && !apart);
        !another && (line.trim().is_empty() || own)
    });
    let used = section.range(at, at + lines);
    let entries = tree(&used, base);
    let mut found = Vec::new();
    let about = if get(&entries, "Containers").is_some() || get(&entries, "Node").is_some() {
        found.push((What::Object(pod(&entries)), 0));
        "pod"
    } else if get(&entries, "Capacity").is_some() || get(&entries, "System Info").is_some() {
        found.push((What::Object(node(&entries)), 0));
        "node"
    } else {
        return Taken::Refused(1);
    };
    events(&used, &entries, about, &mut found);
    Taken::Found(found, lines)
}

/// One container of a pod's description, which is often all that is pasted of it: its name, and below it `Container ID:`.
fn container(section: &Section<'_>, at: usize) -> Taken {
    let line = section.line(at);
    let base = indent_of(line);
    let named = line.trim().strip_suffix(':');
    let next = section.run(at + 1, |line| {
        line.trim_start().starts_with("Container ID:")
    });
    let is_name = |name: &str| {
        name.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    if next == 0 || !named.is_some_and(is_name) {
        return Taken::No;
    }
    let own = |line: &str| line.trim().is_empty() || indent_of(line) > base;
    let lines = 1 + section.run(at + 1, own);
    let whole = Entry {
        key: "Containers",
        value: "",
        at: 0,
        below: tree(&section.range(at, at + lines), base),
    };
    Taken::one(What::Object(pod(&[whole])), lines)
}

/// Whether a heading `Allocatable:` follows what stands below `Capacity:`.
fn has_allocatable(section: &Section<'_>, at: usize, base: usize) -> bool {
    let below = section.run(at + 1, |line| indent_of(line) > base && line.contains(':'));
    below > 0
        && at + 1 + below < section.len()
        && section.line(at + 1 + below).trim() == "Allocatable:"
}

fn is_heading(key: &str) -> bool {
    !key.is_empty()
        && key.len() < 40
        && key.starts_with(|first: char| first.is_ascii_uppercase())
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'-' | b'_'))
}

/// `a=b` lines: the first beside the key, the others below it.
fn pairs(entry: Option<&Entry<'_>>) -> Map<String, Value> {
    let Some(entry) = entry else {
        return Map::new();
    };
    let below = entry.below.iter().map(|line| line.value);
    std::iter::once(entry.value)
        .chain(below)
        .filter_map(|pair| pair.split_once('='))
        .map(|(key, value)| (key.trim().to_owned(), json!(value.trim())))
        .collect()
}

/// `key: value` lines below an entry.
fn settings(entry: Option<&Entry<'_>>) -> Map<String, Value> {
    let below = entry.map_or(&[][..], |entry| entry.below.as_slice());
    below
        .iter()
        .filter(|line| !line.key.is_empty())
        .map(|line| (line.key.to_owned(), json!(line.value)))
        .collect()
}

fn pod(entries: &[Entry<'_>]) -> Value {
    let own = |key: &str| text(entries, key);
    let node = own("Node").unwrap_or("");
    let owner = own("Controlled By").and_then(|owner| owner.split_once('/'));
    let specs = |key: &str| containers(get(entries, key), container_spec);
    let states = |key: &str| containers(get(entries, key), container_status);
    let conditions: Vec<Value> = get(entries, "Conditions")
        .map_or(&[][..], |table| table.below.as_slice())
        .iter()
        .filter_map(|line| {
            let words: Vec<&str> = line.value.split_whitespace().collect();
            match words.as_slice() {
                [kind, status @ ("True" | "False" | "Unknown")] => {
                    Some(json!({ "type": kind, "status": status }))
                }
                _ => None,
            }
        })
        .collect();
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": own("Name").unwrap_or(""),
            "namespace": own("Namespace").unwrap_or(""),
            "labels": pairs(get(entries, "Labels")),
            "ownerReferences": owner.map(|(kind, name)| json!([{ "kind": kind, "name": name }])).unwrap_or(json!([])),
        },
        "spec": {
            "nodeName": node.split('/').next().unwrap_or(""),
            "runtimeClassName": own("Runtime Class Name"),
            "nodeSelector": pairs(get(entries, "Node-Selectors")),
            "containers": specs("Containers"),
            "initContainers": specs("Init Containers"),
        },
        "status": {
            "phase": own("Status").map(|status| status.split(' ').next().unwrap_or(status)).unwrap_or(""),
            "reason": own("Reason"), "message": own("Message"), "podIP": own("IP"),
            "conditions": conditions,
            "containerStatuses": states("Containers"),
            "initContainerStatuses": states("Init Containers"),
        },
    })
}

fn containers(section: Option<&Entry<'_>>, read: fn(&Entry<'_>) -> Value) -> Vec<Value> {
    let below = section.map_or(&[][..], |section| section.below.as_slice());
    below
        .iter()
        .filter(|entry| !entry.key.is_empty() && !entry.below.is_empty())
        .map(read)
        .collect()
}

fn container_spec(entry: &Entry<'_>) -> Value {
    let env: Vec<Value> = settings(entry.get("Environment"))
        .into_iter()
        .map(|(name, value)| json!({ "name": name, "value": value }))
        .collect();
    json!({
        "name": entry.key,
        "image": entry.text("Image").unwrap_or(""),
        "resources": { "limits": settings(entry.get("Limits")) },
        "env": env,
    })
}

fn container_status(entry: &Entry<'_>) -> Value {
    let state = |key: &str| {
        let Some(state) = entry.get(key) else {
            return json!({});
        };
        let code = state
            .text("Exit Code")
            .and_then(|code| code.parse::<i64>().ok());
        match state.value {
            "Waiting" => {
                json!({ "waiting": { "reason": state.text("Reason"), "message": message(state) } })
            }
            "Running" => json!({ "running": {} }),
            "Terminated" => json!({ "terminated": {
                "reason": state.text("Reason"), "message": message(state), "exitCode": code.unwrap_or(0),
            } }),
            _ => json!({}),
        }
    };
    json!({
        "name": entry.key,
        "ready": entry.text("Ready") == Some("True"),
        "restartCount": entry.text("Restart Count").and_then(|count| count.parse::<u64>().ok()).unwrap_or(0),
        "state": state("State"),
        "lastState": state("Last State"),
    })
}

/// A message with the lines that it goes on in.
fn message(state: &Entry<'_>) -> Option<String> {
    let entry = state.get("Message")?;
    let more = entry.below.iter().map(|line| {
        if line.key.is_empty() {
            line.value.to_owned()
        } else {
            format!("{}: {}", line.key, line.value)
        }
    });
    let lines: Vec<String> = std::iter::once(entry.value.to_owned())
        .chain(more)
        .collect();
    Some(lines.join(" "))
}

fn node(entries: &[Entry<'_>]) -> Value {
    let table = |key: &str| get(entries, key).map_or(&[][..], |table| table.below.as_slice());
    let conditions: Vec<Value> = table("Conditions")
        .iter()
        .filter_map(node_condition)
        .collect();
    let taints: Vec<Value> = get(entries, "Taints").map_or_else(Vec::new, |entry| {
        let below = entry.below.iter().map(|line| line.value);
        std::iter::once(entry.value)
            .chain(below)
            .filter_map(taint)
            .collect()
    });
    let info = get(entries, "System Info");
    let about = |key: &str| info.and_then(|info| info.text(key)).unwrap_or("");
    let addresses: Vec<Value> = table("Addresses")
        .iter()
        .map(|line| json!({ "type": line.key, "address": line.value }))
        .collect();
    let range = text(entries, "PodCIDR");
    let listed: Vec<String> = table("Non-terminated Pods")
        .iter()
        .filter_map(|line| match row_cells(line.value).as_slice() {
            [namespace, name, ..] if *namespace != "Namespace" && !namespace.starts_with('-') => {
                Some(format!("{namespace}/{name}"))
            }
            _ => None,
        })
        .collect();
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {
            "name": text(entries, "Name").unwrap_or(""),
            "labels": pairs(get(entries, "Labels")),
            "annotations": settings_beside(get(entries, "Annotations")),
        },
        "spec": {
            "taints": taints, "podCIDR": range,
            "unschedulable": text(entries, "Unschedulable") == Some("true"),
        },
        "status": {
            "conditions": conditions, "addresses": addresses,
            "capacity": settings(get(entries, "Capacity")),
            "allocatable": settings(get(entries, "Allocatable")),
            "nodeInfo": {
                "kubeletVersion": about("Kubelet Version"), "osImage": about("OS Image"),
                "kernelVersion": about("Kernel Version"),
                "containerRuntimeVersion": about("Container Runtime Version"),
            },
            "listedPods": listed, "requested": requested(entries),
        },
    })
}

/// What pods on the node ask for, by resource: the first column of "Allocated resources".
fn requested(entries: &[Entry<'_>]) -> Map<String, Value> {
    let rows = get(entries, "Allocated resources").map_or(&[][..], |table| table.below.as_slice());
    let cells = rows.iter().map(|line| row_cells(line.value));
    cells
        .filter_map(|cells| match cells.as_slice() {
            [name, requests, ..] if name.contains('/') => {
                Some(((*name).to_owned(), json!(requests)))
            }
            _ => None,
        })
        .collect()
}

/// `key: value` beside the heading and below it, as annotations are printed.
fn settings_beside(entry: Option<&Entry<'_>>) -> Map<String, Value> {
    let mut all = settings(entry);
    if let Some((key, value)) = entry.and_then(|entry| entry.value.split_once(": ")) {
        all.insert(key.trim().to_owned(), json!(value.trim()));
    }
    all
}

fn taint(text: &str) -> Option<Value> {
    let (key, effect) = text.trim().rsplit_once(':')?;
    let (key, value) = key.split_once('=').unwrap_or((key, ""));
    Some(json!({ "key": key, "value": value, "effect": effect }))
}

/// `Ready  False  <time>  <time>  KubeletNotReady  message`: times hold single blanks.
fn node_condition(line: &Entry<'_>) -> Option<Value> {
    let whole = if line.key.is_empty() {
        line.value.to_owned()
    } else {
        format!("{}: {}", line.key, line.value)
    };
    let cells = row_cells(&whole);
    let [kind, status @ ("True" | "False" | "Unknown"), rest @ ..] = cells.as_slice() else {
        return None;
    };
    let texts: Vec<&&str> = rest.iter().filter(|cell| !is_time(cell)).collect();
    Some(json!({
        "type": kind, "status": status,
        "reason": texts.first().map_or("", |cell| **cell),
        "message": texts.iter().skip(1).map(|cell| **cell).collect::<Vec<_>>().join(" "),
    }))
}

fn is_time(cell: &str) -> bool {
    [
        "Mon, ", "Tue, ", "Wed, ", "Thu, ", "Fri, ", "Sat, ", "Sun, ",
    ]
    .iter()
    .any(|day| cell.starts_with(day))
}

/// The table of events at the end; its columns are Type, Reason, Age, From and Message.
fn events(lines: &[&str], entries: &[Entry<'_>], kind: &str, found: &mut Vec<(What, usize)>) {
    let Some(start) = get(entries, "Events").map(|entry| entry.at) else {
        return;
    };
    let about = About {
        kind,
        namespace: text(entries, "Namespace").unwrap_or(""),
        name: text(entries, "Name").unwrap_or(""),
    };
    for (at, line) in lines.iter().enumerate().skip(start + 1) {
        if let Some(event) = event_row(line, &about) {
            found.push((What::Object(event), at));
        }
    }
}

/// An event from a row of such a table.
fn event_row(line: &str, about: &About<'_>) -> Option<Value> {
    let cells = row_cells(line);
    let [kind, reason, age, _from, message @ ..] = cells.as_slice() else {
        return None;
    };
    let times = age
        .split_once("(x")
        .and_then(|(_, rest)| rest.split([' ', ')']).next()?.parse().ok())
        .unwrap_or(1);
    event_object(
        about,
        kind,
        reason,
        &message.join(" "),
        (times, seconds(age)),
    )
}
