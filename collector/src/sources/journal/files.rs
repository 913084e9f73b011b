//! What stands beside the journal or in its stead: old log files, and what a crashing kernel left behind.

use crate::host::Host;
use crate::inventory::note_all;
use crate::newest::take_newest;
use crate::out::Out;
use crate::take::Tally;

/// An old log file's share.
const FILE_BYTES: u64 = 16 << 20;
/// Read where there is no journal, or only one that a boot empties. The one before the newest counts where the
/// newest has just begun.
const OLD_LOGS: [&str; 10] = [
    "/var/log/kern.log",
    "/var/log/kern.log.1",
    "/var/log/syslog",
    "/var/log/syslog.1",
    "/var/log/messages",
    "/var/log/messages-*[0-9]",
    "/var/log/ufw.log",
    "/var/log/kubelet.log",
    "/var/log/containerd.log",
    "/var/log/k3s*.log",
];
/// Where a dying kernel's last words are kept by firmware, and where systemd moves them.
const CRASHES: [&str; 4] = [
    "/sys/fs/pstore/*",
    "/var/lib/systemd/pstore/*",
    "/var/lib/systemd/pstore/*/*",
    "/var/lib/systemd/pstore/*/*/*",
];
/// That something crashed, and when; the dumps themselves stay.
const DUMPS: [&str; 3] = [
    "/var/crash/*",
    "/var/crash/*/*",
    "/var/lib/systemd/coredump/*",
];

/// What is read, for the plan.
pub(super) fn reads() -> impl Iterator<Item = &'static str> {
    OLD_LOGS.into_iter().chain(CRASHES).chain(DUMPS)
}

/// Log files of rsyslog and its like.
pub(super) fn old_logs(host: &Host, out: &Out, tally: &mut Tally) {
    take_newest(host, out, &OLD_LOGS, FILE_BYTES, tally);
}

/// The last words of kernels that died, and the names of dumps.
pub(super) fn crashes(host: &Host, out: &Out, tally: &mut Tally) {
    take_newest(host, out, &CRASHES, FILE_BYTES, tally);
    note_all(host, out, &DUMPS);
}
