//! Constants of nft: addresses, ranges, ports, names of states and types.

use std::net::IpAddr;

use super::tokens::Token;
use crate::condition::field::{Field, kind_number, mac_number};
use crate::condition::set::Piece;
use crate::condition::{AddressKind, address_bits};
use crate::iptables::{ICMP_NAMES, ICMPV6_NAMES};
use crate::packet::{Family, Interface, Protocol, tcp_flag};

/// ICMP type names of nft that iptables spells otherwise.
const MORE_ICMP: [(&str, u128); 6] = [
    ("timestamp-reply", 14),
    ("info-request", 15),
    ("info-reply", 16),
    ("address-mask-request", 17),
    ("address-mask-reply", 18),
    ("redirect", 5),
];
const MORE_ICMPV6: [(&str, u128); 12] = [
    ("mld-listener-query", 130),
    ("mld-listener-report", 131),
    ("mld-listener-done", 132),
    ("mld-listener-reduction", 132),
    ("nd-router-solicit", 133),
    ("nd-router-advert", 134),
    ("nd-neighbor-solicit", 135),
    ("nd-neighbor-advert", 136),
    ("nd-redirect", 137),
    ("router-renumbering", 138),
    ("ind-neighbor-solicit", 141),
    ("mld2-listener-report", 143),
];

/// Codes by name, as `nft describe icmp code` and `icmpv6 code` list them.
const ICMP_CODES: [(&str, u128); 8] = [
    ("net-unreachable", 0),
    ("host-unreachable", 1),
    ("prot-unreachable", 2),
    ("port-unreachable", 3),
    ("frag-needed", 4),
    ("net-prohibited", 9),
    ("host-prohibited", 10),
    ("admin-prohibited", 13),
];
const ICMPV6_CODES: [(&str, u128); 6] = [
    ("no-route", 0),
    ("admin-prohibited", 1),
    ("addr-unreachable", 3),
    ("port-unreachable", 4),
    ("policy-fail", 5),
    ("reject-route", 6),
];

/// The values of a field that a word stands for.
pub(super) fn piece(field: Field, token: &Token<'_>) -> Option<Piece> {
    let text = token.text;
    match field {
        Field::Unseen(_) | Field::Helper => Some(Piece::Range(0, u128::MAX)),
        Field::InInterface | Field::OutInterface => Some(Piece::Interface(interface(text))),
        Field::Source(family)
        | Field::Destination(family)
        | Field::TupleAddress(_, family)
        | Field::NextHop(family) => addresses(family, text),
        Field::Mark if text.contains('/') => prefix(text),
        _ => single(field, text)
            .map(|number| Piece::Range(number, number))
            .or_else(|| {
                let (low, high) = text.split_once('-')?;
                Some(Piece::Range(single(field, low)?, single(field, high)?))
            }),
    }
}

/// `0xffffff00/24`: a number of 32 bits by its first ones.
fn prefix(text: &str) -> Option<Piece> {
    let (base, length) = text.split_once('/')?;
    let length: u32 = length.parse().ok().filter(|length| *length <= 32)?;
    let rest = u128::from(u32::MAX.checked_shr(length).unwrap_or(0));
    let low = number(base)? & !rest;
    Some(Piece::Range(low, low | rest))
}

/// `eth0`, or `lxc*` for every name that starts so; a star behind a backslash is a star.
fn interface(text: &str) -> Interface {
    match text.strip_suffix('*') {
        Some(prefix) if !prefix.ends_with('\\') => Interface::Prefix(prefix.to_owned()),
        _ => Interface::Name(text.replace("\\*", "*")),
    }
}

fn addresses(family: Family, text: &str) -> Option<Piece> {
    if let Some((low, high)) = text.split_once('-') {
        return Some(Piece::Range(address(family, low)?, address(family, high)?));
    }
    let Some((base, length)) = text.split_once('/') else {
        let one = address(family, text)?;
        return Some(Piece::Range(one, one));
    };
    let width = if family == Family::V4 { 32 } else { 128 };
    let length: u32 = length.parse().ok().filter(|length| *length <= width)?;
    let host = match width - length {
        128 => u128::MAX,
        bits => (1u128 << bits) - 1,
    };
    let low = address(family, base)? & !host;
    Some(Piece::Range(low, low | host))
}

fn address(family: Family, text: &str) -> Option<u128> {
    let address: IpAddr = text.parse().ok()?;
    (Family::of(address) == family).then(|| address_bits(address))
}

