//! Facts about what is unhealthy: the last words of logs, units that fail again and again, and each failing thing with
//! all that it leaves behind.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{FactType, Field, fact};
use crate::flat::Flat;
use crate::grade::Grade;

/// What a log ends with. Its text is the fact's excerpt.
#[derive(Debug, Clone, Default, Serialize)]
pub struct LogEnd {
    /// The log of a container by its path; otherwise of a unit, or a text of unknown origin.
    pub pod_log: bool,
    /// Namespace of the pod.
    pub namespace: String,
    /// Pod.
    pub pod: String,
    /// Container.
    pub container: String,
    /// Log of the run before.
    pub previous: bool,
    /// How grave the line is.
    pub grade: Grade,
    /// Lines from it to the end of the log.
    pub from_end: u32,
    /// The line as it stands.
    pub line: String,
    /// Where a run of tests ended, the lines about those that failed.
    pub checks: Vec<String>,
}

impl FactType for LogEnd {
    const KIND: &'static str = "log-end";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        format!("pod/{}/{}", self.namespace, self.pod)
    }
}

/// A unit that systemd saw fail. What the unit said before its last end is the fact's excerpt.
#[derive(Debug, Clone, Default, Serialize)]
pub struct UnitEnd {
    /// Node; empty where the path names none.
    pub node: String,
    /// Unit.
    pub unit: String,
    /// How often it failed.
    pub times: u64,
    /// It was still failing at the end of the log.
    pub again: bool,
    /// systemd's line about the first time.
    pub first: String,
    /// The first time.
    pub since: Option<DateTime<Utc>>,
    /// The lines that tell of its last end, as they stand.
    pub lines: Vec<String>,
}

impl FactType for UnitEnd {
    const KIND: &'static str = "unit-end";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        format!("unit/{}", self.unit)
    }
}

/// When a line was said, in seconds, by each clock that it has.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Moment {
    /// Since the epoch.
    pub at: Option<i64>,
    /// Since the year began, by the clock of its host.
    pub clock: Option<i64>,
    /// Since the year began, by the clock of klog.
    pub klog: Option<i64>,
}

impl Moment {
    /// Seconds from an earlier moment to this one, by a clock that both have.
    pub fn since(&self, earlier: &Moment) -> Option<i64> {
        let by = |later: Option<i64>, earlier: Option<i64>| Some(later? - earlier?);
        by(self.at, earlier.at)
            .or_else(|| by(self.klog, earlier.klog))
            .or_else(|| by(self.clock, earlier.clock))
    }
}

/// How far a log reaches: the moments near its two ends, by speaker.
#[derive(Debug, Clone, Default, Serialize)]
pub struct LogSpan {
    /// First moments.
    pub first: Flat<String, Moment>,
    /// Last moments.
    pub last: Flat<String, Moment>,
    /// Lines of the log.
    pub lines: u32,
}

impl FactType for LogSpan {
    const KIND: &'static str = "log-span";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        String::new()
    }
}

/// Lines of a pasted text that were mended by a guess.
#[derive(Debug, Clone, Default, Serialize)]
pub struct MendedLines {
    /// Their numbers.
    pub lines: BTreeSet<u32>,
}

impl FactType for MendedLines {
    const KIND: &'static str = "mended-lines";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        String::new()
    }
}

/// What a kernel says of its present boot that no healthy one says. Its last such message is the fact's excerpt.
#[derive(Debug, Clone, Default, Serialize)]
pub struct KernelTrouble {
    /// Node; empty where the path names none.
    pub node: String,
    /// How often.
    pub times: u32,
    /// The line as it stands.
    pub line: String,
}

impl FactType for KernelTrouble {
    const KIND: &'static str = "kernel-trouble";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        format!("kernel/{}", self.node)
    }
}

/// A pod of which a kubelet says at the end of its log that it cannot run it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PodTrouble {
    /// Namespace.
    pub namespace: String,
    /// Pod.
    pub pod: String,
    /// Container; empty where the trouble is the pod's.
    pub container: String,
    /// State in one word, e.g. `CrashLoopBackOff`.
    pub state: String,
    /// The kubelet's words.
    pub words: String,
    /// Host of the line; empty where it names none.
    pub host: String,
    /// The line as it stands.
    pub line: String,
    /// The line that said it first.
    pub first: String,
    /// When that was.
    pub since: Option<DateTime<Utc>>,
}

impl FactType for PodTrouble {
    const KIND: &'static str = "pod-trouble";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        format!("pod/{}/{}", self.namespace, self.pod)
    }
}

