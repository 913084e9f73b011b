//! A packet as it came to a node and as it left, and the answer that follows from that.

use std::net::IpAddr;

use super::{Host, answered};
use crate::connection::{Connection, Served, Tuple};
use crate::eval::{Course, MAX_COURSES, SourceNat};
use crate::iptables::{SourceAddress, SourcePort};
use crate::packet::{Direction, Interface, Packet};
use crate::question::Answer;
use crate::route::{Route, Routing};

/// Addresses of the node that masquerading is tried with.
const MOST_ADDRESSES: usize = 16;

/// One way of a packet through a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The packet as it came.
    pub asked: Packet,
    /// As it leaves, with a rewritten destination.
    pub left: Course,
    /// What who is asked sees: the rewritten source as well.
    pub became: Tuple,
}

/// Every way that the packet may have taken.
pub(super) fn passages(
    asked: &Packet,
    answer: &Answer,
    here: &Host<'_>,
) -> Result<Vec<Passage>, String> {
    let courses = &answer.evaluation.courses;
    if courses.len() >= MAX_COURSES {
        return Err("the packet may go to too many places".to_owned());
    }
    let mut all = Vec::new();
    for left in courses {
        let became = became(left, here)?;
        all.extend(became.into_iter().map(|became| Passage {
            asked: asked.clone(),
            became,
            left: left.clone(),
        }));
    }
    Ok(all)
}

/// The packet's addresses as it leaves; several where masquerading may take one of several.
fn became(left: &Course, here: &Host<'_>) -> Result<Vec<Tuple>, String> {
    let mut tuple = Tuple::of(&left.packet);
    if left.packet.direction == Direction::Input || !left.tracked {
        return Ok(vec![tuple]);
    }
    let to = match here.firewall.source_of_course(left) {
        SourceNat::Kept => return Ok(vec![tuple]),
        SourceNat::Rewritten { to, .. } => to,
        SourceNat::Unknown { why } => {
            return Err(format!(
                "the source that it leaves with is not known: {why}"
            ));
        }
    };
    tuple.sport = match to.port {
        SourcePort::Kept => tuple.sport,
        SourcePort::Is(port) => Some(port),
        SourcePort::Any => None,
    };
    let addresses = match to.address {
        SourceAddress::Is(address) => vec![address],
        SourceAddress::Own => own_addresses(&left.packet, here.routing),
        SourceAddress::Unknown => {
            return Err("the address that its source becomes is not shown".to_owned());
        }
    };
    if addresses.is_empty() || addresses.len() > MOST_ADDRESSES {
        return Err("the address that masquerading gives it is not known".to_owned());
    }
    let with = |src| Tuple { src, ..tuple };
    Ok(addresses.into_iter().map(with).collect())
}

/// The address that masquerading takes: of the interface's addresses the one on the next hop's network. An interface
/// without addresses borrows one of the others', and the routes do not show whose.
fn own_addresses(packet: &Packet, routing: &Routing) -> Vec<IpAddr> {
    let Some(Interface::Name(device)) = &packet.out_iface else {
        return Vec::new();
    };
    let next = match routing.decide(packet) {
        Route::Via { gateway, .. } => gateway.unwrap_or(packet.dst),
        _ => packet.dst,
    };
    match routing.masquerade_address(device, next) {
        Some(address) => vec![address],
        None => routing.own_addresses(packet.family()),
    }
}

impl Passage {
    /// Its destination was rewritten.
    pub fn dnat(&self) -> bool {
        let left = &self.left.packet;
        (left.dst, left.dport) != (self.asked.dst, self.asked.dport)
    }

    /// It goes to a real server of IPVS.
    pub(super) fn served(&self) -> Option<Served> {
        self.left.packet.connection.as_deref()?.served
    }

    /// Its source was rewritten.
    pub fn snat(&self) -> bool {
        (self.became.src, self.became.sport) != (self.asked.src, self.asked.sport)
    }

    /// The answer as it comes in by an interface, or as a process of the node sends it.
    pub(super) fn answer(&self, routing: &Routing, input: Option<&str>) -> Packet {
        let replies = self.became.turned();
        let mut packet = Packet::new(Direction::Forward, replies.src, replies.dst);
        (packet.sport, packet.dport) = (replies.sport, replies.dport);
        packet.mark = self.asked.mark.map(|_| 0);
        answered(&mut packet, &self.asked, self.left.tracked);
        if input.is_none() {
            packet.direction = Direction::Output;
        }
        packet.in_iface = input.map(|name| Interface::Name(name.to_owned()));
        packet.direction = match (input, routing.decide(&packet)) {
            (None, _) => Direction::Output,
            (Some(_), Route::Local) => Direction::Input,
            (Some(_), _) => Direction::Forward,
        };
        if let Route::Via { device, also, .. } = routing.decide(&packet)
            && packet.direction != Direction::Input
        {
            packet.out_iface = also.is_empty().then_some(Interface::Name(device));
        }
        let served = self.served();
        if self.left.tracked || served.is_some() {
            packet.connection = Some(Box::new(Connection {
                reply: true,
                original: Tuple::of(&self.asked),
                replies: Some(replies),
                dnat: Some(self.dnat()),
                snat: Some(self.snat()),
                served,
                mark: self.left.connmark,
            }));
        }
        packet
    }

    /// The answer as the kernel routes it: with its destination written back.
    pub(super) fn routed(&self, answer: &Packet) -> Packet {
        let mut packet = answer.clone();
        if self.left.tracked {
            (packet.dst, packet.dport) = (self.asked.src, self.asked.sport);
        }
        if packet.direction == Direction::Input {
            packet.direction = Direction::Forward;
        }
        packet
    }
}
