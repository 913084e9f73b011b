//! Why a container ended, from what its status, the kernel, the kubelet's events and the node's boots say. Pure: what
//! was captured in, one explained cause out.
//!
//! The evidence is asked in the order in which one act overrules another: an eviction ends containers with codes of
//! their own; a kill for memory looks like any SIGKILL; a probe that fails ends in the same code as a user's delete.

pub mod boots;
pub mod eviction;
pub mod exit;
pub mod memory;
pub mod moments;
mod verdict;

pub use verdict::ending;

use chrono::{DateTime, Utc};

/// How a container ended, as its status tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Container.
    pub name: String,
    /// Runtime's id without scheme.
    pub id: String,
    /// Uid of its pod.
    pub pod_uid: String,
    /// Exit code.
    pub exit_code: i64,
    /// Reason of the termination, e.g. `OOMKilled`.
    pub reason: String,
    /// Message of the termination.
    pub message: String,
    /// When it began.
    pub started: Option<DateTime<Utc>>,
    /// When it ended.
    pub finished: Option<DateTime<Utc>>,
    /// `limits.memory`.
    pub memory_limit: Option<String>,
    /// `status.reason` of its pod.
    pub pod_reason: String,
    /// `status.message` of its pod.
    pub pod_message: String,
    /// When the deletion of its pod was asked for.
    pub deleted: Option<DateTime<Utc>>,
}

/// Something that was said about the pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Reason of the event.
    pub reason: String,
    /// Message of the event.
    pub message: String,
    /// First and last time.
    pub times: (Option<DateTime<Utc>>, Option<DateTime<Utc>>),
}

/// What else was captured.
#[derive(Clone, Copy, Debug, Default)]
pub struct Around<'a> {
    /// Events about the pod.
    pub events: &'a [Said],
    /// Kills for memory on the node.
    pub kills: &'a [memory::Kill],
    /// Whether kernel messages of the node were captured, so that a kill that is not there did not happen.
    pub kernel_captured: bool,
    /// Boots of the node.
    pub boots: &'a [DateTime<Utc>],
}

/// Why a container ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// It did its work.
    Completed,
    /// It ended by itself with an error.
    Application,
    /// A fault of the program: a signal that the kernel sends for what it did.
    Crash,
    /// Killed: over the container's own memory limit.
    OomContainer,
    /// Killed: the pod's cgroup was over its limit.
    OomPod,
    /// Killed: all pods together were over what the node gives them, or another cgroup above was over its limit.
    OomParent,
    /// Killed: the node had no memory left.
    OomNode,
    /// Killed for memory; which cgroup was full is not known.
    Oom,
    /// The kubelet evicted the pod.
    Evicted,
    /// The liveness probe failed.
    Liveness,
    /// The startup probe failed.
    Startup,
    /// The pod was deleted or its container stopped on request.
    Deleted,
    /// The scheduler made room for another pod.
    Preempted,
    /// The node went down or was booted.
    NodeBoot,
    /// The runtime could not start it.
    CannotStart,
    /// The command could not be found or executed.
    BadCommand,
    /// Somebody sent a signal; who is not known.
    Signal,
    /// Nothing captured tells.
    Unknown,
}

impl Cause {
    /// The word that rules use.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Application => "application",
            Self::Crash => "crash",
            Self::OomContainer => "oom-container",
            Self::OomPod => "oom-pod",
            Self::OomParent => "oom-parent",
            Self::OomNode => "oom-node",
            Self::Oom => "oom",
            Self::Evicted => "evicted",
            Self::Liveness => "liveness-probe",
            Self::Startup => "startup-probe",
            Self::Deleted => "deleted",
            Self::Preempted => "preempted",
            Self::NodeBoot => "node-boot",
            Self::CannotStart => "cannot-start",
            Self::BadCommand => "bad-command",
            Self::Signal => "signal",
            Self::Unknown => "unknown",
        }
    }
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Why.
    pub cause: Cause,
    /// What its exit code means.
    pub code: exit::Meaning,
    /// What shows the cause, as a sentence.
    pub because: String,
    /// Index of the kill that shows it.
    pub kill: Option<usize>,
    /// Index of the event that shows it.
    pub event: Option<usize>,
}

#[cfg(test)]
mod moments_tests;
#[cfg(test)]
mod tests;
