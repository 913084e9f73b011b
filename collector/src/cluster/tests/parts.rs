//! Parts that are asked for only where they say more than what is there already.

use crate::cluster::testing::{Reply, SHORT, Server, options, run};
use crate::outcome::Outcome;
use crate::sources::{cluster_node_logs, cluster_objects, cluster_pod_logs};

fn text(body: impl Into<Vec<u8>>) -> Reply {
    Reply::Full(200, "text/plain".to_owned(), body.into(), None)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_no_longer_reaches_back_to_the_restart_gets_a_window_around_it() {
    let server = Server::start(|path, _| {
        if path.contains("sinceTime=2026-01-01T11%3A59%3A00Z") {
            return text("2026-01-01T12:00:01Z cannot find the device\n");
        }
        if path.contains("previous=true") {
            return text("2026-01-01T11:59:59Z the end of the run before\n");
        }
        if path.contains("/log?") {
            return text("2026-01-02T00:00:00Z tick\n".repeat(20_000));
        }
        Reply::json(200, r#"{"kind":"PodList","metadata":{},"items":[{"metadata":{"name":"p","namespace":"n"},"spec":{"containers":[{"name":"c"}]},
            "status":{"phase":"Running","containerStatuses":[{"name":"c","restartCount":1,"state":{"running":{}},
            "lastState":{"terminated":{"exitCode":1,"finishedAt":"2026-01-01T12:00:00Z"}}}]}}]}"#)
    })
    .await;
    let dir = tempfile::tempdir().unwrap();
    let options = options(dir.path(), &server.url);
    let collected = run(&cluster_pod_logs::SOURCE, options, SHORT).await;
    let log = |suffix: &str| {
        &collected.entries[&format!("cluster-resources/pods/logs/n/p/c{suffix}.log")]
    };
    assert!(log("-restart").contains("cannot find the device"));
    assert!(log("-previous").contains("the end of the run before"));
    assert!(log("").contains("tick"));
    let cut = &collected.truncated["cluster-resources/pods/logs/n/p/c.log"];
    assert_eq!(cut, "the newest 20000 lines were asked for");
}

#[tokio::test(flavor = "multi_thread")]
async fn custom_resources_come_with_the_columns_that_kubectl_shows() {
    let server = Server::start(|path, accept| {
        let body = match path.split('?').next().unwrap_or_default() {
            "/api" => r#"{"kind":"APIVersions","versions":[]}"#,
            "/apis" => r#"{"kind":"APIGroupList","groups":[{"name":"nvidia.com","versions":[{"version":"v1"}]}]}"#,
            "/apis/nvidia.com/v1" => r#"{"resources":[{"name":"clusterpolicies","kind":"ClusterPolicy","namespaced":false,"verbs":["list"]}]}"#,
            "/apis/nvidia.com/v1/clusterpolicies" if accept.contains("as=table") => {
                r#"{"kind":"Table","columnDefinitions":[{"name":"Status"}],"rows":[{"cells":["notReady"]}]}"#
            }
            "/apis/nvidia.com/v1/clusterpolicies" => {
                r#"{"kind":"ClusterPolicyList","metadata":{},"items":[{"metadata":{"name":"p"}}]}"#
            }
            _ => "{}",
        };
        Reply::json(200, body)
    })
    .await;
    let dir = tempfile::tempdir().unwrap();
    let options = options(dir.path(), &server.url);
    let collected = run(&cluster_objects::SOURCE, options, SHORT).await;
    let table = &collected.entries["cluster-info/tables/clusterpolicies.nvidia.com.json"];
    assert!(table.contains("\"cells\":[\"notReady\"]"), "{table}");
}

#[tokio::test(flavor = "multi_thread")]
async fn journals_of_named_nodes_are_read_through_the_api_and_a_refusal_says_which_right_is_missing()
 {
    let server = Server::start(|path, _| {
        if path.starts_with("/api/v1/nodes/gpu-2/proxy/logs/?query=kubelet&") {
            return text("Nov 20 10:00:00.000000 gpu-2 kubelet[1]: E1120 no device\n");
        }
        if path.starts_with("/api/v1/nodes/gpu-2/proxy/logs/") {
            return text("-- No entries --\n");
        }
        if path.starts_with("/api/v1/nodes/gpu-3/proxy") {
            return Reply::json(403, r#"{"kind":"Status","message":"nodes \"gpu-3\" is forbidden: User \"ops\" cannot get resource \"nodes/proxy\"","code":403}"#);
        }
        Reply::json(200, r#"{"kind":"APIVersions","versions":[]}"#)
    })
    .await;
    let dir = tempfile::tempdir().unwrap();
    let mut options = options(dir.path(), &server.url);
    options.node_logs = ["gpu-2", "gpu-3"].map(str::to_owned).into();
    let collected = run(&cluster_node_logs::SOURCE, options, SHORT).await;
    let log = &collected.entries["nodes/gpu-2/journal/kubelet.log"];
    assert!(log.contains("no device"), "{log}");
    assert_eq!(collected.entries.len(), 1);
    let said =
        "skipped: forbidden (journal of gpu-3 as user ops); it takes the right to get nodes/proxy";
    assert_eq!(collected.outcome, Outcome::partial(said));
}
