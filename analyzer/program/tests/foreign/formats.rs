//! One capture a format, as the tool lays it out, filled with the sample's real objects, outputs and files.

use super::support::{NODE, diagnose_files, node, objects, of_cluster, of_node, outcome, text};

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
fn eks_log_collector() {
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
