//! Installed packages and their latest changes: an unattended upgrade of kernel or driver is a common cause.

use std::time::Duration;

use casefile_bundle::sources as about;

use crate::host::Host;
use crate::inventory::Inventory;
use crate::outcome::Outcome;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Source, SourceCtx};
use crate::take::Need;

static LIST: Inventory = Inventory {
    optional: &["dpkg-packages", "snap-list"],
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
    about: &about::PACKAGES,
    timeout: Duration::from_secs(45),
    max_bytes: 32 << 20,
    plan,
    collect,
};

/// RPM's databases of the newer kinds. A query of the old kind (Berkeley DB) writes lock files beside it, and the
/// collector writes nothing.
const RPM: [&str; 4] = [
    "/var/lib/rpm/rpmdb.sqlite",
    "/usr/lib/sysimage/rpm/rpmdb.sqlite",
    "/var/lib/rpm/Packages.db",
    "/usr/lib/sysimage/rpm/Packages.db",
];
const OLD_RPM: &str = "/var/lib/rpm/Packages";

fn plan(ctx: &PlanCtx<'_>) -> Vec<PlanItem> {
    let mut items = LIST.plan(ctx);
    if RPM.iter().any(|path| ctx.host.exists(path)) {
        items.extend(ctx.commands(&["rpm-packages"]));
    }
    items
}

fn collect(ctx: SourceCtx) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        let mut tally = LIST.take(&ctx).await;
        let rpm = |host: &Host| {
            (
                RPM.iter().any(|path| host.exists(path)),
                host.exists(OLD_RPM),
            )
        };
        match ctx.host.on_thread(rpm).await.unwrap_or_default() {
            (true, _) => {
                ctx.command("rpm-packages", Need::Optional, &mut tally).await;
            }
            (false, true) => ctx.out.note(format!(
                "{OLD_RPM}: not asked for its packages, because a query of this kind of database may write to it"
            )),
            (false, false) => {}
        }
        tally.outcome("no package manager's records were found")
    })
}
