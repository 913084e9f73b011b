//! Captures of one node, filled with what the sample's node printed.

use serde_json::json;

use super::support::{
    EVENTS, Files, NODE, PODS, VERSION, diagnose, diagnose_files, node, objects, of_node, outcome,
    text, write,
};

fn uname() -> String {
    format!("Linux {NODE} 6.8.0-79-generic #79-Ubuntu SMP x86_64 GNU/Linux\n")
}

fn kubelet_log() -> String {
    let line = format!(
        "Nov 20 10:15:00 {NODE} kubelet[1]: I1120 10:15:00.000001       1 server.go:1] \"Kubelet version\" kubeletVersion=\"{VERSION}\"\n"
    );
    line.repeat(6)
}

#[test]
fn sos() {
    let root = "sosreport-192-18-132-31-2026-11-20-abcdefg";
    let files = [
        text(&format!("{root}/version.txt"), "sosreport: 4.8.0\n"),
        text(
            &format!("{root}/sos_commands/host/hostname"),
            format!("{NODE}\n"),
        ),
        text(&format!("{root}/sos_commands/kernel/uname_-a"), uname()),
        text(
            &format!("{root}/sos_commands/kernel/dmesg"),
            node("commands/dmesg.out"),
        ),
        text(
            &format!("{root}/sos_commands/networking/ip_-d_address"),
            node("commands/ip-addr.out"),
        ),
        text(
            &format!("{root}/sos_commands/firewall_tables/iptables-save"),
            node("commands/iptables-save.out"),
        ),
        text(
            &format!("{root}/sos_commands/logs/journalctl_--no-pager"),
            kubelet_log(),
        ),
        text(
            &format!("{root}/etc/os-release"),
            node("rootfs/etc/os-release"),
        ),
    ];
    let analysis = of_node(&files, "sos");
    assert_eq!(analysis["seen"]["kernel"], "6.8.0-79-generic");
    assert_eq!(analysis["seen"]["kubernetes_version"], VERSION);
    assert_eq!(outcome(&analysis, "host_info"), "unknown");
}

#[test]
fn nvidia_bug_report_of_two_boots() {
    let rule = "____________________________________________\n\n";
    let smi = "Fri Nov 20 10:15:00 2026\n+-----------------------------------------------------------------------------------------+\n| NVIDIA-SMI 570.86.15              Driver Version: 570.86.15      CUDA Version: 12.8     |\n";
    let lspci = "01:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 40GB] (rev a1)\n\tKernel driver in use: nvidia\n";
    let boot =
        |minute: u32, line: &str| format!("Nov 20 10:{minute:02}:00 {NODE} kernel: {line}\n");
    let report = [
        format!(
            "Start of NVIDIA bug report log file.  Please include this file, along\nwith a detailed description of your problem.\n\nnvidia-bug-report.sh Version: 570.86.15\n\nDate: Fri Nov 20 10:15:00 UTC 2026\nuname: {}",
            uname()
        ),
        String::from(
            "*** /proc/driver/nvidia/version\n*** ls: -r--r--r-- 1 root root 0 2026-11-20 10:14:59.000000000 +0000 /proc/driver/nvidia/version\nNVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Release Build\n",
        ),
        format!("/usr/bin/lspci -d \"10de:*\" -v -xxx\n\n{lspci}"),
        format!("/usr/bin/nvidia-smi\n\n{smi}"),
        format!(
            "journalctl -b -0 -k\n\n{}",
            boot(
                14,
                "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  570.86.15"
            )
        ),
        format!(
            "journalctl -b -1 -k\n\n{}",
            boot(
                2,
                "NVRM: Xid (PCI:0000:01:00): 79, pid=0, GPU has fallen off the bus."
            )
        ),
    ];
    let whole: String = report
        .iter()
        .flat_map(|part| [rule, part.as_str(), "\n"])
        .collect();
    let analysis = of_node(&[text("nvidia-bug-report.log", whole)], "nvidia-bug-report");
    let seen = &analysis["seen"];
    assert_eq!(
        (
            &seen["gpus"],
            &seen["driver_version"],
            &seen["boots"],
            &seen["kernel"]
        ),
        (
            &json!(1),
            &json!("570.86.15"),
            &json!(2),
            &json!("6.8.0-79-generic")
        )
    );
}

