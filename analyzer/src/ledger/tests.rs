//! The ledger on small inputs, through the whole analysis.

use crate::diagnose::Analyzer;
use crate::model::{Analysis, Verdict};

fn analyse(files: &[(&str, String)], about: Option<&str>) -> Analysis {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let target = folder.path().join(path);
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::write(target, text).unwrap();
    }
    let (set, _) = crate::rules::load(None).unwrap();
    let analyzer = Analyzer::new(set).unwrap();
    let analyzer = analyzer.asking_about(about.map(str::to_owned));
    analyzer.analyze(folder.path()).unwrap()
}

const PODS: &str = "cluster-resources/pods/shop.json";

fn pods(items: &[String]) -> (&'static str, String) {
    let head = r#"{"kind":"PodList","apiVersion":"v1","items":["#;
    (PODS, format!("{head}\n{}\n]}}\n", items.join(",\n")))
}

fn pod(name: &str, owner: &str, phase: &str, ready: bool, containers: &str) -> String {
    let ready = if ready { "True" } else { "False" };
    format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"shop","ownerReferences":[{{"kind":"ReplicaSet","name":"{owner}"}}]}},"spec":{{"nodeName":"n1","containers":[{{"name":"web","image":"r.example/web:1"}}]}},"status":{{"phase":"{phase}","podIP":"10.42.0.7","conditions":[{{"type":"Ready","status":"{ready}"}}],"containerStatuses":[{containers}]}}}}"#
    )
}

const CRASHES: &str = r#"{"name":"web","restartCount":7,"state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off 5m0s restarting failed container"}},"lastState":{"terminated":{"exitCode":3,"reason":"Error"}}}"#;
const RUNS: &str = r#"{"name":"web","ready":true,"restartCount":7,"state":{"running":{}},"lastState":{"terminated":{"exitCode":3,"reason":"Error"}}}"#;
const ENDED: &str =
    r#"{"name":"web","restartCount":0,"state":{"terminated":{"exitCode":137,"reason":"Error"}}}"#;
const LOG: &str = "cluster-resources/pods/logs/shop/web-a/web.log";

#[test]
fn a_crashing_pod_that_no_rule_knows_is_told_with_exit_code_and_last_words() {
    let log = "starting\nFATAL the gyroscope is not calibrated\nbye\n".to_owned();
    let files = [
        pods(&[pod("web-a", "web-1", "Running", false, CRASHES)]),
        (LOG, log),
    ];
    let analysis = analyse(&files, None);
    let entry = &analysis.unexplained[0];
    assert_eq!(entry.subject, "pod/shop/web-a");
    assert!(
        entry.reason.contains("CrashLoopBackOff, exit code 3"),
        "{}",
        entry.reason
    );
    assert_eq!(entry.last_words, "FATAL the gyroscope is not calibrated");
    assert_eq!(
        (entry.place.path.as_str(), entry.place.line),
        (LOG, Some(2))
    );
    let possible = analysis
        .differential
        .iter()
        .find(|row| row.cause == "probe-ends-container");
    let why = possible.map(|row| (row.verdict, row.why.contains("kubectl get events -n shop")));
    assert_eq!(why, Some((Verdict::Possible, true)));
}

#[test]
fn what_works_is_done_or_was_replaced_is_not_told() {
    let files = [pods(&[
        pod("web-a", "web-1", "Running", true, RUNS),
        pod("web-b", "web-1", "Failed", false, ENDED),
        pod("job-a", "job", "Succeeded", false, ""),
    ])];
    let analysis = analyse(&files, None);
    assert_eq!(analysis.unexplained, []);
    assert!(
        analysis
            .differential
            .iter()
            .all(|row| !row.verdict.is_live())
    );
}

#[test]
fn what_a_rule_explains_is_not_told_again() {
    let log = "starting\nError: connect ECONNREFUSED 10.43.7.12:5432\n".to_owned();
    let files = [
        pods(&[pod("web-a", "web-1", "Running", false, CRASHES)]),
        (LOG, log),
    ];
    let analysis = analyse(&files, None);
    let first = &analysis.incidents[0];
    assert_eq!(
        (first.cause.as_str(), first.verdict),
        ("dependency-refuses-connection", Verdict::Confirmed)
    );
    assert!(first.title.contains("pod/shop/web-a"), "{}", first.title);
    assert_eq!(analysis.unexplained, []);
}

