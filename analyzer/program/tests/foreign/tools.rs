//! Captures of clusters, with the names and the forms that the tools gave them when they were run: cilium-cli 0.12 (a public capture)
//! and 0.19, support-bundle-kit 0.0.84, and what calico 3.32 and antrea 2.7 write by their source.

use super::support::{
    EVENTS, Files, NODE, PODS, VERSION, counted, diagnose_files, node, not_understood, objects,
    outcome, text, yaml_list, yaml_object, zip,
};

/// Checks that all of the sample's cluster is seen, and what alone is not understood.
fn check(files: &Files, format: &str, unread: &[&str]) -> serde_json::Value {
    let analysis = diagnose_files(files);
    assert_eq!(
        counted(&analysis),
        (format.to_owned(), 1, PODS, EVENTS, VERSION.to_owned())
    );
    assert_eq!(not_understood(&analysis), unread);
    assert_eq!(outcome(&analysis, "firewall"), "unknown");
    analysis
}

/// A sysdump whose agent did not run: bugtool ran in a pod of the tool's own.
pub(crate) fn cilium_sysdump() -> Files {
    let list = |file: &str, plural: &str| {
        let name = format!("{file}-20261120-101500.yaml");
        text(&name, yaml_list(&objects(plural)))
    };
    let tool = |file: &str, content: String| {
        let folder = "cilium-bugtool-sysdump-x2x4z-20261120-101500";
        text(&format!("{folder}/cmd/{file}.md"), content)
    };
    vec![
        text(
            "cilium-sysdump.log",
            "🔍 Collecting sysdump with cilium-cli version: v0.12.6, args: [sysdump]\n🔍 Collecting Kubernetes nodes\n⚠️ The following tasks failed, the sysdump may be incomplete:\n⚠️ [14] Collecting Cilium endpoints: failed to collect Cilium endpoints: the server could not find the requested resource (get ciliumendpoints.cilium.io)\n",
        ),
        list("k8s-nodes", "nodes"),
        list("k8s-pods", "pods"),
        list("k8s-events", "events"),
        list("k8s-services", "services"),
        list("k8s-namespaces", "namespaces"),
        list("k8s-leases", "leases"),
        text(
            "k8s-pods-20261120-101500.txt",
            "NAMESPACE   NAME   READY   STATUS    RESTARTS   AGE   IP   NODE\n",
        ),
        text(
            "k8s-version-20261120-101500.txt",
            format!(
                "version.Info{{Major:\"1\", Minor:\"33\", GitVersion:\"{VERSION}\", GitTreeState:\"clean\", Platform:\"linux/amd64\"}}"
            ),
        ),
        text(
            "k8s-networkpolicies-20261120-101500.yaml",
            "apiVersion: networking.k8s.io/v1\nitems: []\nkind: NetworkPolicyList\n",
        ),
        tool("hostname", format!("{NODE}\n")),
        tool("iptables-save--c", node("commands/iptables-save.out")),
        tool("ip-a", node("commands/ip-addr.out")),
        tool("ip--4-r", node("commands/ip-route.out")),
        tool("ip-rule", node("commands/ip-rule.out")),
        tool("ip--6-r", String::new()),
        tool(
            "cilium-status---verbose",
            "Get \"http:///var/run/cilium/cilium.sock/v1/healthz\": dial unix /var/run/cilium/cilium.sock: connect: no such file or directory\nIs the agent running?\n> Error while running 'cilium status --verbose':  exit status 1\n\n".to_owned(),
        ),
    ]
}

#[test]
fn a_cilium_sysdump_of_a_cluster_whose_agent_does_not_run() {
    let unread = [
        "cilium-bugtool-sysdump-x2x4z-20261120-101500/cmd/cilium-status---verbose.md",
        "k8s-networkpolicies-20261120-101500.yaml",
    ];
    check(&cilium_sysdump(), "cilium-sysdump", &unread);
}

/// `calicoctl cluster diags`.
pub(crate) fn calico_diagnostics() -> Files {
    let objects = |file: &str, plural: &str| {
        let name = format!("cluster/kubernetes/{file}");
        [
            text(&format!("{name}.yaml"), yaml_list(&objects(plural))),
            text(&format!("{name}.txt"), "NAME   AGE\n"),
        ]
    };
    let of_node = |file: &str, content: String| text(&format!("nodes/{NODE}/{file}"), content);
    let mut files: Files = vec![
        text(
            "cluster/version.yaml",
            format!(
                "clientVersion:\n  gitVersion: v1.30.0\nkustomizeVersion: v5.0.4\nserverVersion:\n  buildDate: \"2025-06-17T18:35:31Z\"\n  gitVersion: {VERSION}\n"
            ),
        ),
        text(
            "cluster/calico-system/calico-system.yaml",
            "apiVersion: v1\nitems: []\nkind: List\n",
        ),
        of_node("ip-addr.txt", node("commands/ip-addr.out")),
        of_node("ip-route.txt", node("commands/ip-route.out")),
        of_node("ip-rule.txt", node("commands/ip-rule.out")),
        of_node("iptables-nft-save.txt", node("commands/iptables-save.out")),
        // What kubectl could not do stands where the output would.
        of_node(
            "iptables-legacy-save.txt",
            "error: Internal error occurred: unable to upgrade connection: container not found (\"calico-node\")\n".to_owned(),
        ),
        text(
            "cluster/kubernetes/configmaps.yaml",
            "error: the server doesn't have a resource type \"configmaps\"\n",
        ),
        of_node(
            "cni.log.log",
            "2026-11-20 10:15:00.000 [INFO][1] cni-plugin/k8s.go 77: Extracted identifiers\n"
                .to_owned(),
        ),
        text(
            &format!("nodes/{NODE}/calico-system/calico-node-x2x4z.log"),
            "Defaulted container\n",
        ),
        text(
            &format!("nodes/{NODE}/calico-system/calico-node-x2x4z.calico-node.previous.log"),
            "x\n",
        ),
    ];
    for (file, plural) in [
        ("nodes", "nodes"),
        ("pods", "pods"),
        ("services", "services"),
        ("sc", "storageclasses"),
        ("namespaces", "namespaces"),
    ] {
        files.extend(objects(file, plural));
    }
    files
}

