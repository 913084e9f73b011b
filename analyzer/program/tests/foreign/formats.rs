//! One capture a format, as the tool lays it out, filled with the sample's real objects, outputs and files.

use super::support::{
    EVENTS, NODE, VERSION, diagnose_files, node, objects, of_cluster, of_node, outcome, text,
    yaml_list, yaml_object, zip,
};

#[test]
fn cilium_sysdump() {
    let files = [
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
            "k8s-pods-20261120-101500.txt",
            "NAMESPACE   NAME   READY   STATUS    RESTARTS   AGE\n",
        ),
        text(
            "k8s-events-20261120-101500.yaml",
            yaml_list(&objects("events")),
        ),
        text(
            "cilium-bugtool-cilium-x2x4z-20261120-101500/cmd/hostname.md",
            format!("# hostname\n\n```\n{NODE}\n```\n"),
        ),
        text(
            "cilium-bugtool-cilium-x2x4z-20261120-101500/cmd/iptables-save--c.md",
            format!(
                "# iptables-save -c\n\n```\n{}```\n",
                node("commands/iptables-save.out")
            ),
        ),
    ];
    of_cluster(&files, "cilium-sysdump", EVENTS);
    assert_eq!(outcome(&diagnose_files(&files), "firewall"), "unknown");
}

#[test]
fn calico_diagnostics() {
    let files = [
        text(
            "cluster/crd/ippools.crd.projectcalico.org.yaml",
            "apiVersion: v1\nitems: []\n",
        ),
        text(
            "cluster/kubernetes/nodes.yaml",
            yaml_list(&objects("nodes")),
        ),
        text(
            "cluster/kubernetes/nodes.txt",
            "NAME   STATUS   ROLES   AGE   VERSION\n",
        ),
        text("cluster/kubernetes/pods.yaml", yaml_list(&objects("pods"))),
        text(
            &format!("nodes/{NODE}/ip-addr.txt"),
            node("commands/ip-addr.out"),
        ),
        text(
            &format!("nodes/{NODE}/iptables-nft-save.txt"),
            node("commands/iptables-save.out"),
        ),
    ];
    of_cluster(&files, "calico-diags", 0);
    assert_eq!(outcome(&diagnose_files(&files), "firewall"), "unknown");
}

#[test]
fn antrea_support_bundle() {
    let documents = |kind: &str, version: &str, plural: &str| {
        let all = objects(plural).into_iter().map(|mut object| {
            object["kind"] = kind.into();
            object["apiVersion"] = version.into();
            yaml_object(&object) + "---\n"
        });
        format!("#{plural}\n{}", all.collect::<String>())
    };
    let files = [
        text(
            "clusterinfo",
            documents("Pod", "v1", "pods") + &documents("Node", "v1", "nodes"),
        ),
        text(
            &format!("agent_{NODE}/iptables"),
            node("commands/iptables-save.out"),
        ),
        text(
            &format!("agent_{NODE}/address"),
            node("commands/ip-addr.out"),
        ),
        text(
            &format!("agent_{NODE}/agentinfo"),
            "apiVersion: crd.antrea.io/v1beta1\n",
        ),
    ];
    of_cluster(&files, "antrea-supportbundle", 0);
    assert_eq!(outcome(&diagnose_files(&files), "firewall"), "unknown");
}

#[test]
fn harvester_support_bundle_with_a_zip_a_node() {
    let mut files = vec![
        text(
            "metadata.yaml",
            format!("bundleversion: 0.1.0\nkubernetesversion: {VERSION}\n"),
        ),
        text("yamls/cluster/v1/nodes.yaml", yaml_list(&objects("nodes"))),
    ];
    for namespace in ["kube-system", "gpu-operator", "default"] {
        let of = |plural: &str| {
            let mut items = objects(plural);
            items.retain(|item| item["metadata"]["namespace"] == namespace);
            yaml_list(&items)
        };
        let folder = format!("yamls/namespaced/{namespace}/v1");
        files.push(text(&format!("{folder}/pods.yaml"), of("pods")));
        files.push(text(&format!("{folder}/events.yaml"), of("events")));
    }
    let inside = zip(&[
        text(
            &format!("{NODE}/logs/kernel.log"),
            node("commands/dmesg.out"),
        ),
        text(
            &format!("{NODE}/configs/etc/os-release"),
            node("rootfs/etc/os-release"),
        ),
    ]);
    files.push((format!("nodes/{NODE}.zip"), inside));
    of_cluster(&files, "support-bundle-kit", EVENTS);
    assert_eq!(outcome(&diagnose_files(&files), "host_info"), "unknown");
}

