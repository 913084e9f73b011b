//! What a bundle may hold, source by source: the one list of both programs.
//!
//! The collector has a file for each and takes its name from here; the analyzer knows from here which entries are a
//! source's, what rules may need, and what a person types where it is missing.

use serde::Serialize;

use crate::entry::{ANY, Entry};

/// What a source looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Files and commands of one node.
    Node,
    /// Objects of the cluster, through its API: one bundle that has it has it for all nodes.
    Cluster,
}

/// A source, as both programs speak of it.
#[derive(Debug)]
pub struct About {
    /// Its name on the command line, in the manifest and in rules: `snake_case`, the name of the collector's file.
    pub id: &'static str,
    /// What it is, for people.
    pub title: &'static str,
    /// The same in one to three words, for lists in a line.
    pub name: &'static str,
    /// Node or cluster.
    pub scope: Scope,
    /// True where a diagnosis asks for it: an input without a manifest is said to lack it. Others are told of only
    /// where a manifest names them.
    pub expected: bool,
    /// A read-only command that shows the heart of it, for causes that need it and did not get it.
    pub by_hand: Option<&'static str>,
    /// Entries that it writes, by the beginning of their path, [`ANY`] in it for any one name. Not all of them: those that tell
    /// that it is there. The first source that covers an entry has it.
    pub entries: &'static [Entry<'static>],
}

impl About {
    /// Whether it tells of the cluster, so that any node's bundle may hold it.
    pub fn is_of_cluster(&self) -> bool {
        self.scope == Scope::Cluster
    }
}

/// The source with this id.
pub fn find(id: &str) -> Option<&'static About> {
    SOURCES.iter().copied().find(|source| source.id == id)
}

/// Writes a static for each source, the list of them, and a macro that hands the ids on, so that the collector's modules are
/// these and no others.
macro_rules! sources {
    ($dollar:tt $($name:ident $id:ident { $($fields:tt)* })*) => {
        $(
            #[doc = concat!("The source `", stringify!($id), "`.")]
            pub static $name: About = About { id: stringify!($id), $($fields)* };
        )*
        /// Calls a macro with the ids of all sources.
        #[macro_export]
        macro_rules! each_source {
            ($dollar then:ident) => {
                $dollar then! { $($id)* }
            };
        }
        /// All of them, in the order of reports.
        pub static SOURCES: &[&About] = &[$(&$name),*];
    };
}

