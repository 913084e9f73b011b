//! Hostile text in every name and value that can reach a script, for each kind of change: dry run, run and back in a
//! sandbox start no program outside the list, and change no file that the plan does not name.

use proptest::prelude::*;
use serde_json::json;

use super::sandbox::{NODE, Planned, Sandbox};
use crate::change::Change;
use crate::change::kinds::Trial;

/// Text of the kind that breaks scripts.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("'".to_owned()),
        Just("\"".to_owned()),
        Just("$(>PWNED)".to_owned()),
        Just("`>PWNED`".to_owned()),
        Just(";>PWNED;".to_owned()),
        Just("|".to_owned()),
        Just("\n".to_owned()),
        Just("\\".to_owned()),
        Just("-x".to_owned()),
        Just("--".to_owned()),
        Just("*".to_owned()),
        Just("~".to_owned()),
        Just("!x".to_owned()),
        Just("\u{202e}".to_owned()),
        Just("${PATH}".to_owned()),
        Just("a".to_owned()),
        "[ -~]{0,8}",
    ];
    prop::collection::vec(piece, 1..5).prop_map(|parts| parts.concat())
}

/// A list of the cluster with one object.
fn list(sandbox: &Sandbox, path: &str, item: &serde_json::Value) {
    let text = format!("{{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[\n{item}\n]}}\n");
    sandbox.entry(path, &text);
}

/// A text as one segment of a path.
fn segment(text: &str) -> String {
    let plain: String = text
        .chars()
        .filter(|c| *c != '/' && *c != '\0')
        .take(60)
        .collect();
    if plain.is_empty() || plain.starts_with('.') {
        "x".into()
    } else {
        plain
    }
}

/// The node's one address and its way out.
pub(super) fn one_address(sandbox: &Sandbox) {
    sandbox.entry(
        "nodes/n1/commands/ip-route.out",
        "default via 192.0.2.1 dev eth0\n",
    );
    sandbox.entry(
        "nodes/n1/commands/ip-addr.out",
        "2: eth0: <UP> mtu 1500\n    inet 192.0.2.7/24 scope global eth0\n",
    );
}

