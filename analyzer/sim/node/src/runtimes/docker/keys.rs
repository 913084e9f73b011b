//! What dockerd knows by name: the keys of `daemon.json` and the flags, in each generation.
//!
//! Taken from the programs' own flags and the fields that they decode; `tests/daemons_real` compares the table with
//! them. A key is accepted where a flag has its name or its plural; only one that is a field of the file does something.

use Kind::{
    Bool, Bytes, Int, Ip, Ips, List, Map, Maps, Nothing, Pools, Runtimes, Switches, Table, Text,
    Ulimits,
};
use Release::{V20, V26, V28};

/// A generation whose rules for the configuration differ; each was compared with the program of that version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Release {
    /// Until 20.10.
    V20,
    /// 23 to 27, compared with 26.1.
    V26,
    /// From 28.
    V28,
}

/// All, oldest first.
pub const RELEASES: [Release; 3] = [V20, V26, V28];

impl Release {
    /// The generation of a version such as `26.1.5`; none where it is no version.
    #[must_use]
    pub fn of(version: &str) -> Option<Self> {
        let major = version.trim_start_matches('v').split('.').next()?;
        Some(match major.parse::<u32>().ok()? {
            0..=22 => V20,
            23..=27 => V26,
            _ => V28,
        })
    }

    /// How it is named in sentences.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            V20 => "20.10",
            V26 => "23 to 27",
            V28 => "28",
        }
    }
}

/// What a setting holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Int,
    Text,
    List,
    Map,
    /// Texts by name by name.
    Maps,
    /// Switches by name.
    Switches,
    Ip,
    Ips,
    /// A size with a unit.
    Bytes,
    Ulimits,
    Pools,
    Runtimes,
    /// A table whose keys are not looked at.
    Table,
    /// Accepted and never read.
    Nothing,
}

/// A setting.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    /// The field of the file; empty where only a flag exists.
    pub(super) field: &'static str,
    /// The flag; empty where only the file has it.
    pub(super) flag: &'static str,
    /// The flag's letter, or NUL.
    pub(super) letter: char,
    pub(super) kind: Kind,
    first: Release,
    last: Release,
}

const fn k(
    field: &'static str,
    flag: &'static str,
    letter: char,
    kind: Kind,
    first: Release,
    last: Release,
) -> Key {
    Key {
        field,
        flag,
        letter,
        kind,
        first,
        last,
    }
}

impl Key {
    /// What the settings are called here: the field, or the flag where there is none.
    pub(super) fn name(&self) -> &'static str {
        if self.field.is_empty() {
            self.flag
        } else {
            self.field
        }
    }
}

/// The settings of a generation.
pub(super) fn of(release: Release) -> impl Iterator<Item = &'static Key> {
    let known = KEYS.iter();
    known.filter(move |key| key.first <= release && release <= key.last)
}

/// The keys whose table is one value, rather than a group of keys.
pub(super) fn is_flat(key: &str, release: Release) -> bool {
    match key {
        "log-opts" | "runtimes" | "default-ulimits" | "features" | "builder"
        | "cluster-store-opts" => true,
        "default-network-opts" => release > V20,
        _ => false,
    }
}