#[test]
fn calico_diagnostics_of_a_cluster() {
    let analysis = diagnose_files(&calico_diagnostics());
    let seen = &analysis["seen"];
    assert_eq!(seen["format"], "calico-diags");
    // The logs are of a pod that no list holds.
    assert_eq!(
        (&seen["nodes"], &seen["pods"], &seen["kubernetes_version"]),
        (&1.into(), &(PODS + 1).into(), &VERSION.into())
    );
    let unread = [
        "cluster/kubernetes/configmaps.yaml".to_owned(),
        format!("nodes/{NODE}/iptables-legacy-save.txt"),
    ];
    assert_eq!(not_understood(&analysis), unread);
    assert_eq!(outcome(&analysis, "firewall"), "unknown");
}

#[test]
fn calico_diagnostics_of_a_node_without_a_journal() {
    let files = [
        text("diagnostics/date", "Fri Nov 20 10:15:00 UTC 2026\n"),
        text("diagnostics/hostname", format!("{NODE}\n")),
        text("diagnostics/ipv4_addr", node("commands/ip-addr.out")),
        text("diagnostics/ipv4_route", node("commands/ip-route.out")),
        text(
            "diagnostics/ipv4_tables",
            node("commands/iptables-save.out"),
        ),
        text("diagnostics/logs/bird/current", "started\n"),
    ];
    let analysis = super::support::of_node(&files, "calico-diags");
    assert_eq!(outcome(&analysis, "firewall"), "unknown");
    assert_eq!(not_understood(&analysis), ["date"]);
}

/// `antctl supportbundle`. The objects of `clusterinfo` say no kind: a comment above them does.
pub(crate) fn antrea_support_bundle() -> Files {
    let documents = |comment: &str, plural: &str| {
        let all = objects(plural).into_iter().map(|mut object| {
            let fields = object.as_object_mut().unwrap();
            fields.remove("kind");
            fields.remove("apiVersion");
            yaml_object(&object) + "---\n"
        });
        format!("#{comment}\n{}", all.collect::<String>())
    };
    let agent = |file: &str, content: String| text(&format!("agent_{NODE}/{file}"), content);
    let rules = node("commands/iptables-save.out") + &node("commands/ip6tables-save.out");
    vec![
        text(
            "clusterinfo",
            documents("pods", "pods")
                + &documents("daemonsets", "daemonsets")
                + &documents("nodes", "nodes")
                + "#configs\n",
        ),
        agent("iptables", rules),
        agent("address", node("commands/ip-addr.out")),
        agent("route", node("commands/ip-route.out")),
        agent("rule", node("commands/ip-rule.out")),
        agent(
            "agentinfo",
            format!(
                "typemeta:\n    kind: \"\"\n    apiversion: \"\"\nobjectmeta:\n    name: {NODE}\nversion: v2.7.0\npodref:\n    kind: Pod\n    name: antrea-agent-x2x4z\nnoderef:\n    kind: Node\n    name: {NODE}\n"
            ),
        ),
        agent(
            &format!("logs/agent/antrea-agent.{NODE}.root.log.INFO.20261120-101500.1"),
            "I1120 10:15:00.000001       1 agent.go:93] \"Starting Antrea agent\"\n".to_owned(),
        ),
        agent("ovsports", "1(tun0)\n".to_owned()),
    ]
}

#[test]
fn antrea_support_bundle_whose_objects_say_no_kind() {
    let analysis = diagnose_files(&antrea_support_bundle());
    let expected = (
        "antrea-supportbundle".to_owned(),
        1,
        PODS,
        0,
        VERSION.to_owned(),
    );
    assert_eq!(counted(&analysis), expected);
    let unread = [format!("agent_{NODE}/ovsports")];
    assert_eq!(not_understood(&analysis), unread);
    assert_eq!(outcome(&analysis, "firewall"), "unknown");
}

