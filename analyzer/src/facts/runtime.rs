//! Derived facts about container runtimes: instances, handlers, and what the NVIDIA toolkit targets.

use serde::Serialize;

use super::{FactType, Field};

const fn field(name: &'static str, doc: &'static str) -> Field {
    Field { name, doc }
}

/// A containerd instance on a node.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ContainerdInstance {
    /// Node.
    pub node: String,
    /// Unit or config path that names the instance.
    pub id: String,
    /// Config file.
    pub config: String,
    /// Socket path.
    pub socket: String,
    /// Version, if known.
    pub version: String,
    /// Process id, if it runs.
    pub pid: Option<u64>,
    /// `yes`, `no` or `unknown`.
    pub used_by_kubelet: String,
    /// Runtime handlers that the CRI can use.
    pub handlers: Vec<String>,
    /// Default runtime.
    pub default_runtime: String,
    /// Whether a handler with an NVIDIA runtime exists.
    pub has_nvidia: bool,
    /// Whether the config could be resolved in full.
    pub complete: bool,
    /// Config files were changed after the process started: `yes`, `no` or `unknown`.
    pub stale: String,
}

impl FactType for ContainerdInstance {
    const KIND: &'static str = "containerd-instance";
    const FIELDS: &'static [Field] = &[
        field("node", "node"),
        field("id", "unit or config path"),
        field("config", "config file"),
        field("socket", "socket"),
        field("version", "version"),
        field("pid", "process id"),
        field("used_by_kubelet", "yes, no or unknown"),
        field("handlers", "runtime handlers"),
        field("default_runtime", "default runtime"),
        field("has_nvidia", "defines an NVIDIA runtime"),
        field("complete", "config resolved in full"),
        field("stale", "config changed after the process started"),
    ];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}

/// Whether a handler that a RuntimeClass names exists in an instance.
#[derive(Debug, Clone, Default, Serialize)]
pub struct HandlerCheck {
    /// Node.
    pub node: String,
    /// Instance id.
    pub instance: String,
    /// `yes`, `no` or `unknown`.
    pub used_by_kubelet: String,
    /// Handler asked for.
    pub handler: String,
    /// `yes`, `no` or `unknown`.
    pub resolves: String,
    /// Why, as a sentence.
    pub because: String,
}

impl FactType for HandlerCheck {
    const KIND: &'static str = "handler-check";
    const FIELDS: &'static [Field] = &[
        field("node", "node"),
        field("instance", "instance"),
        field("used_by_kubelet", "yes, no or unknown"),
        field("handler", "handler asked for"),
        field("resolves", "yes, no or unknown"),
        field("because", "why"),
    ];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}

/// Which containerd the NVIDIA container toolkit was told to configure.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ToolkitTarget {
    /// Node.
    pub node: String,
    /// Who was told: `daemonset/<ns>/<name>`, `pod/...` or `helmrelease/<ns>/<name>`.
    pub told: String,
    /// Config file it writes.
    pub config: String,
    /// Socket it signals.
    pub socket: String,
    /// `environment`, `helm values`, `default`: where that comes from.
    pub origin: String,
    /// Instance that reads that file; empty if none does.
    pub instance: String,
    /// Instance that the kubelet uses; empty if unknown.
    pub kubelet_instance: String,
    /// Config file of the kubelet's instance.
    pub kubelet_config: String,
    /// Socket of the kubelet's instance.
    pub kubelet_socket: String,
    /// Whether it is the kubelet's: `yes`, `no` or `unknown`.
    pub matches_kubelet: String,
    /// Whether the socket is the kubelet's: `yes`, `no` or `unknown`.
    pub socket_matches_kubelet: String,
    /// Whether an NVIDIA handler stands in the config it wrote.
    pub wrote_handler: bool,
    /// Helm release of the GPU Operator; empty if there is none.
    pub release: String,
    /// Its namespace.
    pub release_namespace: String,
    /// Its chart version.
    pub release_version: String,
}

impl FactType for ToolkitTarget {
    const KIND: &'static str = "toolkit-target";
    const FIELDS: &'static [Field] = &[
        field("node", "node"),
        field("told", "workload or release that was told"),
        field("config", "config file it writes"),
        field("socket", "socket it signals"),
        field("origin", "where that comes from"),
        field("instance", "instance that reads the file"),
        field("kubelet_instance", "instance that the kubelet uses"),
        field("kubelet_config", "config of the kubelet's instance"),
        field("kubelet_socket", "socket of the kubelet's instance"),
        field("matches_kubelet", "yes, no or unknown"),
        field("socket_matches_kubelet", "yes, no or unknown"),
        field("wrote_handler", "an NVIDIA handler stands in that config"),
        field("release", "helm release of the GPU Operator"),
        field("release_namespace", "namespace of that release"),
        field("release_version", "chart version of that release"),
    ];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}

/// Something wrong with an instance's configuration.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ConfigFault {
    /// Node.
    pub node: String,
    /// Instance id.
    pub instance: String,
    /// `yes`, `no` or `unknown`.
    pub used_by_kubelet: String,
    /// Kind, e.g. `toml-error`, `cri-disabled`, `import-not-found`, `dropin-not-imported`.
    pub fault: String,
    /// What this release does about it: `refuses-to-start`, `cri-refuses`, `cri-disabled`, `handler-unusable`,
    /// `ignored`, `harmless` or `uncertain`.
    pub effect: String,
    /// What is wrong, as a sentence.
    pub detail: String,
}

impl FactType for ConfigFault {
    const KIND: &'static str = "containerd-config-fault";
    const FIELDS: &'static [Field] = &[
        field("node", "node"),
        field("instance", "instance"),
        field("used_by_kubelet", "yes, no or unknown"),
        field("fault", "kind of fault"),
        field(
            "effect",
            "what this release does about it: refuses-to-start, cri-refuses, cri-disabled, handler-unusable, ignored, harmless or uncertain",
        ),
        field("detail", "what is wrong"),
    ];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}
