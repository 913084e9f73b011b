//! Derived facts about container runtimes: instances, handlers, and what the NVIDIA toolkit targets.

use serde::Serialize;

use super::fact;

fact! {
    /// A containerd instance on a node.
    #[derive(Debug, Clone, Default, Serialize)]
    "containerd-instance" = pub struct ContainerdInstance {
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
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// Whether a handler that a RuntimeClass names exists in an instance.
    #[derive(Debug, Clone, Default, Serialize)]
    "handler-check" = pub struct HandlerCheck {
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
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// Which containerd the NVIDIA container toolkit was told to configure.
    #[derive(Debug, Clone, Default, Serialize)]
    "toolkit-target" = pub struct ToolkitTarget {
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
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// Something wrong with an instance's configuration.
    #[derive(Debug, Clone, Default, Serialize)]
    "containerd-config-fault" = pub struct ConfigFault {
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
    subject = |fact| format!("node/{}", fact.node);
}
