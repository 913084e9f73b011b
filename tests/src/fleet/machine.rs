//! A node: its settings, drawn, and the files of its bundle.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};

use super::Dice;

/// A node of the fleet.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Name.
    pub node: String,
    /// Number of its cluster.
    pub cluster: usize,
    /// When its bundle was taken.
    pub at: DateTime<Utc>,
    settings: BTreeMap<&'static str, &'static str>,
}

const DRIVERS: [&str; 4] = ["570.195.03", "575.57.08", "580.95.05", "550.163.01"];
const KERNELS: [&str; 4] = [
    "5.15.0-160-generic",
    "6.8.0-51-generic",
    "6.8.0-87-generic",
    "6.5.0-1024-nvidia",
];
const BIOS: [&str; 4] = ["2.17.1", "2.19.0", "2.21.4", "1.10.2"];
/// Settings of the kernel with the values that a site may have given them.
const SYSCTLS: [(&str, &[&str]); 36] = [
    ("vm.max_map_count", &["65530", "262144", "1048576"]),
    ("vm.swappiness", &["10", "60", "1"]),
    ("vm.dirty_ratio", &["10", "20", "40"]),
    ("vm.dirty_background_ratio", &["5", "10"]),
    ("vm.overcommit_memory", &["0", "1"]),
    ("vm.min_free_kbytes", &["67584", "90112", "1048576"]),
    ("vm.vfs_cache_pressure", &["50", "100"]),
    ("vm.nr_hugepages", &["0", "512", "1024"]),
    ("vm.zone_reclaim_mode", &["0", "1"]),
    (
        "fs.inotify.max_user_watches",
        &["524288", "1048576", "655360"],
    ),
    ("fs.inotify.max_user_instances", &["8192", "1024", "512"]),
    (
        "fs.file-max",
        &["9223372036854775807", "2097152", "1048576"],
    ),
    ("fs.nr_open", &["1048576", "1073741816"]),
    ("fs.aio-max-nr", &["65536", "1048576"]),
    ("kernel.pid_max", &["4194304", "32768"]),
    ("kernel.threads-max", &["2062344", "1030000", "513000"]),
    ("kernel.numa_balancing", &["0", "1"]),
    ("kernel.panic", &["0", "10"]),
    ("kernel.panic_on_oops", &["0", "1"]),
    ("kernel.sched_autogroup_enabled", &["0", "1"]),
    ("kernel.perf_event_paranoid", &["2", "4", "-1"]),
    ("kernel.keys.maxkeys", &["200", "2000"]),
    ("kernel.randomize_va_space", &["2", "1"]),
    (
        "net.core.netdev_max_backlog",
        &["1000", "4096", "16384", "32768"],
    ),
    ("net.core.somaxconn", &["4096", "32768", "128"]),
    ("net.core.rmem_max", &["212992", "16777216", "134217728"]),
    ("net.core.wmem_max", &["212992", "16777216", "134217728"]),
    ("net.core.default_qdisc", &["fq_codel", "fq", "pfifo_fast"]),
    ("net.ipv4.tcp_congestion_control", &["cubic", "bbr"]),
    ("net.ipv4.tcp_mtu_probing", &["0", "1"]),
    ("net.ipv4.tcp_tw_reuse", &["2", "1", "0"]),
    ("net.ipv4.tcp_keepalive_time", &["7200", "600"]),
    (
        "net.ipv4.ip_local_port_range",
        &["32768\t60999", "1024\t65000"],
    ),
    ("net.ipv4.tcp_max_syn_backlog", &["4096", "8192", "512"]),
    ("net.ipv4.tcp_slow_start_after_idle", &["1", "0"]),
    (
        "net.netfilter.nf_conntrack_tcp_timeout_established",
        &["432000", "86400"],
    ),
];
const PODS: [&str; 3] = ["110", "250", "64"];

impl Machine {
    /// A node of a cluster; all nodes of a cluster have its chart.
    pub(super) fn draw(number: usize, cluster: usize, chart: bool, dice: &mut Dice) -> Self {
        let night = i64::try_from(number % 4).unwrap_or(0);
        let minute = i64::try_from(number % 240).unwrap_or(0);
        let start = DateTime::from_timestamp(1_795_132_800, 0).unwrap_or_default();
        let mut settings = BTreeMap::from([
            ("driver", dice.pick(&DRIVERS)),
            ("kernel", dice.pick(&KERNELS)),
            ("bios_version", dice.pick(&BIOS)),
            ("maxPods", dice.pick(&PODS)),
            (
                "gpu-operator toolkit version",
                if chart { "v1.17.9" } else { "v1.18.1" },
            ),
        ]);
        settings.extend(SYSCTLS.map(|(name, values)| (name, dice.pick(values))));
        Self {
            node: format!("gpu-{cluster:02}-{number:04}"),
            cluster,
            at: start + TimeDelta::days(night) + TimeDelta::minutes(minute),
            settings,
        }
    }

