//! All three recordings of a real API server: every object that it lists is in the bundle, equal field by field but for
//! what is left out on purpose.

use std::collections::BTreeMap;

use casefile_bundle::Outcome;
use casefile_tests::recording::{Recording, User};
use casefile_tests::replay::{Credential, Faults, Server};
use serde_json::Value;

use crate::support::{collect, entry, manifest, paths, recording, source, told};

const TEST: &str = "recordings";
/// Kinds whose objects are written in another form (Secrets, events) or are the server's own notes, which nobody lists.
const NOT_COMPARED: [&str; 8] = [
    "secrets",
    "events",
    "componentstatuses",
    "controllerrevisions",
    "endpoints",
    "flowschemas",
    "prioritylevelconfigurations",
    "storageversions",
];

type Objects = BTreeMap<(String, String), Value>;

/// Without what the collector leaves out: who manages which field, kubectl's copy of the object, schemas, helm's payload.
fn slim(mut object: Value, plural: &str) -> Value {
    let meta = &mut object["metadata"];
    if let Some(meta) = meta.as_object_mut() {
        meta.remove("managedFields");
    }
    if let Some(notes) = meta["annotations"].as_object_mut() {
        notes.remove("kubectl.kubernetes.io/last-applied-configuration");
    }
    if plural == "customresourcedefinitions" {
        let versions = object["spec"]["versions"].as_array_mut();
        for version in versions
            .into_iter()
            .flatten()
            .filter_map(Value::as_object_mut)
        {
            version.remove("schema");
        }
    }
    // Lists of a server have neither in their items.
    if let Some(members) = object.as_object_mut() {
        members.remove("kind");
        members.remove("apiVersion");
    }
    object
}

fn key(object: &Value) -> (String, String) {
    let text = |name: &str| {
        object["metadata"][name]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    (text("namespace"), text("name"))
}

fn objects(list: &Value, plural: &str) -> Objects {
    let items = list["items"].as_array().into_iter().flatten();
    items
        .map(|item| (key(item), slim(item.clone(), plural)))
        .collect()
}

/// What the bundle has of a kind.
fn collected(bundle: &std::path::Path, all: &[String], plural: &str, group: &str) -> Objects {
    let custom = format!("cluster-resources/custom-resources/{plural}.{group}");
    let own = format!("cluster-resources/{plural}");
    let its = all.iter().filter(|path| {
        [&custom, &own].iter().any(|start| {
            let rest = path.strip_prefix(start.as_str());
            rest.is_some_and(|rest| {
                rest == ".json" || rest.starts_with('/') && !rest.contains("/logs/")
            })
        })
    });
    let mut found = Objects::new();
    for path in its {
        let list: Value = serde_json::from_str(&entry(bundle, path)).unwrap();
        found.extend(objects(&list, plural));
    }
    found
}

/// The paths of lists of all objects of a kind: the root of its group, and its plural.
fn lists(recording: &Recording) -> Vec<(String, String, String)> {
    let paths = recording.paths().filter_map(|path| {
        let (root, plural) = path.rsplit_once('/')?;
        let group = match root.strip_prefix("/apis/") {
            Some(rest) => rest.split_once('/')?.0.to_owned(),
            None if root == "/api/v1" => String::new(),
            None => return None,
        };
        (root.matches('/').count() <= 3 && !root.contains("/namespaces"))
            .then(|| (path.to_owned(), group, plural.to_owned()))
    });
    paths.collect()
}

#[test]
fn every_object_of_three_recordings_is_in_the_bundle_field_by_field() {
    for name in [
        "snap-1-before.jsonl.gz",
        "snap-2-dns.jsonl.gz",
        "snap-3-after.jsonl.gz",
    ] {
        let Some(file) = recording(TEST, name) else {
            return;
        };
        let recorded = Recording::load(&file).unwrap();
        let server = Server::start(
            recorded.clone(),
            "127.0.0.1:0".parse().unwrap(),
            Faults::default(),
        )
        .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("kubeconfig");
        std::fs::write(&config, server.kubeconfig(User::Admin, Credential::Token)).unwrap();
        let only = [
            "--kubeconfig",
            config.to_str().unwrap(),
            "--only",
            "cluster_objects",
        ];
        let (_, bundle) = collect(folder.path(), &only);
        let (outcome, why) = told(source(&manifest(&bundle), "cluster_objects"));
        assert!(
            matches!(outcome, Outcome::Collected | Outcome::Partial),
            "{name}: {why}"
        );
        let all = paths(&bundle);
        let (mut kinds, mut equal, mut changed) = (0, 0, Vec::new());
        for (path, group, plural) in lists(&recorded) {
            let answers = recorded
                .under(&path)
                .find(|(target, _)| target.query.is_empty());
            let Some(list) =
                answers.and_then(|(_, answer)| serde_json::from_str::<Value>(&answer.body).ok())
            else {
                continue;
            };
            if NOT_COMPARED.contains(&plural.as_str())
                || list["items"].as_array().is_none_or(Vec::is_empty)
            {
                continue;
            }
            kinds += 1;
            let found = collected(&bundle, &all, &plural, &group);
            for (key, object) in objects(&list, &plural) {
                let of_bundle = found.get(&key);
                assert!(
                    of_bundle.is_some(),
                    "{name}: {plural} {key:?} is not in the bundle"
                );
                if of_bundle == Some(&object) {
                    equal += 1;
                } else {
                    changed.push(format!("{plural} {}/{}", key.0, key.1));
                }
            }
        }
        println!(
            "{name}: {kinds} kinds, {equal} objects equal, changed: {}",
            changed.join(", ")
        );
        // What the redaction changes, and the payload of helm's releases.
        assert!(
            kinds >= 20 && changed.len() * 100 <= equal,
            "{name}: {changed:?}"
        );
    }
}
