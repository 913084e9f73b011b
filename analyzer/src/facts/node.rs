//! Facts about the node's host: processes and single settings.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{FactType, Field};

/// A process that matters to the diagnosis.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Process {
    /// Node.
    pub node: String,
    /// Process id.
    pub pid: u64,
    /// Command name.
    pub comm: String,
    /// Executable path; empty if it could not be read.
    pub exe: String,
    /// Command line.
    pub cmdline: Vec<String>,
    /// Control group path.
    pub cgroup: String,
    /// Started at.
    pub started: Option<DateTime<Utc>>,
}

impl FactType for Process {
    const KIND: &'static str = "process";
    const FIELDS: &'static [Field] = &[
        Field {
            name: "node",
            doc: "node",
        },
        Field {
            name: "pid",
            doc: "process id",
        },
        Field {
            name: "comm",
            doc: "command name",
        },
        Field {
            name: "exe",
            doc: "executable",
        },
        Field {
            name: "cmdline",
            doc: "command line",
        },
        Field {
            name: "cgroup",
            doc: "control group",
        },
        Field {
            name: "started",
            doc: "start time",
        },
    ];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}

/// A single setting of the host, e.g. `net.ipv4.ip_forward`.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Setting {
    /// Node.
    pub node: String,
    /// Name as sysctl prints it.
    pub name: String,
    /// Value.
    pub value: String,
}

impl FactType for Setting {
    const KIND: &'static str = "setting";
    const FIELDS: &'static [Field] = &[
        Field {
            name: "node",
            doc: "node",
        },
        Field {
            name: "name",
            doc: "sysctl name",
        },
        Field {
            name: "value",
            doc: "value",
        },
    ];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}
