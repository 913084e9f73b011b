//! A journal in the export format, which `systemd-journal-remote` turns into a real journal file.

use std::fmt::Write as _;

use chrono::{DateTime, TimeDelta, Utc};

/// What a journal says about the machine it was written on.
#[derive(Debug, Clone)]
pub struct Machine {
    /// `/etc/machine-id`, 32 hexadecimal digits.
    pub machine_id: String,
    /// The boot, 32 hexadecimal digits.
    pub boot_id: String,
    /// When it booted: the zero of monotonic time.
    pub booted: DateTime<Utc>,
    /// `_HOSTNAME`
    pub hostname: String,
}

/// Who wrote an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The kernel.
    Kernel,
    /// A service that writes to standard error.
    Service {
        /// `_SYSTEMD_UNIT`
        unit: String,
        /// `SYSLOG_IDENTIFIER`
        identifier: String,
        /// `_PID`
        pid: u32,
        /// `_COMM`
        comm: String,
    },
    /// systemd itself, about a unit.
    Manager {
        /// `UNIT`
        unit: String,
    },
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When it was received.
    pub time: DateTime<Utc>,
    /// Who wrote it.
    pub origin: Origin,
    /// 3 error, 4 warning, 6 information.
    pub priority: u8,
    /// The text, without line ends.
    pub message: String,
}

/// Entries of one boot, in the order of their times.
#[derive(Debug, Clone)]
pub struct Journal {
    machine: Machine,
    entries: Vec<Entry>,
}

impl Journal {
    /// An empty journal.
    pub fn new(machine: Machine) -> Self {
        Journal {
            machine,
            entries: Vec::new(),
        }
    }

    /// Adds an entry at any place in time.
    pub fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// The journal in the export format.
    pub fn export(mut self) -> String {
        self.entries.sort_by_key(|entry| entry.time);
        let mut out = String::new();
        for entry in &self.entries {
            for (name, value) in self.fields(entry) {
                // Writing to a string does not fail.
                let _ = writeln!(out, "{name}={}", value.replace('\n', " "));
            }
            out.push('\n');
        }
        out
    }

    fn fields(&self, entry: &Entry) -> Vec<(&'static str, String)> {
        let monotonic = micros(entry.time - self.machine.booted);
        let mut fields = vec![
            (
                "__REALTIME_TIMESTAMP",
                entry.time.timestamp_micros().to_string(),
            ),
            ("__MONOTONIC_TIMESTAMP", monotonic.clone()),
            ("_BOOT_ID", self.machine.boot_id.clone()),
            ("_MACHINE_ID", self.machine.machine_id.clone()),
            ("_HOSTNAME", self.machine.hostname.clone()),
            ("PRIORITY", entry.priority.to_string()),
        ];
        match &entry.origin {
            Origin::Kernel => fields.extend([
                ("_TRANSPORT", "kernel".to_owned()),
                ("SYSLOG_FACILITY", "0".to_owned()),
                ("SYSLOG_IDENTIFIER", "kernel".to_owned()),
                ("_SOURCE_MONOTONIC_TIMESTAMP", monotonic),
            ]),
            Origin::Service {
                unit,
                identifier,
                pid,
                comm,
            } => fields.extend([
                ("_TRANSPORT", "stdout".to_owned()),
                ("SYSLOG_FACILITY", "3".to_owned()),
                ("SYSLOG_IDENTIFIER", identifier.clone()),
                ("_SYSTEMD_UNIT", unit.clone()),
                ("_PID", pid.to_string()),
                ("_UID", "0".to_owned()),
                ("_COMM", comm.clone()),
            ]),
            Origin::Manager { unit } => fields.extend([
                ("_TRANSPORT", "journal".to_owned()),
                ("SYSLOG_FACILITY", "3".to_owned()),
                ("SYSLOG_IDENTIFIER", "systemd".to_owned()),
                ("_SYSTEMD_UNIT", "init.scope".to_owned()),
                ("_PID", "1".to_owned()),
                ("_COMM", "systemd".to_owned()),
                ("UNIT", unit.clone()),
            ]),
        }
        fields.push(("MESSAGE", entry.message.clone()));
        fields
    }
}

fn micros(since_boot: TimeDelta) -> String {
    since_boot
        .num_microseconds()
        .unwrap_or(0)
        .max(0)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_out_in_the_order_of_their_times() {
        let machine = Machine {
            machine_id: "0".repeat(32),
            boot_id: "1".repeat(32),
            booted: "2026-11-19T09:58:00Z".parse().unwrap(),
            hostname: "gpu-1".to_owned(),
        };
        let mut journal = Journal::new(machine);
        for time in ["2026-11-20T10:00:00Z", "2026-11-19T10:00:00Z"] {
            let time = time.parse().unwrap();
            let message = format!("at {time}");
            journal.push(Entry {
                time,
                origin: Origin::Kernel,
                priority: 4,
                message,
            });
        }
        let text = journal.export();
        assert!(text.find("2026-11-19").unwrap() < text.find("2026-11-20").unwrap());
        assert!(text.contains("__MONOTONIC_TIMESTAMP=120000000\n"));
    }
}
