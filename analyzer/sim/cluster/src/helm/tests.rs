use serde_json::json;

use super::expected::{components, image_parts};
use super::lines::line_of;
use super::{Seen, drifts};
use crate::flat::Flat;

fn container(workload: &str, image: &str) -> Seen {
    Seen {
        workload: workload.to_owned(),
        container: "main".to_owned(),
        image: image.to_owned(),
        env: Some(Flat::new()),
        args: Some(Vec::new()),
        ..Seen::default()
    }
}

fn toolkit(tag: &str, socket: Option<&str>) -> Seen {
    let image = format!("nvcr.io/nvidia/k8s/container-toolkit:{tag}");
    let mut seen = container("daemonset/gpu-operator/toolkit", &image);
    let value = socket.map(|socket| ("CONTAINERD_SOCKET".to_owned(), Some(socket.to_owned())));
    seen.env = Some(value.into_iter().collect());
    seen
}

#[test]
fn a_value_that_does_not_show_is_named_with_both_sides() {
    let values = json!({"toolkit": {
        "enabled": true, "repository": "nvcr.io/nvidia/k8s", "image": "container-toolkit", "version": "v1.18.0",
        "env": [{"name": "CONTAINERD_SOCKET", "value": "/run/k3s/containerd/containerd.sock"}]
    }});
    let old = [toolkit("v1.17.8", Some("/run/containerd/containerd.sock"))];
    let found = drifts(&values, &old);
    let told: Vec<(&str, &str, &str)> = found
        .iter()
        .map(|one| (one.value.as_str(), one.expected.as_str(), one.seen.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            (
                "toolkit.env[CONTAINERD_SOCKET]",
                "/run/k3s/containerd/containerd.sock",
                "/run/containerd/containerd.sock"
            ),
            ("toolkit.version", "v1.18.0", "v1.17.8"),
        ]
    );
    assert_eq!(found[1].places, ["daemonset/gpu-operator/toolkit main"]);
    let unset = drifts(&values, &[toolkit("v1.18.0", None)]);
    assert_eq!(unset[0].seen, "not set");
    let right = [toolkit(
        "v1.18.0",
        Some("/run/k3s/containerd/containerd.sock"),
    )];
    assert!(drifts(&values, &right).is_empty());
}

#[test]
fn what_runs_nowhere_or_cannot_be_known_says_nothing() {
    let values = json!({"driver": {"repository": "nvcr.io/nvidia", "image": "driver", "version": "595.91.07"},
        "app": {"image": {"repository": "r/app", "tag": ""}, "env": {"A": "<not collected>"}}});
    assert!(drifts(&values, &[]).is_empty());
    let built = container(
        "daemonset/g/driver",
        "nvcr.io/nvidia/driver:595.91.07-ubuntu24.04",
    );
    assert!(
        drifts(&values, &[built]).is_empty(),
        "the system is part of the tag"
    );
    let other = container("daemonset/g/driver", "nvcr.io/nvidia/driver:595.91.071");
    assert_eq!(
        drifts(&values, &[other]).len(),
        1,
        "a longer number is another version"
    );
    assert!(drifts(&values, &[container("deployment/g/app", "r/app:9")]).is_empty());
}

#[test]
fn two_values_of_one_image_may_differ() {
    let values = json!({"a": {"repository": "r", "image": "cuda", "version": "12"},
        "b": {"repository": "r", "image": "cuda", "version": "13", "args": ["-x"]}});
    let seen = [
        container("daemonset/g/a", "r/cuda:12"),
        container("daemonset/g/b", "r/cuda:13"),
    ];
    assert!(drifts(&values, &seen).is_empty());
    let chosen = json!({"operator": {"repository": "r", "image": "operator", "version": "2"},
        "validator": {"repository": "r", "image": "operator", "args": []}});
    let both = [
        container("deployment/g/a", "r/operator:2"),
        container("daemonset/g/v", "r/operator:main"),
    ];
    assert!(
        drifts(&chosen, &both).is_empty(),
        "the chart chooses the second one's tag"
    );
    let third = [container("daemonset/g/c", "r/cuda:11")];
    assert_eq!(drifts(&values, &third).len(), 2, "neither of both");
}

#[test]
fn resources_selectors_replicas_and_arguments_are_compared_as_what_they_mean() {
    let values = json!({"image": {"registry": "q.io", "repository": "x/app", "tag": "1"}, "replicaCount": 3,
        "resources": {"limits": {"memory": "1Gi", "cpu": "500m"}}, "nodeSelector": {"gpu": "true"}, "args": ["--debug"]});
    let mut seen = container("deployment/d/app", "q.io/x/app:1");
    seen.replicas = Some(1);
    seen.resources = [("limits.memory", "1024Mi"), ("limits.cpu", "1")]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
    let found = drifts(&values, &[seen]);
    let told: Vec<(&str, &str)> = found
        .iter()
        .map(|one| (one.value.as_str(), one.seen.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("args", "not set"),
            ("nodeSelector.gpu", "not set"),
            ("replicaCount", "1"),
            ("resources.limits.cpu", "1"),
        ]
    );
}

#[test]
fn a_component_that_is_switched_off_and_runs_is_named() {
    let values =
        json!({"dcgm": {"enabled": false, "repository": "r", "image": "dcgm", "version": "4"}});
    let found = drifts(&values, &[container("daemonset/g/dcgm", "r/dcgm:3")]);
    assert_eq!(
        (found[0].kind, found[0].value.as_str()),
        ("disabled", "dcgm.enabled")
    );
}

#[test]
fn images_are_taken_apart_as_references_are_written() {
    for (image, parts) in [
        ("r:5000/a/b:v1", ("r:5000/a/b", "v1")),
        ("r:5000/a/b", ("r:5000/a/b", "")),
        ("a/b:v1@sha256:00", ("a/b", "sha256:00")),
    ] {
        assert_eq!(image_parts(image), parts, "{image}");
    }
    let digest = json!({"x": {"repository": "a", "image": "b", "version": "sha256:00"}});
    assert_eq!(components(&digest)[0].tag, "sha256:00");
}

#[test]
fn a_value_has_the_line_that_it_stands_on() {
    let text = "driver:\n  version: \"1\"\ntoolkit:\n  # note\n  env:\n  - name: A\n    value: x\n  - name: B\n    value: y\n  version: v1\n";
    assert_eq!(line_of(text, "toolkit.version"), Some(10));
    assert_eq!(line_of(text, "toolkit.env[B]"), Some(8));
    assert_eq!(line_of(text, "driver.version"), Some(2));
    assert_eq!(
        line_of(text, "driver.image"),
        Some(1),
        "the deepest part that is there"
    );
    assert_eq!(line_of(text, "nothing.here"), None);
}
