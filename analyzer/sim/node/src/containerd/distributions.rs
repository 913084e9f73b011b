//! Who ships a containerd, and where each of them keeps its files.

use serde::Serialize;

use super::config::DEFAULT_CONFIG;
use super::instances::DEFAULT_SOCKET;

/// Who ships a containerd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InstanceKind {
    /// The distribution's or Docker's package, unit `containerd.service`.
    System,
    /// Canonical Kubernetes (`k8s` snap).
    K8sSnap,
    /// MicroK8s.
    Microk8s,
    /// Embedded in K3s.
    K3s,
    /// Embedded in RKE2.
    Rke2,
    /// Embedded in k0s.
    K0s,
    /// Docker's private one, started by dockerd: never the kubelet's.
    Docker,
    /// Anything else.
    Other,
}

/// A config file that a distribution uses, looked for even where no process was captured.
pub(super) struct KnownPlace {
    pub(super) kind: InstanceKind,
    pub(super) config: &'static str,
    /// A file of arguments, one a line.
    pub(super) args: Option<&'static str>,
    pub(super) unit: &'static str,
    pub(super) socket: &'static str,
}

pub(super) const PLACES: [KnownPlace; 9] = [
    KnownPlace {
        kind: InstanceKind::K8sSnap,
        config: "/etc/containerd/config.toml",
        args: Some("/var/snap/k8s/common/args/containerd"),
        unit: "snap.k8s.containerd.service",
        socket: DEFAULT_SOCKET,
    },
    // After the snap that may own the same file.
    KnownPlace {
        kind: InstanceKind::System,
        config: DEFAULT_CONFIG,
        args: None,
        unit: "containerd.service",
        socket: DEFAULT_SOCKET,
    },
    KnownPlace {
        kind: InstanceKind::K8sSnap,
        config: "/var/lib/k8s-containerd/k8s-containerd/etc/containerd/config.toml",
        args: None,
        unit: "snap.k8s.containerd.service",
        socket: "/var/lib/k8s-containerd/k8s-containerd/run/containerd/containerd.sock",
    },
    KnownPlace {
        kind: InstanceKind::Microk8s,
        config: "/var/snap/microk8s/current/args/containerd.toml",
        args: Some("/var/snap/microk8s/current/args/containerd"),
        unit: "snap.microk8s.daemon-containerd.service",
        socket: "/var/snap/microk8s/common/run/containerd.sock",
    },
    KnownPlace {
        kind: InstanceKind::K3s,
        config: "/var/lib/rancher/k3s/agent/etc/containerd/config.toml",
        args: None,
        unit: "",
        socket: "/run/k3s/containerd/containerd.sock",
    },
    KnownPlace {
        kind: InstanceKind::Rke2,
        config: "/var/lib/rancher/rke2/agent/etc/containerd/config.toml",
        args: None,
        unit: "",
        socket: "/run/k3s/containerd/containerd.sock",
    },
    KnownPlace {
        kind: InstanceKind::K0s,
        config: "/etc/k0s/containerd.toml",
        args: None,
        unit: "",
        socket: "/run/k0s/containerd.sock",
    },
    KnownPlace {
        kind: InstanceKind::Docker,
        config: "/var/run/docker/containerd/containerd.toml",
        args: None,
        unit: "docker.service",
        socket: "/run/docker/containerd/containerd.sock",
    },
    KnownPlace {
        kind: InstanceKind::Docker,
        config: "/run/docker/containerd/containerd.toml",
        args: None,
        unit: "docker.service",
        socket: "/run/docker/containerd/containerd.sock",
    },
];

/// Tells from its config path, executable and unit who ships a containerd.
pub(super) fn kind_of(config: &str, exe: &str, unit: &str) -> InstanceKind {
    let has = |part: &str| config.contains(part) || exe.contains(part);
    if config.contains("/docker/containerd/") {
        InstanceKind::Docker
    } else if has("/rke2/") {
        InstanceKind::Rke2
    } else if has("/k3s/") {
        InstanceKind::K3s
    } else if has("/k0s/") {
        InstanceKind::K0s
    } else if has("microk8s") || unit.contains("microk8s") {
        InstanceKind::Microk8s
    } else if has("/snap/k8s/") || has("k8s-containerd") || unit.starts_with("snap.k8s.") {
        InstanceKind::K8sSnap
    } else if unit == "containerd.service" || config == DEFAULT_CONFIG {
        InstanceKind::System
    } else {
        InstanceKind::Other
    }
}
