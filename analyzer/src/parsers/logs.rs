//! Logs: pod logs, the journal, and kernel messages as text. They go through the pattern scan only.

use casefile_bundle::{ANY, Entry};

use super::{Channel, Parser, Read};

/// Container logs with time stamps.
pub(super) static POD_LOGS: Parser = Parser {
    id: "pod-logs",
    reads: &[Entry::PodLog("**")],
    read: Read::Lines(Channel::PodLog),
};

/// The kernel's part of the journal.
pub(super) static JOURNAL_KERNEL: Parser = Parser {
    id: "journal-kernel",
    reads: &[Entry::Journal(ANY, "kernel*.json")],
    read: Read::Lines(Channel::Kernel),
};

/// Units of the journal.
pub(super) static JOURNAL: Parser = Parser {
    id: "journal",
    reads: &[Entry::Journal(ANY, "**")],
    read: Read::Lines(Channel::Journal),
};

/// Kernel messages that are not in the journal.
pub(super) static KERNEL_TEXT: Parser = Parser {
    id: "kernel-log",
    reads: &[
        Entry::Command(ANY, "dmesg*"),
        Entry::Rootfs(ANY, "var/log/kern.log*"),
        Entry::Rootfs(ANY, "var/log/dmesg*"),
        Entry::Rootfs(ANY, "var/log/ufw.log*"),
        // A dying kernel's last words.
        Entry::Rootfs(ANY, "sys/fs/pstore/*"),
        Entry::Rootfs(ANY, "var/lib/systemd/pstore/**"),
    ],
    read: Read::Lines(Channel::Kernel),
};

/// Logs of containers that Docker runs by itself.
pub(super) static DOCKER: Parser = Parser {
    id: "docker-logs",
    reads: &[Entry::Node(ANY, "docker/*.log")],
    read: Read::Lines(Channel::Journal),
};