#[test]
fn the_version_that_dkms_built_where_no_module_is_loaded() {
    let rule = "____________________________________________\n\n";
    let log = "/var/lib/dkms/nvidia/535.129.03/5.15.0-88-generic/x86_64/log/make.log";
    let report = format!(
        "{rule}Start of NVIDIA bug report log file.\n\nuname: {}\n{rule}*** {log}\n*** ls: -rw-r--r-- 1 root root 12 2026-11-19 23:20:57.000000000 +0000 {log}\nDKMS make.log for nvidia-535.129.03 for kernel 5.15.0-88-generic (x86_64)\n",
        uname()
    );
    let analysis = of_node(
        &[text("nvidia-bug-report.log", report)],
        "nvidia-bug-report",
    );
    assert_eq!(analysis["seen"]["driver_version"], "535.129.03");
}

/// A row a pod, as `kubectl get pods -A -o wide` prints it.
fn pod_table() -> String {
    let rows = objects("pods").into_iter().map(|pod| {
        let said = |key: &str| pod["metadata"][key].as_str().unwrap().to_owned();
        format!(
            "{}   {}   1/1   Running   0   3h   10.1.0.1   {NODE}   <none>   <none>\n",
            said("namespace"),
            said("name")
        )
    });
    "NAMESPACE   NAME   READY   STATUS    RESTARTS   AGE   IP   NODE   NOMINATED NODE   READINESS GATES\n".to_owned()
        + &rows.collect::<String>()
}

#[test]
fn rancher_collectors_of_rke2_k3s_and_kubeadm() {
    let root = format!("{NODE}-2026-11-20_10_15_00");
    for distribution in ["rke2", "k3s", "kubeadm"] {
        let unit = if distribution == "k3s" {
            "k3s"
        } else {
            "kubelet"
        };
        let files = [
            text(&format!("{root}/systeminfo/hostname"), format!("{NODE}\n")),
            text(&format!("{root}/systeminfo/uname"), uname()),
            text(
                &format!("{root}/systeminfo/osrelease"),
                node("rootfs/etc/os-release"),
            ),
            text(
                &format!("{root}/networking/iptablessave"),
                node("commands/iptables-save.out"),
            ),
            text(&format!("{root}/journald/{unit}"), kubelet_log()),
            text(&format!("{root}/{distribution}/kubectl/pods"), pod_table()),
            text(
                &format!("{root}/{distribution}/podlogs/kube-system-coredns-x2x4z"),
                "started\n",
            ),
        ];
        let analysis = of_node(&files, "rancher-logs-collector");
        // The pod of the log is none of the table.
        assert_eq!(analysis["seen"]["pods"], PODS + 1, "{distribution}");
        assert_eq!(analysis["seen"]["kubernetes_version"], VERSION);
        assert_eq!(outcome(&analysis, "firewall"), "unknown");
    }
}

#[test]
fn rancher_collector_of_version_1() {
    let files = [
        text("systeminfo/hostname", format!("{NODE}\n")),
        text("systeminfo/uname", uname()),
        text(
            "docker/dockerpsa",
            "CONTAINER ID   IMAGE   COMMAND   CREATED   STATUS   PORTS   NAMES\n",
        ),
        text("docker/etcdockerdaemon.json", "{}\n"),
        text(
            "networking/iptablessave",
            node("commands/iptables-save.out"),
        ),
        text(
            "rancher/containerlogs/agent-0a1b2c3d4e5f",
            "2026-11-20T10:15:00.000000001Z started\n",
        ),
    ];
    let analysis = of_node(&files, "rancher-logs-collector");
    assert_eq!(outcome(&analysis, "firewall"), "unknown");
}