#[test]
fn insights_archives_of_a_host_and_of_a_cluster() {
    for data in ["", "data/"] {
        let files = [
            text(
                &format!("{data}insights_commands/hostname_-f"),
                format!("{NODE}\n"),
            ),
            text(
                &format!("{data}insights_commands/iptables-save"),
                node("commands/iptables-save.out"),
            ),
            text(
                &format!("{data}etc/os-release"),
                node("rootfs/etc/os-release"),
            ),
        ];
        let analysis = of_node(&files, "insights-archive");
        assert_eq!(outcome(&analysis, "firewall"), "unknown");
    }
    let mut cluster = vec![text("insights-operator/gathers.json", "{}")];
    for object in objects("nodes") {
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        cluster.push(text(
            &format!("config/node/{name}.json"),
            object.to_string(),
        ));
    }
    for object in objects("pods") {
        let said = |key: &str| object["metadata"][key].as_str().unwrap().to_owned();
        let path = format!("config/pod/{}/{}.json", said("namespace"), said("name"));
        cluster.push(text(&path, object.to_string()));
    }
    of_cluster(&cluster, "insights-archive", 0);
}

#[test]
fn supportconfig() {
    let section = |kind: &str, title: &str, body: &str| {
        let line = format!("#==[ {kind} ]");
        format!("{line:=<51}#\n# {title}\n{body}\n")
    };
    let uname = format!("Linux {NODE} 6.8.0-79-generic #79 SMP x86_64 GNU/Linux\n");
    let iptables = node("commands/iptables-save.out");
    let files = [
        text(
            "basic-environment.txt",
            section("Command", "/bin/date", "Fri Nov 20 10:15:00 UTC 2026\n")
                + &section("Command", "/bin/uname -a", &uname)
                + &section(
                    "Configuration File",
                    "/etc/os-release",
                    &node("rootfs/etc/os-release"),
                ),
        ),
        text(
            "network.txt",
            section("Command", "/usr/sbin/iptables-save", &iptables),
        ),
        text(
            "boot.txt",
            section("Command", "/bin/dmesg -T", &node("commands/dmesg.out")),
        ),
    ];
    let analysis = of_node(&files, "supportconfig");
    assert_eq!(outcome(&analysis, "firewall"), "unknown");
    assert_eq!(analysis["seen"]["kernel"], "6.8.0-79-generic");
}

#[test]
fn node_collectors_of_the_clouds() {
    let log = |unit: &str| format!("Nov 20 10:15:00 {NODE} {unit}[1]: started\n").repeat(8);
    let eks = [
        text("system/instance-id.txt", "i-0123456789abcdef0\n"),
        text(
            "kernel/uname.txt",
            format!("Linux {NODE} 6.8.0-79-generic #79 SMP\n"),
        ),
        text(
            "networking/iptables-save.txt",
            node("commands/iptables-save.out"),
        ),
        text("kubelet/kubelet.log", log("kubelet")),
        text(
            "var_log/kube-system_aws-node-x2x4z_0a1b/aws-node/0.log",
            "2026-11-20T10:15:00Z stderr F started\n",
        ),
    ];
    let analysis = of_node(&eks, "eks-log-collector");
    assert_eq!(outcome(&analysis, "firewall"), "unknown");
    assert_eq!(analysis["seen"]["pods"], 1);
    let aks = [
        text(
            "proc/version",
            "Linux version 6.8.0-79-generic (buildd@x) (gcc) #79\n",
        ),
        text("proc/meminfo", node("rootfs/proc/meminfo")),
        text("collect/systemctl-status.txt", "State: running\n"),
        text("var/log/syslog", log("kubelet")),
        text(
            "var/log/pods/kube-system_coredns-x2x4z_0a1b/coredns/0.log",
            "x\n",
        ),
    ];
    let analysis = of_node(&aks, "aks-log-collector");
    assert_eq!(analysis["seen"]["kernel"], "6.8.0-79-generic");
    assert_eq!(analysis["seen"]["pods"], 1);
    let gke = [
        text(&format!("{NODE}/kubelet.log"), log("kubelet")),
        text(&format!("{NODE}/kern.log"), log("kernel")),
        text(&format!("{NODE}/serial-1.log"), node("commands/dmesg.out")),
    ];
    of_node(&gke, "gke-node-logs");
}