sources! { $
    CLUSTER_OBJECTS cluster_objects {
        title: "Kubernetes objects",
        name: "objects",
        scope: Scope::Cluster,
        expected: true,
        by_hand: Some("kubectl get pods -A -o wide; kubectl describe node <node>"),
        entries: &[Entry::ListIn("pods", ANY), Entry::List("nodes")],
    }
    CLUSTER_EVENTS cluster_events {
        title: "Kubernetes events",
        name: "events",
        scope: Scope::Cluster,
        expected: true,
        by_hand: Some("kubectl get events -A --sort-by=.lastTimestamp"),
        entries: &[Entry::Objects("events/")],
    }
    CLUSTER_POD_LOGS cluster_pod_logs {
        title: "Pod logs",
        name: "pod logs",
        scope: Scope::Cluster,
        expected: true,
        by_hand: Some("kubectl logs -n <namespace> <pod> --all-containers --previous --tail=200"),
        entries: &[Entry::PodLog("")],
    }
    HELM_RELEASES helm_releases {
        title: "Helm values",
        name: "Helm values",
        scope: Scope::Cluster,
        expected: true,
        by_hand: Some("helm list -A; helm get values -n <namespace> <release> --all"),
        entries: &[Entry::Helm(ANY, ANY, "")],
    }
    CONTAINERD_CONFIG containerd_config {
        title: "containerd configuration",
        name: "containerd",
        scope: Scope::Node,
        expected: true,
        by_hand: Some("ps -eo args | grep -e '[c]ontainerd' -e '[k]ubelet'; cat <the file after --config>"),
        // Distributions keep it below folders of their own.
        entries: &[
            Entry::Node(ANY, "containerd.json"),
            Entry::Rootfs(ANY, "etc/containerd/"),
            Entry::Rootfs(ANY, "var/snap/microk8s/current/args/containerd"),
            Entry::Rootfs(ANY, "var/snap/k8s/common/args/containerd"),
            Entry::Rootfs(ANY, "var/lib/rancher/k3s/agent/etc/containerd/"),
            Entry::Rootfs(ANY, "var/lib/rancher/rke2/agent/etc/containerd/"),
        ],
    }
    KUBELET_CONFIG kubelet_config {
        title: "Kubelet configuration",
        name: "kubelet",
        scope: Scope::Node,
        expected: true,
        by_hand: Some("ps -eo args | grep '[k]ubelet'; cat /var/lib/kubelet/config.yaml"),
        entries: &[
            Entry::Rootfs(ANY, "var/lib/kubelet/"),
            Entry::Rootfs(ANY, "var/snap/microk8s/current/args/kubelet"),
            Entry::Rootfs(ANY, "var/snap/k8s/common/args/kubelet"),
            Entry::Node(ANY, "processes.json"),
        ],
    }
    JOURNAL journal {
        title: "System journal",
        name: "journal",
        scope: Scope::Node,
        expected: true,
        by_hand: Some("journalctl --since -2h -u kubelet -u containerd; journalctl -k --since -2h"),
        entries: &[Entry::Journal(ANY, "")],
    }
    FIREWALL firewall {
        title: "Firewall rules",
        name: "firewall",
        scope: Scope::Node,
        expected: true,
        by_hand: Some("iptables-save; ufw status verbose"),
        entries: &[
            Entry::Printed(ANY, "iptables-save"),
            Entry::Printed(ANY, "ufw-status-verbose"),
            Entry::Rootfs(ANY, "etc/ufw/"),
        ],
    }
    NVIDIA_SMI nvidia_smi {
        title: "nvidia-smi",
        name: "nvidia-smi",
        scope: Scope::Node,
        expected: true,
        by_hand: Some("nvidia-smi -q"),
        entries: &[Entry::Command(ANY, "nvidia-smi")],
    }
    HOST_INFO host_info {
        title: "Host information",
        name: "system",
        scope: Scope::Node,
        expected: true,
        by_hand: Some("uname -a; cat /etc/os-release; timedatectl; df -h"),
        entries: &[Entry::Rootfs(ANY, "etc/os-release"), Entry::Printed(ANY, "uname")],
    }
    CERTIFICATES certificates {
        title: "Certificates: owners and dates",
        name: "certificates",
        scope: Scope::Node,
        expected: false,
        by_hand: Some("openssl x509 -noout -subject -issuer -dates -in <certificate>"),
        entries: &[Entry::Host(ANY, "certificates.json")],
    }
    CLUSTER_NODE_LOGS cluster_node_logs {
        title: "Journals of other nodes",
        name: "journals of other nodes",
        scope: Scope::Cluster,
        expected: false,
        by_hand: Some("kubectl get --raw \"/api/v1/nodes/<node>/proxy/logs/?query=kubelet\""),
        entries: &[],
    }
    CONTAINER_RUNTIMES container_runtimes {
        title: "CRI-O, Docker, NVIDIA container toolkit, device specifications",
        name: "runtime files",
        scope: Scope::Node,
        expected: false,
        by_hand: Some("docker info; crio config; cat /etc/nvidia-container-runtime/config.toml; ls /etc/cdi /var/run/cdi"),
        entries: &[
            Entry::Printed(ANY, "docker-info"),
            Entry::Rootfs(ANY, "etc/docker/"),
            Entry::Rootfs(ANY, "etc/crio/"),
            Entry::Rootfs(ANY, "etc/nvidia-container-runtime/"),
            Entry::Rootfs(ANY, "etc/cdi/"),
        ],
    }
    CRI cri {
        title: "Container runtimes, as they answer over CRI",
        name: "container runtimes",
        scope: Scope::Node,
        expected: false,
        by_hand: Some("crictl info; crictl pods; crictl ps -a; crictl images"),
        entries: &[Entry::Node(ANY, "cri.json"), Entry::Node(ANY, "cri/")],
    }
    ETCD etcd {
        title: "etcd's health",
        name: "etcd",
        scope: Scope::Node,
        expected: false,
        by_hand: Some("etcdctl endpoint health --cluster; etcdctl endpoint status --cluster"),
        entries: &[Entry::Command(ANY, "etcd-")],
    }
    HARDWARE hardware {
        title: "PCI tree, memory errors, power and temperatures",
        name: "hardware",
        scope: Scope::Node,
        expected: false,
        by_hand: Some("lspci -tv; ipmitool sel elist; cat /proc/interrupts"),
        entries: &[
            Entry::Command(ANY, "lspci"),
            Entry::Printed(ANY, "dmidecode"),
            Entry::Rootfs(ANY, "proc/interrupts"),
        ],
    }
    INFINIBAND infiniband {
        title: "InfiniBand adapters and ports",
        name: "InfiniBand",
        scope: Scope::Node,
        expected: false,
        by_hand: Some("ibstat; rdma link"),
        entries: &[Entry::Host(ANY, "infiniband.json")],
    }
    NETWORK network {
        title: "Links, neighbours, sockets and network settings",
        name: "network",
        scope: Scope::Node,
        expected: false,
        by_hand: Some("ip -d link; ip neigh; ss -tuln; sysctl net"),
        entries: &[Entry::Printed(ANY, "ip-link"), Entry::Host(ANY, "links.json"), Entry::Host(ANY, "sysctl.txt")],
    }
    NODE_PROXY node_proxy {
        title: "Kubelet and GPU metrics, asked through the API server",
        name: "kubelet metrics",
        scope: Scope::Cluster,
        expected: false,
        by_hand: Some("kubectl get --raw /api/v1/nodes/<node>/proxy/stats/summary"),
        entries: &[],
    }
    NVIDIA_DRIVER nvidia_driver {
        title: "NVIDIA driver: devices, modules, libraries, daemons",
        name: "NVIDIA driver",
        scope: Scope::Node,
        expected: false,
        by_hand: Some("cat /proc/driver/nvidia/version; lsmod | grep nvidia; ls -l /dev/nvidia*"),
        entries: &[Entry::Host(ANY, "libraries.json"), Entry::Host(ANY, "pci.json")],
    }
    NVIDIA_FABRIC nvidia_fabric {
        title: "Fabric Manager, NVSwitch, IMEX, DCGM, logs of NVIDIA's tools",
        name: "GPU fabric",
        scope: Scope::Node,
        expected: false,
        by_hand: Some("systemctl status nvidia-fabricmanager; nvidia-smi nvlink -s; nvidia-smi topo -m"),
        entries: &[
            Entry::Command(ANY, "nvidia-smi-nvlink"),
            Entry::Command(ANY, "imex-status"),
            Entry::Rootfs(ANY, "var/log/fabricmanager"),
            Entry::Rootfs(ANY, "run/nvidia/mps"),
        ],
    }
    OTHER_GPUS other_gpus {
        title: "AMD and Intel GPUs",
        name: "AMD and Intel GPUs",
        scope: Scope::Node,
        expected: false,
        by_hand: Some("amd-smi static; rocm-smi; xpu-smi discovery"),
        entries: &[Entry::Command(ANY, "amd-smi"), Entry::Command(ANY, "rocm-smi"), Entry::Command(ANY, "xpu-smi")],
    }
    PACKAGES packages {
        title: "Installed packages and their latest changes",
        name: "packages",
        scope: Scope::Node,
        expected: false,
        by_hand: Some("dpkg -l; rpm -qa; cat /var/log/apt/history.log"),
        entries: &[Entry::Printed(ANY, "dpkg-packages"), Entry::Printed(ANY, "rpm-packages")],
    }
    POD_RESOURCES pod_resources {
        title: "Devices that the kubelet gave to containers",
        name: "devices of pods",
        scope: Scope::Node,
        expected: false,
        by_hand: Some("cat /var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"),
        entries: &[Entry::Host(ANY, "pod-resources.json")],
    }
    PROBE probe {
        title: "What the node itself can resolve and reach",
        name: "probes",
        scope: Scope::Node,
        expected: false,
        by_hand: Some("getent hosts <name>; nc -vz <address> <port>"),
        entries: &[Entry::Host(ANY, "probe.json")],
    }
    TASKS tasks {
        title: "Tasks that hang in the kernel, processes that hold GPU devices",
        name: "hanging tasks",
        scope: Scope::Node,
        expected: false,
        by_hand: Some("ps -eo pid,stat,wchan:32,args | awk '$2 ~ /D/'; fuser -v /dev/nvidia*"),
        entries: &[Entry::Host(ANY, "tasks.json"), Entry::Host(ANY, "device-holders.json")],
    }
}
