//! The machine under the GPUs: PCI tree with link and error status of bridges, interrupts, memory errors, power and
//! temperatures as the board's own controller has them, and how much the kernel waits for processors, memory and disks.

mod disks;

use std::time::Duration;

use casefile_bundle::sources as about;

use crate::inventory::Inventory;
use crate::outcome::Outcome;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Source, SourceCtx};

static LIST: Inventory = Inventory {
    optional: &[
        "dmidecode",
        "edac-util",
        "ipmitool-sdr",
        "ipmitool-sel",
        "lspci-tree",
        "lspci-verbose",
        "nvme-list",
        "ras-mc-ctl-errors",
        "ras-mc-ctl-summary",
        "sensors",
    ],
    files: &[
        "/proc/interrupts",
        "/proc/iomem",
        "/proc/pressure/*",
        "/proc/buddyinfo",
        "/proc/vmstat",
        "/sys/devices/system/edac/mc/mc*/mc_name",
        "/sys/devices/system/edac/mc/mc*/ce_count",
        "/sys/devices/system/edac/mc/mc*/ue_count",
        "/sys/devices/system/edac/mc/mc*/dimm*/dimm_label",
        "/sys/devices/system/edac/mc/mc*/dimm*/dimm_ce_count",
        "/sys/devices/system/edac/mc/mc*/dimm*/dimm_ue_count",
        "/sys/bus/pci/devices/*/aer_dev_correctable",
        "/sys/bus/pci/devices/*/aer_dev_nonfatal",
        "/sys/bus/pci/devices/*/aer_dev_fatal",
        "/sys/class/hwmon/hwmon*/name",
        "/sys/class/hwmon/hwmon*/power*_input",
        "/sys/class/hwmon/hwmon*/temp*_input",
        "/sys/class/hwmon/hwmon*/temp*_crit_alarm",
    ],
    ..Inventory::EMPTY
};

/// The machine's hardware.
pub static SOURCE: Source = Source {
    about: &about::HARDWARE,
    timeout: Duration::from_secs(90),
    max_bytes: 32 << 20,
    plan: |ctx: &PlanCtx<'_>| -> Vec<PlanItem> {
        LIST.plan(ctx).into_iter().chain(disks::plan(ctx)).collect()
    },
    collect,
};

fn collect(ctx: SourceCtx) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        let mut tally = LIST.take(&ctx).await;
        disks::take(&ctx, &mut tally).await;
        tally.outcome("no hardware can be seen here")
    })
}
