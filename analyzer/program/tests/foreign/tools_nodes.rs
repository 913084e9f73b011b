//! Captures of nodes, with the names and the forms that the tools' own scripts gave them when they were run: SUSE's supportconfig
//! 3.2.14, AgentBaker's `aks-log-collector.sh` and test-infra's `log-dump.sh`, both of August 2026, cilium-bugtool 1.19.

use super::support::{
    Files, NODE, VERSION, diagnose_files, node, not_understood, objects, of_node, outcome, text,
    yaml_list,
};

/// A system log's lines of a unit, as `journalctl --output=short-precise` prints them.
fn log(host: &str, unit: &str) -> String {
    format!("Nov 20 10:15:00.123456 {host} {unit}[1801]: started\n").repeat(8)
}

/// A section of a supportconfig.
fn section(kind: &str, title: &str, body: &str) -> String {
    let line = format!("#==[ {kind} ]");
    format!("{line:=<51}#\n# {title}\n{body}\n")
}

/// A supportconfig: rules of the firewall by table, and what a journal takes before the journal.
pub(crate) fn supportconfig() -> Files {
    let rules = node("commands/iptables-save.out");
    let (filter, others) = rules.split_once("COMMIT\n").unwrap();
    let uname = format!("Linux {NODE} 6.8.0-79-generic #79 SMP x86_64 GNU/Linux\n");
    let head = "=============================================================================\n                     Support Utilities - Supportconfig\n                          Script Version: 3.2.14\n                         Library Version: 3.2.8-8\n                          Script Date: 2026 May 13\n\n";
    let journal = format!("2026-11-20T10:15:00+0000 {NODE} kubelet[1]: started\n").repeat(8);
    vec![
        text(
            "basic-environment.txt",
            head.to_owned()
                + &section("Command", "/bin/date", "Fri Nov 20 10:15:00 UTC 2026\n")
                + &section("Command", "/bin/uname -a", &uname)
                + &section(
                    "System",
                    "Virtualization",
                    "Hardware:      See hardware.txt\n",
                )
                + &section(
                    "Configuration File",
                    "/etc/os-release",
                    &node("rootfs/etc/os-release"),
                ),
        ),
        text(
            "network.txt",
            section("Command", "/sbin/ip route", &node("commands/ip-route.out"))
                + &section(
                    "Command",
                    "iptables -t filter -nvL",
                    "Chain INPUT (policy DROP)\n",
                )
                + &section(
                    "Command",
                    "/sbin/iptables-save -t filter",
                    &format!("{filter}COMMIT\n"),
                )
                + &section("Command", "/sbin/iptables-save -t nat", others)
                + "#==[ Command ]======================================#\n# iptables\n\n# NOTE: The iptable_raw module is not loaded, skipping check\n\n",
        ),
        text(
            "boot.txt",
            section(
                "Command",
                "/bin/journalctl --boot=0 --no-pager --disk-usage",
                "Archived and active journals take up 8.0M in the file system.\n",
            ) + &section(
                "Command",
                "/bin/journalctl --boot=0 --no-pager --output=short-iso",
                &journal,
            ) + &section("Command", "/bin/dmesg -T", &node("commands/dmesg.out")),
        ),
        text(
            "proc.txt",
            section("Configuration File", "/proc/sys/net/ipv4/ip_forward", "1\n"),
        ),
        text("summary.xml", "<summary></summary>\n"),
    ]
}

#[test]
fn supportconfig_with_rules_by_table() {
    let analysis = of_node(&supportconfig(), "supportconfig");
    assert_eq!(outcome(&analysis, "firewall"), "unknown");
    assert_eq!(outcome(&analysis, "journal"), "unknown");
    assert_eq!(analysis["seen"]["kernel"], "6.8.0-79-generic");
    assert_eq!(not_understood(&analysis), ["summary.xml"]);
}

#[test]
fn cilium_bugtool_where_no_agent_answers() {
    let files = [
        text("cmd/hostname.md", format!("{NODE}\n")),
        text(
            "cmd/uname--a.md",
            format!("Linux {NODE} 6.8.0-79-generic #79 SMP x86_64 GNU/Linux\n"),
        ),
        text(
            "cmd/iptables-save--c.md",
            node("commands/iptables-save.out"),
        ),
        text("cmd/ip-a.md", node("commands/ip-addr.out")),
        text("cmd/ip--4-r.md", node("commands/ip-route.out")),
        text("cmd/ip--d-rule.md", node("commands/ip-rule.out")),
        text(
            "cmd/nft-list-ruleset.md",
            "Error: Could not process rule: Operation not supported\n> Error while running 'nft list ruleset':  exit status 1\n\n",
        ),
        text(
            "cmd/taskset--pc-1.md",
            "pid 1's current affinity list: 0,1\n",
        ),
    ];
    let analysis = of_node(&files, "cilium-bugtool");
    assert_eq!(analysis["seen"]["kernel"], "6.8.0-79-generic");
    assert_eq!(outcome(&analysis, "firewall"), "unknown");
    assert_eq!(not_understood(&analysis), ["cmd/taskset--pc-1.md"]);
}

