//! Whether a sender hears that its packet was too large: the way of "fragmentation needed" back to it, through the
//! rules of every host. Without it TCP sends the same packet again and again (a path MTU black hole).

use std::net::IpAddr;

use super::{Below, Host, below, walk};
use crate::eval::Verdict;
use crate::iptables::Origin;
use crate::packet::{CtState, Direction, Family, Packet, Protocol};

/// What the captures tell of the answer's way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hears {
    /// It reaches the sender.
    Yes,
    /// It is dropped on its way.
    No {
        /// Where and by what, as a sentence fragment.
        why: String,
        /// Where the rule or route stands.
        origin: Option<Origin>,
    },
    /// The captures do not tell.
    Open {
        /// What is missing, as a sentence fragment.
        why: String,
    },
}

/// Follows the answer of a host to the sender of a packet.
pub fn hears(hosts: &[Host<'_>], from: usize, sender: IpAddr) -> Hears {
    let Some(host) = hosts.get(from) else {
        return open("the host that would answer was not collected");
    };
    let source = own_address(host, sender);
    let way = walk(hosts, from, &needed(Direction::Output, source, sender));
    for passed in &way.passed {
        match judge(&hosts[passed.host], &passed.packet) {
            Hears::Yes => {}
            other => return other,
        }
    }
    // A pod's own namespace is seldom collected, and has no rules of its own.
    let last = way.passed.last();
    let at_the_door = last.is_some_and(|passed| is_next_door(&hosts[passed.host], &passed.packet));
    match (way.reached, way.open.first()) {
        (Some(_), _) => Hears::Yes,
        _ if at_the_door => Hears::Yes,
        (None, Some(why)) => open(why),
        (None, None) => open("its way back is not known"),
    }
}

/// "Fragmentation needed", or "packet too big" of IPv6, as it answers a known connection.
pub fn needed(direction: Direction, from: IpAddr, to: IpAddr) -> Packet {
    let mut packet = Packet::new(direction, from, to);
    let (proto, kind, code) = match Family::of(to) {
        Family::V4 => (Protocol::ICMP, 3, 4),
        Family::V6 => (Protocol::ICMPV6, 2, 0),
    };
    packet.proto = Some(proto);
    (packet.icmp_type, packet.icmp_code) = (Some(kind), Some(code));
    packet.mark = Some(0);
    packet.ct_states = [CtState::Related].into();
    packet.fragment = Some(false);
    packet
}

/// True where nothing stands between the host and the packet's destination.
fn is_next_door(host: &Host<'_>, packet: &Packet) -> bool {
    let route = host.routing.entry(packet);
    route.is_some_and(|route| {
        let device = route.device.as_deref().and_then(|name| host.link(name));
        route.gateway.is_none() && device.is_some_and(|link| below(link) == Below::Same)
    })
}

/// What the rules of a host do with an answer: `passes`, `dropped: WHY` or `not-checked: WHY`.
pub fn rules_say(host: &Host<'_>, answer: &Packet) -> String {
    match judge(host, answer) {
        Hears::Yes => "passes".to_owned(),
        Hears::No { why, .. } => format!("dropped: {why}"),
        Hears::Open { why } => format!("not-checked: {why}"),
    }
}

/// What the rules of one host do with the answer.
fn judge(host: &Host<'_>, packet: &Packet) -> Hears {
    let Some(firewall) = host.firewall else {
        return Hears::Open {
            why: format!("the rules of {} were not collected", host.name),
        };
    };
    let answer = firewall.evaluate(packet);
    match &answer.evaluation.verdict {
        Verdict::Accepted => Hears::Yes,
        Verdict::Undecided { why } => Hears::Open {
            why: format!("on {}: {why}", host.name),
        },
        Verdict::Dropped | Verdict::Rejected => {
            let decided = answer.evaluation.decided_by.as_ref();
            let by = decided.map_or_else(|| "its rules".to_owned(), ToString::to_string);
            Hears::No {
                why: format!("dropped on {} by {by}", host.name),
                origin: decided.and_then(|decided| decided.origin().cloned()),
            }
        }
    }
}

/// The address that a host answers from: one of its own on the way back, else any.
fn own_address(host: &Host<'_>, to: IpAddr) -> IpAddr {
    let family = |address: &&IpAddr| address.is_ipv4() == to.is_ipv4();
    let mut probe = Packet::new(Direction::Output, unspecified(to), to);
    probe.mark = Some(0);
    let device = host
        .routing
        .entry(&probe)
        .and_then(|route| route.device.as_deref());
    let on_device = device.and_then(|name| host.link(name));
    let own = on_device.and_then(|link| link.addresses.iter().find(family));
    let mut all = host.links.iter().flat_map(|link| &link.addresses);
    own.or_else(|| all.find(|address| family(address) && !address.is_loopback()))
        .copied()
        .unwrap_or_else(|| unspecified(to))
}

fn unspecified(like: IpAddr) -> IpAddr {
    match like {
        IpAddr::V4(_) => std::net::Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => std::net::Ipv6Addr::UNSPECIFIED.into(),
    }
}

fn open(why: &str) -> Hears {
    Hears::Open {
        why: why.to_owned(),
    }
}
