//! Values in rules: addresses with masks, port lists, marks, ICMP names.

use std::net::{IpAddr, Ipv4Addr};

use crate::condition::{AddressKind, AddressMask, Test};
use crate::packet::{CtState, Family, tcp_flag};

/// Service names that hand-written rule files use for ports.
const SERVICES: [(&str, u16); 20] = [
    ("ftp", 21),
    ("ssh", 22),
    ("telnet", 23),
    ("smtp", 25),
    ("domain", 53),
    ("bootps", 67),
    ("bootpc", 68),
    ("tftp", 69),
    ("http", 80),
    ("sunrpc", 111),
    ("ntp", 123),
    ("netbios-ns", 137),
    ("netbios-dgm", 138),
    ("netbios-ssn", 139),
    ("snmp", 161),
    ("ldap", 389),
    ("https", 443),
    ("microsoft-ds", 445),
    ("nfs", 2049),
    ("mysql", 3306),
];

/// ICMP names that iptables accepts, with type and code.
pub(crate) const ICMP_NAMES: [(&str, u8, Option<u8>); 18] = [
    ("echo-reply", 0, None),
    ("pong", 0, None),
    ("destination-unreachable", 3, None),
    ("network-unreachable", 3, Some(0)),
    ("host-unreachable", 3, Some(1)),
    ("protocol-unreachable", 3, Some(2)),
    ("port-unreachable", 3, Some(3)),
    ("fragmentation-needed", 3, Some(4)),
    ("source-quench", 4, None),
    ("redirect", 5, None),
    ("echo-request", 8, None),
    ("ping", 8, None),
    ("router-advertisement", 9, None),
    ("router-solicitation", 10, None),
    ("time-exceeded", 11, None),
    ("ttl-exceeded", 11, None),
    ("parameter-problem", 12, None),
    ("timestamp-request", 13, None),
];

/// ICMPv6 names that ip6tables accepts.
pub(crate) const ICMPV6_NAMES: [(&str, u8, Option<u8>); 17] = [
    ("destination-unreachable", 1, None),
    ("no-route", 1, Some(0)),
    ("port-unreachable", 1, Some(4)),
    ("packet-too-big", 2, None),
    ("time-exceeded", 3, None),
    ("ttl-exceeded", 3, None),
    ("parameter-problem", 4, None),
    ("echo-request", 128, None),
    ("ping", 128, None),
    ("echo-reply", 129, None),
    ("pong", 129, None),
    ("router-solicitation", 133, None),
    ("router-advertisement", 134, None),
    ("neighbour-solicitation", 135, None),
    ("neighbor-solicitation", 135, None),
    ("neighbour-advertisement", 136, None),
    ("neighbor-advertisement", 136, None),
];

/// `10.0.0.0/8`, `10.0.0.0/255.0.0.0`, `fd00::/8`, a plain address, or a
/// comma-separated list of these. `None` for anything else (host names).
pub(super) fn address_list(text: &str) -> Option<Vec<AddressMask>> {
    text.split(',').map(address_mask).collect()
}

fn address_mask(text: &str) -> Option<AddressMask> {
    let (address, mask) = match text.split_once('/') {
        Some((address, mask)) => (address, Some(mask)),
        None => (text, None),
    };
    let address: IpAddr = address.parse().ok()?;
    let width = if address.is_ipv4() { 32 } else { 128 };
    let mask = match mask {
        None => prefix_mask(width, width),
        Some(mask) => match mask.parse::<u32>() {
            Ok(length) if length <= width => prefix_mask(length, width),
            Ok(_) => return None,
            Err(_) => mask_address(mask.parse().ok()?, address)?,
        },
    };
    Some(AddressMask::new(address, mask))
}

fn mask_address(mask: IpAddr, address: IpAddr) -> Option<u128> {
    match (mask, address) {
        (IpAddr::V4(mask), IpAddr::V4(_)) => Some(u128::from(mask.to_bits())),
        (IpAddr::V6(mask), IpAddr::V6(_)) => Some(mask.to_bits()),
        _ => None,
    }
}

fn prefix_mask(length: u32, width: u32) -> u128 {
    let full = if width == 128 {
        u128::MAX
    } else {
        (1 << width) - 1
    };
    full & !full.checked_shr(length).unwrap_or(0)
}

/// `a-b` of iprange.
pub(super) fn address_range(text: &str) -> Option<(IpAddr, IpAddr)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last): (IpAddr, IpAddr) = (first.parse().ok()?, last.parse().ok()?);
    (first.is_ipv4() == last.is_ipv4()).then_some((first, last))
}

/// `53`, `1024:65535`, `:1023`, `ssh`, or a comma-separated list of these.
pub(super) fn ports(text: &str) -> Option<Vec<(u16, u16)>> {
    text.split(',').map(port_range).collect()
}

