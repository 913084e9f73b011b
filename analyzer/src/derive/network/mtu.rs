//! Links that take larger packets than the link below them can carry.

use casefile_bundle::Entry;

use super::path_mtu::OfNode;
use super::{Known, fact};
use crate::facts::AnyFact;
use crate::facts::kube::Node;
use crate::facts::network::MtuMismatch;
use crate::firewall::iptables::Origin;
use crate::firewall::link::Link;
use crate::firewall::mtu::{Below, below, is_nominal, kind};
use crate::firewall::packet::{Direction, Packet};
use crate::firewall::route::{Route, Routing};

/// Host sides of pods' links.
const OF_PODS: [&str; 3] = ["cali", "veth", "azv"];

/// Tunnels over links that are too small, and pods' links over tunnels that are.
pub(super) fn derive(node: &str, links: &[Link], routing: &Routing) -> Vec<AnyFact> {
    let mut facts = Vec::new();
    for link in links {
        if let (Some(overhead), Some(below)) = (overhead(link), below_of(link, links, routing)) {
            facts.extend(mismatch(node, "tunnel", link, below, overhead));
        }
        let other = link.parent.as_deref().filter(|_| kind(link) == "veth");
        let other = other.and_then(|name| links.iter().find(|one| one.name == name));
        facts.extend(other.and_then(|other| mismatch(node, "veth", link, other, 0)));
    }
    let of_pods = |link: &&Link| OF_PODS.iter().any(|start| link.name.starts_with(start));
    // Hundreds of pods' links are alike: one stands for all.
    let largest = links.iter().filter(of_pods).max_by_key(|link| link.mtu);
    let tunnel = carrier(links, routing);
    facts.extend(
        largest
            .zip(tunnel)
            .and_then(|(link, tunnel)| mismatch(node, "pod-link", link, tunnel, 0)),
    );
    facts
}

/// The tunnel that routes lead into; of several the smallest.
fn carrier<'a>(links: &'a [Link], routing: &Routing) -> Option<&'a Link> {
    let carries = |link: &&Link| {
        let mut routes = routing.routes.iter();
        routes.any(|route| route.device.as_ref() == Some(&link.name) && route.table != "local")
    };
    let tunnels = links.iter().filter(|link| overhead(link).is_some());
    tunnels.filter(carries).min_by_key(|link| link.mtu)
}

/// Bytes that a tunnel's header takes; none for what is no tunnel, and where its size is not known.
fn overhead(link: &Link) -> Option<u64> {
    let ends = link.tunnel.local.or(link.tunnel.remote);
    match below(link) {
        Below::Inside(header) if !is_nominal(link) => {
            Some(header.bytes(ends.is_some_and(|end| end.is_ipv6())))
        }
        _ => None,
    }
}

/// The link that a tunnel's packets leave by: the one that it names, or that of the default route.
fn below_of<'a>(link: &Link, links: &'a [Link], routing: &Routing) -> Option<&'a Link> {
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

fn mismatch(node: &str, kind: &str, link: &Link, below: &Link, overhead: u64) -> Option<AnyFact> {
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
            kind: kind.to_owned(),
        };
        fact(data, &link.origin, &link.text)
    })
}

/// MTUs that the CNI is configured to give pods and that the tunnel does not carry: pods made from now on have them.
pub(super) fn configured(
    known: &Known<'_>,
    node: &str,
    links: &[Link],
    routing: &Routing,
) -> Vec<AnyFact> {
    let Some(tunnel) = carrier(links, routing) else {
        return Vec::new();
    };
    let start = Entry::Rootfs(node, "").path();
    let files = known.documents.range(start.clone()..);
    let files = files.take_while(|(path, _)| path.starts_with(&start));
    let mut facts = Vec::new();
    for (path, text) in files {
        let inside = &path[start.len()..];
        let is_cni = inside.starts_with("etc/cni/net.d/") || inside == "run/flannel/subnet.env";
        for (mtu, line, words) in is_cni.then(|| cni_sizes(text)).into_iter().flatten() {
            if mtu <= tunnel.mtu {
                continue;
            }
            let data = MtuMismatch {
                node: node.to_owned(),
                device: format!("pods by {inside}"),
                mtu,
                over: tunnel.name.clone(),
                over_mtu: tunnel.mtu,
                overhead: 0,
                fits: tunnel.mtu,
                kind: "cni-config".to_owned(),
            };
            let origin = Origin {
                path: path.as_str().into(),
                line,
            };
            facts.push(fact(data, &origin, words));
        }
    }
    facts
}

/// Sizes of a CNI's file, with line and text: `FLANNEL_MTU=1450`, `"mtu": 1450`.
fn cni_sizes(text: &str) -> Vec<(u64, u32, &str)> {
    let number = |text: &str| {
        let rest = text.trim_start_matches(['=', ':', ' ', '"']);
        let end = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        rest[..end].parse().ok()
    };
    let mut sizes = Vec::new();
    for (line, count) in text.lines().zip(1u32..) {
        for key in ["FLANNEL_MTU", "\"mtu\""] {
            for (at, _) in line.match_indices(key).take(8) {
                // 0 asks the CNI to find one itself.
                let size = number(&line[at + key.len()..]).filter(|size| *size > 0);
                sizes.extend(size.map(|size| (size, count, line.trim())));
            }
        }
    }
    sizes
}

/// Nodes' cards with a larger MTU than another node's: what one sends whole, the other does not take.
pub(super) fn between_nodes(known: &Known<'_>, nodes: &[OfNode]) -> Vec<AnyFact> {
    let addresses = |name: &str| {
        let nodes = known.facts.table::<Node>().iter();
        let own = nodes.filter(|node| node.data.name == name);
        own.flat_map(|node| &node.data.addresses)
            .filter_map(|address| address.parse().ok())
            .collect::<Vec<std::net::IpAddr>>()
    };
    let cards: Vec<(&str, &Link)> = nodes
        .iter()
        .filter_map(|node| {
            let own = addresses(&node.name);
            let holds = |link: &&Link| link.addresses.iter().any(|one| own.contains(one));
            Some((node.name.as_str(), node.links.iter().find(holds)?))
        })
        .collect();
    let Some((smallest, least)) = cards.iter().min_by_key(|(_, link)| link.mtu) else {
        return Vec::new();
    };
    let larger = cards.iter().filter(|(_, link)| link.mtu > least.mtu);
    let facts = larger.map(|(node, link)| {
        let data = MtuMismatch {
            node: (*node).to_owned(),
            device: link.name.clone(),
            mtu: link.mtu,
            over: format!("{} of {smallest}", least.name),
            over_mtu: least.mtu,
            overhead: 0,
            fits: least.mtu,
            kind: "other-node".to_owned(),
        };
        fact(data, &link.origin, &link.text)
    });
    facts.collect()
}
