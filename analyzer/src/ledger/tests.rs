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
fn a_unit_that_systemd_lists_as_failed_is_told() {
    let listed =
        "  UNIT LOAD ACTIVE SUB DESCRIPTION\n● gyro.service loaded failed failed Gyroscope\n"
            .to_owned();
    let analysis = analyse(&[("nodes/n1/commands/systemctl-failed.out", listed)], None);
    assert_eq!(analysis.unexplained[0].subject, "unit/gyro.service");
}
