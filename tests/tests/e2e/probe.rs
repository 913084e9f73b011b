//! `--probe` in a network of its own, with real servers: what answers, what refuses, what is silent, and what an
//! analysis makes of it.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use casefile_tests::bins;
use serde_json::{Value, json};

use crate::support::{CANNOT, Ended, diagnose, ended, entry, on_node, run, shared_folder, skip};

/// A cluster whose CoreDNS forwards to two servers and whose pods come from two registries.
fn recording(folder: &Path) -> std::path::PathBuf {
    let pod = json!({"metadata": {"name": "a", "namespace": "default"}, "spec": {"nodeName": "probe-node",
        "containers": [{"name": "c", "image": "mirror.example/x:1"}, {"name": "d", "image": "unknown.example/y:1"}]}});
    let map = json!({"metadata": {"name": "coredns", "namespace": "kube-system"},
        "data": {"Corefile": ".:53 {\n  forward . 192.0.2.54 198.51.100.53\n}\n"}});
    let service = json!({"metadata": {"name": "kubernetes", "namespace": "default"},
        "spec": {"clusterIP": "192.0.2.1", "ports": [{"port": 443}]}});
    let list = |items: &[Value]| json!({"kind": "List", "apiVersion": "v1", "metadata": {}, "items": items});
    let answers = [
        ("/api", json!({"kind": "APIVersions", "versions": ["v1"]})),
        ("/api/v1/namespaces/default/services/kubernetes", service),
        (
            "/api/v1/namespaces/kube-system/configmaps?limit=500",
            list(&[map]),
        ),
        (
            "/api/v1/pods?fieldSelector=spec.nodeName%3Dprobe-node&limit=500",
            list(&[pod]),
        ),
    ];
    let path = folder.join("recording.jsonl.gz");
    let file = std::fs::File::create(&path).unwrap();
    let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    for (path, body) in answers {
        let line = json!({"as": "admin", "path": path, "accept": "*/*", "status": 200,
            "content_type": "application/json", "body": body.to_string()});
        writeln!(packed, "{line}").unwrap();
    }
    packed.finish().unwrap();
    path
}

fn lab(test: &str, folder: &Path, arguments: &[&str]) -> Option<Ended> {
    let mut command = Command::new(bins::checkout().join("tests/lab/probe"));
    command
        .arg(recording(folder))
        .arg(bins::folder())
        .arg(folder)
        .arg("--");
    command.arg(bins::find(bins::COLLECTOR)).args(arguments);
    let ended = ended(command.output().unwrap());
    if ended.code == CANNOT {
        skip(test, ended.err.trim());
        return None;
    }
    Some(ended)
}

#[test]
fn a_probe_tells_what_answers_what_refuses_and_what_is_silent_step_by_step() {
    let test = "a_probe_tells_what_answers_what_refuses_and_what_is_silent_step_by_step";
    let folder = tempfile::tempdir().unwrap();
    let (bundle, kubeconfig) = (
        folder.path().join("bundle.tar.gz"),
        folder.path().join("kubeconfig"),
    );
    let arguments = [
        "collect",
        "--probe",
        "--only",
        "probe,host_info",
        "--progress",
        "none",
        "-o",
        bundle.to_str().unwrap(),
        "--kubeconfig",
        kubeconfig.to_str().unwrap(),
    ];
    let Some(ended) = lab(test, folder.path(), &arguments) else {
        return;
    };
    assert!(matches!(ended.code, 0 | 4), "{ended:?}");
    let text = entry(&bundle, "nodes/probe-node/host/probe.json");
    let rows: Value = serde_json::from_str(&text).unwrap();
    let rows = Rows(rows["probes"].as_array().unwrap().clone());
    resolvers(&rows);
    servers(&rows);
}

/// What a probe wrote.
struct Rows(Vec<Value>);

impl Rows {
    fn one(&self, protocol: &str, to: &str, name: &str) -> &Value {
        let mut those = self
            .0
            .iter()
            .filter(|row| row["protocol"] == protocol && row["to"] == to && row["name"] == name);
        those
            .next()
            .unwrap_or_else(|| panic!("{protocol} {to} {name}: {:?}", self.0))
    }
}

