//! What happened to the node itself, said in logs: kills for memory, boots, a kubelet that gets no answer.

use chrono::{DateTime, Utc};

use super::marks::KERNEL_STARTED;
use super::{Channel, Extracted, Extractor, Figure, Repeated, Statement};
use crate::ending::memory;
use crate::lines::LogLine;
use crate::model::Clock;

/// The kernel's summary of a kill for memory, with the control groups.
pub(super) static MEMORY_KILL: Extractor = Extractor {
    needle: "oom-kill:constraint=",
    extract: |line| memory_kill(line).map(Extracted::Host),
};

/// The kernel's sentence about it, which older kernels have alone.
pub(super) static MEMORY_KILLED: Extractor = Extractor {
    needle: "ut of memory: Kill",
    extract: |line| memory_kill(line).map(Extracted::Host),
};

/// The control groups of a kill, which kernels before 5.0 tell in a line of their own.
pub(super) static MEMORY_LIMIT: Extractor = Extractor {
    needle: "killed as a result of limit of",
    extract: |line| memory_kill(line).map(Extracted::Host),
};

/// The first line of a kernel.
pub(super) static BOOT: Extractor = Extractor {
    needle: KERNEL_STARTED,
    extract: |line| {
        let first = line.channel == Channel::Kernel && line.text.starts_with(KERNEL_STARTED);
        first.then(|| Extracted::Host(said(line, HostSays::Boot)))
    },
};

/// The kubelet's list of containers is too old.
pub(super) static PLEG: Extractor = Extractor {
    needle: "PLEG is not healthy",
    // Each start of a kubelet says so before its first list.
    extract: |line| {
        let starts = line.text.contains("pleg has yet to be successful");
        (!starts)
            .then(|| of_kubelet(line, HostSays::Pleg))
            .flatten()
    },
};

/// The kubelet calls the runtime down.
pub(super) static RUNTIME_DOWN: Extractor = Extractor {
    needle: "container runtime is down",
    extract: |line| of_kubelet(line, HostSays::RuntimeDown),
};

/// What a line says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum HostSays {
    /// The kernel killed a process: its id, name, container, pod, and what was full.
    MemoryKill {
        /// Process id.
        pid: u64,
        /// Name.
        process: String,
        /// Container id.
        container: String,
        /// Pod uid.
        pod_uid: String,
        /// What was full.
        full: memory::Full,
    },
    /// The kernel came up.
    Boot,
    /// The kubelet has had no list of containers for too long.
    Pleg,
    /// The kubelet calls the runtime down.
    RuntimeDown,
    /// It dates other lines.
    Clock(Clock),
    /// A figure of the machine, which logs tell where nothing else does.
    Figure(Figure),
}

/// A line about the node, and how many of its like were seen.
pub type HostLine = Repeated<HostSays>;

impl HostLine {
    /// The kill that it tells of.
    pub fn kill(&self) -> Option<memory::Kill> {
        let HostSays::MemoryKill {
            pid,
            process,
            container,
            pod_uid,
            full,
        } = &self.says
        else {
            return None;
        };
        Some(memory::Kill {
            process: process.clone(),
            pid: *pid,
            full: *full,
            container: container.clone(),
            pod_uid: pod_uid.clone(),
            at: self.at,
        })
    }
}

impl Statement for HostSays {
    const KIND: &'static str = "host-line";
    /// Boots and kills are told apart by their time, the kubelet's complaints are not.
    type Key = (HostSays, Option<DateTime<Utc>>);
    fn key(&self, at: Option<DateTime<Utc>>) -> Self::Key {
        let at = match self {
            HostSays::Boot | HostSays::MemoryKill { .. } => at,
            HostSays::Pleg | HostSays::RuntimeDown | HostSays::Clock(_) | HostSays::Figure(_) => {
                None
            }
        };
        (self.clone(), at)
    }
}

pub(super) fn said(line: &LogLine<'_>, says: HostSays) -> HostLine {
    Repeated::new(line, says, 400)
}

fn of_kubelet(line: &LogLine<'_>, says: HostSays) -> Option<Extracted> {
    (line.channel == Channel::Journal).then(|| Extracted::Host(said(line, says)))
}

fn memory_kill(line: &LogLine<'_>) -> Option<HostLine> {
    if line.channel != Channel::Kernel {
        return None;
    }
    let kill = memory::parse(&line.text)?;
    let says = HostSays::MemoryKill {
        pid: kill.pid,
        process: kill.process,
        container: kill.container,
        pod_uid: kill.pod_uid,
        full: kill.full,
    };
    Some(said(line, says))
}
