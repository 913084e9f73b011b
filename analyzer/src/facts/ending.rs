//! Derived facts about ends: why a container ended, why a pod was evicted, what happened to a node and what came
//! first, certificates and the clock.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{FactType, Field};

const fn field(name: &'static str, doc: &'static str) -> Field {
    Field { name, doc }
}

/// Why a container ended, from its status, the kernel, events and boots.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ContainerEnded {
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

impl FactType for ContainerEnded {
    const KIND: &'static str = "container-ended";
    const FIELDS: &'static [Field] = &[
        field("namespace", "namespace of the pod"),
        field("pod", "pod"),
        field("container", "container"),
        field("node", "node that it ran on"),
        field("init", "init container"),
        field(
            "cause",
            "why: completed, application, crash, oom-container, oom-pod, oom-parent, oom-node, oom, evicted, liveness-probe, startup-probe, deleted, preempted, node-boot, cannot-start, bad-command, signal, unknown",
        ),
        field("because", "what shows it"),
        field("exit_code", "exit code"),
        field("meaning", "what the code means"),
        field("signal", "signal, where the code is one"),
        field("memory_limit", "limits.memory"),
        field("restarts", "restarts"),
        field("finished", "when it ended"),
        field(
            "outlived",
            "yes where its pod is well since and for longer than twice the run that ended, else no",
        ),
    ];
    fn subject(&self) -> String {
        format!("pod/{}/{}", self.namespace, self.pod)
    }
}

/// Why a pod was evicted.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PodEvicted {
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

impl FactType for PodEvicted {
    const KIND: &'static str = "pod-evicted";
    const FIELDS: &'static [Field] = &[
        field("namespace", "namespace"),
        field("pod", "pod"),
        field("node", "node"),
        field("resource", "memory, ephemeral-storage, inodes or pids"),
        field("signal", "eviction signal"),
        field("filesystem", "file system that was short"),
        field("threshold", "threshold or limit"),
        field("available", "what was available"),
        field("own_limit", "whose own limit was passed"),
        field("node_was_short", "the node was short"),
        field("message", "the kubelet's sentence"),
    ];
    fn subject(&self) -> String {
        format!("pod/{}/{}", self.namespace, self.pod)
    }
}

/// Something that happened to a node.
#[derive(Debug, Clone, Default, Serialize)]
pub struct NodeMoment {
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

impl FactType for NodeMoment {
    const KIND: &'static str = "node-moment";
    const FIELDS: &'static [Field] = &[
        field("node", "node"),
        field(
            "what",
            "boot, certificate-end, memory-kill, pressure, pleg, runtime-down, kubelet-start, not-ready",
        ),
        field("detail", "the line that tells it"),
        field("at", "when"),
        field("first", "came first before the node was last not ready"),
    ];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}

/// A certificate and where it stands by the clock of the collection.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Certificate {
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

impl FactType for Certificate {
    const KIND: &'static str = "certificate";
    const FIELDS: &'static [Field] = &[
        field("node", "node"),
        field("path", "file"),
        field("member", "member of a kubeconfig"),
        field("subject", "subject"),
        field("issuer", "issuer"),
        field("is_ca", "is an authority"),
        field(
            "whose",
            "kubelet-client (the one in use), kubelet, control-plane or other",
        ),
        field("state", "valid, ends-soon, expired or not-yet-valid"),
        field("days_left", "whole days to its end"),
        field("not_before", "beginning"),
        field("not_after", "end"),
    ];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}

/// A node's clock.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ClockState {
    /// Node.
    pub node: String,
    /// Whether a time service guides it; none where that was not captured.
    pub synchronised: Option<bool>,
    /// Milliseconds ahead of the time servers; negative behind.
    pub offset_ms: Option<i64>,
}

impl FactType for ClockState {
    const KIND: &'static str = "clock";
    const FIELDS: &'static [Field] = &[
        field("node", "node"),
        field("synchronised", "a time service guides it"),
        field(
            "offset_ms",
            "milliseconds ahead of the time servers; negative behind",
        ),
    ];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}