#[rustfmt::skip]
const KEYS: &[Key] = &[
    k("allow-direct-routing", "allow-direct-routing", '\0', Bool, V28, V28),
    k("allow-nondistributable-artifacts", "allow-nondistributable-artifacts", '\0', List, V20, V26),
    k("", "allow-nondistributable-artifacts", '\0', List, V28, V28),
    k("api-cors-header", "api-cors-header", '\0', Text, V20, V28),
    k("authorization-plugins", "authorization-plugin", '\0', List, V20, V28),
    k("bip", "bip", '\0', Text, V20, V28),
    k("bip6", "bip6", '\0', Text, V28, V28),
    k("bridge", "bridge", 'b', Text, V20, V28),
    k("builder", "", '\0', Table, V20, V28),
    k("cdi-spec-dirs", "cdi-spec-dir", '\0', List, V26, V28),
    k("cgroup-parent", "cgroup-parent", '\0', Text, V20, V28),
    k("cluster-advertise", "cluster-advertise", '\0', Text, V20, V20),
    k("cluster-store", "cluster-store", '\0', Text, V20, V20),
    k("cluster-store-opts", "cluster-store-opt", '\0', Map, V20, V20),
    k("", "config-file", '\0', Text, V20, V28),
    k("containerd", "containerd", '\0', Text, V20, V28),
    k("containerd-namespace", "containerd-namespace", '\0', Text, V20, V28),
    k("", "containerd-plugins-namespace", '\0', Text, V20, V28),
    k("cpu-rt-period", "cpu-rt-period", '\0', Int, V20, V28),
    k("cpu-rt-runtime", "cpu-rt-runtime", '\0', Int, V20, V28),
    k("cri-containerd", "cri-containerd", '\0', Bool, V20, V28),
    k("data-root", "data-root", '\0', Text, V20, V28),
    k("debug", "debug", 'D', Bool, V20, V28),
    k("default-address-pools", "default-address-pool", '\0', Pools, V20, V28),
    k("default-cgroupns-mode", "default-cgroupns-mode", '\0', Text, V20, V28),
    k("default-gateway", "default-gateway", '\0', Ip, V20, V28),
    k("default-gateway-v6", "default-gateway-v6", '\0', Ip, V20, V28),
    k("default-ipc-mode", "default-ipc-mode", '\0', Text, V20, V28),
    k("default-network-opts", "default-network-opt", '\0', Maps, V26, V28),
    k("default-runtime", "default-runtime", '\0', Text, V20, V28),
    k("default-shm-size", "default-shm-size", '\0', Bytes, V20, V28),
    k("default-ulimits", "default-ulimit", '\0', Ulimits, V20, V28),
    k("deprecated-key-path", "", '\0', Nothing, V26, V28),
    k("dns", "dns", '\0', Ips, V20, V28),
    k("dns-opts", "dns-opt", '\0', List, V20, V28),
    k("dns-search", "dns-search", '\0', List, V20, V28),
    k("exec-opts", "exec-opt", '\0', List, V20, V28),
    k("exec-root", "exec-root", '\0', Text, V20, V28),
    k("experimental", "experimental", '\0', Bool, V20, V28),
    k("features", "", '\0', Switches, V20, V26),
    k("features", "feature", '\0', Switches, V28, V28),
    k("fixed-cidr", "fixed-cidr", '\0', Text, V20, V28),
    k("fixed-cidr-v6", "fixed-cidr-v6", '\0', Text, V20, V28),
    k("graph", "graph", 'g', Text, V20, V20),
    k("group", "group", 'G', Text, V20, V28),
    k("", "help", 'h', Bool, V20, V28),
    k("host-gateway-ip", "host-gateway-ip", '\0', Ip, V20, V26),
    k("host-gateway-ip", "", '\0', Ip, V28, V28),
    k("host-gateway-ips", "host-gateway-ip", '\0', Ips, V28, V28),
    k("hosts", "host", 'H', List, V20, V28),
    k("", "http-proxy", '\0', Text, V26, V28),
    k("", "https-proxy", '\0', Text, V26, V28),
    k("icc", "icc", '\0', Bool, V20, V28),
    k("init", "init", '\0', Bool, V20, V28),
    k("init-path", "init-path", '\0', Text, V20, V28),
    k("insecure-registries", "insecure-registry", '\0', List, V20, V28),
    k("ip", "ip", '\0', Ip, V20, V28),
    k("ip-forward", "ip-forward", '\0', Bool, V20, V28),
    k("ip-forward-no-drop", "ip-forward-no-drop", '\0', Bool, V28, V28),
    k("ip-masq", "ip-masq", '\0', Bool, V20, V28),
    k("ip6tables", "ip6tables", '\0', Bool, V20, V28),
    k("iptables", "iptables", '\0', Bool, V20, V28),
    k("ipv6", "ipv6", '\0', Bool, V20, V28),
    k("labels", "label", '\0', List, V20, V28),
    k("live-restore", "live-restore", '\0', Bool, V20, V28),
    k("log-driver", "log-driver", '\0', Text, V20, V28),
    k("log-format", "log-format", '\0', Text, V26, V28),
    k("log-level", "log-level", 'l', Text, V20, V28),
    k("log-opts", "log-opt", '\0', Map, V20, V28),
    k("max-concurrent-downloads", "max-concurrent-downloads", '\0', Int, V20, V28),
    k("max-concurrent-uploads", "max-concurrent-uploads", '\0', Int, V20, V28),
    k("max-download-attempts", "max-download-attempts", '\0', Int, V20, V28),
    k("metrics-addr", "metrics-addr", '\0', Text, V20, V28),
    k("mtu", "mtu", '\0', Int, V20, V28),
    k("network-control-plane-mtu", "network-control-plane-mtu", '\0', Int, V20, V28),
    k("network-diagnostic-port", "network-diagnostic-port", '\0', Int, V20, V28),
    k("no-new-privileges", "no-new-privileges", '\0', Bool, V20, V28),
    k("", "no-proxy", '\0', Text, V26, V28),
    k("node-generic-resources", "node-generic-resource", '\0', List, V20, V28),
    k("oom-score-adjust", "oom-score-adjust", '\0', Int, V20, V20),
    k("pidfile", "pidfile", 'p', Text, V20, V28),
    k("raw-logs", "raw-logs", '\0', Bool, V20, V28),
    k("registry-mirrors", "registry-mirror", '\0', List, V20, V28),
    k("", "restart", 'r', Bool, V20, V28),
    k("rootless", "rootless", '\0', Bool, V20, V28),
    k("runtimes", "add-runtime", '\0', Runtimes, V20, V28),
    k("seccomp-profile", "seccomp-profile", '\0', Text, V20, V28),
    k("selinux-enabled", "selinux-enabled", '\0', Bool, V20, V28),
    k("shutdown-timeout", "shutdown-timeout", '\0', Int, V20, V28),
    k("storage-driver", "storage-driver", 's', Text, V20, V28),
    k("storage-opts", "storage-opt", '\0', List, V20, V28),
    k("swarm-default-advertise-addr", "swarm-default-advertise-addr", '\0', Text, V20, V28),
    k("tls", "tls", '\0', Bool, V20, V28),
    k("tlscacert", "tlscacert", '\0', Text, V20, V28),
    k("tlscert", "tlscert", '\0', Text, V20, V28),
    k("tlskey", "tlskey", '\0', Text, V20, V28),
    k("tlsverify", "tlsverify", '\0', Bool, V20, V28),
    k("userland-proxy", "userland-proxy", '\0', Bool, V20, V28),
    k("userland-proxy-path", "userland-proxy-path", '\0', Text, V20, V28),
    k("userns-remap", "userns-remap", '\0', Text, V20, V28),
    k("", "validate", '\0', Bool, V26, V28),
    k("", "version", 'v', Bool, V20, V28),
];
