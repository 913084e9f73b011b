//! The operating system: what it is, how long it runs, how much room it has and what its limits are.

use std::time::Duration;

use crate::outcome::Outcome;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Scope, Source, SourceCtx};
use crate::take::{Need, copy_all};

const WANTED: [&str; 1] = ["df"];
const OPTIONAL: [&str; 4] = [
    "df-inodes",
    "timedatectl",
    "systemctl-failed",
    "systemctl-units",
];
const FILES: [&str; 33] = [
    "/etc/os-release",
    "/usr/lib/os-release",
    "/etc/hostname",
    "/etc/machine-id",
    "/etc/timezone",
    "/proc/version",
    "/proc/cmdline",
    "/proc/uptime",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/mounts",
    "/proc/swaps",
    "/proc/cgroups",
    "/proc/filesystems",
    "/proc/pressure/*",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/random/boot_id",
    "/proc/sys/kernel/pid_max",
    "/proc/sys/kernel/threads-max",
    "/proc/sys/kernel/tainted",
    "/proc/sys/fs/file-nr",
    "/proc/sys/fs/file-max",
    "/proc/sys/fs/inotify/*",
    "/proc/sys/vm/max_map_count",
    "/proc/sys/vm/overcommit_memory",
    "/proc/sys/net/core/somaxconn",
    "/sys/fs/cgroup/cgroup.controllers",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/kernel/security/lockdown",
    "/etc/fstab",
    "/etc/security/limits.d/*",
    "/etc/apparmor.d/local/*",
];

/// The operating system.
pub static SOURCE: Source = Source {
    id: "host_info",
    title: "Operating system, memory, disks and limits",
    scope: Scope::Node,
    timeout: Duration::from_secs(30),
    max_bytes: 16 << 20,
    plan,
    collect,
};

fn plan(ctx: &PlanCtx<'_>) -> Vec<PlanItem> {
    let files = FILES.iter().map(|path| PlanItem::file(*path));
    ctx.commands(&WANTED)
        .chain(ctx.commands(&OPTIONAL))
        .chain(files)
        .collect()
}

fn collect(ctx: SourceCtx) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        let mut tally = ctx
            .files(|host, out, tally| copy_all(host, out, &FILES, tally))
            .await;
        for (ids, need) in [(&WANTED[..], Need::Wanted), (&OPTIONAL[..], Need::Optional)] {
            for id in ids {
                ctx.command(id, need, &mut tally).await;
            }
        }
        tally.outcome("nothing about the operating system could be read")
    })
}