/// A bundle whose every name and value is the text, and the node that it is of.
#[expect(
    clippy::too_many_lines,
    reason = "a table of files with one hostile text in each"
)]
pub(super) fn bundle(sandbox: &Sandbox, bad: &str) {
    let meta = |namespace: &str| {
        json!({"name": bad, "namespace": namespace, "uid": bad, "generation": 1,
        "resourceVersion": bad, "labels": {bad: bad}, "annotations": {"meta.helm.sh/release-name": bad}})
    };
    let spec = json!({"containers": [{"name": bad, "image": bad, "ports": [{"containerPort": 80, "hostPort": 80}],
        "resources": {"limits": {"nvidia.com/gpu": "1"}}}]});
    list(
        sandbox,
        "cluster-resources/nodes.json",
        &json!({"metadata": meta(""), "status": {"capacity": {"nvidia.com/gpu": "1"}},
        "spec": {"taints": [{"key": bad, "value": bad, "effect": "NoSchedule"}]}}),
    );
    let owner = |kind: &str| json!([{"kind": kind, "name": bad, "uid": bad, "controller": true}]);
    for (namespace, kind) in [
        ("a", "StatefulSet"),
        ("b", "Job"),
        ("c", "Other"),
        ("d", "Node"),
    ] {
        let mut pod = json!({"metadata": meta(namespace), "spec": spec});
        pod["metadata"]["ownerReferences"] = owner(kind);
        list(
            sandbox,
            &format!("cluster-resources/pods/{namespace}.json"),
            &pod,
        );
    }
    let mut of_deployment = json!({"metadata": meta("e"), "spec": spec});
    of_deployment["metadata"]["ownerReferences"] =
        json!([{"kind": "ReplicaSet", "name": format!("{bad}-1"), "uid": bad, "controller": true}]);
    list(sandbox, "cluster-resources/pods/e.json", &of_deployment);
    list(
        sandbox,
        "cluster-resources/deployments/e.json",
        &json!({"metadata": meta("e"), "spec": {"replicas": 1, "template": {"spec": spec}}}),
    );
    let shares = json!({"containers": [{"name": bad, "image": bad, "resources": {"limits": {"nvidia.com/gpumem": "1"}}}]});
    list(
        sandbox,
        "cluster-resources/pods/f.json",
        &json!({"metadata": meta("f"), "spec": shares}),
    );
    list(
        sandbox,
        "cluster-resources/statefulsets/f.json",
        &json!({"metadata": meta("f"), "spec": {"template": {"spec": {"nodeName": bad, "containers": shares["containers"]}}}}),
    );
    list(
        sandbox,
        "cluster-resources/statefulsets/a.json",
        &json!({"metadata": meta("a"), "spec": {"template": {"spec": spec}}}),
    );
    list(
        sandbox,
        "cluster-resources/configmaps/a.json",
        &json!({"metadata": meta("a"), "data": {bad: bad}}),
    );
    list(
        sandbox,
        "cluster-resources/resourcequotas/a.json",
        &json!({"metadata": meta("a"), "spec": {"hard": {"pods": "1"}}, "status": {"hard": {}}}),
    );
    list(
        sandbox,
        "cluster-resources/storageclasses.json",
        &json!({"metadata": {"name": bad, "uid": bad}, "allowVolumeExpansion": true}),
    );
    let mut filled = spec.clone();
    filled["containers"][0]["image"] = "https://r.example/A:1".into();
    filled["containers"][0]["livenessProbe"] = json!({"exec": {"command": [bad]}});
    filled["containers"][0]["volumeMounts"] = json!([{"name": bad, "mountPath": "/data"}]);
    filled["volumes"] = json!([{"name": bad, "persistentVolumeClaim": {"claimName": bad},
        "emptyDir": {"sizeLimit": "1Gi", "medium": "Memory"}}]);
    let mut filling = json!({"metadata": meta("g"), "spec": filled});
    filling["metadata"]["ownerReferences"] = owner("StatefulSet");
    for (path, item) in [
        ("pods/g", filling),
        (
            "statefulsets/g",
            json!({"metadata": meta("g"), "spec": {"template": {"spec": filled}}}),
        ),
        (
            "persistentvolumeclaims/g",
            json!({"metadata": meta("g"), "spec": {"storageClassName": bad, "resources": {"requests": {"storage": "1Gi"}}}}),
        ),
        (
            "daemonsets/a",
            json!({"metadata": meta("a"), "spec": {"template": {"spec": {"nodeSelector": {bad: "x"},
                "volumes": [{"name": bad, "hostPath": {"path": "/data/device-plugins"}}]}}}}),
        ),
        (
            "limitranges/a",
            json!({"metadata": meta("a"), "spec": {"limits": [{"type": "Container", "max": {"memory": "1Gi"}}]}}),
        ),
        (
            "validatingwebhookconfigurations",
            json!({"metadata": meta(""), "webhooks": [{"name": bad}]}),
        ),
        (
            "configmaps/b",
            json!({"metadata": meta("b"), "data": {bad: "version: v1\nmps: {}\nrenameByDefault: true\n"}}),
        ),
    ] {
        list(sandbox, &format!("cluster-resources/{path}.json"), &item);
    }
    list(
        sandbox,
        "cluster-resources/volumeattachments.json",
        &json!({"metadata": {"name": bad, "uid": bad},
        "spec": {"nodeName": "gone", "source": {"persistentVolumeName": bad}}}),
    );
}

