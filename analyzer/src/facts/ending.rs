//! Derived facts about ends: why a container ended, why a pod was evicted, what happened to a node and what came
//! first, certificates and the clock.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::fact;

fact! {
    /// Why a container ended, from its status, the kernel, events and boots.
    #[derive(Debug, Clone, Default, Serialize)]
    "container-ended" = pub struct ContainerEnded {
        /// Namespace of the pod.
        pub namespace: String,
        /// Pod.
        pub pod: String,
        /// Container.
        pub container: String,
        /// Node that it ran on.
        pub node: String,
        /// Init container.
        pub init: bool,
        /// `completed`, `application`, `crash`, `oom-container`, `oom-pod`, `oom-parent`, `oom-node`, `oom`, `evicted`,
        /// `liveness-probe`, `startup-probe`, `deleted`, `preempted`, `node-boot`, `cannot-start`, `bad-command`, `signal`
        /// or `unknown`.
        pub cause: String,
        /// What shows it, as a sentence.
        pub because: String,
        /// Exit code.
        pub exit_code: i64,
        /// What the code means.
        pub meaning: String,
        /// Signal, where the code is one.
        pub signal: Option<i64>,
        /// `limits.memory`.
        pub memory_limit: Option<String>,
        /// Restarts.
        pub restarts: u64,
        /// When it ended.
        pub finished: Option<DateTime<Utc>>,
        /// `yes` where its pod is well since and for longer than twice the run that ended, else `no`.
        pub outlived: &'static str,
    }
    subject = |fact| format!("pod/{}/{}", fact.namespace, fact.pod);
}

fact! {
    /// Why a pod was evicted.
    #[derive(Debug, Clone, Default, Serialize)]
    "pod-evicted" = pub struct PodEvicted {
        /// Namespace.
        pub namespace: String,
        /// Pod.
        pub pod: String,
        /// Node.
        pub node: String,
        /// `memory`, `ephemeral-storage`, `inodes` or `pids`; empty where it is not said.
        pub resource: String,
        /// Signal behind it, e.g. `memory.available`.
        pub signal: String,
        /// File system that was short; empty where it is not storage or cannot be told.
        pub filesystem: String,
        /// Threshold or limit, as written.
        pub threshold: String,
        /// What was available, as written.
        pub available: String,
        /// Whose own limit was passed; empty where the node was short.
        pub own_limit: String,
        /// Whether the node was short.
        pub node_was_short: bool,
        /// The kubelet's sentence.
        pub message: String,
    }
    subject = |fact| format!("pod/{}/{}", fact.namespace, fact.pod);
}

fact! {
    /// Something that happened to a node.
    #[derive(Debug, Clone, Default, Serialize)]
    "node-moment" = pub struct NodeMoment {
        /// Node.
        pub node: String,
        /// `boot`, `certificate-end`, `memory-kill`, `pressure`, `pleg`, `runtime-down`, `kubelet-start` or `not-ready`.
        pub what: String,
        /// The line or sentence that tells it.
        pub detail: String,
        /// When.
        pub at: Option<DateTime<Utc>>,
        /// Whether it came first, before the node was last not ready.
        pub first: bool,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// A certificate and where it stands by the clock of the collection.
    #[derive(Debug, Clone, Default, Serialize)]
    "certificate" = pub struct Certificate {
        /// Node.
        pub node: String,
        /// File.
        pub path: String,
        /// Member of a kubeconfig that holds it.
        pub member: Option<String>,
        /// Subject.
        pub subject: String,
        /// Issuer.
        pub issuer: String,
        /// Whether it is an authority.
        pub is_ca: bool,
        /// `kubelet-client` (the one in use), `kubelet`, `control-plane` or `other`, by its path.
        pub whose: String,
        /// `valid`, `ends-soon`, `expired` or `not-yet-valid`.
        pub state: String,
        /// Whole days to its end; negative after it.
        pub days_left: i64,
        /// Beginning.
        pub not_before: Option<DateTime<Utc>>,
        /// End.
        pub not_after: Option<DateTime<Utc>>,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// A node's clock.
    #[derive(Debug, Clone, Default, Serialize)]
    "clock" = pub struct ClockState {
        /// Node.
        pub node: String,
        /// Whether a time service guides it; none where that was not captured.
        pub synchronised: Option<bool>,
        /// Milliseconds ahead of the time servers; negative behind.
        pub offset_ms: Option<i64>,
    }
    subject = |fact| format!("node/{}", fact.node);
}
