//! Links that take larger packets than the link below them can carry.

use super::fact;
use crate::facts::AnyFact;
use crate::facts::network::MtuMismatch;
use crate::firewall::link::Link;
use crate::firewall::packet::{Direction, Packet};
use crate::firewall::route::{Route, Routing};

/// Tunnels by kind or name, with the bytes of their header over IPv4. Devices of Cilium, Open vSwitch
/// and OVN have a nominal MTU only: their programs set the real one at routes and in pods.
const TUNNELS: [(&str, &[&str], u64); 5] = [
    ("vxlan", &["flannel.", "vxlan.calico"], 50),
    ("geneve", &["geneve."], 50),
    ("ipip", &["tunl0", "flannel.ipip"], 20),
    (
        "wireguard",
        &["wireguard.cali", "flannel-wg", "wg-cali"],
        60,
    ),
    ("gre", &[], 24),
];
const NOMINAL: [&str; 5] = ["cilium_", "genev_sys_", "vxlan_sys_", "ovn-k8s-", "lxc"];
/// Host sides of pods' links.
const OF_PODS: [&str; 3] = ["cali", "veth", "azv"];

/// Tunnels over links that are too small, and pods' links over tunnels that are.
pub(super) fn derive(node: &str, links: &[Link], routing: &Routing) -> Vec<AnyFact> {
    let mut facts = Vec::new();
    let tunnels = || {
        links
            .iter()
            .filter_map(|link| Some((link, overhead(link)?)))
    };
    for (link, overhead) in tunnels() {
        if let Some(below) = below(link, links, routing) {
            facts.extend(mismatch(node, link, below, overhead));
        }
    }
    let carries = |link: &Link| {
        let mut routes = routing.routes.iter();
        routes.any(|route| route.device.as_ref() == Some(&link.name) && route.table != "local")
    };
    let Some((tunnel, _)) = tunnels()
        .filter(|(link, _)| carries(link))
        .min_by_key(|(link, _)| link.mtu)
    else {
        return facts;
    };
    let of_pods = |link: &&Link| OF_PODS.iter().any(|start| link.name.starts_with(start));
    // Hundreds of pods' links are alike: one stands for all.
    let largest = links.iter().filter(of_pods).max_by_key(|link| link.mtu);
    facts.extend(largest.and_then(|link| mismatch(node, link, tunnel, 0)));
    facts
}

fn overhead(link: &Link) -> Option<u64> {
    if NOMINAL.iter().any(|start| link.name.starts_with(start)) {
        return None;
    }
    let (.., bytes) = TUNNELS.iter().find(|(kind, names, _)| {
        link.kind == *kind || names.iter().any(|start| link.name.starts_with(start))
    })?;
    Some(*bytes)
}

/// The link that a tunnel's packets leave by: the one that it names, or that of the default route.
fn below<'a>(link: &Link, links: &'a [Link], routing: &Routing) -> Option<&'a Link> {
    let named = |name: &str| links.iter().find(|other| other.name == name);
    if let Some(parent) = link.parent.as_deref().and_then(named) {
        return Some(parent);
    }
    let (here, outside) = ([192, 0, 2, 2].into(), [192, 0, 2, 1].into());
    let mut packet = Packet::new(Direction::Output, here, outside);
    packet.mark = Some(0);
    match routing.decide(&packet) {
        Route::Via { device, .. } if device != link.name => named(&device),
        _ => None,
    }
}

fn mismatch(node: &str, link: &Link, below: &Link, overhead: u64) -> Option<AnyFact> {
    let fits = below.mtu.saturating_sub(overhead);
    (link.mtu > fits).then(|| {
        let data = MtuMismatch {
            node: node.to_owned(),
            device: link.name.clone(),
            mtu: link.mtu,
            over: below.name.clone(),
            over_mtu: below.mtu,
            overhead,
            fits,
        };
        fact(data, &link.origin, &link.text)
    })
}