#[test]
fn the_thing_that_was_asked_for_comes_first() {
    let log = "starting\nFATAL the gyroscope is not calibrated\n".to_owned();
    let other = "cluster-resources/pods/logs/shop/web-b/web.log";
    let files = [
        pods(&[
            pod("web-a", "web-1", "Running", false, CRASHES),
            pod("web-b", "api-1", "Running", false, CRASHES),
        ]),
        (LOG, log.clone()),
        (other, log.replace("gyroscope", "compass")),
    ];
    let analysis = analyse(&files, Some("pod/shop/web-b"));
    let about = analysis.about.unwrap();
    assert!(
        about.found && about.state.starts_with("CrashLoopBackOff"),
        "{}",
        about.state
    );
    assert_eq!(
        about.last_words.as_deref(),
        Some("FATAL the compass is not calibrated")
    );
    assert_eq!(analysis.unexplained[0].subject, "pod/shop/web-b");
    let none = analyse(&files, Some("pod/shop/web-c")).about.unwrap();
    assert!(!none.found);
}

#[test]
fn a_packet_that_an_error_names_is_followed_through_the_captured_rules() {
    let log = "starting\nFATAL no license: dial tcp 192.0.2.9:8443: i/o timeout\n".to_owned();
    let rules = |target: &str| {
        format!(
            "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n-A FORWARD -p tcp -m tcp --dport 8443 -j {target}\nCOMMIT\n"
        )
    };
    let told = |target: &str| {
        let files = [
            pods(&[pod("web-a", "web-1", "Running", false, CRASHES)]),
            (LOG, log.clone()),
            ("nodes/n1/commands/iptables-save.out", rules(target)),
        ];
        let analysis = analyse(&files, None);
        analysis.unexplained[0].flows.join("; ")
    };
    let dropped = told("DROP");
    assert!(
        dropped.contains("ends the packet to 192.0.2.9 port 8443 (dropped)"),
        "{dropped}"
    );
    let accepted = told("ACCEPT");
    assert!(accepted.contains("does not end the packet"), "{accepted}");
}

#[test]
fn a_node_that_can_write_nothing_more_is_told_with_the_file_system() {
    let df = "Filesystem Inodes IUsed IFree IUse% Mounted on\n/dev/sdb1 2048 2048 0 100% /var/lib/containerd\n";
    let files = [("nodes/n1/commands/df-inodes.out", df.to_owned())];
    let entry = &analyse(&files, None).unexplained[0];
    assert_eq!(entry.subject, "node/n1");
    assert_eq!(entry.reason, "no inodes left on /var/lib/containerd");
    assert_eq!(entry.place.line, Some(2));
}

#[test]
fn a_unit_that_systemd_lists_as_failed_is_told() {
    let listed =
        "  UNIT LOAD ACTIVE SUB DESCRIPTION\n● gyro.service loaded failed failed Gyroscope\n"
            .to_owned();
    let analysis = analyse(&[("nodes/n1/commands/systemctl-failed.out", listed)], None);
    assert_eq!(analysis.unexplained[0].subject, "unit/gyro.service");
}

#[test]
fn a_unit_that_failed_otherwise_in_an_earlier_boot_is_told_as_systemd_states_it_now() {
    let status = "* gyro.socket - Gyroscope\n     Loaded: loaded (/lib/systemd/system/gyro.socket; enabled)\n     Active: failed (Result: trigger-limit-hit) since Tue 2026-11-10 09:51:45 UTC; 19s ago\n".to_owned();
    let log = |result: &str| {
        format!(
            "Nov 04 10:58:01 n1 gyro[7]: error: no such axis\nNov 04 10:58:01 n1 systemd[1]: gyro.socket: Failed with result '{result}'.\n"
        )
    };
    let entry = |result: &str| {
        let files = [
            ("nodes/n1/commands/systemctl-status.out", status.clone()),
            ("nodes/n1/rootfs/var/log/syslog", log(result)),
        ];
        analyse(&files, None).unexplained[0].clone()
    };
    let other = entry("resources");
    assert_eq!(other.reason, "failed: trigger-limit-hit");
    assert_eq!(
        other.since.unwrap().to_rfc3339(),
        "2026-11-10T09:51:45+00:00"
    );
    assert!(!other.last_words.contains("axis"), "{}", other.last_words);
    assert!(entry("trigger-limit-hit").last_words.contains("axis"));
}

