//! Ethernet and InfiniBand addresses, in every form that shows one.

use std::fmt::Write as _;
use std::net::Ipv6Addr;

use super::{Anonymizer, Class};

/// One address of 6 bytes, or several in a row as in firewall logs; other lengths are rewritten in sixes.
pub(super) fn macs(anonymizer: &Anonymizer, text: &str) -> String {
    let bytes: Vec<&str> = text.split(':').collect();
    match bytes.len() {
        // DHCP's identifier of a client: the kind of hardware, then the address.
        7 => return format!("{}:{}", bytes[0], mac(anonymizer, &bytes[1..].join(":"))),
        // InfiniBand: an identifier, alone or at the end of an interface's address.
        8 | 20 => {
            let (head, own) = bytes.split_at(bytes.len() - 8);
            let mapped = guid_digits(anonymizer, &own.concat());
            let pairs = (0..8).filter_map(|at| mapped.get(at * 2..at * 2 + 2));
            let mapped: Vec<&str> = head.iter().copied().chain(pairs).collect();
            let mapped = mapped.join(":");
            anonymizer.used(Class::Macs, text, &mapped);
            return mapped;
        }
        _ => {}
    }
    let parts: Vec<String> = bytes
        .chunks(6)
        .map(|chunk| {
            let real = chunk.join(":");
            if chunk.len() == 6 {
                mac(anonymizer, &real)
            } else {
                real
            }
        })
        .collect();
    parts.join(":")
}

/// Broadcast, zero, multicast and Calico's gateway address stay; others become locally administered ones.
pub(super) fn mac(anonymizer: &Anonymizer, real: &str) -> String {
    let lower = real.to_ascii_lowercase();
    let multicast = u8::from_str_radix(&lower[..2], 16).is_ok_and(|first| first & 1 == 1);
    if multicast || matches!(lower.as_str(), "00:00:00:00:00:00" | "ee:ee:ee:ee:ee:ee") {
        return real.to_owned();
    }
    let digest = anonymizer.key.digest(format!("mac:{lower}").as_bytes());
    let mut mapped = "02".to_owned();
    for byte in digest.iter().take(5) {
        // Writing to a String cannot fail.
        let _ = write!(mapped, ":{byte:02x}");
    }
    anonymizer.used(Class::Macs, real, &mapped);
    mapped
}

/// `52-54-00-1a-34-56`, and the digits behind `enx` in an interface's name.
pub(super) fn joined(anonymizer: &Anonymizer, real: &str, separator: &str) -> String {
    let digits: Vec<char> = real.chars().filter(char::is_ascii_hexdigit).collect();
    let pairs: Vec<String> = digits.chunks(2).map(String::from_iter).collect();
    let mapped = mac(anonymizer, &pairs.join(":")).replace(':', separator);
    anonymizer.used(Class::Macs, real, &mapped);
    mapped
}

/// `b8ce:f603:00aa:bbcc`: the identifier of an InfiniBand port or node; none where it is something else.
pub(super) fn guid(anonymizer: &Anonymizer, text: &str) -> Option<String> {
    let groups: Vec<&str> = text.split(':').collect();
    if groups.len() != 4 || groups.iter().any(|group| group.len() != 4) {
        return None;
    }
    let real = u64::from_str_radix(&groups.concat(), 16).ok()?;
    let mapped = group(identifier(anonymizer, real));
    anonymizer.used(Class::Macs, text, &mapped);
    Some(mapped)
}

/// The 16 digits of an identifier.
pub(super) fn guid_digits(anonymizer: &Anonymizer, digits: &str) -> String {
    let Ok(real) = u64::from_str_radix(digits, 16) else {
        return digits.to_owned();
    };
    let mapped = format!("{:016x}", identifier(anonymizer, real));
    anonymizer.used(Class::Macs, digits, &mapped);
    mapped
}

/// A link-local address that holds a hardware address or identifier: the same with another one. None of those that
/// everybody has.
pub(super) fn link_local(anonymizer: &Anonymizer, real: Ipv6Addr) -> Option<Ipv6Addr> {
    let bytes = real.octets();
    let inside = u64::try_from(u128::from(real) & u128::from(u64::MAX)).unwrap_or(0);
    if !real.is_unicast_link_local() || inside >> 32 == 0 {
        return None;
    }
    let ethernet = bytes[11] == 0xff && bytes[12] == 0xfe;
    let mapped = if ethernet {
        let address = [
            bytes[8] ^ 2,
            bytes[9],
            bytes[10],
            bytes[13],
            bytes[14],
            bytes[15],
        ];
        let text: Vec<String> = address.iter().map(|byte| format!("{byte:02x}")).collect();
        let mapped = mac(anonymizer, &text.join(":"));
        let m: Vec<u64> = mapped
            .split(':')
            .filter_map(|byte| u64::from_str_radix(byte, 16).ok())
            .collect();
        let [a, b, c, d, e, f] = m[..] else {
            return None;
        };
        ((a ^ 2) << 56) | (b << 48) | (c << 40) | (0xfffe << 24) | (d << 16) | (e << 8) | f
    } else {
        identifier(anonymizer, inside)
    };
    let prefix = u128::from(real) & !u128::from(u64::MAX);
    Some(Ipv6Addr::from(prefix | u128::from(mapped)))
}

fn identifier(anonymizer: &Anonymizer, real: u64) -> u64 {
    if real == 0 {
        return 0;
    }
    let digest = anonymizer
        .key
        .digest(format!("guid:{real:016x}").as_bytes());
    let bytes: [u8; 8] = std::array::from_fn(|at| digest[at]);
    u64::from_be_bytes(bytes)
}

fn group(number: u64) -> String {
    let parts: Vec<String> = [48, 32, 16, 0]
        .iter()
        .map(|shift| format!("{:04x}", (number >> shift) & 0xffff))
        .collect();
    parts.join(":")
}
