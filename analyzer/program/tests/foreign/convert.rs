//! `convert`: another tool's capture becomes a bundle of ours, and as clean as one.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::support::{
    EVENTS, Files, PODS, counted, diagnose, node, objects, run, text, write, yaml_list,
};

#[test]
fn a_capture_becomes_a_bundle_with_the_same_objects_and_without_its_secrets() {
    let scratch = tempfile::tempdir().unwrap();
    let capture = scratch.path().join("cilium-sysdump-20261120-101500");
    // Made here, so that no real secret stands in this file.
    let secret: String = ["ghp", "_", &"Zk3x9Q".repeat(6)].concat();
    let agent = objects("pods")
        .iter()
        .filter_map(|pod| pod["metadata"]["name"].as_str().map(str::to_owned))
        .find(|name| name.starts_with("cilium-") && !name.contains("operator"))
        .unwrap();
    let files = sysdump(&agent, &secret);
    write(&capture, &files);
    let before = counted(&diagnose(&capture));
    let bundle = scratch.path().join("out.tar.gz");
    let ended = run(
        &[
            "convert",
            capture.to_str().unwrap(),
            "-o",
            bundle.to_str().unwrap(),
        ],
        b"",
    );
    assert_eq!(ended.code, Some(0), "{}", ended.errors);
    assert!(
        ended.out.contains("cilium sysdump v0.16.0"),
        "{}",
        ended.out
    );

    let after = counted(&diagnose(&bundle));
    assert_eq!(after.0, "casefile");
    assert_eq!(
        (after.1, after.2, after.3, after.4),
        (before.1, before.2, before.3, before.4)
    );
    let listed = run(&["ls", bundle.to_str().unwrap()], b"").out;
    let log = format!("cluster-resources/pods/logs/kube-system/{agent}/cilium-agent.log");
    for path in [
        "cluster-resources/nodes.json",
        log.as_str(),
        "nodes/192-18-132-31/commands/iptables-save.out",
    ] {
        assert!(listed.contains(path), "{path} is missing of\n{listed}");
    }
    let log = run(&["cat", bundle.to_str().unwrap(), &log], b"");
    assert!(
        log.out.contains("cannot clone") && !log.out.contains(&secret),
        "{}",
        log.out
    );
    let again = run(
        &[
            "convert",
            bundle.to_str().unwrap(),
            "-o",
            scratch.path().join("b").to_str().unwrap(),
        ],
        b"",
    );
    assert!(
        again.errors.contains("is a Casefile bundle already"),
        "{}",
        again.errors
    );
    assert!(!fs::exists(scratch.path().join("b")).unwrap());
}

/// A sysdump of the sample's cluster, with a secret in the agent's log.
fn sysdump(agent: &str, secret: &str) -> Files {
    vec![
        text(
            "cilium-sysdump.log",
            "cilium-cli version: v0.16.0, args: [sysdump]\n",
        ),
        text(
            "k8s-nodes-20261120-101500.yaml",
            yaml_list(&objects("nodes")),
        ),
        text("k8s-pods-20261120-101500.yaml", yaml_list(&objects("pods"))),
        text(
            "k8s-events-20261120-101500.yaml",
            yaml_list(&objects("events")),
        ),
        text(
            &format!("logs-{agent}-cilium-agent-20261120-101500.log"),
            format!("level=error msg=\"cannot clone\" token={secret}\n"),
        ),
        text(
            "cilium-bugtool-cilium-cbzlp-20261120-101500/cmd/hostname.md",
            "192-18-132-31\n",
        ),
        text(
            "cilium-bugtool-cilium-cbzlp-20261120-101500/cmd/iptables-save--c.md",
            node("commands/iptables-save.out"),
        ),
    ]
}

/// A capture as a bundle of ours.
fn converted(files: &Files, scratch: &Path) -> String {
    let capture = scratch.join("capture");
    write(&capture, files);
    let bundle = scratch.join("out.tar.gz").to_str().unwrap().to_owned();
    let ended = run(&["convert", capture.to_str().unwrap(), "-o", &bundle], b"");
    assert_eq!(ended.code, Some(0), "{}", ended.errors);
    bundle
}

/// An entry of a bundle as JSON.
fn entry(bundle: &str, path: &str) -> Value {
    let ended = run(&["cat", bundle, path], b"");
    assert_eq!(ended.code, Some(0), "{path}: {}", ended.errors);
    serde_json::from_str(&ended.out).unwrap()
}

