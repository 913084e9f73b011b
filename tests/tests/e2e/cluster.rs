//! The collector against a server that replays a real API server's answers.

use casefile_bundle::Outcome;
use casefile_tests::recording::{Recording, User};
use casefile_tests::replay::{Credential, Fault, Faults, Server};

use crate::support::{collect, entry, manifest, nowhere, paths, recording, source, told};

const CLUSTER: &str = "cluster_objects,cluster_events,cluster_pod_logs,helm_releases";
const RELEASE: &str = "helm/gpu-operator/gpu-operator-1758912452";

struct Run {
    server: Server,
    folder: tempfile::TempDir,
}

fn serve(test: &str, name: &str, user: User, how: Credential, faults: Faults) -> Option<Run> {
    let recording = Recording::load(&recording(test, name)?).unwrap();
    let server = Server::start(recording, "127.0.0.1:0".parse().unwrap(), faults).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("kubeconfig"),
        server.kubeconfig(user, how),
    )
    .unwrap();
    Some(Run { server, folder })
}

fn snapshot(run: &Run, more: &[&str]) -> std::path::PathBuf {
    let kubeconfig = run.folder.path().join("kubeconfig");
    let mut arguments = vec![
        "--kubeconfig",
        kubeconfig.to_str().unwrap(),
        "--only",
        CLUSTER,
    ];
    arguments.extend(more);
    collect(run.folder.path(), &arguments).1
}

#[test]
fn an_admin_with_a_client_certificate_takes_everything() {
    let test = "an_admin_with_a_client_certificate_takes_everything";
    let (admin, how) = (User::Admin, Credential::Certificate);
    let Some(run) = serve(
        test,
        "snap-1-before.jsonl.gz",
        admin,
        how,
        Faults::default(),
    ) else {
        return;
    };
    let bundle = snapshot(&run, &[]);
    let manifest = manifest(&bundle);
    for id in CLUSTER.split(',') {
        let (outcome, text) = told(source(&manifest, id));
        assert!(
            matches!(outcome, Outcome::Collected | Outcome::Partial),
            "{id}: {outcome:?} {text}"
        );
    }
    let pods = entry(&bundle, "cluster-resources/pods/default.json");
    assert!(
        pods.lines()
            .any(|line| line.contains("\"gpu-textgen\"") && line.contains("ContainerCreating"))
    );
    let events = entry(&bundle, "cluster-resources/events/default.json");
    assert!(events.contains("no runtime for \\\"nvidia\\\" is configured"));
    let log = entry(
        &bundle,
        "cluster-resources/pods/logs/kube-system/coredns-fc9c778db-7j9nn/coredns.log",
    );
    assert!(
        log.contains("2025-09-28T09:36:20.164000000Z [ERROR] plugin/errors: 2 huggingface.co.")
    );
    let history = entry(&bundle, &format!("{RELEASE}/history.json"));
    assert!(history.contains("gpu-operator"));
    let requests = run.server.requests();
    let review = "POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
    let others: Vec<_> = requests
        .iter()
        .filter(|request| !request.starts_with("GET "))
        .collect();
    assert_eq!(others, [review], "{requests:?}");
}

#[test]
fn a_bearer_token_serves_as_well_and_is_not_in_the_bundle() {
    let test = "a_bearer_token_serves_as_well_and_is_not_in_the_bundle";
    let (admin, how) = (User::Admin, Credential::Token);
    let Some(run) = serve(test, "snap-2-dns.jsonl.gz", admin, how, Faults::default()) else {
        return;
    };
    let bundle = snapshot(&run, &[]);
    let values = entry(&bundle, &format!("{RELEASE}/values-user.yaml"));
    assert!(values.contains("CONTAINERD_SOCKET"), "{values}");
    let kubeconfig = std::fs::read_to_string(run.folder.path().join("kubeconfig")).unwrap();
    let token = kubeconfig
        .lines()
        .find_map(|line| line.trim().strip_prefix("token: "))
        .unwrap();
    nowhere(&bundle, token);
}

#[test]
fn no_content_of_a_secret_reaches_the_bundle() {
    let test = "no_content_of_a_secret_reaches_the_bundle";
    let (admin, how) = (User::Admin, Credential::Certificate);
    let Some(run) = serve(
        test,
        "snap-1-before.jsonl.gz",
        admin,
        how,
        Faults::default(),
    ) else {
        return;
    };
    let bundle = snapshot(&run, &[]);
    // How the payload of a helm release begins, encoded twice.
    nowhere(&bundle, "SDRzSUFBQUFBQUFD");
}

