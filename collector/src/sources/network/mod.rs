//! The network beside the firewall: links and what they offload, neighbours, sockets, kernel settings, counters, the
//! files of whoever configures it all, and the CNI programs.

mod links;
mod settings;

use std::time::Duration;

use casefile_bundle::sources as about;

use crate::inventory::Inventory;
use crate::outcome::Outcome;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Source, SourceCtx};
use crate::take::{Need, copy_all};

static LIST: Inventory = Inventory {
    wanted: &["ip-link", "ip-neigh"],
    optional: &[
        "ip-netconf",
        "ip6-route",
        "ip6-rule",
        "ipset-list",
        "conntrack-stats",
        "devlink-dev",
        "devlink-health",
        "ofed-info",
        "rdma-link",
        "resolvectl-status",
        "tc-qdisc",
    ],
    files: &[
        "/proc/net/sockstat",
        "/proc/net/sockstat6",
        "/proc/net/snmp",
        "/proc/net/snmp6",
        "/proc/net/netstat",
        "/proc/net/softnet_stat",
        "/proc/net/stat/nf_conntrack",
        "/proc/net/ip_vs",
        "/proc/net/ip_vs_stats",
        "/proc/net/netfilter/nfnetlink_queue",
        "/proc/net/bonding/*",
        "/proc/net/vlan/*",
        "/proc/net/if_inet6",
        "/proc/net/ipv6_route",
        "/run/NetworkManager/resolv.conf",
        "/run/NetworkManager/no-stub-resolv.conf",
        "/etc/NetworkManager/NetworkManager.conf",
        "/etc/NetworkManager/conf.d/*",
        "/etc/systemd/network/*",
        "/run/systemd/network/*",
        "/run/systemd/resolve/netif/*",
        "/etc/network/interfaces",
        "/etc/network/interfaces.d/*",
        "/etc/sysconfig/network-scripts/ifcfg-*",
        "/etc/dnsmasq.conf",
        "/etc/dnsmasq.d/*",
        "/etc/host.conf",
        "/etc/gai.conf",
        "/etc/hosts.allow",
        "/etc/hosts.deny",
        "/etc/environment",
        "/etc/profile.d/*proxy*",
        "/etc/systemd/system/*.service.d/*proxy*.conf",
        "/etc/systemd/system.conf.d/*proxy*.conf",
        "/etc/apt/apt.conf.d/*proxy*",
        "/etc/iproute2/rt_tables",
        "/run/flannel/subnet.env",
        "/etc/modules-load.d/*",
    ],
    noted: &[
        "/opt/cni/bin/*",
        "/usr/lib/cni/*",
        "/usr/libexec/cni/*",
        "/etc/cni/net.d/*",
        "/var/lib/cni/*",
        "/var/lib/rancher/*/data/cni/*",
        "/var/snap/microk8s/current/opt/cni/bin/*",
        "/run/flannel/*",
        "/run/calico/*",
        "/var/run/cilium/*",
        "/sys/fs/bpf/*",
    ],
    ..Inventory::EMPTY
};
/// Listening sockets as the kernel lists them, for where `ss` is missing.
const SOCKETS: [&str; 4] = [
    "/proc/net/tcp",
    "/proc/net/tcp6",
    "/proc/net/udp",
    "/proc/net/udp6",
];

/// The network.
pub static SOURCE: Source = Source {
    about: &about::NETWORK,
    timeout: Duration::from_secs(60),
    max_bytes: 64 << 20,
    plan,
    collect,
};

fn plan(ctx: &PlanCtx<'_>) -> Vec<PlanItem> {
    let mut items = LIST.plan(ctx);
    items.extend(ctx.commands(&["ss-listening"]));
    items.extend(SOCKETS.iter().map(|path| PlanItem::file(*path)));
    items.extend(settings::reads().map(PlanItem::file));
    items.extend(links::plan(ctx));
    items
}

fn collect(ctx: SourceCtx) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        let mut tally = LIST.take(&ctx).await;
        if !ctx
            .command("ss-listening", Need::Optional, &mut tally)
            .await
        {
            let copied = ctx
                .files(|host, out, tally| copy_all(host, out, &SOCKETS, tally))
                .await;
            tally.add(copied);
        }
        tally.add(ctx.files(settings::write).await);
        links::write(&ctx, &mut tally).await;
        tally.outcome("nothing about the network could be read")
    })
}
