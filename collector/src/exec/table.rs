//! Every command that the collector can run, in one table. Each only inspects, by its own documentation; nothing is
//! run that is not listed here.

use std::time::Duration;

/// One command line. A `<name>` in an argument is filled in when it runs.
#[derive(Debug)]
pub struct Spec {
    /// Its name: the stem of its output's file in `commands/`.
    pub id: &'static str,
    /// The file name of its output where it is not `<id>.out`.
    pub file: Option<&'static str>,
    /// The program's name, looked for in the fixed list of directories.
    pub program: &'static str,
    /// Its arguments.
    pub args: &'static [&'static str],
    /// It is stopped after this.
    pub timeout: Duration,
    /// The most bytes taken from its standard output.
    pub max_bytes: u64,
    /// Root's rights are given up for it: with them it would write although it only asks.
    pub as_nobody: bool,
}

const fn spec(id: &'static str, program: &'static str, args: &'static [&'static str]) -> Spec {
    Spec {
        id,
        file: None,
        program,
        args,
        timeout: Duration::from_secs(15),
        max_bytes: 16 << 20,
        as_nobody: false,
    }
}

const fn slow(spec: Spec, seconds: u64, max_bytes: u64) -> Spec {
    Spec {
        timeout: Duration::from_secs(seconds),
        max_bytes,
        ..spec
    }
}

/// Rules of a firewall: with kube-proxy and thousands of services there are 100,000 and more, and nft needs half a minute
/// for them.
const fn rules(spec: Spec) -> Spec {
    slow(spec, 60, 128 << 20)
}

/// etcd asked about itself with the certificate that kubeadm makes for health checks.
const fn etcdctl(what: &'static str) -> [&'static str; 9] {
    [
        "--endpoints=https://127.0.0.1:2379",
        "--cacert=/etc/kubernetes/pki/etcd/ca.crt",
        "--cert=/etc/kubernetes/pki/etcd/healthcheck-client.crt",
        "--key=/etc/kubernetes/pki/etcd/healthcheck-client.key",
        "--command-timeout=8s",
        "--write-out=json",
        "endpoint",
        what,
        "--cluster",
    ]
}

/// The fields of a journal record that a diagnosis uses; all others stay on the node.
const FIELDS: &str = "--output-fields=_BOOT_ID,PRIORITY,_PID,_COMM,_SYSTEMD_UNIT,UNIT,SYSLOG_IDENTIFIER,_TRANSPORT,_HOSTNAME,MESSAGE";

