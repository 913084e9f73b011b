//! What a rule can read from a packet as a number or an interface name, for
//! look-ups in sets and maps.

use super::answer::{address_kinds, link_kinds, of_interface};
use super::course::{link_type, next_hop, priority, slot_of};
use super::kept::{counted, helper, status, tracked};
use super::{AddressKind, Slot, View};
use crate::connection::{Tracked, TupleSide};
use crate::eval::Gift;
use crate::header::{Bits, HeaderBytes, Layer};
use crate::packet::{CtState, Direction, Family, Protocol};

/// A field of a packet, of its connection or of its interfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// Source address of this family.
    Source(Family),
    /// Destination address of this family.
    Destination(Family),
    /// Source port.
    SourcePort,
    /// Destination port.
    DestinationPort,
    /// A port as ipsets ask for it, of the source or of the destination: of ICMP type and code stand in its place, other
    /// protocols have 0.
    SetPort {
        /// Of the source.
        source: bool,
        /// Only TCP and UDP have one.
        plain: bool,
    },
    /// Upper-layer protocol number.
    Protocol,
    /// Netfilter's number of the family: 2 for IPv4, 10 for IPv6.
    Family,
    /// Incoming interface.
    InInterface,
    /// Outgoing interface.
    OutInterface,
    /// Packet mark.
    Mark,
    /// Connection mark.
    ConnMark,
    /// Connection-tracking state as nft numbers it.
    State,
    /// ICMP type, of the ICMP of this family.
    IcmpType(Family),
    /// ICMP code, of the ICMP of this family.
    IcmpCode(Family),
    /// TCP flags.
    TcpFlags,
    /// Link-layer packet type: 0 to this host, 1 broadcast, 2 multicast.
    PacketType,
    /// Address type of the source or destination, see [`kind_number`].
    AddressType {
        /// True for the destination.
        destination: bool,
        /// Only the addresses of the incoming interface are this host's (`fib daddr . iif type`).
        here: bool,
    },
    /// Time to live or hop limit.
    Ttl,
    /// Packet length in bytes.
    Length,
    /// Length behind the header of IPv6 in bytes.
    PayloadLength,
    /// Source hardware address.
    SourceMac,
    /// Destination hardware address.
    DestinationMac,
    /// A number from 0 to below this one, chosen packet by packet.
    Random(u32),
    /// Direction of the connection: 0 for the one that it began with, 1 for answers.
    Direction,
    /// An address of the connection, of this family.
    TupleAddress(TupleSide, Family),
    /// A port of the connection.
    TuplePort(TupleSide),
    /// Bits of a header.
    Bits(Bits),
    /// Whether TCP's header has options: 0 without any, else which is not known.
    TcpOptions,
    /// Who sent the packet: a user, a group, a cgroup. Only what the host itself sends has one.
    Sender,
    /// The group of the interface, 0 for `default`.
    InterfaceGroup {
        /// Of the outgoing interface.
        outgoing: bool,
    },
    /// The kind of link-layer header of the interface, by the kernel's numbers (`if_arp.h`).
    InterfaceType {
        /// Of the outgoing interface.
        outgoing: bool,
    },
    /// The next hop of the packet's route, of this family.
    NextHop(Family),
    /// The class of the packet's route (`realm`), 0 without one.
    RouteClass,
    /// What connection tracking calls a helper, of a connection that it expected.
    Helper,
    /// The zone that connection tracking keeps the connection in, 0 without one.
    Zone,
    /// The packet's priority in queues.
    Priority,
    /// The bits of `ct status`.
    Status,
    /// What the connection has counted, in one direction (true for answers) or in both.
    Counted(Counted, Option<bool>),
    /// A value that no capture shows, with what it is and, where something does, what would show it.
    Unseen(&'static str),
}

/// A count of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Counted {
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
    /// Bytes of a packet.
    Average,
}

impl Counted {
    /// Reads nft's and iptables' word for it.
    pub fn parse(word: &str) -> Option<Counted> {
        Some(match word {
            "packets" => Counted::Packets,
            "bytes" => Counted::Bytes,
            "avgpkt" => Counted::Average,
            _ => return None,
        })
    }
}

