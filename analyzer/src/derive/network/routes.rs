//! Destinations that a node of a cluster has to reach, and what its routes do with them.

use std::net::IpAddr;

use ipnet::IpNet;

use super::{Known, fact};
use crate::facts::AnyFact;
use crate::facts::kube::Node;
use crate::facts::network::RouteMissing;
use crate::firewall::iptables::Origin;
use crate::firewall::packet::{Direction, Family, Packet};
use crate::firewall::route::{Route, Routing};

/// Routes that are missing: the default route, and those to the pods of other nodes.
pub(super) fn derive(known: &Known<'_>, node: &str, routing: &Routing) -> Vec<AnyFact> {
    let mut facts = Vec::new();
    let outside = IpAddr::from([192, 0, 2, 1]);
    let mut wanted = vec![(
        "default".to_owned(),
        "the outside, and services through their addresses".to_owned(),
        outside,
    )];
    for other in known.facts.table::<Node>().iter().map(|other| &other.data) {
        if other.name == node {
            continue;
        }
        for range in &other.pod_cidrs {
            if let Some(address) = range
                .parse::<IpNet>()
                .ok()
                .and_then(|net| net.hosts().nth(1))
            {
                let what = format!("pods of node {}", other.name);
                wanted.push((range.clone(), what, address));
            }
        }
    }
    for (to, what, address) in wanted {
        let Route::Refused {
            what: found,
            origin,
        } = ask(routing, address)
        else {
            continue;
        };
        let path = routing
            .routes
            .first()
            .map(|route| route.origin.path.clone());
        let Some(origin) = origin.or(path.map(|path| Origin { path, line: 0 })) else {
            continue;
        };
        let data = RouteMissing {
            node: node.to_owned(),
            to,
            what,
            found,
        };
        facts.push(fact(data, &origin, ""));
    }
    facts
}

fn ask(routing: &Routing, to: IpAddr) -> Route {
    if routing.lacks(Family::of(to)) {
        return Route::Unknown;
    }
    let from = match to {
        IpAddr::V4(_) => IpAddr::from([192, 0, 2, 2]),
        IpAddr::V6(_) => IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, 2]),
    };
    let mut packet = Packet::new(Direction::Output, from, to);
    packet.mark = Some(0);
    routing.decide(&packet)
}