#[test]
fn inspection_reports_of_both_snaps() {
    let mut canonical: Files = vec![
        text("inspection-report/k8s.kubelet/journal.log", kubelet_log()),
        text(
            "inspection-report/k8s.kubelet/systemctl.log",
            "Active: active (running)\n",
        ),
        text("inspection-report/sys/uname", uname()),
        text(
            "inspection-report/sys/etc-os-release",
            node("rootfs/etc/os-release"),
        ),
    ];
    for (plural, kind) in [
        ("pods", "PodList"),
        ("events", "EventList"),
        ("nodes", "NodeList"),
    ] {
        let items = objects(plural);
        let list = json!({ "kind": kind, "apiVersion": "v1", "items": items }).to_string();
        let path = match plural {
            "nodes" => "inspection-report/cluster-info/nodes.json".to_owned(),
            _ => format!("inspection-report/cluster-info/kube-system/{plural}.json"),
        };
        canonical.push(text(&path, list));
    }
    let analysis = of_node(&canonical, "snap-inspection-report");
    assert_eq!(
        (&analysis["seen"]["pods"], &analysis["seen"]["events"]),
        (&json!(PODS), &json!(EVENTS))
    );
    // MicroK8s has no output that names the host but its journals.
    let microk8s = [
        text(
            "inspection-report/snap.microk8s.daemon-kubelite/journal.log",
            kubelet_log(),
        ),
        text(
            "inspection-report/args/kubelet",
            "--kubeconfig=${SNAP_DATA}/credentials/kubelet.config\n",
        ),
        text("inspection-report/k8s/get-all", pod_table()),
        text(
            "inspection-report/network/ip-addr",
            node("commands/ip-addr.out"),
        ),
        text(
            "inspection-report/network/iptables-S",
            "-P INPUT ACCEPT\n-P FORWARD ACCEPT\n-P OUTPUT ACCEPT\n",
        ),
        text(
            "inspection-report/apparmor/dmesg",
            "[    0.000000] Linux version 6.8.0-79-generic (buildd@x) (gcc) #79\n",
        ),
    ];
    let analysis = of_node(&microk8s, "snap-inspection-report");
    assert_eq!(analysis["seen"]["kernel"], "6.8.0-79-generic");
    assert_eq!(analysis["seen"]["pods"], PODS);
    assert_eq!(analysis["seen"]["kubernetes_version"], VERSION);
}

#[test]
fn cilium_bugtool_alone() {
    let folder = "cilium-bugtool-20261120-101500.000+0000-UTC-123456789/cmd";
    let files = [
        text(
            &format!("{folder}/cilium-status.md"),
            "# cilium-dbg status\n\n```\nKVStore: Disabled\n```\n",
        ),
        text(&folder.replace("/cmd", "/conf/debug"), "false\n"),
        text(
            &format!("{folder}/hostname.md"),
            format!("# hostname\n\n```\n{NODE}\n```\n"),
        ),
        text(
            &format!("{folder}/uname--a.md"),
            format!("# uname -a\n\n```\n{}```\n", uname()),
        ),
        text(
            &format!("{folder}/iptables-save--c.md"),
            format!(
                "# iptables-save -c\n\n```\n{}```\n",
                node("commands/iptables-save.out")
            ),
        ),
    ];
    let analysis = of_node(&files, "cilium-bugtool");
    assert_eq!(analysis["seen"]["kernel"], "6.8.0-79-generic");
    assert_eq!(outcome(&analysis, "firewall"), "unknown");
}

#[test]
fn kernel_log_and_rotated_logs_lying_about() {
    let boot = "[    0.000000] Linux version 6.8.0-79-generic (buildd@x) (gcc) #79\n";
    let line = |n: u32| {
        format!("[    {n}.000000] usb 1-1: new high-speed USB device number {n} using xhci_hcd\n")
    };
    let dmesg = boot.to_owned() + &(1..9).map(line).collect::<String>();
    let seen = diagnose_files(&[text("dmesg.txt", dmesg)])["seen"].clone();
    assert_eq!(
        (&seen["format"], &seen["kernel"]),
        (&json!("kernel-log"), &json!("6.8.0-79-generic"))
    );
    // A rotation is packed by itself.
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("logs");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packed, kubelet_log().as_bytes()).unwrap();
    write(
        &folder,
        &[("kubelet.log.1.gz".to_owned(), packed.finish().unwrap())],
    );
    let seen = diagnose(&folder)["seen"].clone();
    assert_eq!(
        (&seen["format"], &seen["nodes"], &seen["kubernetes_version"]),
        (&json!("journal"), &json!(1), &json!(VERSION))
    );
}