/// What a field holds at one point of a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reading<'a> {
    /// The packet has no such field: a rule that asks for it does not match.
    Absent,
    /// It has one, but it is not known.
    Unknown,
    /// It may have one or not.
    Doubtful,
    /// One of these numbers.
    Numbers(Vec<u128>),
    /// An interface.
    Interface(Slot<'a>),
}

const HEADER_OF_IPV6: u32 = 40;

/// Random choices that are followed one by one.
const MAX_CHOICES: u32 = 256;

impl Field {
    /// Words for the reader.
    pub(super) fn subject(self) -> &'static str {
        match self {
            Field::Source(_) => "source address",
            Field::Destination(_) => "destination address",
            Field::SourcePort => "source port",
            Field::DestinationPort => "destination port",
            Field::SetPort { .. } => "port",
            Field::Protocol => "protocol",
            Field::Family => "family",
            Field::InInterface => "incoming interface",
            Field::OutInterface => "outgoing interface",
            Field::Mark => "mark",
            Field::ConnMark => "connection mark, which `conntrack -L` shows,",
            Field::State => "connection state",
            Field::IcmpType(_) | Field::IcmpCode(_) => "ICMP type",
            Field::TcpFlags => "TCP flags",
            Field::PacketType => "link-layer type",
            Field::AddressType { .. } => "address type",
            Field::Ttl => "time to live",
            Field::Length | Field::PayloadLength => "length",
            Field::SourceMac | Field::DestinationMac => "hardware address",
            Field::Random(_) => "random number",
            Field::Direction | Field::TupleAddress(..) | Field::TuplePort(_) => "connection",
            Field::Bits(_) => "header",
            Field::TcpOptions => "TCP options",
            Field::Sender => "sender",
            Field::InterfaceGroup { .. } | Field::InterfaceType { .. } => "interface",
            Field::NextHop(_) => "next hop",
            Field::RouteClass => "route's realm",
            Field::Priority => "priority",
            Field::Helper => "connection's helper",
            Field::Zone => "connection's zone",
            Field::Status => "connection's status",
            Field::Counted(..) => "connection's count",
            Field::Unseen(what) => what,
        }
    }

    pub(super) fn read<'a>(self, view: &View<'a>) -> Reading<'a> {
        let packet = view.packet;
        if view.resourced && self.of_source(packet.family()) {
            return Reading::Unknown;
        }
        match self {
            Field::Source(family) => address(family, packet.src),
            Field::Destination(family) => address(family, packet.dst),
            Field::SourcePort => port(view, packet.sport, 0),
            Field::DestinationPort => port(view, packet.dport, 16),
            Field::SetPort { source, plain } => set_port(view, source, plain),
            Field::Protocol => known(packet.proto.map(|p| u128::from(p.0))),
            Field::Family => known(Some(match packet.family() {
                Family::V4 => 2,
                Family::V6 => 10,
            })),
            Field::InInterface => Reading::Interface(view.in_iface),
            Field::OutInterface => Reading::Interface(view.out_iface),
            Field::Mark => known(view.mark.map(u128::from)),
            Field::ConnMark => match view.tracked {
                Tracked::No => Reading::Absent,
                Tracked::Unknown if view.connmark.is_none() => Reading::Doubtful,
                _ => known(view.connmark.map(u128::from)),
            },
            Field::State => {
                Reading::Numbers(view.states.iter().map(|s| state_number(*s)).collect())
            }
            Field::IcmpType(family) => icmp(view, family, packet.icmp_type),
            Field::IcmpCode(family) => icmp(view, family, packet.icmp_code),
            Field::TcpFlags => match packet.proto {
                Some(Protocol::TCP) => transport(view, packet.tcp_flags.map(u128::from)),
                Some(_) => Reading::Absent,
                None => Reading::Unknown,
            },
            Field::PacketType if view.rules.gives(Gift::PacketType) => Reading::Unknown,
            Field::PacketType => numbers(link_kinds(packet).into_iter().map(kind_number)),
            Field::AddressType { destination, here } => address_type(view, destination, here),
            Field::Ttl => known(packet.ttl.map(u128::from)),
            Field::Length => known(packet.length.map(u128::from)),
            Field::PayloadLength => {
                let payload = |length: u32| length.saturating_sub(HEADER_OF_IPV6);
                known(packet.length.map(payload).map(u128::from))
            }
            Field::SourceMac => known(packet.mac_src.map(mac_number)),
            Field::DestinationMac => known(packet.mac_dst.map(mac_number)),
            Field::Direction => tracked(view, |connection| Some(u128::from(connection.reply))),
            Field::TupleAddress(side, family) => match view.tracked {
                Tracked::Yes(connection) => match side.address(connection) {
                    Some(one) => address(family, one),
                    None => Reading::Unknown,
                },
                Tracked::No => Reading::Absent,
                Tracked::Unknown => Reading::Doubtful,
            },
            Field::TuplePort(side) => tracked(view, |c| side.port(c).map(u128::from)),
            Field::Random(count) if count <= MAX_CHOICES => numbers((0..count).map(u128::from)),
            Field::Bits(bits) => header(view, bits),
            Field::TcpOptions => tcp_options(view),
            // Of what comes from elsewhere no socket is known that sent it.
            Field::Sender if sent_here(view) => Reading::Unknown,
            Field::Sender => Reading::Absent,
            Field::InterfaceGroup { outgoing } => match slot_of(view, outgoing) {
                Slot::Absent => Reading::Absent,
                _ => known(Some(0)),
            },
            Field::InterfaceType { outgoing } => interface_type(view, outgoing),
            Field::NextHop(family) => next_hop(view, family),
            // Before a packet is routed it has none.
            Field::RouteClass if !view.routed => Reading::Absent,
            Field::RouteClass => known(view.routes.filter(|all| !all.has_realms()).map(|_| 0)),
            Field::Priority => priority(view),
            Field::Helper => helper(view),
            Field::Zone => tracked(view, |_| (!view.rules.gives(Gift::Zone)).then_some(0)),
            Field::Status => status(view),
            Field::Counted(what, answers) => counted(view, what, answers),
            Field::Random(_) | Field::Unseen(_) => Reading::Unknown,
        }
    }
}

