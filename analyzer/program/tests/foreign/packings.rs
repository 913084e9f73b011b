//! A capture gives the same report however it was packed.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::support::{Files, diagnose, objects, run, text, write, zip};

/// `kubectl cluster-info dump --output-directory` of the sample's cluster.
fn dump() -> Files {
    let list = |plural: &str, namespace: &str| {
        let mut items = objects(plural);
        items.retain(|item| item["metadata"]["namespace"] == namespace || namespace.is_empty());
        let list = serde_json::json!({ "kind": "List", "apiVersion": "v1", "items": items });
        serde_json::to_string_pretty(&list).unwrap()
    };
    let mut files = vec![text("nodes.json", list("nodes", ""))];
    for namespace in ["kube-system", "gpu-operator", "default"] {
        for plural in ["pods", "events", "daemonsets", "deployments"] {
            let path = format!("{namespace}/{plural}.json");
            files.push(text(&path, list(plural, namespace)));
        }
    }
    files
}

/// What does not depend on what the file is called.
fn essence(mut analysis: Value) -> Value {
    analysis["input"] = Value::Null;
    analysis
}

#[test]
fn folder_parent_tar_zip_renamed_and_pipe_give_the_same_report() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("parent/dump");
    let files = dump();
    write(&folder, &files);
    let expected = essence(diagnose(&folder));
    assert_eq!(expected["seen"]["format"], "cluster-info-dump");
    assert_eq!(
        (&expected["seen"]["pods"], &expected["seen"]["events"]),
        (&Value::from(15), &Value::from(4))
    );

    assert_eq!(
        essence(diagnose(&scratch.path().join("parent"))),
        expected,
        "the folder around it"
    );
    let zipped = scratch.path().join("dump.zip");
    let below: Files = files
        .iter()
        .map(|(path, content)| (format!("dump/{path}"), content.clone()))
        .collect();
    fs::write(&zipped, zip(&below)).unwrap();
    assert_eq!(essence(diagnose(&zipped)), expected, "zip");

    for (flags, name) in [
        ("-cf", "d.tar"),
        ("-czf", "d.tgz"),
        ("-cJf", "d.tar.xz"),
        ("-czf", "download (1)"),
    ] {
        let packed = scratch.path().join(name);
        let made = Command::new("tar")
            .arg("-C")
            .arg(scratch.path().join("parent"))
            .args([flags, packed.to_str().unwrap(), "dump"])
            .status();
        if !made.is_ok_and(|status| status.success()) {
            println!("skipped: tar {flags} does not work here");
            continue;
        }
        assert_eq!(essence(diagnose(&packed)), expected, "{name}");
        let bytes = fs::read(&packed).unwrap();
        let piped = run(&["diagnose", "--format", "json", "-"], &bytes);
        let piped: Value = serde_json::from_str(&piped.out).unwrap();
        assert_eq!(essence(piped), expected, "{name} through a pipe");
    }
}