/// What the bundle holds of a release of helm.
fn release_files(sandbox: &Sandbox, bad: &str) {
    sandbox.entry(
        "helm/a/r/values-all.yaml",
        &json!({"a": {"b": 1, "env": [{"name": bad, "value": bad}, {"name": "E"}]}}).to_string(),
    );
    let user = json!({"a": {"c": bad}}).to_string();
    sandbox.entry("helm/a/r/values-user.yaml", &user);
    sandbox.entry(
        "helm/a/r/release.json",
        &json!({"revision": 1, "status": "deployed", "chart_version": bad}).to_string(),
    );
    let history = json!([{"revision": 1, "status": "deployed", "description": bad}, {"revision": 2, "status": "failed"}]);
    sandbox.entry("helm/a/r/history.json", &history.to_string());
}

/// What the node's own part of the bundle holds, and the node as it is.
pub(super) fn node_files(sandbox: &Sandbox, bad: &str) {
    let line: String = bad
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    release_files(sandbox, bad);
    sandbox.entry(
        "nodes/n1/commands/iptables-save.out",
        "*filter\n:FORWARD DROP [0:0]\n:ufw-user-forward - [0:0]\nCOMMIT\n",
    );
    sandbox.entry(
        "nodes/n1/commands/nft-list-ruleset.out",
        "table inet firewalld {\n\tchain filter_FORWARD_ZONES {\n\t\tgoto filter_FWD_public\n\t}\n}\ntable inet own {\n\tchain forward {\n\t\tiifname \"cni0\" counter packets 5 bytes 300 drop\n\t\taccept\n\t}\n}\ntable ip own {\n\tchain forward {\n\t\ttype filter hook forward priority filter; policy drop;\n\t}\n}\n",
    );
    one_address(sandbox);
    sandbox.entry(
        "nodes/n1/host/binaries.json",
        &json!({"binaries": [{"path": format!("/opt/cni/bin/{}", segment(bad)), "exists": true}]})
            .to_string(),
    );
    sandbox.entry(
        "nodes/n1/processes.json",
        &json!({"processes": [{"cgroup": format!("/{bad}"), "comm": "kubelet",
        "cmdline": [bad], "start": "2026-01-01T00:00:00Z"}]})
        .to_string(),
    );
    let quoted = toml::Value::String(bad.to_owned());
    let config = format!(
        "# {line}\nversion = 2\nroot = {quoted}\n[plugins.\"io.containerd.grpc.v1.cri\".registry.mirrors.\"m.io\"]\nendpoint = [{quoted}]\n"
    );
    for (path, text) in [
        ("/etc/containerd/config.toml".to_owned(), config),
        (
            format!("/etc/containerd/{}", segment(bad)),
            format!(
                "# {line}\nimports = [{}]\na = {quoted}\n",
                toml::Value::String(format!("/opt/{}/a.toml", segment(bad)))
            ),
        ),
        (
            "/etc/ufw/user.rules".into(),
            format!("# {line}\n### END RULES ###\n"),
        ),
        (
            "/etc/docker/daemon.json".into(),
            json!({"a": bad}).to_string(),
        ),
        (
            "/etc/systemd/system/kubelet.service".into(),
            format!("[Unit]\nDescription={line}\nBindsTo=a\n"),
        ),
        (
            "/var/lib/kubelet/config.yaml".into(),
            format!("# {line}\nmaxPods: 110\nname: {}\n", json!(bad)),
        ),
        (
            "/etc/default/kubelet".into(),
            format!("# {line}\nKUBELET_EXTRA_ARGS=\"--x=1 --y='2'\"\n"),
        ),
        ("/proc/sys/net/ipv4/x".into(), format!("{line}\n")),
        (
            "/proc/swaps".into(),
            format!(
                "Filename Type Size Used Priority\n/{} file 1 0 -2\n",
                segment(bad)
            ),
        ),
        (
            "/etc/fstab".into(),
            format!("# {line}\n/{} none swap sw 0 0\n", segment(bad)),
        ),
    ] {
        sandbox.file(&path, &text, &text);
    }
}

/// Each kind of change, with the text wherever it takes one.
pub(super) fn changes(bad: &str) -> Vec<Change> {
    Change::tried(&Trial {
        node: NODE,
        bad,
        segment: &segment(bad),
    })
}

