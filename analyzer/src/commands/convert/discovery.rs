//! What clients ask a server for first: the kinds that there are. Readers of troubleshoot's bundles look for them in two files
//! beside the objects.
//!
//! Source: sbctl's `pkg/api/server.go` (`getAPIV1`, `getAPIs`, `getAPIByGroupAndVersion`).

use std::collections::{BTreeMap, BTreeSet};

use casefile_bundle::Entry;
use casefile_bundle::entry::OBJECTS;
use serde_json::{Value, json};

use super::lists::List;

/// Whether an entry is one of the two files.
pub(super) fn is_file(path: &str) -> bool {
    [Entry::List("resources"), Entry::List("groups")]
        .into_iter()
        .any(|file| file.path() == path)
}

/// The two files, by path.
pub(super) fn files(lists: &[(String, List)]) -> Vec<(String, String)> {
    let mut kinds: BTreeMap<&str, BTreeMap<&str, &List>> = BTreeMap::new();
    for (path, list) in lists {
        let below = path.strip_prefix(OBJECTS).unwrap_or(path);
        let plural = below.split(['/', '.']).next().unwrap_or(below);
        if !list.kind.is_empty() && !list.version.is_empty() {
            let of_version = kinds.entry(&list.version).or_default();
            of_version.entry(plural).or_insert(list);
        }
    }
    if kinds.is_empty() {
        return Vec::new();
    }
    let resources: Vec<Value> = kinds
        .iter()
        .map(|(version, kinds)| {
            let each = kinds.iter().map(|(plural, list)| resource(plural, list));
            json!({
                "kind": "APIResourceList",
                "groupVersion": version,
                "resources": each.collect::<Vec<Value>>(),
            })
        })
        .collect();
    vec![
        (
            Entry::List("resources").path(),
            json!(resources).to_string(),
        ),
        (
            Entry::List("groups").path(),
            json!(groups(kinds.keys())).to_string(),
        ),
    ]
}

fn resource(plural: &str, list: &List) -> Value {
    let short: &[&str] = match plural {
        "pods" => &["po"],
        "nodes" => &["no"],
        "namespaces" => &["ns"],
        "events" => &["ev"],
        "configmaps" => &["cm"],
        "daemonsets" => &["ds"],
        "deployments" => &["deploy"],
        "statefulsets" => &["sts"],
        "replicasets" => &["rs"],
        "services" => &["svc"],
        _ => &[],
    };
    json!({
        "name": plural,
        "singularName": list.kind.to_lowercase(),
        "namespaced": list.namespaced,
        "kind": list.kind,
        "verbs": ["get", "list"],
        "shortNames": short,
    })
}

/// The groups of these versions; the core's has no name.
fn groups<'a>(versions: impl Iterator<Item = &'a &'a str>) -> Vec<Value> {
    let mut groups: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for version in versions {
        let (group, _) = version.split_once('/').unwrap_or(("", version));
        groups.entry(group).or_default().insert(version);
    }
    let named = groups.into_iter().map(|(name, versions)| {
        let each: Vec<Value> = versions
            .into_iter()
            .map(|version| {
                let short = version.rsplit('/').next().unwrap_or(version);
                json!({ "groupVersion": version, "version": short })
            })
            .collect();
        json!({ "name": name, "versions": each, "preferredVersion": each.first() })
    });
    named.collect()
}
