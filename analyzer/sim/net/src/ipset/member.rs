//! Types and members of ipsets.

use std::net::IpAddr;

use crate::condition::address_bits;
use crate::condition::field::mac_number;
use crate::condition::set::Piece;
use crate::iptables::{ICMP_NAMES, ICMPV6_NAMES};
use crate::packet::{Interface, Protocol};

/// One dimension of a set's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// An address.
    Address,
    /// A prefix.
    Network,
    /// A protocol with a port.
    Port,
    /// A port of any protocol.
    PlainPort,
    /// A hardware address.
    Mac,
    /// A packet mark.
    Mark,
    /// An interface.
    Interface,
    /// The name of another set.
    Set,
}

/// The dimensions of `hash:ip,port`; `None` for a type that is not known.
pub(super) fn parts(name: &str) -> Option<Vec<Part>> {
    let (method, kinds) = name.split_once(':')?;
    let part = |kind: &str| {
        Some(match (method, kind) {
            ("list", "set") => Part::Set,
            ("bitmap", "port") => Part::PlainPort,
            (_, "ip") => Part::Address,
            (_, "net") => Part::Network,
            (_, "port") => Part::Port,
            (_, "mac") => Part::Mac,
            (_, "mark") => Part::Mark,
            (_, "iface") => Part::Interface,
            _ => return None,
        })
    };
    kinds.split(',').map(part).collect()
}

/// The key of a member: two values for a port, one for everything else.
pub(super) fn key(
    parts: &[Part],
    text: &str,
    six: bool,
    netmask: Option<u8>,
) -> Option<Vec<Piece>> {
    let values: Vec<&str> = text.split(',').collect();
    if values.len() != parts.len() {
        return None;
    }
    let mut key = Vec::new();
    for (part, value) in parts.iter().zip(values) {
        match part {
            Part::Address => key.push(addresses(value, six, netmask)?),
            Part::Network => key.push(addresses(value, six, None)?),
            Part::Port => {
                let (proto, port) = value.split_once(':')?;
                let proto = Protocol::parse(proto)?;
                key.push(exact(proto.0.into()));
                key.push(match proto {
                    Protocol::ICMP => icmp(port, false)?,
                    Protocol::ICMPV6 => icmp(port, true)?,
                    _ => ports(port)?,
                });
            }
            Part::PlainPort => key.push(ports(value)?),
            Part::Mac => key.push(exact(mac(value)?)),
            Part::Mark => key.push(exact(mark(value)?)),
            Part::Interface => {
                if value.starts_with("physdev:") {
                    return None;
                }
                key.push(Piece::Interface(Interface::Name(value.to_owned())));
            }
            Part::Set => return None,
        }
    }
    Some(key)
}

/// A number in hexadecimal or decimal.
pub(super) fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Type and code of ICMP as one number: `echo-request`, `8/0`.
fn icmp(text: &str, six: bool) -> Option<Piece> {
    if let Some((kind, code)) = text.split_once('/') {
        let (kind, code): (u8, u8) = (kind.parse().ok()?, code.parse().ok()?);
        return Some(exact(u128::from(kind) << 8 | u128::from(code)));
    }
    let names: &[(&str, u8, Option<u8>)] = if six { &ICMPV6_NAMES } else { &ICMP_NAMES };
    let (_, kind, code) = names.iter().find(|(name, ..)| *name == text)?;
    Some(exact(
        u128::from(*kind) << 8 | u128::from(code.unwrap_or(0)),
    ))
}

fn exact(value: u128) -> Piece {
    Piece::Range(value, value)
}

fn ports(text: &str) -> Option<Piece> {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    Some(Piece::Range(
        u128::from(low.parse::<u16>().ok()?),
        u128::from(high.parse::<u16>().ok()?),
    ))
}

fn mark(text: &str) -> Option<u128> {
    u128::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

fn mac(text: &str) -> Option<u128> {
    let bytes: Option<Vec<u8>> = text
        .split(':')
        .map(|byte| u8::from_str_radix(byte, 16).ok())
        .collect();
    bytes?.try_into().ok().map(mac_number)
}

/// An address, a range or a prefix.
fn addresses(text: &str, six: bool, netmask: Option<u8>) -> Option<Piece> {
    let one = |text: &str| {
        let address: IpAddr = text.parse().ok()?;
        (address.is_ipv6() == six).then(|| address_bits(address))
    };
    if let Some((low, high)) = text.split_once('-') {
        return Some(Piece::Range(one(low)?, one(high)?));
    }
    let width: u32 = if six { 128 } else { 32 };
    let (base, length) = match text.split_once('/') {
        Some((base, length)) => (base, length.parse().ok()?),
        None => (text, netmask.map_or(width, u32::from)),
    };
    let host = match width.checked_sub(length)? {
        128 => u128::MAX,
        bits => (1u128 << bits) - 1,
    };
    let low = one(base)? & !host;
    Some(Piece::Range(low, low | host))
}