/// A decimal or hexadecimal number.
pub(super) fn number(text: &str) -> Option<u128> {
    match text.strip_prefix("0x") {
        Some(hex) => u128::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The one number that a word stands for.
pub(super) fn single(field: Field, text: &str) -> Option<u128> {
    let fits =
        |number: &u128| *number <= u128::from(u32::MAX) || !text.starts_with(char::is_numeric);
    match field {
        Field::Source(family)
        | Field::Destination(family)
        | Field::TupleAddress(_, family)
        | Field::NextHop(family) => address(family, text),
        Field::Direction => match text {
            "original" => Some(0),
            "reply" => Some(1),
            _ => number(text),
        },
        Field::SourceMac | Field::DestinationMac => mac(text),
        Field::Protocol => Protocol::parse(text).map(|proto| u128::from(proto.0)),
        _ => number(text).filter(fits).or_else(|| named(field, text)),
    }
}

fn named(field: Field, text: &str) -> Option<u128> {
    match field {
        Field::SourcePort | Field::DestinationPort | Field::TuplePort(_) => {
            crate::iptables::port(text).map(u128::from)
        }
        Field::Family => match text {
            "ipv4" | "ip" => Some(2),
            "ipv6" | "ip6" => Some(10),
            // What is neither passes no chain of IP.
            "arp" => Some(3),
            "vlan" | "8021q" | "8021ad" => Some(u128::from(u16::MAX)),
            _ => None,
        },
        Field::State => match text {
            "invalid" => Some(1),
            "established" => Some(2),
            "related" => Some(4),
            "new" => Some(8),
            "untracked" => Some(64),
            _ => None,
        },
        Field::PacketType => match text {
            "host" | "unicast" => Some(0),
            "broadcast" => Some(1),
            "multicast" => Some(2),
            _ => None,
        },
        Field::AddressType { .. } => address_kind(text).map(kind_number),
        Field::TcpFlags => flag(text),
        Field::Bits(_) => crate::header::class(text),
        Field::InterfaceGroup { .. } => (text == "default").then_some(0),
        Field::InterfaceType { .. } => match text {
            "ether" => Some(1),
            "loopback" => Some(772),
            "ppp" => Some(512),
            "ipip" => Some(768),
            "ipip6" => Some(769),
            "sit" => Some(776),
            "ipgre" => Some(778),
            _ => None,
        },
        Field::Status => status(text),
        Field::Priority => class_of_queue(text),
        // The name that `rt_realms` has without a change.
        Field::RouteClass => (text == "cosmos").then_some(0),
        Field::IcmpType(Family::V4) => icmp(text),
        Field::IcmpType(Family::V6) => icmp6(text),
        Field::IcmpCode(Family::V4) => code(&ICMP_CODES, text),
        Field::IcmpCode(Family::V6) => code(&ICMPV6_CODES, text),
        _ => None,
    }
}

/// `none`, `root`, or the two halves of a handle in hexadecimal: `1:10`.
fn class_of_queue(text: &str) -> Option<u128> {
    let half = |text: &str| match text {
        "" => Some(0),
        text => u16::from_str_radix(text, 16).ok().map(u128::from),
    };
    match text {
        "none" => Some(0),
        "root" => Some(u128::from(u32::MAX)),
        _ => {
            let (high, low) = text.split_once(':')?;
            Some(half(high)? << 16 | half(low)?)
        }
    }
}

/// The bits of `ct status` (`enum ip_conntrack_status`).
fn status(text: &str) -> Option<u128> {
    Some(match text {
        "expected" => 1,
        "seen-reply" => 2,
        "assured" => 4,
        "confirmed" => 8,
        "snat" => 16,
        "dnat" => 32,
        "dying" => 512,
        _ => return None,
    })
}

fn address_kind(text: &str) -> Option<AddressKind> {
    Some(match text {
        "local" => AddressKind::Local,
        "unicast" => AddressKind::Unicast,
        "broadcast" => AddressKind::Broadcast,
        "multicast" => AddressKind::Multicast,
        "unspec" | "anycast" | "blackhole" | "unreachable" | "prohibit" => AddressKind::Other,
        _ => return None,
    })
}

fn flag(text: &str) -> Option<u128> {
    let upper = text.to_ascii_uppercase();
    let known = tcp_flag::parse(&upper).filter(|_| upper != "ALL" && upper != "NONE");
    known.map(u128::from).or(match text {
        "ecn" => Some(0x40),
        "cwr" => Some(0x80),
        _ => None,
    })
}

/// The type of an ICMP name.
fn icmp(text: &str) -> Option<u128> {
    let shared = ICMP_NAMES
        .iter()
        .filter(|(_, _, code)| code.is_none())
        .map(|(name, kind, _)| (*name, u128::from(*kind)));
    shared
        .chain(MORE_ICMP)
        .find(|(name, _)| *name == text)
        .map(|(_, kind)| kind)
}

/// The type of an ICMPv6 name.
fn icmp6(text: &str) -> Option<u128> {
    let shared = ICMPV6_NAMES
        .iter()
        .filter(|(_, _, code)| code.is_none())
        .map(|(name, kind, _)| (*name, u128::from(*kind)));
    shared
        .chain(MORE_ICMPV6)
        .find(|(name, _)| *name == text)
        .map(|(_, kind)| kind)
}

fn code(names: &[(&str, u128)], text: &str) -> Option<u128> {
    let found = names.iter().find(|(name, _)| *name == text);
    found.map(|(_, code)| *code)
}

fn mac(text: &str) -> Option<u128> {
    let bytes: Vec<u8> = text
        .split(':')
        .map(|byte| u8::from_str_radix(byte, 16).ok())
        .collect::<Option<_>>()?;
    bytes.try_into().ok().map(mac_number)
}