/// Lists that are one line of megabytes, as sonobuoy writes them.
#[test]
fn lists_of_one_long_line_come_out_one_item_a_line() {
    let mut pods = objects("pods");
    for number in 0..1000 {
        let mut pod = pods[0].clone();
        pod["metadata"]["name"] = format!("more-{number}").into();
        pod["metadata"]["uid"] = format!("uid-{number}").into();
        pod["metadata"]["namespace"] = "default".into();
        pods.push(pod);
    }
    pods.retain(|pod| pod["metadata"]["namespace"] == "default");
    let list = json!({ "kind": "PodList", "apiVersion": "v1", "items": pods }).to_string();
    assert!(list.len() > 1 << 20 && !list.contains('\n'));
    let nodes = json!({ "kind": "NodeList", "apiVersion": "v1", "items": objects("nodes") });
    let files = vec![
        text("serverversion.json", "{}"),
        text("resources/cluster/core_v1_nodes.json", nodes.to_string()),
        text("resources/ns/default/core_v1_pods.json", list),
    ];
    let scratch = tempfile::tempdir().unwrap();
    let bundle = converted(&files, scratch.path());
    let (before, after) = (
        counted(&diagnose(&scratch.path().join("capture"))),
        counted(&diagnose(Path::new(&bundle))),
    );
    assert_eq!(before.0, "sonobuoy");
    assert_eq!((before.1, before.2), (after.1, after.2));
    assert_eq!(before.2, u64::try_from(pods.len()).unwrap());
    let lines = run(
        &["cat", &bundle, "cluster-resources/pods/default.json"],
        b"",
    )
    .out;
    assert_eq!(lines.lines().count(), pods.len() + 2);
}

/// What sbctl asks a bundle for (replicatedhq/sbctl, `pkg/api/server.go` and `logs.go`): a file a namespace of the kind's own list,
/// one of the cluster for nodes, logs by container, and the kinds that there are.
#[test]
fn a_converted_capture_follows_the_rules_of_sbctl() {
    let agent = "cilium-cbzlp";
    let scratch = tempfile::tempdir().unwrap();
    let bundle = converted(&sysdump(agent, "none"), scratch.path());
    let listed = run(&["ls", &bundle], b"").out;
    let paths: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split_whitespace().last())
        .collect();
    let (mut pods, mut events) = (0, 0);
    for (plural, kind, count) in [
        ("pods", "PodList", &mut pods),
        ("events", "EventList", &mut events),
    ] {
        let folder = format!("cluster-resources/{plural}/");
        let files = paths
            .iter()
            .filter_map(|path| path.strip_prefix(folder.as_str()));
        for file in files.filter(|file| !file.contains('/')) {
            let list = entry(&bundle, &format!("{folder}{file}"));
            assert_eq!(
                (&list["kind"], &list["apiVersion"]),
                (&json!(kind), &json!("v1"))
            );
            let namespace = file.trim_end_matches(".json");
            for item in list["items"].as_array().unwrap() {
                assert_eq!(item["metadata"]["namespace"], namespace, "{folder}{file}");
                *count += 1;
            }
        }
    }
    assert_eq!((pods, events), (PODS, EVENTS));
    assert_eq!(
        entry(&bundle, "cluster-resources/nodes.json")["kind"],
        "NodeList"
    );
    let log = format!("cluster-resources/pods/logs/kube-system/{agent}/cilium-agent.log");
    assert!(paths.contains(&log.as_str()), "{listed}");

    let resources = entry(&bundle, "cluster-resources/resources.json");
    let core = resources.as_array().unwrap().iter();
    let mut core =
        core.filter(|one| one["groupVersion"] == "v1" && one.get("apiVersion").is_none());
    let kinds = core.next().unwrap()["resources"]
        .as_array()
        .unwrap()
        .clone();
    let kind = |name: &str| {
        kinds
            .iter()
            .find(|kind| kind["name"] == name)
            .unwrap()
            .clone()
    };
    assert_eq!(
        (&kind("pods")["kind"], &kind("pods")["namespaced"]),
        (&json!("Pod"), &json!(true))
    );
    assert_eq!(kind("nodes")["namespaced"], false);
    let groups = entry(&bundle, "cluster-resources/groups.json");
    assert_eq!(groups[0]["versions"][0]["groupVersion"], "v1");
}

/// What a layout does not understand is not searched in the capture, so a bundle of it must not say more.
#[test]
fn what_was_not_understood_is_kept_and_is_evidence_of_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let odd = "sos_commands/block/parted_-s_.dev.sda_unit_s_print";
    let files = vec![
        text("report/version.txt", "sosreport: 4.2\n"),
        text("report/sos_commands/host/hostname", "node-1\n"),
        text(
            "report/sos_commands/kernel/uname_-a",
            "Linux node-1 5.15.0\n",
        ),
        text(
            &format!("report/{odd}"),
            "Error: Could not stat device /dev/sda - No such file or directory.\n",
        ),
    ];
    let bundle = converted(&files, scratch.path());
    let listed = run(&["ls", &bundle], b"").out;
    assert!(listed.contains(&format!("not-read/{odd}")), "{listed}");
    let causes = diagnose(Path::new(&bundle))["differential"].clone();
    let live = |cause: &&Value| {
        ["confirmed", "likely", "possible"].contains(&cause["verdict"].as_str().unwrap())
    };
    let all = causes.as_array().unwrap();
    assert_eq!(all.iter().filter(live).count(), 0, "{causes}");
}
