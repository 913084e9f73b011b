//! The NVIDIA driver as it is installed: PCI devices and what drives them, kernel modules, how they were built, secure
//! boot, libraries, and the daemons around them. All of it can be had when nvidia-smi cannot.

mod installed;
mod pci;

use std::time::Duration;

use casefile_bundle::sources as about;

use crate::inventory::Inventory;
use crate::outcome::Outcome;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Source, SourceCtx};

static LIST: Inventory = Inventory {
    wanted: &[],
    optional: &["modinfo-nvidia", "mokutil-sb-state", "dkms-status"],
    files: &[
        "/sys/module/nvidia*/version",
        "/sys/module/nvidia*/srcversion",
        "/sys/module/nvidia*/initstate",
        "/sys/module/nvidia*/refcnt",
        "/sys/module/nvidia*/taint",
        "/sys/module/nvidia*/parameters/*",
        "/sys/module/nouveau/initstate",
        "/sys/module/gdrdrv/version",
        "/sys/module/nv_peer_mem/version",
        "/proc/sys/kernel/modules_disabled",
        "/proc/sys/kernel/tainted",
        "/sys/module/module/parameters/sig_enforce",
        "/sys/kernel/security/lockdown",
        "/sys/kernel/mm/hugepages/*/nr_hugepages",
        "/etc/modprobe.d/*",
        "/etc/modules-load.d/*",
        "/etc/modules",
        "/usr/share/nvidia/nvswitch/fabricmanager.cfg",
        "/etc/nvidia/gridd.conf",
        "/etc/nvidia-imex/*",
        "/etc/systemd/system/nvidia-*.service",
        "/etc/systemd/system/nvidia-*.service.d/*",
        "/lib/systemd/system/nvidia-*.service",
        "/run/nvidia/driver/etc/os-release",
        "/run/nvidia/validations/*",
        "/run/nvidia-persistenced/nvidia-persistenced.pid",
        "/etc/udev/rules.d/*nvidia*",
        "/lib/udev/rules.d/*nvidia*",
    ],
    noted: &[
        "/lib/modules/*/updates/dkms/nvidia*",
        "/lib/modules/*/extra/nvidia*",
        "/lib/modules/*/kernel/drivers/video/nvidia*",
        "/lib/modules/*/kernel/nvidia*/*",
        "/lib/modules/*/build",
        "/var/lib/dkms/nvidia*/*",
        "/var/lib/dkms/nvidia*/*/*/*/module/*",
        "/run/nvidia/driver",
        "/run/nvidia/driver/usr/bin/nvidia-*",
        "/run/nvidia/*",
        "/var/run/nvidia-fabricmanager/*",
        "/var/run/nvidia-persistenced/*",
    ],
    logs: &[
        "/var/log/fabricmanager.log",
        "/var/log/nvidia-fabricmanager.log",
        "/var/log/nvidia-imex.log",
        "/var/log/nvidia-installer.log",
        "/var/lib/dkms/nvidia*/*/build/make.log",
        "/var/lib/dkms/nvidia*/*/*/*/log/make.log",
        "/var/log/nvidia-dcgm/*.log",
    ],
};

/// The driver's installation.
pub static SOURCE: Source = Source {
    about: &about::NVIDIA_DRIVER,
    timeout: Duration::from_secs(60),
    max_bytes: 32 << 20,
    plan,
    collect,
};

fn plan(ctx: &PlanCtx<'_>) -> Vec<PlanItem> {
    let mut items = LIST.plan(ctx);
    items.extend(pci::reads().map(PlanItem::file));
    items.extend(installed::reads().map(PlanItem::file));
    items
}

fn collect(ctx: SourceCtx) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        let mut tally = LIST.take(&ctx).await;
        tally.add(ctx.files(installed::write).await);
        // Last: the kernel asks the device itself for some of it.
        tally.add(ctx.files(pci::write).await);
        tally.outcome("no trace of an NVIDIA driver or device was found")
    })
}
