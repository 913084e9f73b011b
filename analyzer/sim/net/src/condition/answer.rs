//! The answer of a condition for a packet, and the reason for a doubtful one.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::field::{Field, Reading, sent_here};
use super::{AddressKind, Condition, RouteBack, Slot, Test, Tri, View};
use crate::connection::{Connection, Tracked};
use crate::eval::Gift;
use crate::packet::{CtState, Direction, Interface, Packet};
use crate::route::Route;

impl Condition {
    /// Answers the condition for a packet.
    pub fn answer(&self, view: &View<'_>) -> Tri {
        if let Test::Lookup(lookup) = &self.test {
            return lookup.answer(view, self.negated);
        }
        let packet = view.packet;
        let asks_ports = matches!(
            self.test,
            Test::SourcePort(_)
                | Test::DestinationPort(_)
                | Test::EitherPort(_)
                | Test::TcpFlags { .. }
        );
        // A later fragment has no transport header: the kernel's port matches
        // fail on it before negation is looked at.
        if asks_ports
            && (packet.fragment == Some(true) || packet.proto.is_some_and(|p| !p.has_ports()))
        {
            return Tri::No;
        }
        let plain = self.test.answer(view);
        if self.negated { plain.invert() } else { plain }
    }
}

impl Test {
    fn answer(&self, view: &View<'_>) -> Tri {
        let packet = view.packet;
        match self {
            Test::Source(ranges) => Tri::of(ranges.iter().any(|r| r.contains(packet.src))),
            Test::Destination(ranges) => Tri::of(ranges.iter().any(|r| r.contains(packet.dst))),
            Test::SourceRange(range) => within(packet.src, range.0, range.1),
            Test::DestinationRange(range) => within(packet.dst, range.0, range.1),
            Test::InInterface(wanted) => interface(wanted, view.in_iface),
            Test::OutInterface(wanted) => interface(wanted, view.out_iface),
            Test::Protocol(wanted) => known(packet.proto, |p| p == *wanted),
            Test::SourcePort(ranges) => port(ranges, packet.sport),
            Test::DestinationPort(ranges) => port(ranges, packet.dport),
            Test::EitherPort(ranges) => port(ranges, packet.sport).max(port(ranges, packet.dport)),
            Test::TcpFlags { mask, set } => known(packet.tcp_flags, |f| f & mask == *set),
            Test::Icmp { kind, codes } => icmp(packet, *kind, *codes),
            Test::Mark { value, mask } => known(view.mark, |m| m & mask == *value),
            Test::ConnMark { value, mask } => known(view.connmark, |m| m & mask == *value),
            Test::States { states, snat, dnat } => conntrack(view, states, *snat, *dnat),
            Test::Direction { reply } => {
                tracked(view, |connection| Some(connection.reply == *reply))
            }
            Test::TupleAddress(side, ranges) => tracked(view, |connection| {
                let address = side.address(connection)?;
                Some(ranges.iter().any(|range| range.contains(address)))
            }),
            Test::TupleProtocol(wanted) => {
                tracked(view, |_| packet.proto.map(|own| own == *wanted))
            }
            Test::StatusBits(mask) => match Field::Status.read(view) {
                Reading::Numbers(all) => {
                    let set: BTreeSet<bool> = all.iter().map(|bits| bits & **mask != 0).collect();
                    subset(&set, &BTreeSet::from([true]))
                }
                _ => Tri::Maybe,
            },
            Test::Helped(_) => match Field::Helper.read(view) {
                Reading::Absent => Tri::No,
                _ => Tri::Maybe,
            },
            Test::Sender { without, .. } => match sent_here(view) {
                true => Tri::Maybe,
                false => Tri::of(*without),
            },
            // Every protocol's own numbers lie in the whole range.
            Test::TuplePort(_, ranges) if ranges.as_slice() == [(0, u16::MAX)] => {
                tracked(view, |_| Some(true))
            }
            Test::TuplePort(side, ranges) => tracked(view, |connection| {
                let port = side.port(connection)?;
                Some(
                    ranges
                        .iter()
                        .any(|(low, high)| (*low..=*high).contains(&port)),
                )
            }),
            Test::AddressType { destination, kinds } => address_type(view, *destination, kinds),
            Test::PacketType(_) if view.rules.gives(Gift::PacketType) => Tri::Maybe,
            Test::PacketType(kind) => subset(&link_kinds(packet), &BTreeSet::from([*kind])),
            Test::MacSource(wanted) => known(packet.mac_src, |m| m == *wanted),
            Test::Ttl(low, high) => known(packet.ttl, |t| (*low..=*high).contains(&t)),
            Test::Length(low, high) => known(packet.length, |l| (*low..=*high).contains(&l)),
            Test::Fragment => known(packet.fragment, |f| f),
            Test::BridgeIn(wanted) => bridge_port(packet, wanted.as_ref(), false),
            Test::BridgeOut(wanted) => bridge_port(packet, wanted.as_ref(), true),
            Test::Bridged => match &packet.bridge_ports {
                Some(ports) => Tri::of(ports.input.is_some() && ports.output.is_some()),
                None => Tri::Maybe,
            },
            Test::Lookup(lookup) => lookup.answer(view, false),
            Test::AnyOf(lookups) => {
                let answers = lookups.iter().map(|lookup| lookup.answer(view, false));
                answers.max().unwrap_or(Tri::No)
            }
            Test::Rewritten => view.rewritten.map_or(Tri::Maybe, Tri::of),
            Test::ExtensionHeader(_) => Tri::No,
            Test::Assumed { answer, .. } => Tri::of(*answer),
            // The source is not the one that it came with.
            Test::RouteBack(_) if view.resourced => Tri::Maybe,
            Test::RouteBack(asked) => Tri::of(routed_back(view, *asked).unwrap_or(true)),
            Test::Time(clock) => clock.holds(packet.at),
            Test::Bytes { program, .. } => program.run(packet),
            Test::Opaque { .. } => Tri::Maybe,
        }
    }
}