fn address_type<'a>(view: &View<'a>, destination: bool, here: bool) -> Reading<'a> {
    let kinds = address_kinds(view, destination);
    let kinds = if here {
        of_interface(view, kinds)
    } else {
        kinds
    };
    numbers(kinds.into_iter().map(kind_number))
}

fn interface_type<'a>(view: &View<'a>, outgoing: bool) -> Reading<'a> {
    match slot_of(view, outgoing) {
        Slot::Absent => Reading::Absent,
        Slot::Unknown => Reading::Unknown,
        Slot::Known(interface) => link_type(interface),
    }
}

impl Field {
    /// Reads where a packet of this family comes from.
    fn of_source(self, packet: Family) -> bool {
        let (from, to) = match packet {
            Family::V4 => (96, 128),
            Family::V6 => (64, 192),
        };
        match self {
            Field::Source(family) => family == packet,
            Field::SourcePort | Field::SetPort { source: true, .. } => true,
            // Answers go to the new source.
            Field::TupleAddress(side, _) | Field::TuplePort(side) => {
                side.answers && side.destination
            }
            Field::AddressType { destination, .. } => !destination,
            Field::Bits(bits) => match bits.layer {
                Layer::Network => bits.offset < to && bits.offset + bits.length > from,
                Layer::Transport => bits.offset < 16,
                Layer::Carried => false,
            },
            _ => false,
        }
    }
}

/// The host itself sends the packet, and IPVS does not merely send it on.
pub(super) fn sent_here(view: &View<'_>) -> bool {
    view.packet.direction == Direction::Output && view.packet.in_iface.is_none()
}

/// What lies behind the packet's end fails a rule (`nft_payload_eval`).
fn header<'a>(view: &View<'_>, bits: Bits) -> Reading<'a> {
    const UDP_HEAD: u16 = 64;
    const WORDS: Bits = Bits::transport(96, 4);
    let now = HeaderBytes::current(view.packet);
    let begins = match (bits.layer, view.packet.proto) {
        (Layer::Network, _) => return known(now.read(bits)),
        (Layer::Transport, _) => Some(0),
        (_, Some(Protocol::UDP)) => Some(UDP_HEAD),
        (_, Some(Protocol::TCP)) => now
            .read(WORDS)
            .and_then(|words| u16::try_from(words * 32).ok()),
        (_, Some(_)) => return Reading::Absent,
        (_, None) => None,
    };
    let Some(begins) = begins else {
        return Reading::Unknown;
    };
    let bits = Bits::transport(bits.offset.saturating_add(begins), bits.length);
    let end = u32::from(bits.offset) + u32::from(bits.length);
    let carried = now.carried(view.packet);
    if carried.is_some_and(|carried| end > carried.saturating_mul(8)) {
        return Reading::Absent;
    }
    transport(view, now.read(bits))
}

