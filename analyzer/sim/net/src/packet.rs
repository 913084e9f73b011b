//! A packet as a firewall sees it: what is known about it, and what is not.
//!
//! Every field a question or a log line cannot supply is `None`; a rule that
//! asks about such a field is undecidable rather than silently false.

use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;

use super::connection::Connection;
use super::header::HeaderBytes;

/// The path of a packet through the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// Routed through the host: from one interface to another.
    Forward,
    /// Addressed to the host itself.
    Input,
    /// Sent by a process of the host itself.
    Output,
}

/// The address family a rule set belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// IPv4 (`iptables`).
    V4,
    /// IPv6 (`ip6tables`).
    V6,
}

impl Family {
    /// The family of an address.
    pub fn of(address: IpAddr) -> Family {
        match address {
            IpAddr::V4(_) => Family::V4,
            IpAddr::V6(_) => Family::V6,
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Family::V4 => "IPv4",
            Family::V6 => "IPv6",
        })
    }
}

/// An IP protocol number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Protocol(pub u8);

/// Names of `/etc/protocols` that appear in rules and kernel log lines.
const PROTOCOL_NAMES: [(&str, u8); 58] = [
    ("icmp", 1),
    ("igmp", 2),
    ("ipencap", 4),
    ("tcp", 6),
    ("udp", 17),
    ("ipv6", 41),
    ("gre", 47),
    ("dccp", 33),
    ("esp", 50),
    ("ah", 51),
    ("icmpv6", 58),
    ("ipv6-icmp", 58),
    ("ospf", 89),
    ("ipcomp", 108),
    ("vrrp", 112),
    ("sctp", 132),
    ("udplite", 136),
    ("mh", 135),
    ("hopopt", 0),
    ("ggp", 3),
    ("st", 5),
    ("egp", 8),
    ("igp", 9),
    ("pup", 12),
    ("hmp", 20),
    ("xns-idp", 22),
    ("rdp", 27),
    ("iso-tp4", 29),
    ("xtp", 36),
    ("ddp", 37),
    ("idpr-cmtp", 38),
    ("ipv6-route", 43),
    ("ipv6-frag", 44),
    ("idrp", 45),
    ("rsvp", 46),
    ("skip", 57),
    ("ipv6-nonxt", 59),
    ("ipv6-opts", 60),
    ("rspf", 73),
    ("vmtp", 81),
    ("eigrp", 88),
    ("ax.25", 93),
    ("ipip", 94),
    ("etherip", 97),
    ("encap", 98),
    ("pim", 103),
    ("l2tp", 115),
    ("isis", 124),
    ("fc", 133),
    ("mobility-header", 135),
    ("mpls-in-ip", 137),
    ("manet", 138),
    ("hip", 139),
    ("shim6", 140),
    ("wesp", 141),
    ("rohc", 142),
    ("ethernet", 143),
    ("ospfigp", 89),
];

impl Protocol {
    /// ICMP for IPv4.
    pub const ICMP: Protocol = Protocol(1);
    /// TCP.
    pub const TCP: Protocol = Protocol(6);
    /// UDP.
    pub const UDP: Protocol = Protocol(17);
    /// ICMP for IPv6.
    pub const ICMPV6: Protocol = Protocol(58);
    /// SCTP.
    pub const SCTP: Protocol = Protocol(132);

    /// Reads a protocol name or number in any letter case; `None` for a name
    /// this table does not hold.
    pub fn parse(text: &str) -> Option<Protocol> {
        if let Ok(number) = text.parse::<u8>() {
            return Some(Protocol(number));
        }
        let lower = text.to_ascii_lowercase();
        PROTOCOL_NAMES
            .iter()
            .find(|(name, _)| *name == lower)
            .map(|(_, number)| Protocol(*number))
    }

    /// True for protocols whose header starts with source and destination port.
    pub fn has_ports(self) -> bool {
        matches!(self.0, 6 | 17 | 33 | 132 | 136)
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match PROTOCOL_NAMES.iter().find(|(_, number)| *number == self.0) {
            Some((name, _)) => f.write_str(name),
            None => write!(f, "protocol {}", self.0),
        }
    }
}

/// A connection-tracking state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CtState {
    /// First packet of a connection.
    New,
    /// Packet of a connection that has been seen in both directions.
    Established,
    /// First packet of a connection that belongs to a known one.
    Related,
    /// Packet that connection tracking could not place.
    Invalid,
    /// Packet that was exempted from connection tracking.
    Untracked,
}

impl CtState {
    /// Every state, in the order of likelihood for an unanswered packet.
    pub const ALL: [CtState; 5] = [
        CtState::New,
        CtState::Invalid,
        CtState::Established,
        CtState::Related,
        CtState::Untracked,
    ];
}

/// An interface of a packet: a name, or all names with a prefix.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Interface {
    /// Exactly this interface.
    Name(String),
    /// Some interface whose name starts with this (a pod's `lxc…`, `cali…`).
    Prefix(String),
}