    /// Whether a setting has a value.
    pub fn has(&self, name: &str, value: &str) -> bool {
        self.settings.get(name) == Some(&value)
    }

    /// The time as names of bundles have it.
    pub fn stamp(&self) -> String {
        self.at.format("%Y%m%dT%H%M%SZ").to_string()
    }

    fn setting(&self, name: &str) -> &'static str {
        self.settings.get(name).copied().unwrap_or("")
    }

    /// The files of a bundle of the node while nothing is wrong.
    pub(super) fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        let root = format!("nodes/{}/rootfs", self.node);
        for (name, _) in SYSCTLS {
            let path = format!("{root}/proc/sys/{}", name.replace('.', "/"));
            files.insert(path, format!("{}\n", self.setting(name)));
        }
        let mut add = |path: String, text: String| files.insert(path, text);
        add(
            format!("{root}/sys/class/dmi/id/bios_version"),
            format!("{}\n", self.setting("bios_version")),
        );
        add(
            format!("{root}/etc/os-release"),
            "PRETTY_NAME=\"Ubuntu 22.04.5 LTS\"\nID=ubuntu\nVERSION_ID=\"22.04\"\n".to_owned(),
        );
        add(
            format!("{root}/proc/driver/nvidia/version"),
            format!(
                "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {}  Release Build  (dvs-builder@U22)\n",
                self.setting("driver")
            ),
        );
        add(
            format!("{root}/var/lib/kubelet/config.yaml"),
            format!(
                "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: {}\n",
                self.setting("maxPods")
            ),
        );
        add(
            "helm/gpu-operator/gpu-operator/values-user.yaml".to_owned(),
            format!(
                "toolkit:\n  version: {}\n",
                self.setting("gpu-operator toolkit version")
            ),
        );
        add(
            "cluster-resources/namespaces.json".to_owned(),
            self.namespaces(),
        );
        add("cluster-resources/nodes.json".to_owned(), self.object());
        add(
            format!("nodes/{}/journal/kernel.json", self.node),
            self.journal(),
        );
        files
    }

    fn namespaces(&self) -> String {
        let item = |name: &str, uid: usize| {
            format!(
                r#"{{"metadata":{{"name":"{name}","uid":"{uid:08x}-0000-4000-8000-{:012x}"}},"status":{{"phase":"Active"}}}}"#,
                self.cluster
            )
        };
        format!(
            "{{\"kind\":\"NamespaceList\",\"apiVersion\":\"v1\",\"items\":[\n{},\n{}\n]}}\n",
            item("default", 1),
            item("kube-system", 2)
        )
    }

    fn object(&self) -> String {
        format!(
            concat!(
                r#"{{"kind":"NodeList","apiVersion":"v1","items":["#,
                "\n",
                r#"{{"metadata":{{"name":"{node}","labels":{{"nvidia.com/gpu.present":"true"}}}},"#,
                r#""status":{{"capacity":{{"cpu":"64","nvidia.com/gpu":"8","pods":"110"}},"#,
                r#""allocatable":{{"cpu":"64","nvidia.com/gpu":"8","pods":"110"}},"#,
                r#""conditions":[{{"type":"Ready","status":"True","reason":"KubeletReady"}}],"#,
                r#""nodeInfo":{{"kernelVersion":"{kernel}","kubeletVersion":"v1.33.5","#,
                r#""containerRuntimeVersion":"containerd://1.7.28","osImage":"Ubuntu 22.04.5 LTS"}}}}}}"#,
                "\n]}}\n"
            ),
            node = self.node,
            kernel = self.setting("kernel"),
        )
    }

    fn journal(&self) -> String {
        let lines = [
            "IPv6: ADDRCONF(NETDEV_CHANGE): eth0: link becomes ready",
            "mce: CPU17: Core temperature above threshold, cpu clock throttled (total events = 4)",
        ];
        let lines = lines.iter().enumerate().map(|(at, line)| {
            let micros = (self.at - TimeDelta::minutes(30)).timestamp_micros() + i64::try_from(at).unwrap_or(0);
            let priority = if at == 0 { 6 } else { 4 };
            format!(
                r#"{{"__REALTIME_TIMESTAMP":"{micros}","_TRANSPORT":"kernel","PRIORITY":"{priority}","SYSLOG_IDENTIFIER":"kernel","MESSAGE":"{line}"}}"#
            ) + "\n"
        });
        lines.collect()
    }
}
