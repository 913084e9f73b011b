//! What a packet has from its course through the host: interfaces, a route, a priority.

use super::field::{Reading, address, known, sent_here};
use super::{Slot, View};
use crate::eval::Gift;
use crate::header::Bits;
use crate::packet::{Direction, Family, Interface};
use crate::route::Route;

/// What comes in has none; where it is routed on, its service class gives it one (`rt_tos2priority`).
pub(super) fn priority<'a>(view: &View<'_>) -> Reading<'a> {
    const BY_CLASS: [u128; 8] = [0, 0, 2, 2, 6, 6, 4, 4];
    if sent_here(view) || view.rules.gives(Gift::Priority) {
        return Reading::Unknown;
    }
    if !view.routed || view.packet.direction == Direction::Input {
        return known(Some(0));
    }
    match view.packet.family() {
        Family::V4 => {
            let class = view.packet.headers.read(Bits::network(11, 3));
            let class = class.and_then(|class| usize::try_from(class).ok());
            known(class.map(|class| BY_CLASS[class]))
        }
        Family::V6 => known(Some(0)),
    }
}

pub(super) fn slot_of<'a>(view: &View<'a>, outgoing: bool) -> Slot<'a> {
    if outgoing {
        view.out_iface
    } else {
        view.in_iface
    }
}

/// Names of interfaces without an Ethernet header are known; a prefix may be any.
pub(super) fn link_type<'a>(interface: &Interface) -> Reading<'a> {
    const ETHERNET: u128 = 1;
    const LOOPBACK: u128 = 772;
    const OTHERS: [&str; 7] = ["tun", "wg", "ppp", "ipip", "gre", "sit", "ip6tnl"];
    match interface {
        Interface::Name(name) if name == "lo" => known(Some(LOOPBACK)),
        Interface::Name(name) if OTHERS.iter().all(|other| !name.starts_with(other)) => {
            known(Some(ETHERNET))
        }
        _ => Reading::Unknown,
    }
}

pub(super) fn next_hop<'a>(view: &View<'_>, family: Family) -> Reading<'a> {
    if view.packet.family() != family || !view.routed {
        return Reading::Absent;
    }
    match view.routes.map(|routes| routes.decide(view.packet)) {
        Some(Route::Via { also, .. }) if !also.is_empty() => Reading::Unknown,
        Some(Route::Via { gateway, .. }) => address(family, gateway.unwrap_or(view.packet.dst)),
        _ => Reading::Unknown,
    }
}