/// What an honest text makes of each kind: the change, and its script.
pub(super) fn scripts_of_each_kind() -> Vec<(String, String)> {
    let sandbox = Sandbox::new();
    bundle(&sandbox, "a");
    node_files(&sandbox, "a");
    let mut all = Vec::new();
    for change in changes("a") {
        if let Ok(fix) = sandbox.write(std::slice::from_ref(&change)) {
            let script = std::fs::read_to_string(fix.folder.join("apply.sh"));
            all.push((format!("{change:?}"), script.unwrap()));
        }
    }
    all
}

/// How many of the kinds made a script of the text.
fn tried(bad: &str) -> usize {
    let sandbox = Sandbox::new();
    bundle(&sandbox, bad);
    node_files(&sandbox, bad);
    let mut written = 0;
    for change in changes(bad) {
        let Ok(fix) = sandbox.write(std::slice::from_ref(&change)) else {
            continue;
        };
        written += 1;
        let before = sandbox.tree();
        for argument in ["--dry-run", "--yes", "--back"] {
            let ran = sandbox.run(&fix, &[argument]);
            let what = format!("{argument} {change:?}");
            sandbox.harmless(&ran, &what);
            let after = sandbox.tree();
            let planned = |path: &String| argument == "--yes" && fix.files.contains(path);
            let all = before.keys().chain(after.keys());
            let odd: Vec<&String> = all
                .filter(|path| before.get(*path) != after.get(*path) && !planned(path))
                .collect();
            assert!(odd.is_empty(), "{what}: {odd:?} {}", ran.said);
        }
    }
    written
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3, ..ProptestConfig::default() })]

    #[test]
    fn hostile_text_in_every_name_and_value_stays_text(bad in hostile()) {
        tried(&bad);
    }
}

#[test]
fn text_of_each_kind_that_breaks_scripts_stays_text() {
    assert!(
        tried("a") >= 30,
        "an honest text makes a script of nearly all kinds"
    );
    for bad in [
        "'$(>PWNED)'",
        "a;>PWNED",
        "-l!x",
        "a\n>PWNED\n",
        "\u{202e}`>PWNED`\"",
        "*",
    ] {
        tried(bad);
    }
}

#[test]
fn a_text_of_64_kib_stays_one_word() {
    tried(&"a'$(>PWNED)`\" ".repeat(5000));
}

/// Steps of one script that ShellCheck reads at once: what all scripts share takes most of its time.
const CHECKED_AT_ONCE: usize = 8;

/// What ShellCheck says of the steps of each kind.
#[test]
fn every_script_is_clean_for_shellcheck() {
    let Ok(version) = std::process::Command::new("shellcheck")
        .arg("--version")
        .output()
    else {
        use std::io::Write as _;
        let _ = writeln!(std::io::stdout(), "skipped: shellcheck is not installed");
        return;
    };
    assert!(version.status.success());
    for bad in ["a", "a b'c", "$(a)`b`"] {
        let sandbox = Sandbox::new();
        bundle(&sandbox, bad);
        node_files(&sandbox, bad);
        let mut changes = changes(bad);
        changes.retain(|change| sandbox.write(std::slice::from_ref(change)).is_ok());
        assert!(!changes.is_empty(), "{bad}: no change makes a script");
        for some in changes.chunks(CHECKED_AT_ONCE) {
            match sandbox.write(some) {
                Ok(fix) => shellcheck(&fix, some),
                // Two of them exclude each other.
                Err(_) => some.chunks(1).for_each(|one| {
                    let fix = sandbox.write(one).unwrap();
                    shellcheck(&fix, one);
                }),
            }
        }
    }
}

fn shellcheck(fix: &Planned, changes: &[Change]) {
    let said = std::process::Command::new("shellcheck")
        .arg(fix.folder.join("apply.sh"))
        .output()
        .unwrap();
    assert!(
        said.status.success(),
        "{changes:?}: {}",
        String::from_utf8_lossy(&said.stdout)
    );
}
