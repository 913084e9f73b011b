//! A condition of a rule and its three-valued answer for a packet.
//!
//! `Maybe` means "cannot be told from what was captured": the contents of an
//! ipset, a rate limit, an unknown module, a field the packet does not show.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::packet::{CtState, Interface, Packet, Protocol};

/// A three-valued answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tri {
    /// Certainly not.
    No,
    /// Undecidable from what is known.
    Maybe,
    /// Certainly.
    Yes,
}

impl Tri {
    fn of(value: bool) -> Tri {
        if value { Tri::Yes } else { Tri::No }
    }

    fn invert(self) -> Tri {
        match self {
            Tri::Yes => Tri::No,
            Tri::No => Tri::Yes,
            Tri::Maybe => Tri::Maybe,
        }
    }
}

/// An address with a mask of any shape (`10.0.0.0/8`, `10.0.0.1/255.0.0.255`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressMask {
    v6: bool,
    bits: u128,
    mask: u128,
}

impl AddressMask {
    /// An address with the mask bits of its family in the low bits of `mask`.
    pub fn new(address: IpAddr, mask: u128) -> AddressMask {
        AddressMask {
            v6: address.is_ipv6(),
            bits: address_bits(address) & mask,
            mask,
        }
    }

    /// True when the address lies in the masked range of the same family.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.v6 == address.is_ipv6() && address_bits(address) & self.mask == self.bits
    }
}

fn address_bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => u128::from(v4.to_bits()),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

/// Address types of the `addrtype` match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AddressKind {
    /// An address of this host.
    Local,
    /// An ordinary address elsewhere.
    Unicast,
    /// A broadcast address.
    Broadcast,
    /// A multicast address.
    Multicast,
    /// Any other type (ANYCAST, BLACKHOLE, …), which no evaluated packet has.
    Other,
}

/// What a condition asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    /// Source address in one of these ranges.
    Source(Vec<AddressMask>),
    /// Destination address in one of these ranges.
    Destination(Vec<AddressMask>),
    /// Source address between two addresses, both included.
    SourceRange(IpAddr, IpAddr),
    /// Destination address between two addresses, both included.
    DestinationRange(IpAddr, IpAddr),
    /// Incoming interface.
    InInterface(Interface),
    /// Outgoing interface.
    OutInterface(Interface),
    /// Upper-layer protocol.
    Protocol(Protocol),
    /// Source port in one of these ranges.
    SourcePort(Vec<(u16, u16)>),
    /// Destination port in one of these ranges.
    DestinationPort(Vec<(u16, u16)>),
    /// Source or destination port in one of these ranges.
    EitherPort(Vec<(u16, u16)>),
    /// Of the flags in `mask`, exactly those in `set` are set.
    TcpFlags {
        /// Flags that are looked at.
        mask: u8,
        /// Flags of those that must be set.
        set: u8,
    },
    /// ICMP type and, where given, a range of codes.
    Icmp {
        /// The type.
        kind: u8,
        /// First and last accepted code.
        codes: Option<(u8, u8)>,
    },
    /// Packet mark.
    Mark {
        /// Wanted value of the masked mark.
        value: u32,
        /// Bits that are looked at.
        mask: u32,
    },
    /// Connection mark.
    ConnMark {
        /// Wanted value of the masked mark.
        value: u32,
        /// Bits that are looked at.
        mask: u32,
    },
    /// Connection-tracking state.
    States {
        /// Accepted states.
        states: BTreeSet<CtState>,
        /// SNAT or DNAT was asked for as well, which the packet does not show.
        nat: bool,
    },
    /// Address type of source or destination.
    AddressType {
        /// True for the destination.
        destination: bool,
        /// Accepted types.
        kinds: BTreeSet<AddressKind>,
    },
    /// Link-layer packet type: unicast, broadcast or multicast.
    PacketType(AddressKind),
    /// Source hardware address.
    MacSource([u8; 6]),
    /// Time to live or hop limit within these bounds.
    Ttl(u8, u8),
    /// Packet length in bytes within these bounds.
    Length(u32, u32),
    /// Second or later fragment.
    Fragment,
    /// Incoming bridge port; `None` asks for any.
    BridgeIn(Option<Interface>),
    /// Outgoing bridge port; `None` asks for any.
    BridgeOut(Option<Interface>),
    /// Bridged, not routed.
    Bridged,
    /// An IPv6 extension header, which no evaluated packet carries.
    ExtensionHeader(String),
    /// Answered by an assumption that the evaluation states.
    Assumed {
        /// The answer.
        answer: bool,
        /// The sentence that says what was assumed.
        assumption: String,
    },
    /// A module or option that cannot be decided offline; the text of it.
    Opaque {
        /// Module name, e.g. `limit` or `set`.
        module: String,
        /// Its options as written.
        text: String,
    },
}

