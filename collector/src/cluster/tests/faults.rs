//! Against a server with faults.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::names;
use crate::cluster::testing::{Collected, Reply, SHORT, Server, options, run, run_on, run_within};
use crate::host::Host;
use crate::options::Options;
use crate::outcome::Outcome;
use crate::sources::{cluster_events, cluster_objects, cluster_pod_logs, helm_releases};

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
        kubeconfig: None,
        ..options(dir.path(), "http://127.0.0.1:1")
    };
    let skipped = Outcome::skipped(
        "a mounted disk has no API server of its own: --kubeconfig FILE names the cluster's",
    );
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

#[tokio::test(flavor = "multi_thread")]
async fn logs_that_a_dead_kubelet_does_not_give_are_taken_from_the_disk() {
    let pods = r#"{"items":[{"metadata":{"name":"web","namespace":"kube-system"},"spec":{"containers":[{"name":"app"}]},"status":{"phase":"Running"}}]}"#;
    let server = faulty(move |path| match path {
        _ if path.starts_with("/api/v1/pods") => Some(Reply::json(200, pods)),
        _ => path
            .contains("/log?")
            .then(|| Reply::json(500, r#"{"message":"dial tcp: connection refused"}"#)),
    })
    .await;
    let root = tempfile::tempdir().unwrap();
    for name in ["kube-system_web_1", "kube-system_other_2"] {
        let folder = root.path().join("var/log/pods").join(name).join("app");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("0.log"), "2026-01-01T00:00:00Z stderr F no\n").unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    let options = options(dir.path(), &server.url);
    let host = Host::new(root.path());
    let source = &cluster_pod_logs::SOURCE;
    let collected = run_on(source, options, SHORT, source.max_bytes, host).await;
    let logs: Vec<_> = collected.entries.keys().collect();
    assert_eq!(
        logs,
        ["cluster-resources/pods/logs/kube-system/web/app.log"]
    );
    assert!(
        collected
            .notes
            .iter()
            .any(|note| note.contains("connection refused")),
        "{:?}",
        collected.notes
    );
    assert!(matches!(collected.outcome, Outcome::Partial { .. }));
}