#[test]
fn what_a_viewer_may_not_see_is_skipped_as_forbidden_and_the_rest_is_taken() {
    let test = "what_a_viewer_may_not_see_is_skipped_as_forbidden_and_the_rest_is_taken";
    let (viewer, how) = (User::Viewer, Credential::Token);
    let Some(run) = serve(
        test,
        "snap-1-before.jsonl.gz",
        viewer,
        how,
        Faults::default(),
    ) else {
        return;
    };
    let bundle = snapshot(&run, &[]);
    let manifest = manifest(&bundle);
    let (outcome, text) = told(source(&manifest, "cluster_objects"));
    assert_eq!(outcome, Outcome::Partial, "{text}");
    assert!(
        text.lines()
            .any(|line| line.contains("skipped: forbidden") && line.contains("nodes")),
        "{text}"
    );
    assert!(
        paths(&bundle)
            .iter()
            .any(|path| path == "cluster-resources/pods/default.json")
    );
    let (outcome, text) = told(source(&manifest, "helm_releases"));
    assert_eq!(outcome, Outcome::Skipped, "{text}");
    assert!(text.contains("forbidden"), "{text}");
}

#[test]
fn a_failing_list_is_failed_and_the_others_are_taken() {
    let test = "a_failing_list_is_failed_and_the_others_are_taken";
    let faults = Faults::default()
        .with("/api/v1/events", Fault::Status(500))
        .with("/apis/events.k8s.io/v1/events", Fault::Status(500));
    let (admin, how) = (User::Admin, Credential::Certificate);
    let Some(run) = serve(test, "snap-1-before.jsonl.gz", admin, how, faults) else {
        return;
    };
    let bundle = snapshot(&run, &[]);
    let manifest = manifest(&bundle);
    let (outcome, text) = told(source(&manifest, "cluster_events"));
    assert_eq!(outcome, Outcome::Failed, "{text}");
    assert!(text.contains("500"), "{text}");
    assert!(
        paths(&bundle)
            .iter()
            .any(|path| path == "cluster-resources/pods/default.json")
    );
}

#[test]
fn a_server_that_never_answers_costs_the_cluster_part_only_and_ends_in_time() {
    let test = "a_server_that_never_answers_costs_the_cluster_part_only_and_ends_in_time";
    let faults = Faults::default().with("/", Fault::Hang);
    let (admin, how) = (User::Admin, Credential::Certificate);
    let Some(run) = serve(test, "snap-1-before.jsonl.gz", admin, how, faults) else {
        return;
    };
    let bundle = snapshot(&run, &["--source-timeout", "2s", "--timeout", "20s"]);
    let manifest = manifest(&bundle);
    for id in CLUSTER.split(',') {
        assert_eq!(source(&manifest, id).outcome, Outcome::Failed, "{id}");
    }
}

#[test]
fn a_list_that_breaks_off_is_not_taken_for_a_whole_one() {
    let test = "a_list_that_breaks_off_is_not_taken_for_a_whole_one";
    let faults = Faults::default().with("/api/v1/pods", Fault::Cut);
    let (admin, how) = (User::Admin, Credential::Certificate);
    let Some(run) = serve(test, "snap-1-before.jsonl.gz", admin, how, faults) else {
        return;
    };
    let bundle = snapshot(&run, &["--source-timeout", "10s"]);
    let manifest = manifest(&bundle);
    let (outcome, text) = told(source(&manifest, "cluster_objects"));
    assert_eq!(outcome, Outcome::Partial, "{text}");
    assert!(text.contains("pods"), "{text}");
}

#[test]
fn a_body_that_drips_ends_with_the_source_time_limit() {
    let test = "a_body_that_drips_ends_with_the_source_time_limit";
    let faults = Faults::default().with("/api/v1/events", Fault::Drip);
    let (admin, how) = (User::Admin, Credential::Certificate);
    let Some(run) = serve(test, "snap-1-before.jsonl.gz", admin, how, faults) else {
        return;
    };
    let bundle = snapshot(&run, &["--source-timeout", "2s", "--timeout", "30s"]);
    let manifest = manifest(&bundle);
    let (outcome, text) = told(source(&manifest, "cluster_events"));
    assert!(
        matches!(outcome, Outcome::Failed | Outcome::Partial),
        "{outcome:?} {text}"
    );
}