fn known<T>(value: Option<T>, check: impl FnOnce(T) -> bool) -> Tri {
    value.map_or(Tri::Maybe, |v| Tri::of(check(v)))
}

fn within(address: IpAddr, first: IpAddr, last: IpAddr) -> Tri {
    let same_family = address.is_ipv4() == first.is_ipv4();
    Tri::of(same_family && first <= address && address <= last)
}

fn port(ranges: &[(u16, u16)], value: Option<u16>) -> Tri {
    known(value, |p| {
        ranges.iter().any(|(low, high)| (*low..=*high).contains(&p))
    })
}

fn icmp(packet: &Packet, kind: u8, codes: Option<(u8, u8)>) -> Tri {
    let code = match codes {
        Some((low, high)) => known(packet.icmp_code, |c| (low..=high).contains(&c)),
        None => Tri::Yes,
    };
    known(packet.icmp_type, |t| t == kind).min(code)
}

/// Matches a rule's interface against what is known of the packet's.
pub(super) fn interface(wanted: &Interface, slot: Slot<'_>) -> Tri {
    let actual = match slot {
        Slot::Unknown => {
            return if *wanted == Interface::Prefix(String::new()) {
                Tri::Yes
            } else {
                Tri::Maybe
            };
        }
        Slot::Absent => return Tri::of(*wanted == Interface::Prefix(String::new())),
        Slot::Known(actual) => actual,
    };
    match (wanted, actual) {
        (Interface::Name(w), Interface::Name(a)) => Tri::of(w == a),
        (Interface::Prefix(w), Interface::Name(a)) => Tri::of(a.starts_with(w.as_str())),
        (Interface::Prefix(w), Interface::Prefix(a)) if a.starts_with(w.as_str()) => Tri::Yes,
        (Interface::Prefix(w) | Interface::Name(w), Interface::Prefix(a)) => {
            if w.starts_with(a.as_str()) {
                Tri::Maybe
            } else {
                Tri::No
            }
        }
    }
}