/// What AKS' collector leaves of a node that keeps no system log as text.
pub(crate) fn aks() -> Files {
    vec![
        text(
            "proc/version",
            "Linux version 6.8.0-79-generic (buildd@x) (gcc) #79\n",
        ),
        text("proc/meminfo", node("rootfs/proc/meminfo")),
        text(
            "collect/journalctl_nvidia-dcgm.txt",
            log(NODE, "nv-hostengine"),
        ),
        text(
            "collect/crictl_info.json",
            "{\"status\": {}, \"config\": {\"containerd\": {\"defaultRuntimeName\": \"runc\", \"runtimes\": {\"runc\": {}}}}}\n",
        ),
        text("collect/crictl_images.json", "{\"images\":[]}\n"),
        text("collect/ip_4_addr.json", node("commands/ip-addr.out")),
        text("collect/ip_4_route.json", node("commands/ip-route.out")),
        text("collect/ip_rule.json", node("commands/ip-rule.out")),
        text("collect/ip_netns_cni-0a1b/ip_4_addr.json", "[]\n"),
        text("etc/hostname", format!("{NODE}\n")),
        text("etc/os-release", node("rootfs/etc/os-release")),
        text("var/log/messages", ""),
        text(
            "var/log/pods/kube-system_coredns-x2x4z_0a1b2c3d-0000-4000-8000-0a1b2c3d4e5f/coredns/0.log",
            "2026-11-20T10:15:00.000000001Z stdout F .:53\n",
        ),
    ]
}

#[test]
fn aks_log_collector_without_a_system_log() {
    let analysis = of_node(&aks(), "aks-log-collector");
    let seen = &analysis["seen"];
    assert_eq!(seen["kernel"], "6.8.0-79-generic");
    assert_eq!(seen["pods"], 1);
    assert_eq!(outcome(&analysis, "journal"), "unknown");
    assert_eq!(
        not_understood(&analysis),
        [
            "collect/crictl_images.json",
            "collect/ip_netns_cni-0a1b/ip_4_addr.json"
        ]
    );
}

#[test]
fn aks_log_collector_of_the_year_before() {
    let mut files = aks();
    for (path, _) in &mut files {
        if path.starts_with("proc/") {
            path.insert_str(0, "collect/");
        }
    }
    let analysis = of_node(&files, "aks-log-collector");
    assert_eq!(analysis["seen"]["kernel"], "6.8.0-79-generic");
}

/// `log-dump.sh` of a master and a node.
pub(crate) fn gke() -> Files {
    let serial = "SeaBIOS (version 1.8.2-google)\nTotal RAM Size = 0x00000001e0000000 = 7680 MiB\n[    0.000000] Linux version 6.8.0-79-generic (builder@localhost)\n";
    let mut files = Files::new();
    for host in ["e2e-master", NODE] {
        let at = |file: &str, content: &str| text(&format!("{host}/{file}"), content);
        files.extend([
            at("serial-1.log", serial),
            at("kern.log", &log(host, "kernel").replace("[1801]", "")),
            at("kubelet.log", &log(host, "kubelet")),
            at("kubelet-monitor.log", "-- No entries --\n"),
            at("systemd.log", &log(host, "systemd")),
        ]);
    }
    let proxy = "I1120 10:00:00.123456       1 server.go:228] \"Flag --config\"\n";
    files.extend([
        text(&format!("{NODE}/kube-proxy.log"), proxy),
        text(&format!("{NODE}/kube-proxy.log-20261119-1763600000"), proxy),
        text(
            &format!("{NODE}/containers/konnectivity-agent-7k9d2_kube-system_konnectivity-agent-0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d.log"),
            "2026-11-20T10:00:00.1Z stderr F I1120 10:00:00.123456       1 main.go:1] connected\n",
        ),
        text("nodes/kubectl_get_nodes.yaml", yaml_list(&objects("nodes"))),
        text("nodes/node_names.txt", format!("{NODE}\n")),
        text(&format!("nodes/{NODE}/kubelet_metrics.txt"), "x 1\n"),
    ]);
    files
}

#[test]
fn gke_log_dump_of_a_cluster() {
    let analysis = diagnose_files(&gke());
    let seen = &analysis["seen"];
    assert_eq!(seen["format"], "gke-node-logs");
    // The list of nodes counts: a master that is in none is no node of the cluster.
    assert_eq!((&seen["nodes"], &seen["pods"]), (&1.into(), &1.into()));
    assert_eq!(seen["kubernetes_version"], VERSION);
    assert_eq!(
        not_understood(&analysis),
        [
            format!("nodes/{NODE}/kubelet_metrics.txt"),
            "nodes/node_names.txt".to_owned()
        ]
    );
}