/// What a kubelet says at the end of its log of its own node. Its words are the fact's excerpt.
#[derive(Debug, Clone, Default, Serialize)]
pub struct NodeTrouble {
    /// Node, by the line or its host; empty where neither names it.
    pub node: String,
    /// State in a few words.
    pub state: String,
    /// The line as it stands.
    pub line: String,
    /// The line that said it first.
    pub first: String,
    /// When that was.
    pub since: Option<DateTime<Utc>>,
}

impl FactType for NodeTrouble {
    const KIND: &'static str = "node-trouble";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}

/// An operator that says of itself that it fails, or that is not installed.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Unready {
    /// Kind of the object that says it, in small letters.
    pub kind: String,
    /// Namespace; empty where it has none.
    pub namespace: String,
    /// Name of that object.
    pub name: String,
    /// The operator, where the object is not its own but the plan that was to install it; else empty.
    pub operator: String,
    /// State in a word or two.
    pub state: String,
    /// Reason in one word.
    pub reason: String,
    /// What it says.
    pub message: String,
    /// Requirements that are not met.
    pub unmet: Vec<String>,
    /// Since when.
    pub since: Option<DateTime<Utc>>,
}

impl FactType for Unready {
    const KIND: &'static str = "unready-operator";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        format!("{}/{}/{}", self.kind, self.namespace, self.name)
    }
}

fact! {
    /// A container as the runtime lists it.
    #[derive(Debug, Clone, Default, Serialize)]
    "container-row" = pub struct ContainerRow {
        /// Node; empty where the path names none.
        pub node: String,
        /// Id, or its beginning.
        pub id: String,
        /// Container.
        pub name: String,
        /// Pod; empty where the list has no such column.
        pub pod: String,
        /// Its namespace; empty where the list has no such column.
        pub namespace: String,
        /// `Running`, `Exited`, `Created` or `Unknown`.
        pub state: String,
        /// How many runs of it went before.
        pub attempt: u64,
    }
    subject = |fact| format!("container/{}", fact.name);
}

fact! {
    /// Something unhealthy at the end of the collection, and its last words.
    #[derive(Debug, Clone, Default, Serialize)]
    "failing" = pub struct Failing {
        /// `pod`, `node`, `workload`, `claim`, `unit`, `release`, `operator`, `gpus`, `kernel`; `log` for a pasted log of which nothing says whose it is.
        pub what: String,
        /// `pod/<ns>/<name>`, `node/<name>`, `unit/<name>`, `deployment/<ns>/<name>`, ...
        pub subject: String,
        /// Namespace.
        pub namespace: String,
        /// Name.
        pub name: String,
        /// Container that fails; empty where it is no container.
        pub container: String,
        /// Image of that container.
        pub image: String,
        /// Node that it runs on.
        pub node: String,
        /// Owner as `replicaset/<name>`.
        pub owner: String,
        /// State in one word, e.g. `CrashLoopBackOff`, `NotReady`; empty where only events tell.
        pub state: String,
        /// Whether its present state was captured; otherwise only events tell of it.
        pub seen: bool,
        /// Whether a container of it ended with an error, so that its last words are about its end.
        pub ended: bool,
        /// Exit code of the container.
        pub exit_code: Option<i64>,
        /// Restarts.
        pub restarts: u64,
        /// Last grave line of the log, or the termination message.
        pub words: String,
        /// Message of its status.
        pub message: String,
        /// Messages of its warning events, the last one first.
        pub warnings: Vec<String>,
        /// Whether it is a part of the GPU stack, asks for GPUs, or speaks of them.
        pub gpu: bool,
        /// Since when.
        pub since: Option<DateTime<Utc>>,
        /// The lines that show it, as they stand.
        pub lines: Vec<String>,
    }
    subject = |fact| {
        if fact.what == "log" {
            String::new()
        } else {
            fact.subject.clone()
        }
    };
}

fact! {
    /// A packet that an error of a failing thing names, and what the captured rules of its node do with it.
    #[derive(Debug, Clone, Default, Serialize)]
    "flow-check" = pub struct FlowCheck {
        /// What fails.
        pub subject: String,
        /// Node that the packet leaves.
        pub node: String,
        /// How the connection failed, in the words of the error.
        pub error: String,
        /// Packet in words.
        pub packet: String,
        /// Destination.
        pub dst: String,
        /// Destination port.
        pub dport: u16,
        /// `accepted`, `dropped`, `rejected`, `undecided` or `not-evaluated`.
        pub verdict: String,
        /// The rule or policy that decides, or why it is undecided.
        pub decided_by: String,
        /// Where that is, as path:line.
        pub decided_at: String,
        /// `ufw`, `iptables` or `firewalld`.
        pub owner: String,
        /// What follows, as a sentence.
        pub says: String,
    }
    subject = |fact| fact.subject.clone();
}