fn bridge_port(packet: &Packet, wanted: Option<&Interface>, outgoing: bool) -> Tri {
    let Some(ports) = &packet.bridge_ports else {
        return Tri::Maybe;
    };
    let port = if outgoing {
        &ports.output
    } else {
        &ports.input
    };
    match (port, wanted) {
        (None, _) => Tri::No,
        (Some(_), None) => Tri::Yes,
        (Some(name), Some(Interface::Name(w))) => Tri::of(name == w),
        (Some(name), Some(Interface::Prefix(w))) => Tri::of(name.starts_with(w.as_str())),
    }
}

fn conntrack(view: &View<'_>, wanted: &BTreeSet<CtState>, snat: bool, dnat: bool) -> Tri {
    let mut answer = subset(view.states, wanted);
    if snat && view.tracked != Tracked::No {
        let rewritten = |connection: &Connection| connection.snat.filter(|_| !view.resourced);
        answer = answer.max(tracked(view, rewritten));
    }
    if dnat && view.tracked != Tracked::No {
        answer = answer.max(view.rewritten.map_or(Tri::Maybe, Tri::of));
    }
    answer
}

impl Test {
    /// Asks for a connection's own facts.
    pub(crate) fn of_connection(&self) -> bool {
        matches!(
            self,
            Test::Direction { .. }
                | Test::TupleAddress(..)
                | Test::TuplePort(..)
                | Test::StatusBits(_)
                | Test::TupleProtocol(_)
        )
    }
}

/// What the connection answers. A packet without one fails the kernel's match, except beside a state
/// that it has (`net/netfilter/xt_conntrack.c`): then it stays open.
fn tracked(view: &View<'_>, ask: impl FnOnce(&Connection) -> Option<bool>) -> Tri {
    match view.tracked {
        Tracked::No | Tracked::Unknown => Tri::Maybe,
        Tracked::Yes(connection) => ask(connection).map_or(Tri::Maybe, Tri::of),
    }
}

/// Yes when every possible value is wanted, no when none is.
fn subset<T: Ord>(possible: &BTreeSet<T>, wanted: &BTreeSet<T>) -> Tri {
    if possible.is_subset(wanted) {
        Tri::Yes
    } else if possible.is_disjoint(wanted) {
        Tri::No
    } else {
        Tri::Maybe
    }
}

/// iptables' `addrtype`. For IPv6 the kernel takes unicast and multicast from the address itself, so that an address of
/// this host is unicast as well, and looks only for the others in its routes (`net/netfilter/xt_addrtype.c`).
fn address_type(view: &View<'_>, destination: bool, wanted: &BTreeSet<AddressKind>) -> Tri {
    let possible = address_kinds(view, destination);
    let packet = view.packet;
    let IpAddr::V6(address) = (if destination { packet.dst } else { packet.src }) else {
        return subset(&possible, wanted);
    };
    let multicast = address.is_multicast();
    let unicast = !multicast && !address.is_unspecified();
    let mut routed = wanted.clone();
    let refused = routed.remove(&AddressKind::Multicast) && !multicast
        || routed.remove(&AddressKind::Unicast) && !unicast;
    match (refused, routed.is_empty()) {
        (true, _) => Tri::No,
        (false, true) => Tri::Yes,
        (false, false) => subset(&possible, &routed),
    }
}