#[test]
fn single_files_are_named_for_what_wrote_them() {
    let installer = "nvidia-installer log file '/var/log/nvidia-installer.log'\ncreation time: Sun Nov  1 04:52:07 2026\ninstaller version: 535.129.03\n\nERROR: Unable to load the kernel module 'nvidia.ko'.\n";
    let cloud_init = "Cloud-init v. 23.4.4-0ubuntu0~22.04.1 running 'init-local' at Fri, 20 Nov 2026 10:15:00 +0000. Up 8.66 seconds.\n";
    let gpud = "\n\n⌛ scanning the host (GOOS linux)\n\n✔ machine info\n";
    let dcgm = "Successfully ran diagnostic for group.\n+---------------------------+----------------+\n| Diagnostic                | Result         |\n+===========================+================+\n| PCIe                      | Fail           |\n";
    for (file, content, format) in [
        ("nvidia-installer.log", installer, "nvidia-installer-log"),
        ("cloud-init-output.log", cloud_init, "cloud-init"),
        ("scan.txt", gpud, "gpud-scan"),
        ("dcgmi.txt", dcgm, "dcgm"),
    ] {
        let analysis = diagnose_files(&[text(file, content)]);
        assert_eq!(analysis["seen"]["format"], format, "{file}");
    }
}

#[test]
fn a_dump_of_an_old_kubectl_in_its_inner_form() {
    // The form as kubectl 1.8 writes it: fields of metadata beside Spec and Status.
    let inner = |object: &serde_json::Value| {
        let mut inner = object["metadata"].clone();
        inner["Spec"] = capitals(&object["spec"]);
        inner["Status"] = capitals(&object["status"]);
        inner
    };
    let list = |plural: &str| {
        let items: Vec<serde_json::Value> = objects(plural).iter().map(inner).collect();
        let list = Fields(vec![
            ("selfLink", "/api/v1/x".into()),
            ("Items", items.into()),
        ]);
        list.pretty()
    };
    let files = [
        text("nodes.json", list("nodes")),
        text("kube-system/pods.json", list("pods")),
    ];
    of_cluster(&files, "cluster-info-dump", 0);
}

/// Keys in their inner form.
fn capitals(value: &serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(key, value)| {
                    let plain = key.bytes().all(|byte| byte.is_ascii_alphanumeric());
                    let first = key[..1].to_ascii_uppercase();
                    let inner = match plain && key != "cpu" && key != "memory" {
                        true => format!("{first}{}", &key[1..]),
                        false => key.clone(),
                    };
                    (inner, capitals(value))
                })
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(capitals).collect()),
        other => other.clone(),
    }
}

/// An object whose fields come in this order, and whose items have metadata first.
struct Fields(Vec<(&'static str, serde_json::Value)>);

impl Fields {
    fn pretty(&self) -> String {
        let items = self.0[1].1.as_array().unwrap();
        let items: Vec<String> = items
            .iter()
            .map(|item| {
                let (inner, plain): (Vec<_>, Vec<_>) = item
                    .as_object()
                    .unwrap()
                    .iter()
                    .partition(|(key, _)| *key == "Spec" || *key == "Status");
                let fields = plain.into_iter().chain(inner).map(|(key, value)| {
                    let value = serde_json::to_string_pretty(value).unwrap();
                    // Four blanks a level, as kubectl writes them.
                    let lines: Vec<String> = value
                        .lines()
                        .enumerate()
                        .map(|(at, line)| {
                            let bare = line.trim_start();
                            let depth = (line.len() - bare.len()) * 2 + 12;
                            if at == 0 {
                                bare.to_owned()
                            } else {
                                " ".repeat(depth) + bare
                            }
                        })
                        .collect();
                    format!("            \"{key}\": {}", lines.join("\n"))
                });
                let fields: Vec<String> = fields.collect();
                format!("        {{\n{}\n        }}", fields.join(",\n"))
            })
            .collect();
        format!(
            "{{\n    \"selfLink\": \"/api/v1/x\",\n    \"Items\": [\n{}\n    ]\n}}\n",
            items.join(",\n")
        )
    }
}
