//! Against the recording of a real API server.

use base64::Engine;

use super::names;
use crate::cluster::api::Patience;
use crate::cluster::testing::{Collected, Recording, Server, options, run};
use crate::outcome::Outcome;
use crate::source::Source;
use crate::sources::{cluster_events, cluster_objects, cluster_pod_logs, helm_releases};

const STATE_1: &str = "snap-1-before.jsonl.gz";
const STATE_2: &str = "snap-2-dns.jsonl.gz";

async fn replayed(name: &str, user: &'static str, source: &'static Source) -> Option<Collected> {
    let recording = Recording::open(name)?;
    let server = Server::start(move |path, accept| recording.answer(user, path, accept)).await;
    let dir = tempfile::tempdir().unwrap();
    Some(
        run(
            source,
            options(dir.path(), &server.url),
            Patience::default(),
        )
        .await,
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stuck_pod_the_policy_and_the_version_are_in_the_bundle() {
    let Some(collected) = replayed(STATE_1, "admin", &cluster_objects::SOURCE).await else {
        return;
    };
    assert_eq!(
        collected.outcome,
        Outcome::Collected,
        "{:?}",
        collected.notes
    );
    let pods = collected.items("cluster-resources/pods/default.json");
    assert_eq!(pods[0]["metadata"]["name"], "gpu-textgen");
    assert!(pods[0]["metadata"].get("managedFields").is_none());
    assert!(names(&collected, "cluster-resources/pods/gpu-operator.json").is_sorted());
    let policy =
        collected.items("cluster-resources/custom-resources/clusterpolicies.nvidia.com.json");
    assert_eq!(policy.len(), 1);
    let version = &collected.entries["cluster-info/cluster_version.json"];
    assert!(version.contains(r#""string":"v1.36.2""#), "{version}");
    for path in [
        "cluster-resources/nodes.json",
        "cluster-resources/runtimeclasses.json",
        "cluster-resources/daemonsets/gpu-operator.json",
        "cluster-resources/customresourcedefinitions.json",
        "cluster-resources/configmaps/kube-system.json",
    ] {
        assert!(!collected.items(path).is_empty(), "{path}");
    }
    let kinds = &collected.entries["cluster-info/resources.json"];
    assert!(kinds.contains(r#""name":"limitranges","api_version":"v1","kind":"LimitRange","namespaced":true,"path":"/api/v1/limitranges","objects":0,"outcome":"collected""#), "{kinds}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_value_of_a_secret_reaches_the_bundle_in_any_form() {
    let Some(recording) = Recording::open(STATE_2) else {
        return;
    };
    let secrets: serde_json::Value =
        serde_json::from_str(recording.body("/api/v1/secrets")).unwrap();
    let data = secrets["items"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|secret| secret["data"].as_object().unwrap().values());
    let values: Vec<String> = data
        .map(|value| value.as_str().unwrap().to_owned())
        .collect();
    assert!(!values.is_empty());
    for source in [
        &cluster_objects::SOURCE,
        &helm_releases::SOURCE,
        &cluster_events::SOURCE,
    ] {
        let collected = replayed(STATE_2, "admin", source).await.unwrap();
        for (path, text) in &collected.entries {
            for value in &values {
                let decoded = base64::engine::general_purpose::STANDARD
                    .decode(value)
                    .unwrap();
                let decoded = String::from_utf8_lossy(&decoded).into_owned();
                for form in [value.as_str(), &decoded] {
                    assert!(
                        !text.contains(form.get(..200).unwrap_or(form)),
                        "{path} holds a secret's value"
                    );
                }
            }
            assert!(
                !text.contains("kind: Deployment"),
                "{path} holds a template"
            );
        }
    }
    let objects = replayed(STATE_2, "admin", &cluster_objects::SOURCE)
        .await
        .unwrap();
    let index = objects.items("cluster-resources/secrets-index/gpu-operator.json");
    assert_eq!(index[0]["entries"][0]["name"], "release");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_viewer_may_not_list_is_named_and_the_rest_is_there() {
    let Some(collected) = replayed(STATE_1, "viewer", &cluster_objects::SOURCE).await else {
        return;
    };
    assert!(
        matches!(collected.outcome, Outcome::Partial { .. }),
        "{:?}",
        collected.outcome
    );
    for note in [
        "skipped: forbidden (LIST nodes as user viewer)",
        "skipped: forbidden (LIST secrets as user viewer)",
        "skipped: forbidden (LIST runtimeclasses.node.k8s.io as user viewer)",
    ] {
        assert!(
            collected.notes.iter().any(|one| one == note),
            "{note} in {:?}",
            collected.notes
        );
    }
    assert!(
        !collected
            .entries
            .contains_key("cluster-resources/nodes.json")
    );
    assert!(
        collected
            .entries
            .contains_key("cluster-resources/pods/default.json")
    );
    let helm = replayed(STATE_1, "viewer", &helm_releases::SOURCE)
        .await
        .unwrap();
    assert_eq!(
        helm.outcome,
        Outcome::skipped("skipped: forbidden (LIST secrets as user viewer)")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sandbox_error_is_among_the_events() {
    let Some(collected) = replayed(STATE_1, "admin", &cluster_events::SOURCE).await else {
        return;
    };
    assert_eq!(collected.outcome, Outcome::Collected);
    let events = collected.items("cluster-resources/events/default.json");
    assert!(
        events
            .iter()
            .any(|event| event["reason"] == "FailedCreatePodSandBox"),
        "{events:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_of_pods_in_trouble_and_of_the_gpu_operator_are_taken() {
    let Some(collected) = replayed(STATE_2, "admin", &cluster_pod_logs::SOURCE).await else {
        return;
    };
    let log = &collected.entries["cluster-resources/pods/logs/default/gpu-textgen/textgen.log"];
    assert!(log.starts_with("20"), "{log}");
    assert!(collected.entries.contains_key(
        "cluster-resources/pods/logs/kube-system/coredns-fc9c778db-7j9nn/coredns.log"
    ));
    assert!(
        collected
            .entries
            .keys()
            .any(|path| path.contains("/nvidia-container-toolkit-daemonset-"))
    );
    assert_eq!(
        collected.outcome,
        Outcome::Collected,
        "{:?}",
        collected.notes
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_values_before_and_after_the_fix_are_told_apart() {
    let Some(before) = replayed(STATE_1, "admin", &helm_releases::SOURCE).await else {
        return;
    };
    let all = "helm/gpu-operator/gpu-operator-1758912452/values-all.yaml";
    assert!(
        before.entries[all].contains("toolkit:\n  enabled: true\n  env: []\n"),
        "{}",
        before.entries[all]
    );
    let after = replayed(STATE_2, "admin", &helm_releases::SOURCE)
        .await
        .unwrap();
    let folder = "helm/gpu-operator/gpu-operator-1758912452";
    assert!(
        after.entries[all]
            .contains("  - name: CONTAINERD_SOCKET\n    value: /var/lib/k8s-containerd/")
    );
    assert!(after.entries[&format!("{folder}/values-user.yaml")].contains("CONTAINERD_CONFIG"));
    assert!(!after.entries[&format!("{folder}/values-user-1.yaml")].contains("CONTAINERD_CONFIG"));
    let changes: serde_json::Value =
        serde_json::from_str(&after.entries[&format!("{folder}/changes.json")]).unwrap();
    assert_eq!(
        changes["all_values"]["paths"],
        serde_json::json!(["toolkit.env"])
    );
    let release: serde_json::Value =
        serde_json::from_str(&after.entries[&format!("{folder}/release.json")]).unwrap();
    assert_eq!(
        (release["revision"].as_u64(), release["status"].as_str()),
        (Some(2), Some("deployed"))
    );
    let history: serde_json::Value =
        serde_json::from_str(&after.entries[&format!("{folder}/history.json")]).unwrap();
    assert_eq!(history[0]["status"], "superseded");
}
