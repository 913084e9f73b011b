//! The routing decision that follows a rewritten destination.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use crate::packet::{Direction, Family, Interface, Packet};
use crate::route::{Route, Routing};

/// Sets direction and outgoing interface of a packet with a new destination. Without
/// captured routes the packet is taken as routed on, which is said.
pub(super) fn route(
    routes: Option<&Routing>,
    packet: &mut Packet,
) -> Result<Option<String>, String> {
    let answer = routes.map(|routes| routes.decide(packet));
    match answer {
        Some(Route::Local) if packet.direction == Direction::Output => {
            packet.out_iface = Some(Interface::Name("lo".to_owned()));
        }
        Some(Route::Local) => {
            packet.direction = Direction::Input;
            packet.out_iface = None;
        }
        Some(Route::Via { device, also, .. }) => {
            forwarded(packet);
            // Of several next hops the kernel takes one by a hash.
            packet.out_iface = also.is_empty().then_some(Interface::Name(device));
        }
        Some(Route::Refused { what, .. }) => {
            return Err(format!(
                "where the packet is sent on to, {}, has {what}",
                packet.dst
            ));
        }
        Some(Route::Unknown) | None => {
            forwarded(packet);
            packet.out_iface = None;
            return Ok(Some(format!(
                "the rewritten destination {} is on another host or in a pod",
                packet.dst
            )));
        }
    }
    Ok(None)
}

fn forwarded(packet: &mut Packet) {
    if packet.direction == Direction::Input {
        packet.direction = Direction::Forward;
    }
}

/// A router takes one from the time to live before its forward rules see the packet.
pub(super) fn age(packet: &mut Arc<Packet>) {
    if let Some(ttl) = packet.ttl {
        Arc::make_mut(packet).ttl = Some(ttl.saturating_sub(1));
    }
}

/// Sets the destination that a redirection gives: the address of the interface the packet came in
/// by, or the loopback address for one of the host itself.
pub(super) fn to_own_address(routes: Option<&Routing>, packet: &mut Packet) -> Option<String> {
    let own = match (&packet.in_iface, packet.direction) {
        (_, Direction::Output) => Some(match packet.family() {
            Family::V4 => Ipv4Addr::LOCALHOST.into(),
            Family::V6 => Ipv6Addr::LOCALHOST.into(),
        }),
        (Some(Interface::Name(name)), _) => {
            routes.and_then(|routes| routes.own_address(name, packet.family()))
        }
        _ => None,
    };
    match own {
        Some(address) => {
            packet.dst = address;
            None
        }
        None => Some(
            "no rule asks for the address of this host that the packet is redirected to".to_owned(),
        ),
    }
}