#[test]
fn an_operator_that_is_not_installed_is_told_with_what_it_lacks_and_its_copies_are_not() {
    let object = |namespace: &str, reason: &str| {
        format!(
            r#"{{"kind":"ClusterServiceVersion","metadata":{{"name":"cache.v1","namespace":"{namespace}"}},"status":{{"phase":"Pending","reason":"{reason}","message":"one or more requirements couldn't be found","requirementStatus":[{{"kind":"CustomResourceDefinition","name":"a","status":"Present","message":"there"}},{{"kind":"ServiceAccount","name":"cache","status":"NotPresent","message":"Service account does not exist","dependents":[{{"kind":"PolicyRule","status":"NotSatisfied","message":"cluster rule:{{\"verbs\":[\"get\"],\"resources\":[\"leases\",\"leases/status\"]}}"}},{{"kind":"PolicyRule","status":"Satisfied","message":"cluster rule:{{\"resources\":[\"events\"]}}"}}]}}]}}}}"#
        )
    };
    let head = r#"{"kind":"ClusterServiceVersionList","items":["#;
    let items = [
        object("shop", "RequirementsNotMet"),
        object("web", "Copied"),
    ];
    let list = format!("{head}\n{}\n]}}\n", items.join(",\n"));
    let path = "cluster-resources/clusterserviceversions.json";
    let analysis = analyse(&[(path, list)], None);
    let entry = &analysis.unexplained[0];
    assert_eq!(entry.subject, "clusterserviceversion/shop/cache.v1");
    assert_eq!(entry.reason, "Pending: RequirementsNotMet");
    assert!(
        entry
            .last_words
            .contains("Service account does not exist: leases (NotPresent)"),
        "{}",
        entry.last_words
    );
    assert_eq!(analysis.unexplained.len(), 1);
    // What could not be created is told by the plan, and is what the operator waits for.
    let plan = r#"{"kind":"InstallPlanList","items":[
{"kind":"InstallPlan","metadata":{"name":"install-x1","namespace":"shop"},"spec":{"clusterServiceVersionNames":["cache.v1"]},"status":{"phase":"Failed","conditions":[{"type":"Installed","status":"False","reason":"InstallComponentFailed","message":"error creating role cache: forbidden"}]}}
]}
"#;
    let plans = "cluster-resources/installplans.json";
    let list = format!("{head}\n{}\n]}}\n", object("shop", "RequirementsNotMet"));
    let analysis = analyse(&[(path, list), (plans, plan.to_owned())], None);
    let entry = &analysis.unexplained[0];
    assert_eq!(analysis.unexplained.len(), 1);
    assert_eq!(entry.subject, "clusterserviceversion/shop/cache.v1");
    let told = "InstallPlan install-x1 failed (InstallComponentFailed): error creating role cache: forbidden";
    assert_eq!(entry.last_words, told);
}

