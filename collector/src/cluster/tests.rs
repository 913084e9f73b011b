//! The cluster sources against a server: a recording of a real one, and one with faults.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use base64::Engine;

use super::api::Patience;
use super::testing::{Collected, Recording, Reply, SHORT, Server, options, run, run_within};
use crate::options::Options;
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

/// A server with a few pods, unless `fault` has another answer.
async fn faulty(fault: impl Fn(&str) -> Option<Reply> + Send + Sync + 'static) -> Server {
    Server::start(move |path, _| {
        if let Some(reply) = fault(path) {
            return reply;
        }
        match path.split('?').next().unwrap_or_default() {
            "/api" => Reply::json(200, r#"{"kind":"APIVersions","versions":["v1"]}"#),
            "/apis" => Reply::json(200, r#"{"kind":"APIGroupList","groups":[]}"#),
            "/api/v1" => Reply::json(
                200,
                r#"{"resources":[{"name":"nodes","kind":"Node","namespaced":false,"verbs":["list"]},{"name":"pods","kind":"Pod","namespaced":true,"verbs":["list"]},{"name":"pods/log","kind":"Pod","namespaced":true,"verbs":["get"]}]}"#,
            ),
            "/api/v1/nodes" => Reply::json(200, list(&["n1"])),
            "/api/v1/pods" => Reply::json(200, list(&["a/1", "a/2", "b/1"])),
            _ => Reply::json(200, "{}"),
        }
    })
    .await
}

fn list(names: &[&str]) -> String {
    page(names, "")
}

fn page(names: &[&str], next: &str) -> String {
    let items: Vec<_> = names
        .iter()
        .map(|name| match name.split_once('/') {
            Some((namespace, name)) => {
                serde_json::json!({"metadata": {"name": name, "namespace": namespace}})
            }
            None => serde_json::json!({"metadata": {"name": name}}),
        })
        .collect();
    serde_json::json!({"kind": "L", "items": items, "metadata": {"continue": next}}).to_string()
}

async fn objects(server: &Server) -> Collected {
    let dir = tempfile::tempdir().unwrap();
    run(
        &cluster_objects::SOURCE,
        options(dir.path(), &server.url),
        SHORT,
    )
    .await
}

fn names(collected: &Collected, path: &str) -> Vec<String> {
    let items = collected.items(path);
    items
        .iter()
        .map(|item| item["metadata"]["name"].as_str().unwrap().to_owned())
        .collect()
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

#[tokio::test(flavor = "multi_thread")]
async fn an_api_server_that_is_down_costs_the_cluster_part_in_one_shared_sentence() {
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let mut whys = BTreeSet::new();
    for source in [
        &cluster_objects::SOURCE,
        &cluster_events::SOURCE,
        &helm_releases::SOURCE,
    ] {
        let dir = tempfile::tempdir().unwrap();
        let mut options = options(dir.path(), &format!("http://{port}"));
        let fixed = std::env::temp_dir().join(format!("casefile-down-{}", port.port()));
        std::fs::copy(options.kubeconfig.unwrap(), &fixed).unwrap();
        options.kubeconfig = Some(fixed.clone());
        let collected = run(source, options, SHORT).await;
        std::fs::remove_file(fixed).unwrap();
        assert!(collected.entries.is_empty());
        assert!(
            matches!(collected.outcome, Outcome::Failed { .. }),
            "{:?}",
            collected.outcome
        );
        whys.insert(collected.outcome.why().unwrap().to_owned());
    }
    assert_eq!(whys.len(), 1, "{whys:?}");
    assert!(whys.first().unwrap().contains("refused"), "{whys:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mounted_disk_has_no_api_server_but_may_have_logs() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("var/log/pods/default_web_1-2-3/app");
    std::fs::create_dir_all(&folder).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mounted = || Options {
        root: root.path().to_owned(),
        ..options(dir.path(), "http://127.0.0.1:1")
    };
    let skipped = Outcome::skipped("a mounted root has no API server");
    assert_eq!(
        run(&cluster_objects::SOURCE, mounted(), SHORT)
            .await
            .outcome,
        skipped
    );
    assert_eq!(
        run(&cluster_pod_logs::SOURCE, mounted(), SHORT)
            .await
            .outcome,
        skipped
    );
    std::fs::write(
        folder.join("0.log"),
        "2026-01-01T00:00:00Z stdout F hello\n",
    )
    .unwrap();
    let logs = run(&cluster_pod_logs::SOURCE, mounted(), SHORT).await;
    assert!(
        matches!(logs.outcome, Outcome::Partial { .. }),
        "{:?}",
        logs.outcome
    );
    assert_eq!(
        logs.entries["cluster-resources/pods/logs/default/web/app.log"],
        "2026-01-01T00:00:00Z hello\n"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn one_kind_that_fails_or_hangs_costs_that_kind_only() {
    for (reply, word) in [
        (Reply::json(500, "{\"message\":\"etcd\"}"), "HTTP 500: etcd"),
        (Reply::Hang, "no answer within"),
        (Reply::Stall(list(&["n1"]).into_bytes()), "stopped half-way"),
    ] {
        let server =
            faulty(move |path| path.starts_with("/api/v1/nodes").then(|| reply.clone())).await;
        let collected = objects(&server).await;
        assert!(
            matches!(collected.outcome, Outcome::Partial { .. }),
            "{:?}",
            collected.outcome
        );
        assert!(
            collected
                .notes
                .iter()
                .any(|note| note.contains("LIST nodes") && note.contains(word)),
            "{:?}",
            collected.notes
        );
        assert_eq!(
            names(&collected, "cluster-resources/pods/a.json"),
            ["1", "2"]
        );
        assert_eq!(names(&collected, "cluster-resources/pods/b.json"), ["1"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_server_is_asked_again_when_it_says_so_and_not_for_ever() {
    let asked = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&asked);
    let busy = |code| {
        Reply::Full(
            code,
            "text/plain".to_owned(),
            b"busy".to_vec(),
            Some(("retry-after", "1".to_owned())),
        )
    };
    let server = faulty(move |path| {
        if path.starts_with("/api/v1/nodes") {
            return (seen.fetch_add(1, Ordering::Relaxed) < 2).then(|| busy(429));
        }
        path.starts_with("/api/v1/pods").then(|| busy(503))
    })
    .await;
    let collected = objects(&server).await;
    assert_eq!(names(&collected, "cluster-resources/nodes.json"), ["n1"]);
    assert!(
        collected
            .notes
            .iter()
            .any(|note| note == "failed: LIST pods: HTTP 503: busy"),
        "{:?}",
        collected.notes
    );
    assert_eq!(server.count("/api/v1/pods"), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_list_goes_on_or_begins_again_without_doubles() {
    let asked = AtomicU32::new(0);
    let server = faulty(move |path| match path {
        "/api/v1/pods?limit=500" => Some(Reply::json(200, page(&["a/1", "b/1"], "t1"))),
        "/api/v1/pods?limit=500&continue=t1" if asked.fetch_add(1, Ordering::Relaxed) == 0 => {
            Some(Reply::json(410, r#"{"message":"expired"}"#))
        }
        "/api/v1/pods?limit=500&continue=t1" => Some(Reply::json(
            410,
            r#"{"message":"expired","metadata":{"continue":"t2"}}"#,
        )),
        "/api/v1/pods?limit=500&continue=t2" => Some(Reply::json(200, page(&["b/2", "c/1"], ""))),
        _ => None,
    })
    .await;
    let collected = objects(&server).await;
    assert_eq!(names(&collected, "cluster-resources/pods/a.json"), ["1"]);
    assert_eq!(
        names(&collected, "cluster-resources/pods/b.json"),
        ["1", "2"]
    );
    assert_eq!(names(&collected, "cluster-resources/pods/c.json"), ["1"]);
    assert!(
        collected
            .notes
            .iter()
            .any(|note| note.contains("begun again") && note.contains("later moment")),
        "{:?}",
        collected.notes
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_breaks_inside_a_page_loses_and_doubles_nothing() {
    let asked = AtomicU32::new(0);
    let many: Vec<String> = (0..400).map(|one| format!("a/{one:04}")).collect();
    let body = list(&many.iter().map(String::as_str).collect::<Vec<_>>());
    let server = faulty(move |path| {
        let broken = path.starts_with("/api/v1/pods") && asked.fetch_add(1, Ordering::Relaxed) == 0;
        match path.starts_with("/api/v1/pods") {
            true if broken => Some(Reply::Half(body.clone().into_bytes())),
            true => Some(Reply::json(200, body.clone())),
            false => None,
        }
    })
    .await;
    let collected = objects(&server).await;
    let expected: Vec<String> = (0..400).map(|one| format!("{one:04}")).collect();
    assert_eq!(names(&collected, "cluster-resources/pods/a.json"), expected);
    assert!(
        collected
            .notes
            .iter()
            .any(|note| note.contains("broke off")),
        "{:?}",
        collected.notes
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn namespaces_restrict_lists_of_namespaced_kinds_only() {
    let server = faulty(|path| {
        path.starts_with("/api/v1/namespaces/a/pods")
            .then(|| Reply::json(200, list(&["a/1"])))
    })
    .await;
    let dir = tempfile::tempdir().unwrap();
    let mut options = options(dir.path(), &server.url);
    options.namespaces = BTreeSet::from(["a".to_owned()]);
    let collected = run(&cluster_objects::SOURCE, options, SHORT).await;
    assert!(
        collected
            .entries
            .contains_key("cluster-resources/nodes.json")
    );
    assert_eq!(names(&collected, "cluster-resources/pods/a.json"), ["1"]);
    assert_eq!(server.count("/api/v1/pods"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stops_answering_is_not_asked_for_every_kind() {
    let server = faulty(|path| match path {
        "/api" => None,
        "/apis" => Some(Reply::json(403, "{}")),
        _ => Some(Reply::Hang),
    })
    .await;
    let collected = objects(&server).await;
    assert!(
        matches!(collected.outcome, Outcome::Failed { .. }),
        "{:?}",
        collected.outcome
    );
    assert!(
        collected.notes.iter().any(
            |note| note == "skipped: LIST secrets: not asked: the API server stopped answering"
        ),
        "{:?}",
        collected.notes
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_over_the_byte_limit_is_still_json_and_says_that_it_is_cut() {
    let many: Vec<String> = (0..20_000).map(|one| format!("a/{one:05}")).collect();
    let body = list(&many.iter().map(String::as_str).collect::<Vec<_>>());
    let server = faulty(move |path| {
        path.starts_with("/api/v1/pods")
            .then(|| Reply::json(200, body.clone()))
    })
    .await;
    let dir = tempfile::tempdir().unwrap();
    let options = options(dir.path(), &server.url);
    let collected = run_within(&cluster_objects::SOURCE, options, SHORT, 200_000).await;
    let path = "cluster-resources/pods/a.json";
    let taken = names(&collected, path);
    assert!(
        taken.len() > 1_000 && taken.len() < 20_000,
        "{}",
        taken.len()
    );
    assert!(
        collected.truncated[path].contains("byte limit"),
        "{:?}",
        collected.truncated
    );
    assert!(matches!(collected.outcome, Outcome::Partial { .. }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_sort_loses_nothing() {
    let server = faulty(|path| {
        let names = ["a/2", "b/1", "a/1", "b/2", "a/3"];
        path.starts_with("/api/v1/pods")
            .then(|| Reply::json(200, list(&names)))
    })
    .await;
    let collected = objects(&server).await;
    let files = collected
        .entries
        .keys()
        .filter(|path| path.starts_with("cluster-resources/pods/"));
    let mut all: Vec<String> = files.flat_map(|path| names(&collected, path)).collect();
    all.sort();
    assert_eq!(all, ["1", "1", "2", "2", "3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_that_are_not_there_yet_or_fail_do_not_cost_the_others() {
    let pods = r#"{"kind":"PodList","items":[
        {"metadata":{"name":"p","namespace":"kube-system"},"spec":{"containers":[{"name":"ok"},{"name":"new"},{"name":"bad"},{"name":"long"}]},
         "status":{"phase":"Running","containerStatuses":[{"name":"ok","restartCount":3,"state":{"running":{}}}]}}]}"#;
    let server = faulty(move |path| {
        let text = |text: String| Some(Reply::Full(200, "text/plain".to_owned(), text.into_bytes(), None));
        match path {
            _ if path.starts_with("/api/v1/pods") => Some(Reply::json(200, pods)),
            _ if path.contains("previous=true") => Some(Reply::json(400, r#"{"message":"previous terminated container \"ok\" in pod \"p\" not found"}"#)),
            _ if path.contains("container=ok&") => text("2026-01-01T00:00:00Z fine\n".to_owned()),
            _ if path.contains("container=new&") => Some(Reply::json(400, r#"{"message":"container \"new\" in pod \"p\" is waiting to start: ContainerCreating"}"#)),
            _ if path.contains("container=bad&") => Some(Reply::json(500, r#"{"message":"kubelet gone"}"#)),
            _ if path.contains("container=long&") => text((0..200_000).map(|line| format!("2026-01-01T00:00:00Z line {line:06}\n")).collect()),
            _ => None,
        }
    })
    .await;
    let dir = tempfile::tempdir().unwrap();
    let collected = run(
        &cluster_pod_logs::SOURCE,
        options(dir.path(), &server.url),
        SHORT,
    )
    .await;
    let path = |container| format!("cluster-resources/pods/logs/kube-system/p/{container}.log");
    assert_eq!(
        collected.entries[&path("ok")],
        "2026-01-01T00:00:00Z fine\n"
    );
    let long = &collected.entries[&path("long")];
    assert!(long.ends_with("line 199999\n") && long.len() <= 4 << 20);
    assert!(collected.truncated.contains_key(&path("long")));
    assert_eq!(
        collected.notes,
        [
            "no log yet or any more: kube-system/p/new (ContainerCreating)",
            "failed: log of kube-system/p/bad: HTTP 500: kubelet gone"
        ]
    );
    assert_eq!(
        collected.outcome,
        Outcome::partial("2 logs taken, 1 parts missing")
    );
}