/// A test, possibly negated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// True when the rule has `!` before it.
    pub negated: bool,
    /// What is asked.
    pub test: Test,
}

/// An interface slot at a hook.
#[derive(Debug, Clone, Copy)]
pub enum Slot<'a> {
    /// The hook has no such interface.
    Absent,
    /// There is one, but it is not known.
    Unknown,
    /// This one.
    Known(&'a Interface),
}

/// The packet as the rules of one hook see it.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// Incoming interface at this hook.
    pub in_iface: Slot<'a>,
    /// Outgoing interface at this hook.
    pub out_iface: Slot<'a>,
    /// Mark at this point of the walk.
    pub mark: Option<u32>,
    /// Connection mark at this point of the walk.
    pub connmark: Option<u32>,
    /// Possible connection-tracking states.
    pub states: &'a BTreeSet<CtState>,
}

impl Condition {
    /// Answers the condition for a packet.
    pub fn answer(&self, view: &View<'_>) -> Tri {
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

    /// Why the condition cannot be decided, as a sentence fragment.
    pub fn doubt(&self) -> String {
        match &self.test {
            Test::Opaque { module, text } if module == "set" => {
                format!("the contents of the ipset in `{text}` were not captured")
            }
            Test::Opaque { module, text }
                if matches!(
                    module.as_str(),
                    "limit" | "hashlimit" | "recent" | "connlimit" | "quota" | "statistic"
                ) =>
            {
                format!("`{text}` depends on earlier packets")
            }
            Test::Opaque { text, .. } => format!("`{text}` is not evaluated"),
            other => format!("the packet's {} is not known", other.subject()),
        }
    }
}

impl Test {
    fn subject(&self) -> &'static str {
        match self {
            Test::InInterface(_) => "incoming interface",
            Test::OutInterface(_) => "outgoing interface",
            Test::Protocol(_) => "protocol",
            Test::SourcePort(_) => "source port",
            Test::DestinationPort(_) => "destination port",
            Test::EitherPort(_) => "port",
            Test::TcpFlags { .. } => "TCP flags",
            Test::Icmp { .. } => "ICMP type",
            Test::Mark { .. } => "mark",
            Test::ConnMark { .. } => "connection mark",
            Test::States { .. } => "connection state",
            Test::AddressType { .. } => "address type",
            Test::PacketType(_) => "link-layer type",
            Test::MacSource(_) => "hardware address",
            Test::Ttl(..) => "time to live",
            Test::Length(..) => "length",
            Test::Fragment => "fragmentation",
            Test::BridgeIn(_) | Test::BridgeOut(_) | Test::Bridged => "bridge port",
            _ => "content",
        }
    }

    fn answer(&self, view: &View<'_>) -> Tri {
        let packet = view.packet;
        match self {
            Test::Source(ranges) => Tri::of(ranges.iter().any(|r| r.contains(packet.src))),
            Test::Destination(ranges) => Tri::of(ranges.iter().any(|r| r.contains(packet.dst))),
            Test::SourceRange(first, last) => within(packet.src, *first, *last),
            Test::DestinationRange(first, last) => within(packet.dst, *first, *last),
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
            Test::States { states, nat } => conntrack(view.states, states, *nat),
            Test::AddressType { destination, kinds } => {
                subset(&address_kinds(view, *destination), kinds)
            }
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
            Test::ExtensionHeader(_) => Tri::No,
            Test::Assumed { answer, .. } => Tri::of(*answer),
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
fn interface(wanted: &Interface, slot: Slot<'_>) -> Tri {
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

fn conntrack(possible: &BTreeSet<CtState>, wanted: &BTreeSet<CtState>, nat: bool) -> Tri {
    match subset(possible, wanted) {
        Tri::No if nat => Tri::Maybe,
        answer => answer,
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

/// Types an address may have, judged by the packet's direction: the routing
/// table itself is not consulted.
fn address_kinds(view: &View<'_>, destination: bool) -> BTreeSet<AddressKind> {
    use super::packet::Direction::{Forward, Input, Output};
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

/// Link-layer types the packet may have.
fn link_kinds(packet: &Packet) -> BTreeSet<AddressKind> {
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