impl Interface {
    /// Reads `lxc+` as a prefix and everything else as a name.
    pub fn parse(text: &str) -> Interface {
        match text.strip_suffix('+') {
            Some(prefix) => Interface::Prefix(prefix.to_owned()),
            None => Interface::Name(text.to_owned()),
        }
    }
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Interface::Name(name) => f.write_str(name),
            Interface::Prefix(prefix) => write!(f, "{prefix}+"),
        }
    }
}

/// TCP flag bits as they stand in the header.
pub mod tcp_flag {
    /// Sender has finished.
    pub const FIN: u8 = 0x01;
    /// Opens a connection.
    pub const SYN: u8 = 0x02;
    /// Aborts a connection.
    pub const RST: u8 = 0x04;
    /// Push.
    pub const PSH: u8 = 0x08;
    /// Carries an acknowledgement.
    pub const ACK: u8 = 0x10;
    /// Urgent pointer is set.
    pub const URG: u8 = 0x20;

    /// The bit of a flag name in upper case; `ALL` and `NONE` as iptables writes them.
    pub fn parse(name: &str) -> Option<u8> {
        match name {
            "FIN" => Some(FIN),
            "SYN" => Some(SYN),
            "RST" => Some(RST),
            "PSH" => Some(PSH),
            "ACK" => Some(ACK),
            "URG" => Some(URG),
            "ALL" => Some(0x3f),
            "NONE" => Some(0),
            _ => None,
        }
    }
}

/// What is known about one packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// The packet's path through the host.
    pub direction: Direction,
    /// Interface it arrived on; `None` is unknown (and "none" for [`Direction::Output`]).
    pub in_iface: Option<Interface>,
    /// Interface it leaves by; `None` is unknown (and "none" for [`Direction::Input`]).
    pub out_iface: Option<Interface>,
    /// Bridge ports, where the packet crossed a bridge.
    pub bridge_ports: Option<BridgePorts>,
    /// Source address.
    pub src: IpAddr,
    /// Destination address, after any destination NAT.
    pub dst: IpAddr,
    /// Upper-layer protocol.
    pub proto: Option<Protocol>,
    /// Source port.
    pub sport: Option<u16>,
    /// Destination port.
    pub dport: Option<u16>,
    /// ICMP or ICMPv6 type.
    pub icmp_type: Option<u8>,
    /// ICMP or ICMPv6 code.
    pub icmp_code: Option<u8>,
    /// TCP flags, see [`tcp_flag`].
    pub tcp_flags: Option<u8>,
    /// Packet mark when the packet enters the evaluated chains.
    pub mark: Option<u32>,
    /// Connection-tracking states the packet may have; empty means unknown.
    pub ct_states: BTreeSet<CtState>,
    /// True for a second or later fragment.
    pub fragment: Option<bool>,
    /// Source hardware address.
    pub mac_src: Option<[u8; 6]>,
    /// Destination hardware address.
    pub mac_dst: Option<[u8; 6]>,
    /// Time to live or hop limit.
    pub ttl: Option<u8>,
    /// Length of the IP packet in bytes.
    pub length: Option<u32>,
    /// What is known of its headers beside that.
    pub headers: HeaderBytes,
    /// True when the packet is known to have passed the PREROUTING chains
    /// already, with `mark` as those chains left it (kernel log lines).
    pub past_prerouting: bool,
    /// When it comes, in seconds since 1970.
    pub at: Option<i64>,
    /// Its connection, where that is known. A first packet begins its own.
    pub connection: Option<Box<Connection>>,
}

/// The ports of a bridge that a packet crossed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BridgePorts {
    /// Port it came in by.
    pub input: Option<String>,
    /// Port it goes out by.
    pub output: Option<String>,
}

impl Packet {
    /// A packet of which only direction and addresses are known.
    pub fn new(direction: Direction, src: IpAddr, dst: IpAddr) -> Packet {
        Packet {
            direction,
            in_iface: None,
            out_iface: None,
            bridge_ports: None,
            src,
            dst,
            proto: None,
            sport: None,
            dport: None,
            icmp_type: None,
            icmp_code: None,
            tcp_flags: None,
            mark: None,
            ct_states: BTreeSet::new(),
            fragment: None,
            mac_src: None,
            mac_dst: None,
            ttl: None,
            length: None,
            headers: HeaderBytes::default(),
            past_prerouting: false,
            at: None,
            connection: None,
        }
    }

    /// The family whose rules decide about this packet.
    pub fn family(&self) -> Family {
        Family::of(self.dst)
    }

    /// The states the packet may have: all of them when unknown.
    pub fn possible_states(&self) -> BTreeSet<CtState> {
        if self.ct_states.is_empty() {
            CtState::ALL.into_iter().collect()
        } else {
            self.ct_states.clone()
        }
    }
}

impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.proto {
            Some(proto) => write!(f, "{proto} ")?,
            None => f.write_str("packet ")?,
        }
        write!(f, "{}", self.src)?;
        if let Some(port) = self.sport {
            write!(f, " port {port}")?;
        }
        write!(f, " to {}", self.dst)?;
        if let Some(port) = self.dport {
            write!(f, " port {port}")?;
        }
        if let Some(iface) = &self.in_iface {
            write!(f, ", in {iface}")?;
        }
        if let Some(iface) = &self.out_iface {
            write!(f, ", out {iface}")?;
        }
        Ok(())
    }
}
