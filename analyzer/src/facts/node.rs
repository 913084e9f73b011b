//! Facts about the node's host: processes and single settings.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::fact;

fact! {
    /// A process that matters to the diagnosis.
    #[derive(Debug, Clone, Default, Serialize)]
    "process" = pub struct Process {
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
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// A single setting of the host, e.g. `net.ipv4.ip_forward`.
    #[derive(Debug, Clone, Default, Serialize)]
    "setting" = pub struct Setting {
        /// Node.
        pub node: String,
        /// Name as sysctl prints it.
        pub name: String,
        /// Value.
        pub value: String,
    }
    subject = |fact| format!("node/{}", fact.node);
}