/// Five words are a header without options.
fn tcp_options<'a>(view: &View<'_>) -> Reading<'a> {
    const WORDS: Bits = Bits::transport(96, 4);
    match view.packet.proto {
        Some(Protocol::TCP) => match view.packet.headers.read(WORDS) {
            Some(5) => known(Some(0)),
            _ => transport(view, None),
        },
        // The kernel asks every packet, and what is no TCP has no option.
        Some(_) => known(Some(0)),
        None => Reading::Unknown,
    }
}

/// The number that stands for an address type in sets.
pub fn kind_number(kind: AddressKind) -> u128 {
    match kind {
        AddressKind::Unicast => 0,
        AddressKind::Broadcast => 1,
        AddressKind::Multicast => 2,
        AddressKind::Local => 3,
        AddressKind::Other => 4,
    }
}

/// The bit that nft prints for a connection-tracking state.
pub(crate) fn state_number(state: CtState) -> u128 {
    match state {
        CtState::Invalid => 1,
        CtState::Established => 2,
        CtState::Related => 4,
        CtState::New => 8,
        CtState::Untracked => 64,
    }
}

/// A hardware address as a number.
pub fn mac_number(mac: [u8; 6]) -> u128 {
    mac.iter().fold(0, |all, byte| all << 8 | u128::from(*byte))
}

pub(super) fn numbers<'a>(values: impl Iterator<Item = u128>) -> Reading<'a> {
    Reading::Numbers(values.collect())
}

pub(super) fn known<'a>(value: Option<u128>) -> Reading<'a> {
    value.map_or(Reading::Unknown, |value| Reading::Numbers(vec![value]))
}

pub(super) fn address<'a>(family: Family, address: std::net::IpAddr) -> Reading<'a> {
    if Family::of(address) == family {
        known(Some(super::address_bits(address)))
    } else {
        Reading::Absent
    }
}

/// A field of the transport header, which later fragments do not carry.
fn transport<'a>(view: &View<'_>, value: Option<u128>) -> Reading<'a> {
    if view.packet.fragment == Some(true) {
        Reading::Absent
    } else {
        known(value)
    }
}

fn port<'a>(view: &View<'_>, value: Option<u16>, offset: u16) -> Reading<'a> {
    // nft reads the first bytes of any transport header: of other protocols
    // they are something else.
    match view.packet.proto {
        Some(proto) if !proto.has_ports() => header(view, Bits::transport(offset, 16)),
        _ => transport(view, value.map(u128::from)),
    }
}

/// What `ip_set_get_ip4_port` and `ip_set_get_ip_port` give an ipset.
fn set_port<'a>(view: &View<'_>, source: bool, plain: bool) -> Reading<'a> {
    let packet = view.packet;
    let Some(proto) = packet.proto else {
        return Reading::Unknown;
    };
    let has_port = match plain {
        true => proto == Protocol::TCP || proto == Protocol::UDP,
        false => proto.has_ports(),
    };
    if has_port {
        let port = if source { packet.sport } else { packet.dport };
        return transport(view, port.map(u128::from));
    }
    match proto {
        _ if plain => Reading::Absent,
        Protocol::ICMP | Protocol::ICMPV6 => {
            let both = packet.icmp_type.zip(packet.icmp_code);
            transport(
                view,
                both.map(|(kind, code)| u128::from(kind) << 8 | u128::from(code)),
            )
        }
        _ => known(Some(0)),
    }
}

fn icmp<'a>(view: &View<'_>, family: Family, value: Option<u8>) -> Reading<'a> {
    let own = match family {
        Family::V4 => Protocol::ICMP,
        Family::V6 => Protocol::ICMPV6,
    };
    match view.packet.proto {
        Some(proto) if proto == own => transport(view, value.map(u128::from)),
        Some(_) => Reading::Absent,
        None => Reading::Unknown,
    }
}
