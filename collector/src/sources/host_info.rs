//! The operating system: what it is, how long it runs, how much room it has, what its limits are, whether its clock is
//! right, and what guards it.

use std::time::Duration;

use casefile_bundle::sources as about;

use crate::host::Host;
use crate::inventory::Inventory;
use crate::out::Out;
use crate::outcome::Outcome;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Source, SourceCtx};
use crate::sources::processes;
use crate::take::{Need, Tally, copy};

static LIST: Inventory = Inventory {
    wanted: &["df"],
    optional: &[
        "df-inodes",
        "lsblk",
        "timedatectl",
        "chronyc-tracking",
        "chronyc-sources",
        "systemctl-failed",
        "systemctl-show",
        "systemctl-units",
    ],
    files: &[
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
        "/etc/redhat-release",
        "/etc/debian_version",
        "/proc/cpuinfo",
        "/proc/vmstat",
        "/proc/buddyinfo",
        "/proc/1/mountinfo",
        "/proc/partitions",
        "/proc/diskstats",
        "/proc/mdstat",
        "/proc/sys/fs/nr_open",
        "/proc/sys/fs/aio-nr",
        "/proc/sys/fs/aio-max-nr",
        "/proc/sys/user/*",
        "/proc/sys/vm/swappiness",
        "/proc/sys/vm/panic_on_oom",
        "/proc/sys/kernel/panic",
        "/proc/sys/kernel/panic_on_oops",
        "/proc/sys/kernel/keys/*",
        "/sys/fs/cgroup/cgroup.subtree_control",
        "/sys/fs/cgroup/kubepods*/cgroup.controllers",
        "/sys/fs/cgroup/kubepods*/memory.events",
        "/sys/fs/cgroup/kubepods*/pids.current",
        "/sys/fs/cgroup/kubepods*/pids.max",
        "/sys/fs/cgroup/kubepods*/cpuset.cpus.effective",
        "/sys/fs/selinux/enforce",
        "/etc/selinux/config",
        "/sys/module/apparmor/parameters/enabled",
        "/sys/kernel/security/lsm",
        "/sys/kernel/security/apparmor/profiles",
        "/sys/devices/system/node/node*/meminfo",
        "/sys/devices/system/node/node*/cpulist",
        "/sys/devices/system/cpu/online",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        "/sys/class/dmi/id/sys_vendor",
        "/sys/class/dmi/id/product_name",
        "/sys/class/dmi/id/board_name",
        "/sys/class/dmi/id/bios_version",
        "/sys/class/dmi/id/bios_date",
        "/sys/devices/system/edac/mc/mc*/ce_count",
        "/sys/devices/system/edac/mc/mc*/ue_count",
        "/etc/security/limits.conf",
        "/etc/systemd/system.conf",
        "/etc/systemd/system.conf.d/*",
        "/etc/systemd/journald.conf",
        "/etc/systemd/timesyncd.conf",
        "/etc/systemd/timesyncd.conf.d/*",
        "/etc/chrony.conf",
        "/etc/chrony/chrony.conf",
        "/etc/chrony/conf.d/*",
        "/etc/chrony/sources.d/*",
        "/etc/ntp.conf",
        "/etc/default/grub",
        "/etc/default/grub.d/*",
        "/run/cloud-init/status.json",
        "/run/cloud-init/result.json",
        "/run/cloud-init/cloud-id",
    ],
    // What a cloud's first boot did, and where it stopped; never the user data itself.
    logs: &["/var/log/cloud-init.log", "/var/log/cloud-init-output.log"],
    ..Inventory::EMPTY
};

/// The operating system.
pub static SOURCE: Source = Source {
    about: &about::HOST_INFO,
    timeout: Duration::from_secs(30),
    max_bytes: 16 << 20,
    plan: |ctx: &PlanCtx<'_>| -> Vec<PlanItem> {
        let mut items = LIST.plan(ctx);
        items.push(PlanItem::file("/proc/*/limits"));
        items
    },
    collect,
};

fn collect(ctx: SourceCtx) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        let mut tally = LIST.take(&ctx).await;
        tally.add(ctx.files(limits).await);
        tally.outcome("nothing about the operating system could be read")
    })
}

/// The limits under which runtimes, kubelets and NVIDIA daemons run; what they start inherits them.
fn limits(host: &Host, out: &Out, tally: &mut Tally) {
    for process in processes::find(host) {
        let path = format!("/proc/{}/limits", process.pid);
        copy(host, out, &path, Need::Optional, tally);
    }
}