/// All of them, sorted by id.
pub static COMMANDS: &[Spec] = &[
    slow(
        spec("amd-smi-list", "amd-smi", &["list", "--json"]),
        20,
        1 << 20,
    ),
    slow(
        spec("amd-smi-metric", "amd-smi", &["metric", "--json"]),
        20,
        8 << 20,
    ),
    slow(
        spec("amd-smi-static", "amd-smi", &["static", "--json"]),
        20,
        8 << 20,
    ),
    spec("chronyc-sources", "chronyc", &["-n", "sources", "-v"]),
    spec("chronyc-tracking", "chronyc", &["-n", "tracking"]),
    spec("conntrack-stats", "conntrack", &["-S"]),
    spec("containerd-version", "<program>", &["--version"]),
    slow(
        spec("dcgmi-discovery", "dcgmi", &["discovery", "-l"]),
        10,
        1 << 20,
    ),
    // Of watches that somebody has set already; it sets none.
    slow(
        spec("dcgmi-health", "dcgmi", &["health", "-g", "0", "-c"]),
        10,
        1 << 20,
    ),
    slow(spec("dcgmi-version", "dcgmi", &["-v"]), 10, 1 << 20),
    spec("devlink-dev", "devlink", &["dev", "info"]),
    slow(
        spec("devlink-health", "devlink", &["-j", "health", "show"]),
        10,
        1 << 20,
    ),
    spec("df", "df", &["-B1", "-T", "-a", "-l"]),
    spec("df-inodes", "df", &["-i", "-l"]),
    slow(spec("dkms-status", "dkms", &["status"]), 10, 1 << 20),
    spec("dmesg", "dmesg", &["--time-format=iso", "--decode"]),
    slow(
        spec("dmidecode", "dmidecode", &["-t", "0,1,2,9,16,17"]),
        10,
        4 << 20,
    ),
    spec("docker-info", "docker", &["info", "--format", "{{json .}}"]),
    spec(
        "docker-inspect",
        "docker",
        &["inspect", "--format", "{{json .}}", "<container>"],
    ),
    spec(
        "docker-logs",
        "docker",
        &["logs", "--timestamps", "--tail", "200", "<container>"],
    ),
    spec(
        "docker-ps",
        "docker",
        &["ps", "--all", "--no-trunc", "--format", "{{json .}}"],
    ),
    spec(
        "dpkg-packages",
        "dpkg-query",
        &[
            "--show",
            "--showformat=${binary:Package} ${Version} ${db:Status-Abbrev}\n",
        ],
    ),
    slow(spec("edac-util", "edac-util", &["-v"]), 10, 1 << 20),
    slow(
        spec("etcd-health", "etcdctl", &const { etcdctl("health") }),
        20,
        1 << 20,
    ),
    slow(
        spec("etcd-status", "etcdctl", &const { etcdctl("status") }),
        20,
        1 << 20,
    ),
    spec("ethtool-driver", "ethtool", &["-i", "<interface>"]),
    spec("ethtool-features", "ethtool", &["-k", "<interface>"]),
    spec("ethtool-module", "ethtool", &["-m", "<interface>"]),
    spec("ethtool-statistics", "ethtool", &["-S", "<interface>"]),
    slow(
        spec("fabricmanager-version", "nv-fabricmanager", &["--version"]),
        10,
        64 << 10,
    ),
    spec("firewall-cmd", "firewall-cmd", &["--list-all-zones"]),
    slow(
        spec("imex-status", "nvidia-imex-ctl", &["-N", "-j"]),
        10,
        1 << 20,
    ),
    slow(
        spec("imex-version", "nvidia-imex", &["--version"]),
        10,
        64 << 10,
    ),
    spec("ip-addr", "ip", &["-j", "addr"]),
    spec("ip-link", "ip", &["-j", "-s", "-d", "link"]),
    spec("ip-neigh", "ip", &["-j", "neigh"]),
    spec("ip-netconf", "ip", &["-j", "netconf"]),
    spec("ip-route", "ip", &["-j", "route", "show", "table", "all"]),
    spec("ip-rule", "ip", &["-j", "rule"]),
    spec(
        "ip6-route",
        "ip",
        &["-6", "-j", "route", "show", "table", "all"],
    ),
    spec("ip6-rule", "ip", &["-6", "-j", "rule"]),
    rules(spec(
        "ip6tables-legacy-save",
        "ip6tables-legacy-save",
        &["-c"],
    )),
    rules(spec("ip6tables-nft-save", "ip6tables-nft-save", &["-c"])),
    rules(spec("ip6tables-save", "ip6tables-save", &["-c"])),
    rules(spec(
        "iptables-legacy-save",
        "iptables-legacy-save",
        &["-c"],
    )),
    rules(spec("iptables-nft-save", "iptables-nft-save", &["-c"])),
    rules(spec("iptables-save", "iptables-save", &["-c"])),
    slow(
        spec("ipmitool-sdr", "ipmitool", &["sdr", "elist"]),
        20,
        1 << 20,
    ),
    slow(
        spec("ipmitool-sel", "ipmitool", &["sel", "elist"]),
        20,
        4 << 20,
    ),
    rules(spec("ipset-list", "ipset", &["list"])),
    slow(
        spec(
            "journal",
            "journalctl",
            &[
                "--no-pager",
                "-q",
                "-o",
                "json",
                FIELDS,
                "--since=<since>",
                "<until>",
                "<boot>",
                "<match>",
                "<place>",
            ],
        ),
        60,
        u64::MAX,
    ),
    slow(
        spec(
            "journal-boots",
            "journalctl",
            &["--no-pager", "-q", "--list-boots", "<place>"],
        ),
        30,
        1 << 20,
    ),
    slow(
        spec(
            "journal-newest",
            "journalctl",
            &[
                "--no-pager",
                "-q",
                "-o",
                "json",
                FIELDS,
                "-r",
                "--since=<since>",
                "<until>",
                "<boot>",
                "<match>",
                "<place>",
            ],
        ),
        60,
        u64::MAX,
    ),
    slow(
        spec(
            "journal-units",
            "journalctl",
            &["--no-pager", "-q", "-F", "_SYSTEMD_UNIT", "<place>"],
        ),
        30,
        4 << 20,
    ),
    spec(
        "lsblk",
        "lsblk",
        &[
            "--json",
            "--output",
            "NAME,TYPE,SIZE,FSTYPE,MOUNTPOINT,MODEL,ROTA,RO",
        ],
    ),
    spec("lsmod", "lsmod", &[]),
    spec("lspci", "lspci", &["-nnk"]),
    spec("lspci-tree", "lspci", &["-tv"]),
    slow(spec("lspci-verbose", "lspci", &["-vvvnn"]), 20, 16 << 20),
    spec("modinfo-nvidia", "modinfo", &["nvidia"]),
    spec("mokutil-sb-state", "mokutil", &["--sb-state"]),
    rules(spec("nft-list-ruleset", "nft", &["list", "ruleset"])),
    spec(
        "nvidia-container-cli",
        "nvidia-container-cli",
        &["--version"],
    ),
    spec("nvidia-ctk", "nvidia-ctk", &["--version"]),
    slow(spec("nvlsm-version", "nvlsm", &["--version"]), 10, 64 << 10),
    slow(
        spec("nvme-list", "nvme", &["list", "-o", "json"]),
        10,
        1 << 20,
    ),
    slow(spec("nvidia-smi", "nvidia-smi", &[]), 20, 4 << 20),
    slow(spec("nvidia-smi-L", "nvidia-smi", &["-L"]), 20, 1 << 20),
    slow(
        spec(
            "nvidia-smi-conf-compute",
            "nvidia-smi",
            &["conf-compute", "-f"],
        ),
        20,
        64 << 10,
    ),
    // Drivers before 550 know neither this nor what several GPUs of a confidential machine are.
    slow(
        spec(
            "nvidia-smi-conf-compute-q",
            "nvidia-smi",
            &["conf-compute", "-q"],
        ),
        20,
        64 << 10,
    ),
    slow(
        spec(
            "nvidia-smi-conf-compute-ready",
            "nvidia-smi",
            &["conf-compute", "-grs"],
        ),
        20,
        64 << 10,
    ),
    slow(
        spec("nvidia-smi-nvlink", "nvidia-smi", &["nvlink", "--status"]),
        20,
        4 << 20,
    ),
    slow(
        spec("nvidia-smi-nvlink-errors", "nvidia-smi", &["nvlink", "-e"]),
        20,
        4 << 20,
    ),
    slow(
        spec(
            "nvidia-smi-memory",
            "nvidia-smi",
            &["-q", "-d", "ECC,PAGE_RETIREMENT,ROW_REMAPPER"],
        ),
        20,
        8 << 20,
    ),
    Spec {
        file: Some("nvidia-smi-q.xml"),
        ..slow(
            spec("nvidia-smi-q", "nvidia-smi", &["-q", "-x"]),
            25,
            32 << 20,
        )
    },
    slow(
        spec("nvidia-smi-topo", "nvidia-smi", &["topo", "-m"]),
        20,
        4 << 20,
    ),
    slow(
        spec("nvidia-smi-topo-p2p", "nvidia-smi", &["topo", "-p2p", "r"]),
        20,
        4 << 20,
    ),
    slow(
        spec("nvidia-smi-vgpu", "nvidia-smi", &["vgpu", "-q"]),
        20,
        1 << 20,
    ),
    Spec {
        file: Some("nvml.json"),
        ..slow(spec("nvml", "<program>", &["<library>"]), 20, 16 << 20)
    },
    spec("ofed-info", "ofed_info", &["-s"]),
    slow(
        spec("ras-mc-ctl-errors", "ras-mc-ctl", &["--errors"]),
        10,
        4 << 20,
    ),
    slow(
        spec("ras-mc-ctl-summary", "ras-mc-ctl", &["--summary"]),
        10,
        1 << 20,
    ),
    spec("rdma-link", "rdma", &["link", "show"]),
    spec("resolvectl-status", "resolvectl", &["status", "--no-pager"]),
    slow(
        spec("rocm-smi", "rocm-smi", &["--showallinfo", "--json"]),
        20,
        8 << 20,
    ),
    // The database is for all to read. Where root asks, SQLite marks the reader in its rpmdb.sqlite-shm.
    Spec {
        as_nobody: true,
        ..slow(
            spec(
                "rpm-packages",
                "rpm",
                &[
                    "--query",
                    "--all",
                    "--queryformat=%{NAME} %{VERSION}-%{RELEASE}.%{ARCH} %{INSTALLTIME:date}\n",
                ],
            ),
            20,
            16 << 20,
        )
    },
    spec("sensors", "sensors", &["-A"]),
    spec("smartctl", "smartctl", &["--json", "--all", "<device>"]),
    spec("snap-list", "snap", &["list", "--all"]),
    spec("ss-listening", "ss", &["-tulpn"]),
    spec(
        "systemctl-failed",
        "systemctl",
        &["list-units", "--failed", "--no-pager", "--plain", "--full"],
    ),
    spec(
        "systemctl-show",
        "systemctl",
        &[
            "show",
            "--no-pager",
            "--property=Id,LoadState,ActiveState,SubState,Result,NRestarts,ExecMainCode,ExecMainStatus,ActiveEnterTimestamp,InactiveEnterTimestamp,FragmentPath,DropInPaths,MemoryCurrent,MemoryMax,TasksCurrent,TasksMax",
            "kubelet*.service",
            "containerd*.service",
            "docker*.service",
            "crio*.service",
            "k3s*.service",
            "rke2*.service",
            "k0s*.service",
            "snap.k8s.*.service",
            "snap.microk8s.*.service",
            "nvidia*.service",
            "nv*.service",
            "dcgm*.service",
            "rasdaemon.service",
        ],
    ),
    spec(
        "systemctl-units",
        "systemctl",
        &["list-units", "--all", "--no-pager", "--plain", "--full"],
    ),
    spec("tc-qdisc", "tc", &["-s", "qdisc", "show"]),
    spec("timedatectl", "timedatectl", &["show"]),
    spec("ufw-status-verbose", "ufw", &["status", "verbose"]),
    slow(
        spec("xpu-smi-discovery", "xpu-smi", &["discovery", "-j"]),
        20,
        1 << 20,
    ),
    slow(
        spec("xpu-smi-health", "xpu-smi", &["health", "-l", "-j"]),
        20,
        1 << 20,
    ),
];

/// The command of this id.
pub fn find(id: &str) -> Option<&'static Spec> {
    COMMANDS.iter().find(|spec| spec.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique() {
        let ids: std::collections::BTreeSet<_> = COMMANDS.iter().map(|spec| spec.id).collect();
        assert_eq!(ids.len(), COMMANDS.len());
    }
}
