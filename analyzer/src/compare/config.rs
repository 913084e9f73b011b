//! Configuration that differs between two bundles, entry by entry.

use std::collections::{BTreeMap, BTreeSet};

use casefile_bundle::{Entry, entry};
use serde::Serialize;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::change::captured::Captured;

/// Lines shown of one entry.
const LINES: usize = 12;
/// Longest line shown, in bytes.
const LONGEST: usize = 240;

/// An entry that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ConfigChange {
    /// Entry.
    pub path: String,
    /// `changed`, `only in the first` or `only in the second`.
    pub how: &'static str,
    /// Lines or values, `-` before and `+` after.
    pub lines: Vec<String>,
    /// Lines that are not shown.
    pub more: usize,
}

/// All entries that hold configuration and differ.
pub(super) fn changes(old: &mut Captured, new: &mut Captured) -> Vec<ConfigChange> {
    let paths: BTreeSet<String> = old
        .paths()
        .chain(new.paths())
        .filter(|path| is_configuration(path))
        .map(str::to_owned)
        .collect();
    paths
        .into_iter()
        .filter_map(|path| {
            let (before, after) = (old.before(&path), new.before(&path));
            (before != after).then(|| change(path, before.as_deref(), after.as_deref()))
        })
        .filter(|change| change.how != "changed" || !change.lines.is_empty())
        .collect()
}

/// Whether an entry holds what somebody configured: no counters, no logs, nothing of the moment.
fn is_configuration(path: &str) -> bool {
    let parameters = [
        "/rootfs/proc/sys/net/ipv4/",
        "/rootfs/proc/sys/net/ipv6/",
        "/rootfs/proc/sys/net/bridge/",
        "/rootfs/proc/sys/fs/inotify/",
    ];
    if path.contains("/rootfs/proc/") || path.contains("/rootfs/sys/") {
        let of_pods = ["/lxc", "/cali", "/veth", "/eni"];
        return parameters.iter().any(|one| path.contains(one))
            && !of_pods.iter().any(|one| path.contains(one))
            || path.ends_with("/nf_conntrack_max");
    }
    let helm = path.starts_with(entry::HELM) && path.ends_with("/values-user.yaml");
    let logs = path.contains("/rootfs/var/log/");
    let cluster = [
        "runtimeclasses.json",
        "configmaps/",
        "networkpolicies/",
        "resourcequotas/",
    ];
    helm || (path.contains("/rootfs/") && !logs)
        || path.ends_with("/commands/ufw-status-verbose.out")
        || cluster
            .iter()
            .any(|one| path.starts_with(&Entry::Objects(one).path()))
}

fn change(path: String, before: Option<&str>, after: Option<&str>) -> ConfigChange {
    let how = match (before, after) {
        (Some(_), Some(_)) => "changed",
        (Some(_), None) => "only in the first",
        _ => "only in the second",
    };
    let (old, new) = (before.unwrap_or(""), after.unwrap_or(""));
    let all = if path.starts_with(entry::OBJECTS) {
        values(old, new)
    } else {
        settings(&path, old, new).unwrap_or_else(|| lines(old, new))
    };
    let shown: Vec<String> = all
        .iter()
        .take(LINES)
        .map(|line| crate::facts::excerpt(line, LONGEST))
        .collect();
    ConfigChange {
        path,
        how,
        more: all.len() - shown.len(),
        lines: shown,
    }
}

/// Settings that differ, whatever their order; none where the entry is no TOML or YAML.
fn settings(path: &str, before: &str, after: &str) -> Option<Vec<String>> {
    let read = |text: &str| -> Option<Value> {
        if path.ends_with(".toml") {
            toml::from_str::<Value>(text).ok()
        } else if path.ends_with(".yaml") || path.ends_with(".yml") {
            serde_saphyr::from_str(text).ok()
        } else {
            None
        }
    };
    let (mut old, mut new) = (BTreeMap::new(), BTreeMap::new());
    leaves("", &read(before)?, &mut old);
    leaves("", &read(after)?, &mut new);
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let mut all = Vec::new();
    for key in keys {
        if old.get(key) != new.get(key) {
            all.extend(old.get(key).map(|value| format!("- {key} = {value}")));
            all.extend(new.get(key).map(|value| format!("+ {key} = {value}")));
        }
    }
    Some(all)
}

fn leaves(key: &str, value: &Value, into: &mut BTreeMap<String, String>) {
    let below = |name: &str| {
        if key.is_empty() {
            name.to_owned()
        } else {
            format!("{key}.{name}")
        }
    };
    match value {
        Value::Object(map) if !map.is_empty() => {
            map.iter()
                .for_each(|(name, value)| leaves(&below(name), value, into));
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            // Lists of named things (environment variables) are compared by name, not by place.
            for (index, item) in items.iter().enumerate() {
                let name = item.get("name").and_then(Value::as_str);
                leaves(
                    &name.map_or_else(|| below(&index.to_string()), below),
                    item,
                    into,
                );
            }
        }
        other => {
            into.insert(key.to_owned(), other.to_string());
        }
    }
}

fn lines(before: &str, after: &str) -> Vec<String> {
    let diff = TextDiff::from_lines(before, after);
    diff.iter_all_changes()
        .filter_map(|change| {
            let line = change.value().trim_end();
            match change.tag() {
                ChangeTag::Equal => None,
                ChangeTag::Delete => Some(format!("- {line}")),
                ChangeTag::Insert => Some(format!("+ {line}")),
            }
        })
        .collect()
}

/// What differs in two lists of objects: names, and the fields that people set.
fn values(before: &str, after: &str) -> Vec<String> {
    let (old, new) = (objects(before), objects(after));
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let mut all = Vec::new();
    for name in names {
        match (old.get(name), new.get(name)) {
            (Some(_), None) => all.push(format!("- {name}")),
            (None, Some(_)) => all.push(format!("+ {name}")),
            (Some(old), Some(new)) if old != new => {
                let own = lines(&pretty(old), &pretty(new));
                all.extend(
                    own.into_iter()
                        .map(|line| format!("{} {name}: {}", &line[..1], line[1..].trim())),
                );
            }
            _ => {}
        }
    }
    all
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// Objects by name, without what changes by itself.
fn objects(text: &str) -> BTreeMap<String, Value> {
    let list: Value = serde_json::from_str(text).unwrap_or(Value::Null);
    let items = list
        .get("items")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    items
        .into_iter()
        .filter_map(|mut item| {
            let name = item.pointer("/metadata/name")?.as_str()?.to_owned();
            // Leader elections renew a record in their configmap every few seconds.
            if item
                .pointer("/metadata/annotations/control-plane.alpha.kubernetes.io~1leader")
                .is_some()
            {
                return None;
            }
            let map = item.as_object_mut()?;
            map.remove("metadata");
            map.remove("status");
            Some((name, item))
        })
        .collect()
}
