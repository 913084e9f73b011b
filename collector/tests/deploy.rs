//! The manifests for many nodes: every field is one that Kubernetes knows, and what the pods run is a command line of
//! this collector.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as the test does")]

use k8s_openapi::api::apps::v1::DaemonSet;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

fn documents(name: &str) -> Vec<Value> {
    let path = format!("{}/deploy/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let parts = text.split("\n---\n");
    parts
        .map(|part| serde_saphyr::from_str(part).unwrap())
        .collect()
}

/// Fails where the type knows a field not, or not with this form: it would be lost.
fn known<T: DeserializeOwned + Serialize>(document: &Value) {
    let typed: T = serde_json::from_value(document.clone()).unwrap();
    let again = serde_json::to_value(typed).unwrap();
    assert_eq!(&again, document);
}

fn check(document: &Value) {
    match document["kind"].as_str().unwrap() {
        "Namespace" => known::<Namespace>(document),
        "DaemonSet" => known::<DaemonSet>(document),
        "Job" => known::<Job>(document),
        "ServiceAccount" => known::<ServiceAccount>(document),
        "ClusterRole" => known::<ClusterRole>(document),
        "ClusterRoleBinding" => known::<ClusterRoleBinding>(document),
        other => panic!("no check for {other}"),
    }
}

/// The argument lists of the containers that run the collector.
fn commands(document: &Value) -> Vec<Vec<String>> {
    let pod = &document["spec"]["template"]["spec"];
    let lists = ["initContainers", "containers"].map(|list| pod[list].as_array());
    let all = lists.into_iter().flatten().flatten();
    all.filter(|container| {
        container["image"]
            .as_str()
            .is_some_and(|image| image.contains("casefile-collector"))
    })
    .map(|container| serde_json::from_value(container["args"].clone()).unwrap())
    .collect()
}

#[test]
fn every_field_of_the_manifests_is_one_that_kubernetes_knows() {
    for document in ["nodes.yaml", "cluster.yaml"]
        .into_iter()
        .flat_map(documents)
    {
        check(&document);
    }
}

#[test]
fn what_the_pods_run_is_a_command_line_of_this_collector() {
    for name in ["nodes.yaml", "cluster.yaml"] {
        let commands: Vec<_> = documents(name).iter().flat_map(commands).collect();
        assert_eq!(commands.len(), 1, "{name}");
        // The plan takes the same options, and reads only; the root of the node is not there in a test.
        let (verb, options) = commands[0].split_first().unwrap();
        assert_eq!(verb, "collect");
        let mut plan = assert_cmd::Command::cargo_bin("casefile-collector").unwrap();
        let options: Vec<String> = options
            .iter()
            .map(|word| word.replace("/host", "/"))
            .collect();
        plan.arg("plan").args(options).assert().success();
    }
}

#[test]
fn the_cluster_part_may_only_read() {
    let role = documents("cluster.yaml")
        .into_iter()
        .find(|one| one["kind"] == "ClusterRole");
    let rules = role.unwrap()["rules"].clone();
    let verbs = rules
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|rule| rule["verbs"].as_array().unwrap().clone());
    for verb in verbs {
        assert!(["get", "list"].contains(&verb.as_str().unwrap()), "{verb}");
    }
}

/// nodes.yaml with the step that sends bundles, as `kubectl apply -k` makes it; none without kubectl.
fn with_upload() -> Option<Value> {
    let made = std::process::Command::new("kubectl")
        .args(["kustomize", concat!(env!("CARGO_MANIFEST_DIR"), "/deploy")])
        .output()
        .ok()?;
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let text = String::from_utf8(made.stdout).unwrap();
    let mut parts = text
        .split("\n---\n")
        .map(|part| serde_saphyr::from_str(part).unwrap());
    parts.find(|part: &Value| part["kind"] == "DaemonSet")
}

#[test]
fn the_step_that_sends_bundles_is_a_command_line_and_may_do_nothing_else_on_the_node() {
    let Some(document) = with_upload() else {
        println!("skipped: the step that sends bundles: there is no kubectl");
        return;
    };
    check(&document);
    let commands = commands(&document);
    assert_eq!(commands[0][0], "collect");
    assert!(commands[0].contains(&"--spread".to_owned()), "{commands:?}");
    let folder = tempfile::tempdir().unwrap();
    let mut upload = assert_cmd::Command::cargo_bin("casefile-collector").unwrap();
    let place = folder.path().to_str().unwrap();
    let words = commands[1].iter().map(|word| match word.as_str() {
        "/host" => "/",
        "/var/tmp/casefile/" => place,
        other => other,
    });
    let root = is_root();
    // Nothing is there to send, so no server is asked.
    let done = upload
        .args(words)
        .env("CASEFILE_UPLOAD", "https://host.invalid/")
        .assert();
    if root {
        done.success();
    } else {
        done.code(2);
    }
    let container = &document["spec"]["template"]["spec"]["initContainers"][1];
    assert_eq!(
        container["securityContext"]["capabilities"]["drop"][0],
        "ALL"
    );
    assert!(container["securityContext"]["privileged"].is_null());
    assert_eq!(container["volumeMounts"][0]["readOnly"], true);
}

/// Only root may enter another root.
fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}
