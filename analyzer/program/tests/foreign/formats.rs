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
            "var_log/kube-system_aws-node-x2x4z_0a1b2c3d-0000-4000-8000-0a1b2c3d4e5f/aws-node/0.log",
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
    for (file, content, format) in [
        ("nvidia-installer.log", installer, "nvidia-installer-log"),
        ("cloud-init-output.log", cloud_init, "cloud-init"),
    ] {
        let analysis = diagnose_files(&[text(file, content)]);
        assert_eq!(analysis["seen"]["format"], format, "{file}");
    }
}

#[test]
fn a_failed_build_is_found_in_the_installers_own_log() {
    // The shape of logs of 515 and later: steps begin with an arrow, the build's output is indented.
    let log = "nvidia-installer log file '/var/log/nvidia-installer.log'\ncreation time: Tue Nov 10 14:51:02 2026\ninstaller version: 535.129.03\n\nnvidia-installer command line:\n    ./nvidia-installer\n\n-> Installing NVIDIA driver version 535.129.03.\n-> Building kernel modules\n   FATAL: modpost: GPL-incompatible module nvidia-drm.ko uses GPL-only symbol 'ww_mutex_lock'\n-> Error.\nERROR: An error occurred while performing the step: \"Building kernel modules\". See /var/log/nvidia-installer.log for details.\n";
    let analysis = diagnose_files(&[text("nvidia-installer.log", log)]);
    let first = &analysis["differential"][0];
    assert_eq!(first["cause"], "driver-regression");
    assert_eq!(first["verdict"], "likely");
}

#[test]
fn outputs_of_dcgm_are_named_and_their_driver_and_gpus_are_seen() {
    let row = |left: &str, right: &str| format!("| {left:25} | {right:46} |\n");
    let diagnosis = row("Diagnostic", "Result")
        + &row("DCGM Version", "4.4.1")
        + &row("Driver Version Detected", "580.65.06")
        + &row("pcie", "Fail");
    let old = format!("Successfully ran diagnostic for group.\n{diagnosis}");
    let json = "{\n\t\"DCGM Diagnostic\" :\n\t{\n\t\t\"Driver Version Detected\" : \"580.65.06\",\n\t\t\"test_categories\" :\n\t\t[]\n\t}\n}\n";
    for (file, content) in [
        ("diag-v.txt", diagnosis.as_str()),
        ("diag.txt", old.as_str()),
        ("diag.json", json),
    ] {
        let seen = diagnose_files(&[text(file, content)])["seen"].clone();
        assert_eq!(seen["format"], "dcgm", "{file}");
        assert_eq!(seen["driver_version"], "580.65.06", "{file}");
    }
    let gpu = |id: u8| {
        format!(
            "| {id}      | Name: NVIDIA H100 80GB HBM3                       |\n|        | PCI Bus ID: 00000000:{id}4:00.0                    |\n+--------+--------------+\n"
        )
    };
    let discovery = "2 GPUs found.\n+--------+--------------+\n| GPU ID | Device Information                              |\n".to_owned()
        + &gpu(1)
        + &gpu(2);
    let health = "{\n\t\"header\" : \n\t[\n\t\t\"Health Monitor Report\"\n\t]\n}\n".to_owned();
    for (file, content, gpus) in [("list.txt", discovery, 2), ("health.json", health, 0)] {
        let seen = diagnose_files(&[text(file, content)])["seen"].clone();
        assert_eq!(seen["format"], "dcgm", "{file}");
        assert_eq!(seen["gpus"], gpus, "{file}");
    }
}

#[test]
fn the_tables_of_gpud_say_the_machines_versions() {
    let row = |left: &str, right: &str| format!("| {left:^26} | {right:^30} |\n");
    let table = row("GPUd Version", "v0.5.0")
        + &row("Kernel Version", "6.8.0-79-generic")
        + &row("GPU Driver Version", "535.161.08");
    let scan = format!("\n\n⌛ scanning the host (GOOS linux)\n\n✔ machine info\n{table}");
    for content in [scan, table] {
        let analysis = diagnose_files(&[text("scan.txt", content)]);
        let seen = &analysis["seen"];
        assert_eq!(seen["format"], "gpud-scan");
        assert_eq!(seen["kernel"], "6.8.0-79-generic");
        assert_eq!(seen["driver_version"], "535.161.08");
        let rows = analysis["coverage"].as_array().unwrap();
        let named = |row: &serde_json::Value| row["title"] == "gpud scan v0.5.0";
        assert!(rows.iter().any(named), "{rows:?}");
    }
}

#[test]
fn the_archive_of_cloud_init_is_one_capture_of_its_node() {
    let data = format!(
        "{{\n \"v1\": {{\n  \"kernel_release\": \"6.8.0-79-generic\",\n  \"local_hostname\": \"{NODE}\"\n }}\n}}\n"
    );
    let line = "2026-11-20 10:06:47,536 - util.py[WARNING]: Failed to install packages: ['nvidia-driver-535-server']\n";
    let files = [
        text("cloud-init-logs-2026-11-20/cloud-init.log", line),
        text(
            "cloud-init-logs-2026-11-20/cloud-init-output.log",
            "E: Unable to locate package nvidia-driver-535-server\n",
        ),
        text(
            "cloud-init-logs-2026-11-20/dmesg.txt",
            node("commands/dmesg.out"),
        ),
        text(
            "cloud-init-logs-2026-11-20/version",
            "/usr/bin/cloud-init 22.4.2\n",
        ),
        text(
            "cloud-init-logs-2026-11-20/run/cloud-init/instance-data.json",
            data,
        ),
    ];
    let seen = diagnose_files(&files)["seen"].clone();
    assert_eq!(seen["format"], "cloud-init");
    assert_eq!(seen["nodes"], 1);
    assert!(seen["kernel"].is_string(), "{seen}");
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