fn port_range(text: &str) -> Option<(u16, u16)> {
    match text.split_once(':') {
        None => port(text).map(|p| (p, p)),
        Some((low, high)) => {
            let low = if low.is_empty() { 0 } else { port(low)? };
            let high = if high.is_empty() {
                u16::MAX
            } else {
                port(high)?
            };
            Some((low, high))
        }
    }
}

pub(crate) fn port(text: &str) -> Option<u16> {
    text.parse().ok().or_else(|| {
        SERVICES
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, p)| *p)
    })
}

/// A decimal or `0x` number.
pub(super) fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// `value[/mask]`, all bits without a mask.
pub(super) fn masked(text: &str) -> Option<(u32, u32)> {
    match text.split_once('/') {
        Some((value, mask)) => Some((number(value)?, number(mask)?)),
        None => Some((number(text)?, u32::MAX)),
    }
}

/// States of `--ctstate`; the flag tells that SNAT or DNAT was in the list.
pub(super) fn states(text: &str) -> Option<Test> {
    let mut states = std::collections::BTreeSet::new();
    let (mut snat, mut dnat) = (false, false);
    for word in text.split(',') {
        match word {
            "NEW" => states.insert(CtState::New),
            "ESTABLISHED" => states.insert(CtState::Established),
            "RELATED" => states.insert(CtState::Related),
            "INVALID" => states.insert(CtState::Invalid),
            "UNTRACKED" => states.insert(CtState::Untracked),
            "SNAT" => {
                snat = true;
                true
            }
            "DNAT" => {
                dnat = true;
                true
            }
            _ => return None,
        };
    }
    Some(Test::States { states, snat, dnat })
}

/// Types of `--src-type` and `--dst-type`.
pub(super) fn address_kinds(text: &str) -> Option<std::collections::BTreeSet<AddressKind>> {
    let one = |word: &str| match word {
        "LOCAL" => Some(AddressKind::Local),
        "UNICAST" => Some(AddressKind::Unicast),
        "BROADCAST" => Some(AddressKind::Broadcast),
        "MULTICAST" => Some(AddressKind::Multicast),
        "UNSPEC" | "ANYCAST" | "BLACKHOLE" | "UNREACHABLE" | "PROHIBIT" | "THROW" | "NAT"
        | "XRESOLVE" => Some(AddressKind::Other),
        _ => None,
    };
    text.split(',').map(one).collect()
}

/// What an ICMP match accepts: `Some(None)` is any type.
pub(super) type IcmpMatch = Option<(u8, Option<(u8, u8)>)>;

/// `8`, `3/4`, `255` (any), or a name.
pub(super) fn icmp(text: &str, family: Family) -> Option<IcmpMatch> {
    if text == "any" {
        return Some(None);
    }
    if let Some(first) = text.chars().next()
        && first.is_ascii_digit()
    {
        let (kind, code) = match text.split_once('/') {
            Some((kind, code)) => (kind.parse::<u8>().ok()?, Some(code.parse::<u8>().ok()?)),
            None => (text.parse::<u8>().ok()?, None),
        };
        // iptables writes "any type" of ICMP for IPv4 as 255.
        if kind == 255 && family == Family::V4 {
            return Some(None);
        }
        return Some(Some((kind, code.map(|c| (c, c)))));
    }
    let names: &[(&str, u8, Option<u8>)] = match family {
        Family::V4 => &ICMP_NAMES,
        Family::V6 => &ICMPV6_NAMES,
    };
    let (_, kind, code) = names.iter().find(|(name, ..)| *name == text)?;
    Some(Some((*kind, code.map(|c| (c, c)))))
}

/// A comma-separated list of TCP flag names.
pub(super) fn flags(text: &str) -> Option<u8> {
    text.split(',')
        .map(tcp_flag::parse)
        .try_fold(0, |all, bit| Some(all | bit?))
}

/// A hardware address.
pub(super) fn mac(text: &str) -> Option<[u8; 6]> {
    let bytes: Vec<u8> = text
        .split(':')
        .map(|b| u8::from_str_radix(b, 16))
        .collect::<Result<_, _>>()
        .ok()?;
    bytes.try_into().ok()
}

/// `a`, `a:b`, `a:` of the length match.
pub(super) fn length_range(text: &str) -> Option<(u32, u32)> {
    match text.split_once(':') {
        None => text.parse().ok().map(|n| (n, n)),
        Some((low, high)) => {
            let low = if low.is_empty() { 0 } else { low.parse().ok()? };
            let high = if high.is_empty() {
                u32::MAX
            } else {
                high.parse().ok()?
            };
            Some((low, high))
        }
    }
}

/// True for a text that can only be an address of the other family.
pub(super) fn unspecified(family: Family) -> IpAddr {
    match family {
        Family::V4 => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        Family::V6 => IpAddr::V6(std::net::Ipv6Addr::UNSPECIFIED),
    }
}
