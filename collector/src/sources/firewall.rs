//! The firewall: ufw's own view, the rules behind it in every dialect, and the addresses, routes and switches that a
//! reader needs to follow a packet through them.

use std::time::Duration;

use casefile_bundle::sources as about;

use crate::inventory::Inventory;
use crate::outcome::Outcome;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Source, SourceCtx};
use crate::take::{Need, Tally};

static LIST: Inventory = Inventory {
    wanted: &["iptables-save", "ip-addr", "ip-route", "ip-rule"],
    optional: &[
        "ip6tables-save",
        "iptables-legacy-save",
        "ip6tables-legacy-save",
        "iptables-nft-save",
        "ip6tables-nft-save",
        "nft-list-ruleset",
        "firewall-cmd",
    ],
    files: &[
        "/etc/default/ufw",
        "/etc/ufw/ufw.conf",
        "/etc/ufw/*.rules",
        "/etc/ufw/*.init",
        "/etc/ufw/sysctl.conf",
        "/etc/ufw/applications.d/*",
        "/var/lib/ufw/*.rules",
        "/lib/ufw/*.rules",
        "/etc/firewalld/firewalld.conf",
        "/etc/firewalld/zones/*",
        "/etc/nftables.conf",
        "/etc/iptables/rules.v4",
        "/etc/iptables/rules.v6",
        "/etc/resolv.conf",
        "/run/systemd/resolve/resolv.conf",
        "/run/systemd/resolve/stub-resolv.conf",
        "/etc/systemd/resolved.conf",
        "/etc/systemd/resolved.conf.d/*",
        "/etc/nsswitch.conf",
        "/etc/hosts",
        "/etc/sysctl.conf",
        "/etc/sysctl.d/*",
        "/proc/sys/net/ipv4/ip_forward",
        "/proc/sys/net/ipv4/conf/*/forwarding",
        "/proc/sys/net/ipv4/conf/*/rp_filter",
        "/proc/sys/net/ipv6/conf/all/forwarding",
        "/proc/sys/net/ipv6/conf/all/disable_ipv6",
        "/proc/sys/net/bridge/*",
        "/proc/sys/net/netfilter/nf_conntrack_count",
        "/proc/sys/net/netfilter/nf_conntrack_max",
        "/proc/net/dev",
        "/proc/net/route",
        "/etc/cni/net.d/*",
        "/etc/netplan/*.yaml",
        "/etc/firewalld/services/*",
        "/etc/firewalld/policies/*",
        "/etc/firewalld/direct.xml",
        "/etc/firewalld/ipsets/*",
        "/etc/sysconfig/iptables",
        "/etc/sysconfig/ip6tables",
        "/etc/sysconfig/nftables.conf",
        "/etc/nftables.d/*",
        "/etc/fail2ban/jail.d/*",
    ],
    ..Inventory::EMPTY
};

/// ufw writes this file whatever it is asked, also when it only shows its status.
const UFW_LOCK: &str = "/run/ufw.lock";
const UFW: &str = "ufw-status-verbose";

/// Firewall and routes.
pub static SOURCE: Source = Source {
    about: &about::FIREWALL,
    timeout: Duration::from_secs(150),
    max_bytes: 256 << 20,
    plan,
    collect,
};

fn plan(ctx: &PlanCtx<'_>) -> Vec<PlanItem> {
    let mut items = LIST.plan(ctx);
    items.extend(ctx.commands(&[UFW]));
    items
}

fn collect(ctx: SourceCtx) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        let mut tally = LIST.take(&ctx).await;
        ufw(&ctx, &mut tally).await;
        tally.outcome("no firewall, no route and no network setting was found")
    })
}

/// ufw's own view, where asking for it changes nothing: where its lock file is there from an earlier call.
async fn ufw(ctx: &SourceCtx, tally: &mut Tally) {
    let locked = ctx.host.on_thread(|host| host.exists(UFW_LOCK)).await;
    if locked == Some(true) || !ctx.options.live() {
        ctx.command(UFW, Need::Optional, tally).await;
    } else {
        let why = format!(
            "ufw status: not run, it would create {UFW_LOCK}; its settings are in /etc/ufw and /etc/default/ufw, its rules among those of iptables-save"
        );
        tally.absent(&ctx.out, Need::Optional, why);
    }
}
