//! Logs: pod logs, the journal, and kernel messages as text. They go through the pattern scan only.

use super::{Channel, Parser, Read};

/// Container logs with time stamps.
pub(super) static POD_LOGS: Parser = Parser {
    id: "pod-logs",
    reads: &["cluster-resources/pods/logs/**"],
    read: Read::Lines(Channel::PodLog),
};

/// The kernel's part of the journal.
pub(super) static JOURNAL_KERNEL: Parser = Parser {
    id: "journal-kernel",
    reads: &["nodes/*/journal/kernel*.json"],
    read: Read::Lines(Channel::Kernel),
};

/// Units of the journal.
pub(super) static JOURNAL: Parser = Parser {
    id: "journal",
    reads: &["nodes/*/journal/**"],
    read: Read::Lines(Channel::Journal),
};

/// Kernel messages that are not in the journal.
pub(super) static KERNEL_TEXT: Parser = Parser {
    id: "kernel-log",
    reads: &[
        "nodes/*/commands/dmesg*",
        "nodes/*/rootfs/var/log/kern.log*",
        "nodes/*/rootfs/var/log/dmesg*",
        "nodes/*/rootfs/var/log/ufw.log*",
        // A dying kernel's last words.
        "nodes/*/rootfs/sys/fs/pstore/*",
        "nodes/*/rootfs/var/lib/systemd/pstore/**",
    ],
    read: Read::Lines(Channel::Kernel),
};

/// Logs of containers that Docker runs by itself.
pub(super) static DOCKER: Parser = Parser {
    id: "docker-logs",
    reads: &["nodes/*/docker/*.log"],
    read: Read::Lines(Channel::Journal),
};