#[test]
fn a_pod_that_runs_and_is_restarted_every_few_minutes_fails_and_one_that_outlived_its_start_does_not()
 {
    let pod = |name: &str, restarts: u32, ended: &str| {
        format!(
            r#"{{"metadata":{{"name":"{name}","namespace":"shop","creationTimestamp":"2026-11-20T00:00:00Z"}},"spec":{{"nodeName":"n1","containers":[{{"name":"web","image":"r.example/web:1"}}]}},"status":{{"phase":"Running","podIP":"10.42.0.7","conditions":[{{"type":"Ready","status":"True","lastTransitionTime":"2026-11-20T00:00:10Z"}}],"containerStatuses":[{{"name":"web","ready":true,"restartCount":{restarts},"state":{{"running":{{"startedAt":"{ended}"}}}},"lastState":{{"terminated":{{"exitCode":137,"reason":"Error","startedAt":"2026-11-20T09:30:00Z","finishedAt":"{ended}"}}}}}}]}}}}"#
        )
    };
    let event = r#"{"kind":"EventList","items":[
{"metadata":{"name":"e1","namespace":"shop"},"involvedObject":{"kind":"Pod","namespace":"shop","name":"tunnel"},"type":"Warning","reason":"Unhealthy","message":"Liveness probe failed: ","firstTimestamp":"2026-11-20T00:10:00Z","lastTimestamp":"2026-11-20T10:00:00Z","count":200}
]}
"#;
    let files = [
        pods(&[
            pod("tunnel", 50, "2026-11-20T09:52:00Z"),
            pod("outlived", 50, "2026-11-20T07:00:00Z"),
            pod("seldom", 5, "2026-11-20T09:52:00Z"),
        ]),
        ("cluster-resources/events/shop.json", event.to_owned()),
    ];
    let analysis = analyse(&files, None);
    let told: Vec<_> = analysis
        .unexplained
        .iter()
        .map(|one| one.subject.as_str())
        .collect();
    assert_eq!(told, ["pod/shop/tunnel"]);
    // Since the kubelet first found it unwell, not since it was last not ready.
    let since = analysis.unexplained[0].since.unwrap();
    assert_eq!(since.to_rfc3339(), "2026-11-20T00:10:00+00:00");
}

#[test]
fn that_a_log_could_not_be_fetched_is_no_word_of_its_program() {
    let log = "Request log error: an error on the server (\"unknown\") has prevented the request from succeeding (get pods web-a)\n";
    let files = [
        pods(&[pod("web-a", "web-1", "Running", false, CRASHES)]),
        (LOG, log.to_owned()),
    ];
    let analysis = analyse(&files, None);
    let words = &analysis.unexplained[0].last_words;
    assert!(!words.contains("Request log error"), "{words}");
}

#[test]
fn a_condition_that_says_what_a_node_is_is_no_trouble_and_one_that_names_a_trouble_is() {
    let node = |condition: &str| {
        let list = format!(
            r#"{{"kind":"NodeList","items":[
{{"metadata":{{"name":"n1"}},"status":{{"conditions":[{{"type":"Ready","status":"True"}},{{"type":"{condition}","status":"True","reason":"Why","message":"why"}}]}}}}
]}}
"#
        );
        let analysis = analyse(&[("cluster-resources/nodes.json", list)], None);
        analysis.unexplained.len()
    };
    assert_eq!(node("EtcdIsVoter"), 0);
    assert_eq!(node("KernelDeadlock"), 1);
}

#[test]
fn an_operator_that_is_installed_again_and_again_fails_and_one_that_is_installed_does_not() {
    let object = |name: &str, before: &str| {
        format!(
            r#"{{"kind":"ClusterServiceVersion","metadata":{{"name":"{name}","namespace":"shop"}},"status":{{"phase":"Installing","reason":"InstallWaiting","message":"waiting for deployment {name}","conditions":[{{"phase":"{before}","reason":"InstallCheckFailed","lastTransitionTime":"2026-11-20T10:15:01Z"}}]}}}}"#
        )
    };
    let items = [object("limits.v1", "Failed"), object("cache.v1", "Pending")];
    let head = r#"{"kind":"ClusterServiceVersionList","items":["#;
    let list = format!("{head}\n{}\n]}}\n", items.join(",\n"));
    let analysis = analyse(
        &[("cluster-resources/clusterserviceversions.json", list)],
        None,
    );
    let told = analysis.unexplained.iter().map(|one| &one.subject);
    assert_eq!(
        told.collect::<Vec<_>>(),
        ["clusterserviceversion/shop/limits.v1"]
    );
    let entry = &analysis.unexplained[0];
    assert!(
        entry
            .reason
            .starts_with("Installing again after InstallCheckFailed")
    );
    assert_eq!(
        entry.since.unwrap().to_rfc3339(),
        "2026-11-20T10:15:01+00:00"
    );
}

