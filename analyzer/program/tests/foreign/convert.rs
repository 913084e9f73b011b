//! `convert`: another tool's capture becomes a bundle of ours, and as clean as one.

use std::fs;

use super::support::{Files, counted, diagnose, node, objects, run, text, write, yaml_list};

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