/// Types an address may have, judged by the packet's direction: the routing
/// table itself is not consulted.
pub(super) fn address_kinds(view: &View<'_>, destination: bool) -> BTreeSet<AddressKind> {
    use crate::packet::Direction::{Forward, Input, Output};
    let packet = view.packet;
    let address = if destination { packet.dst } else { packet.src };
    if address.is_multicast() {
        return BTreeSet::from([AddressKind::Multicast]);
    }
    if is_limited_broadcast(address) {
        return BTreeSet::from([AddressKind::Broadcast]);
    }
    if address.is_loopback() {
        return BTreeSet::from([AddressKind::Local]);
    }
    let over_loopback = |slot: &Option<Interface>| *slot == Some(Interface::Name("lo".to_owned()));
    match (packet.direction, destination) {
        (Input, true) => link_kinds(packet)
            .into_iter()
            .map(|kind| {
                if kind == AddressKind::Unicast {
                    AddressKind::Local
                } else {
                    kind
                }
            })
            .collect(),
        // What IPVS sends on came in by an interface.
        (Output, false) if packet.in_iface.is_some() => BTreeSet::from([AddressKind::Unicast]),
        (Output, false) => BTreeSet::from([AddressKind::Local]),
        (Output, true) => match &packet.out_iface {
            None => BTreeSet::from([AddressKind::Local, AddressKind::Unicast]),
            Some(_) if over_loopback(&packet.out_iface) => BTreeSet::from([AddressKind::Local]),
            Some(_) => BTreeSet::from([AddressKind::Unicast]),
        },
        (Input, false) if over_loopback(&packet.in_iface) => BTreeSet::from([AddressKind::Local]),
        (Input, false) | (Forward, _) => BTreeSet::from([AddressKind::Unicast]),
    }
}

/// The types that a destination may have where only the addresses of the interface that it came in by are this host's
/// (`nft_fib4_eval_type` with a device).
pub(super) fn of_interface(view: &View<'_>, kinds: BTreeSet<AddressKind>) -> BTreeSet<AddressKind> {
    if !kinds.contains(&AddressKind::Local) {
        return kinds;
    }
    let holder = view.routes.and_then(|routes| routes.holder(view.packet));
    let same = match (holder, view.in_iface) {
        (Some((device, _)), Slot::Known(Interface::Name(name))) => Some(device == name),
        _ => None,
    };
    match same {
        Some(true) => kinds,
        Some(false) => BTreeSet::from([AddressKind::Unicast]),
        None => kinds.into_iter().chain([AddressKind::Unicast]).collect(),
    }
}

/// Whether the source has a route back (`nft_fib4_eval`, `rpfilter_lookup_reverse`); `None` where the routes do not tell.
pub(crate) fn routed_back(view: &View<'_>, asked: RouteBack) -> Option<bool> {
    let packet = view.packet;
    let Slot::Known(Interface::Name(input)) = view.in_iface else {
        return None;
    };
    if input == "lo" {
        return Some(true);
    }
    let mut back = Packet::new(Direction::Output, packet.dst, packet.src);
    back.mark = if asked.marked { view.mark } else { Some(0) };
    match view.routes?.decide(&back) {
        Route::Via { device, also, .. } => {
            Some(!asked.by_interface || device == *input || also.contains(input))
        }
        Route::Local => Some(asked.local),
        Route::Refused { .. } => Some(false),
        Route::Unknown => None,
    }
}

/// Link-layer types the packet may have.
pub(super) fn link_kinds(packet: &Packet) -> BTreeSet<AddressKind> {
    let kind = match packet.mac_dst {
        Some([0xff, 0xff, 0xff, 0xff, 0xff, 0xff]) => AddressKind::Broadcast,
        Some(mac) if mac[0] & 1 == 1 => AddressKind::Multicast,
        Some(_) => AddressKind::Unicast,
        None if packet.dst.is_multicast() => AddressKind::Multicast,
        None if is_limited_broadcast(packet.dst) => AddressKind::Broadcast,
        None if may_be_subnet_broadcast(packet.dst) => {
            return BTreeSet::from([AddressKind::Unicast, AddressKind::Broadcast]);
        }
        None => AddressKind::Unicast,
    };
    BTreeSet::from([kind])
}

fn is_limited_broadcast(address: IpAddr) -> bool {
    matches!(address, IpAddr::V4(v4) if v4.is_broadcast())
}

fn may_be_subnet_broadcast(address: IpAddr) -> bool {
    matches!(address, IpAddr::V4(v4) if v4.octets()[3] == 255)
}