#[test]
fn a_container_that_a_runtime_lists_as_ended_fails_since_the_kubelet_first_said_so() {
    let rows = "CONTAINER ID  IMAGE  CREATED  STATE  NAME  ATTEMPT  POD ID  POD\n0862aaf3f2710  aa93e6c2f7f98  44 seconds ago  Exited  train  11  9c576eb7c19cd  train-0\n";
    let said = |minute: u32| {
        format!(
            r#"{{"__REALTIME_TIMESTAMP":"17636349{minute:02}000000","_SYSTEMD_UNIT":"kubelet.service","SYSLOG_IDENTIFIER":"kubelet","MESSAGE":"E1120 10:{minute:02}:00.000000 812 pod_workers.go:1301] \"Error syncing pod, skipping\" err=\"failed to \\\"StartContainer\\\" for \\\"train\\\" with CrashLoopBackOff: \\\"back-off 5m0s\\\"\" pod=\"shop/train-0\" podUID=\"0a1b\""}}"#
        )
    };
    let journal: Vec<String> = [0, 20, 40, 60].map(said).to_vec();
    let files = [
        ("nodes/n1/commands/crictl-ps.out", rows.to_owned()),
        ("nodes/n1/journal/kubelet.json", journal.join("\n") + "\n"),
    ];
    let analysis = analyse(&files, None);
    let entry = &analysis.unexplained[0];
    assert_eq!(entry.subject, "pod/shop/train-0");
    assert_eq!(entry.since.unwrap().timestamp(), 1_763_634_900);
    assert!(
        entry.lines[0].contains("E1120 10:00:00"),
        "{:?}",
        entry.lines
    );
}

#[test]
fn a_kubelet_that_kubeadm_did_not_set_up_is_told_no_command_of_kubeadm() {
    let refused = r#"Nov 20 10:00:21 w1 kubelet[812]: E1120 10:00:21.100000     812 kubelet_node_status.go:92] Unable to register node "w1" with API server: nodes is forbidden: User "worker" cannot create resource "nodes" in API group "" at the cluster scope"#;
    let flag = r#"Nov 20 10:00:01 w1 kubelet[812]: I1120 10:00:01.100000     812 flags.go:59] FLAG: --kubeconfig="/srv/k8s/kubelet.kubeconfig""#;
    let commands = |log: String| {
        let analysis = analyse(&[("journal.txt", log)], None);
        let first = &analysis.incidents[0];
        assert_eq!(first.cause, "kubelet-api-forbidden");
        let steps = first.remedy.steps.iter();
        let commands: Vec<_> = steps.filter_map(|step| step.command.clone()).collect();
        commands.join("\n")
    };
    let by_hand = commands(format!("{flag}\n{refused}\n"));
    assert!(by_hand.contains("--kubeconfig /srv/k8s/kubelet.kubeconfig"));
    assert!(!by_hand.contains("kubeadm"), "{by_hand}");
    assert!(commands(format!("{refused}\n")).contains("kubeadm kubeconfig user"));
}

#[test]
fn a_run_of_tests_is_told_with_the_tests_that_failed() {
    let path = "cluster-resources/pods/logs/shop/web-a/web.log";
    let log = "May 30 06:33:58.649: FAIL: The suite needs two nodes.\nok\nMay 30 06:41:10.253: FAIL: No node has room.\n--- FAIL: TestE2E (7267.62s)\nFAIL\nTest Suite Failed\n";
    let files = [
        pods(&[pod("web-a", "web-1", "Running", false, CRASHES)]),
        (path, log.to_owned()),
    ];
    let analysis = analyse(&files, None);
    let entry = &analysis.unexplained[0];
    assert_eq!(
        entry.last_words,
        "failed tests: The suite needs two nodes.; No node has room."
    );
    assert_eq!(entry.place.line, Some(1));
}

#[test]
fn a_kubelet_that_cannot_register_is_told_by_its_log_alone() {
    let line = |second: u32| {
        format!(
            "E1120 10:00:{second:02}.000000    9 kubelet_node_status.go:92] Unable to register node \"edge-7\" with API server: Node \"edge-7\" is invalid: metadata.labels: Invalid value: \"two words\"\n"
        )
    };
    let log: String = (0..5).map(line).collect();
    let analysis = analyse(&[("kubelet.log", log)], None);
    let entry = analysis
        .unexplained
        .iter()
        .find(|one| one.subject == "node/edge-7")
        .unwrap();
    assert_eq!(entry.reason, "not registered");
    assert!(entry.last_words.contains("metadata.labels"));
}
