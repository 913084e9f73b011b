//! A condition of a rule and its three-valued answer for a packet.
//!
//! `Maybe` means "cannot be told from what was captured": the contents of an
//! ipset, a rate limit, an unknown module, a field the packet does not show.

mod answer;
pub mod clock;
mod course;
mod doubt;
pub mod field;
mod kept;
pub mod lookup;
pub mod program;
pub mod set;

use std::collections::BTreeSet;
use std::net::IpAddr;

pub(crate) use answer::routed_back;

use crate::connection::{Tracked, TupleSide};
use crate::eval::Rules;
use crate::packet::{CtState, Interface, Packet, Protocol};
use crate::route::Routing;

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
    pub(super) fn of(value: bool) -> Tri {
        if value { Tri::Yes } else { Tri::No }
    }

    pub(super) fn invert(self) -> Tri {
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

/// An address as a number.
pub fn address_bits(address: IpAddr) -> u128 {
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

/// What a condition asks for. A large rule set has a million of these, so what is rare and large is boxed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    /// Source address in one of these ranges.
    Source(Vec<AddressMask>),
    /// Destination address in one of these ranges.
    Destination(Vec<AddressMask>),
    /// Source address between two addresses, both included.
    SourceRange(Box<(IpAddr, IpAddr)>),
    /// Destination address between two addresses, both included.
    DestinationRange(Box<(IpAddr, IpAddr)>),
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
        /// A rewritten source is accepted as well.
        snat: bool,
        /// A rewritten destination is accepted as well.
        dnat: bool,
    },
    /// The packet answers (`--ctdir REPLY`), or it does not.
    Direction {
        /// True where an answer is asked for.
        reply: bool,
    },
    /// An address of the connection in one of these ranges (`--ctorigdst`).
    TupleAddress(TupleSide, Vec<AddressMask>),
    /// A port of the connection in one of these ranges (`--ctorigdstport`).
    TuplePort(TupleSide, Vec<(u16, u16)>),
    /// The connection's protocol (`--ctproto`), which a packet without a connection does not have.
    TupleProtocol(Protocol),
    /// Any of these bits of the connection's status is set (`--ctstatus`).
    StatusBits(Box<u128>),
    /// The connection was expected by a helper of tracking (`helper`), with the options as written.
    Helped(String),
    /// Whose socket sent it (`owner`, `cgroup`): what comes from elsewhere has none.
    Sender {
        /// The answer without a socket.
        without: bool,
        /// The options as written.
        text: String,
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
    /// Answers to the packet's source would leave (`rpfilter`, `fib saddr ... oif`).
    RouteBack(RouteBack),
    /// Fields of the packet in a set.
    Lookup(Box<lookup::Lookup>),
    /// Fields of the packet in one of several sets.
    AnyOf(Vec<lookup::Lookup>),
    /// A destination that the walk has rewritten, or one that came so (`ct status dnat`).
    Rewritten,
    /// When the packet comes.
    Time(Box<clock::Clock>),
    /// A program over the packet's bytes, with the options as written.
    Bytes {
        /// The program.
        program: Box<program::Program>,
        /// The options as written.
        text: String,
    },
    /// A module or option that cannot be decided offline; the text of it.
    Opaque {
        /// Module name, e.g. `limit` or `set`.
        module: Box<str>,
        /// Its options as written.
        text: Box<str>,
    },
}

/// A question for the route that answers would take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteBack {
    /// By the interface that the packet came in by.
    pub by_interface: bool,
    /// With the packet's mark.
    pub marked: bool,
    /// An address of this host is taken for routed as well.
    pub local: bool,
}

/// Said where the routes do not tell.
pub const ROUTED_BACK: &str = "reverse path filtering passes: the source is routed through the interface the packet came in by";

/// A test, possibly negated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// True when the rule has `!` before it.
    pub negated: bool,
    /// What is asked.
    pub test: Test,
}

/// An interface slot at a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// Whether the connection's destination was rewritten, where that is known.
    pub rewritten: Option<bool>,
    /// The packet's connection.
    pub tracked: Tracked<'a>,
    /// The node's routes, where they were captured.
    pub routes: Option<&'a Routing>,
    /// Its source is another by now, or may be.
    pub resourced: bool,
    /// Sets that rules on the way have changed.
    pub fills: &'a [lookup::Filled],
    /// The packet's route was looked up already.
    pub routed: bool,
    /// All rules: what none of them gives a connection, it does not have.
    pub rules: &'a Rules<'a>,
    /// Possible connection-tracking states.
    pub states: &'a BTreeSet<CtState>,
}