/// A list as support-bundle-kit writes it: whole numbers from a million on as floating ones, a text `null` for what is empty.
fn kit_list(objects: &[serde_json::Value]) -> String {
    fn spoilt(value: &serde_json::Value) -> serde_json::Value {
        use serde_json::Value;
        match value {
            Value::String(text) if text.is_empty() => "null".into(),
            Value::Null => "null".into(),
            Value::Object(map) => {
                let fields = map.iter().map(|(key, value)| (key.clone(), spoilt(value)));
                Value::Object(fields.collect())
            }
            Value::Array(items) => items.iter().map(spoilt).collect(),
            other => other.clone(),
        }
    }
    let spoilt: Vec<serde_json::Value> = objects.iter().map(spoilt).collect();
    let list = yaml_list(&spoilt);
    let mut lines = Vec::new();
    for line in list.lines() {
        let number = line.rsplit_once(": ").map(|(_, number)| number);
        match number.and_then(|number| number.parse::<u64>().ok()) {
            Some(number) if number >= 1_000_000 => {
                let end = line.rfind(": ").unwrap();
                lines.push(format!("{}: {:e}", &line[..end], number as f64));
            }
            _ => lines.push(line.to_owned()),
        }
    }
    lines.join("\n") + "\n"
}

/// A bundle of Harvester: zip in zip, lists of all groups.
pub(crate) fn harvester_support_bundle() -> Files {
    let at = |path: &str, content: String| text(path, content);
    let other = "apiVersion: v1\nitems:\n- apiVersion: x/v1\n  kind: X\n  metadata:\n    name: other\nkind: List\n";
    let mut files = vec![
        at(
            "metadata.yaml",
            format!(
                "bundlename: bundle-x2x4z\nbundleversion: 0.1.0\nkubernetesversion: {VERSION}\nbundlecreatedat: \"2026-11-20T10:15:00Z\"\nissueurl: \"\"\n"
            ),
        ),
        at("yamls/cluster/v1/nodes.yaml", kit_list(&objects("nodes"))),
        // What measures a node, and what Longhorn and Rancher call one.
        at(
            "yamls/cluster/metrics.k8s.io/v1beta1/nodes.yaml",
            other.to_owned(),
        ),
        at(
            "yamls/cluster/management.cattle.io/v3/nodes.yaml",
            other.to_owned(),
        ),
        at(
            "yamls/namespaced/default/longhorn.io/v1beta2/nodes.yaml",
            other.to_owned(),
        ),
    ];
    for namespace in ["kube-system", "gpu-operator", "default"] {
        let of = |plural: &str| {
            let mut items = objects(plural);
            items.retain(|item| item["metadata"]["namespace"] == namespace);
            kit_list(&items)
        };
        let folder = format!("yamls/namespaced/{namespace}");
        files.push(at(&format!("{folder}/v1/pods.yaml"), of("pods")));
        files.push(at(&format!("{folder}/v1/events.yaml"), of("events")));
        files.push(at(
            &format!("{folder}/events.k8s.io/v1/events.yaml"),
            of("events"),
        ));
        files.push(at(
            &format!("{folder}/apps/v1/daemonsets.yaml"),
            of("daemonsets"),
        ));
    }
    let inside = zip(&[
        text(
            &format!("{NODE}/logs/kernel.log"),
            format!("Nov 20 10:15:00.123456 {NODE} kernel: Linux version 6.8.0-79-generic\n"),
        ),
        text(
            &format!("{NODE}/logs/rke2-agent.log"),
            format!("Nov 20 10:15:00.123456 {NODE} rke2[1]: started\n"),
        ),
        text(
            &format!("{NODE}/logs/syslog.1"),
            format!("Nov 19 10:15:00 {NODE} sshd[1]: x\n"),
        ),
        text(
            &format!("{NODE}/configs/etc/os-release"),
            node("rootfs/etc/os-release"),
        ),
        text(&format!("{NODE}/hostinfos/kernel_config"), "CONFIG_X=y\n"),
        text(
            &format!("{NODE}/hostinfos/hostinfo"),
            format!(
                "hostname : \n \t{NODE}\nsystem-info : \n \tLinux {NODE} 6.8.0-79-generic #79 SMP\n"
            ),
        ),
    ]);
    files.push((format!("nodes/{NODE}.zip"), inside));
    files
}

#[test]
fn harvester_support_bundle_of_all_groups() {
    let analysis = diagnose_files(&harvester_support_bundle());
    let expected = (
        "support-bundle-kit".to_owned(),
        1,
        PODS,
        EVENTS,
        VERSION.to_owned(),
    );
    assert_eq!(counted(&analysis), expected);
    assert_eq!(outcome(&analysis, "host_info"), "unknown");
    assert_eq!(analysis["seen"]["kernel"], "6.8.0-79-generic");
    assert_eq!(
        not_understood(&analysis),
        [
            "nodes/192-18-132-31.zip/hostinfos/kernel_config",
            "yamls/cluster/management.cattle.io/v3/nodes.yaml",
            "yamls/cluster/metrics.k8s.io/v1beta1/nodes.yaml",
            "yamls/namespaced/default/longhorn.io/v1beta2/nodes.yaml",
        ]
    );
}
