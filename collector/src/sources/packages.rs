//! Installed packages and their latest changes: an unattended upgrade of kernel or driver is a common cause.

use std::time::Duration;

use crate::inventory::Inventory;
use crate::outcome::Outcome;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Scope, Source, SourceCtx};

static LIST: Inventory = Inventory {
    optional: &["dpkg-packages", "rpm-packages", "snap-list"],
    files: &[
        "/etc/apt/sources.list",
        "/etc/apt/sources.list.d/*",
        "/etc/apt/preferences.d/*",
        "/etc/apt/apt.conf.d/*upgrades*",
        "/etc/yum.repos.d/*.repo",
        "/etc/zypp/repos.d/*.repo",
        "/run/reboot-required",
        "/run/reboot-required.pkgs",
    ],
    noted: &[
        "/boot/vmlinuz-*",
        "/boot/initrd.img-*",
        "/boot/initramfs-*",
        "/lib/modules/*",
    ],
    logs: &[
        "/var/log/dpkg.log",
        "/var/log/dpkg.log.1",
        "/var/log/apt/history.log",
        "/var/log/unattended-upgrades/unattended-upgrades.log",
        "/var/log/dnf.rpm.log",
        "/var/log/yum.log",
        "/var/log/zypp/history",
    ],
    ..Inventory::EMPTY
};

/// Packages.
pub static SOURCE: Source = Source {
    id: "packages",
    title: "Installed packages and their latest changes",
    scope: Scope::Node,
    timeout: Duration::from_secs(45),
    max_bytes: 32 << 20,
    plan: |ctx: &PlanCtx<'_>| -> Vec<PlanItem> { LIST.plan(ctx) },
    collect,
};

fn collect(ctx: SourceCtx) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        let tally = LIST.take(&ctx).await;
        tally.outcome("no package manager's records were found")
    })
}
