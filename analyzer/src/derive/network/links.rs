//! The links of a node, with their addresses.

use std::net::IpAddr;

use super::{Known, command};
use crate::firewall::link::{Link, links};
use crate::firewall::packet::Family;
use crate::firewall::route::{RouteEntry, RouteKind, Routing};

/// The links of a node; of two outputs the one that shows kinds and parents.
pub(super) fn read(known: &Known<'_>, node: &str) -> Vec<Link> {
    let detailed = command(known, node, "ip-link")
        .map(links)
        .unwrap_or_default();
    let addressed = command(known, node, "ip-addr")
        .map(links)
        .unwrap_or_default();
    if detailed.is_empty() {
        return addressed;
    }
    let mut all = detailed;
    for link in &mut all {
        if let Some(same) = addressed.iter().find(|other| other.name == link.name) {
            link.addresses.clone_from(&same.addresses);
        }
    }
    all
}

/// The kernel's own routes to a node's addresses, where the captured routes lack the table that holds them: `ip route` prints
/// the main one alone. Of a family without any route nothing is known, and stays so.
pub(super) fn local(links: &[Link], routing: &Routing) -> Vec<RouteEntry> {
    let of = |family: Family| {
        let mut own = routing
            .routes
            .iter()
            .filter(move |one| Family::of(one.to.addr()) == family);
        own.clone().next().is_some() && own.all(|one| one.kind != RouteKind::Local)
    };
    let (four, six) = (of(Family::V4), of(Family::V6));
    let lacking = |address: &IpAddr| if address.is_ipv4() { four } else { six };
    let entry = |link: &Link, address: IpAddr| RouteEntry {
        to: address.into(),
        table: "local".to_owned(),
        kind: RouteKind::Local,
        device: Some(link.name.clone()),
        also: Vec::new(),
        gateway: None,
        metric: 0,
        mtu: None,
        mtu_locked: false,
        advmss: None,
        dead: false,
        origin: link.origin.clone(),
        text: link.text.clone(),
    };
    links
        .iter()
        .flat_map(|link| link.addresses.iter().map(move |one| (link, *one)))
        .filter(|(_, address)| lacking(address))
        .map(|(link, address)| entry(link, address))
        .collect()
}