fn resolvers(rows: &Rows) {
    // The stub, what is behind it, and CoreDNS's upstream servers are told apart.
    assert_eq!(
        rows.one("dns", "127.0.0.53", "mirror.example")["addresses"],
        json!(["192.0.2.2"])
    );
    assert_eq!(
        rows.one("dns", "192.0.2.53", "mirror.example")["named_by"],
        "/run/systemd/resolve/resolv.conf"
    );
    let upstream = rows.one("dns", "192.0.2.54", "mirror.example");
    assert_eq!(upstream["result"], "NXDOMAIN");
    assert_eq!(
        upstream["named_by"],
        "ConfigMap kube-system/coredns: forward"
    );
    assert_eq!(
        rows.one("dns", "198.51.100.53", "nvcr.io")["result"],
        "no answer within 4 s"
    );
    assert_eq!(
        rows.one("dns", "192.0.2.53", "unknown.example")["result"],
        "NXDOMAIN"
    );
}

fn servers(rows: &Rows) {
    // A server that is well, up to its status.
    assert_eq!(
        rows.one("tcp", "192.0.2.1:443", "192.0.2.1")["result"],
        "connected"
    );
    let shown = rows.one("tls", "192.0.2.1:443", "192.0.2.1");
    assert_eq!(shown["result"], "TLSv1_3");
    assert!(
        shown["certificate"]["issuer"]
            .as_str()
            .unwrap()
            .contains("replay-ca"),
        "{shown}"
    );
    assert!(
        shown["certificate"]["not_after"]
            .as_str()
            .unwrap()
            .ends_with('Z'),
        "{shown}"
    );
    let status = rows.one("http", "192.0.2.2:443", "mirror.example")["result"]
        .as_str()
        .unwrap();
    assert!(status.starts_with("HTTP 4"), "{status}");
    assert_eq!(
        rows.one("tcp", "192.0.2.2:443", "fixed.example")["result"],
        "connected",
        "/etc/hosts is used"
    );
    // One that refuses, and one of which nothing comes back.
    let refused = rows.one("tcp", "192.0.2.3:5000", "refused.example");
    assert!(
        refused["result"].as_str().unwrap().contains("refused"),
        "{refused}"
    );
    let silent = rows.one("tcp", "198.51.100.9:443", "swallowed.example");
    assert_eq!(silent["result"], "no answer within 4 s");
    assert!(silent["milliseconds"].as_u64().unwrap() >= 4000, "{silent}");
}

#[test]
fn a_probe_is_off_by_default_and_its_plan_names_every_target_or_how_it_is_found() {
    let test = "a_probe_is_off_by_default_and_its_plan_names_every_target_or_how_it_is_found";
    let quiet = ["plan"];
    let Some(planned) = lab(test, tempfile::tempdir().unwrap().path(), &quiet) else {
        return;
    };
    assert!(
        !planned.out.contains("probe dns") && planned.out.contains("--probe asks for it"),
        "{planned:?}"
    );
    let asked = ["plan", "--probe"];
    let planned = lab(test, tempfile::tempdir().unwrap().path(), &asked).unwrap();
    for wanted in [
        "probe dns 127.0.0.53 mirror.example",
        "probe tcp, tls, http refused.example:5000",
        "CoreDNS's Corefile",
    ] {
        assert!(planned.out.contains(wanted), "{wanted}: {}", planned.out);
    }
}

#[test]
fn a_name_that_resolves_from_the_host_and_not_from_the_pod_is_told_so_in_the_report() {
    let test = "a_name_that_resolves_from_the_host_and_not_from_the_pod_is_told_so_in_the_report";
    let folder = shared_folder();
    // The server upstream is well; the node's firewall keeps only the pods from it.
    let script = "ip netns exec upstream ip addr add 1.1.1.1/32 dev lo; ip netns exec upstream ip link set lo up
        ip netns exec upstream casefile-dns 1.1.1.1:53 nvcr.io=192.0.2.9 &
        sleep 0.3
        casefile-collector collect --probe -o /shared/bundle.tar.gz --since 3650d --progress none";
    let Some(ended) = on_node(
        test,
        "ufw-blocks-dns",
        "snap-2-dns.jsonl.gz",
        folder.path(),
        script,
    ) else {
        return;
    };
    assert!(matches!(ended.code, 0 | 4), "{ended:?}");
    let bundle = folder.path().join("bundle.tar.gz");
    let analysis = diagnose(&bundle);
    let first = &analysis["incidents"][0];
    assert_eq!(first["cause"]["id"], "ufw-blocks-pod-traffic");
    let out = folder.path().join("out");
    let report = run(
        bins::ANALYZER,
        &[
            "report",
            bundle.to_str().unwrap(),
            "-o",
            out.to_str().unwrap(),
        ],
    );
    assert_eq!(report.code, 0, "{report:?}");
    let page = std::fs::read_to_string(out.join("report.md")).unwrap();
    assert!(
        page.contains("works from the host but not from pods"),
        "{page}"
    );
    assert!(
        page.contains("the node gets an answer from 1.1.1.1"),
        "{page}"
    );
}
