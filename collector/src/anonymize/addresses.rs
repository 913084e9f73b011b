//! Addresses in text: found by their form, replaced by addresses.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::{Anonymizer, Class};

/// Candidates; what is one in truth is decided by parsing.
static CANDIDATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        (?<mac>\b[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5,19}\b)
        |(?<v4>\b\d{1,3}(?:\.\d{1,3}){3}\b)(?:/(?<v4len>\d{1,2})\b)?
        |(?<v6>(?:[0-9A-Fa-f]{1,4}|:):[0-9A-Fa-f:]*[0-9A-Fa-f:])(?:/(?<v6len>\d{1,3})\b)?
        |\b(?<dashed>\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3})\b
        ",
    )
    .ok()
});
/// A line of /proc/net/route: interface, destination and gateway in hexadecimal, flags and counters, mask.
static ROUTE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m)^(?<head>\S+\t)(?<to>[0-9A-F]{8})\t(?<via>[0-9A-F]{8})(?<mid>\t[0-9A-F]{4}(?:\t\d+){3}\t)(?<mask>[0-9A-F]{8})").ok()
});

/// Replaces all addresses of the wanted classes.
pub(super) fn replace(anonymizer: &Anonymizer, text: &str) -> String {
    if !anonymizer.has(Class::Ips) && !anonymizer.has(Class::Macs) {
        return text.to_owned();
    }
    let Some(candidate) = CANDIDATE.as_ref() else {
        return String::new();
    };
    let mut out = String::with_capacity(text.len());
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = candidate.captures_at(text, at) {
        let Some(whole) = found.get(0) else { break };
        at = whole.end();
        let before = text[..whole.start()].chars().next_back();
        let behind = text[whole.end()..].chars();
        if let Some(mapped) = one(anonymizer, &found, before, behind.as_str()) {
            out.push_str(&text[copied..whole.start()]);
            out.push_str(&mapped);
            copied = whole.end();
        } else if let Some(v6) = found.name("v6") {
            // `::ffff:1.2.3.4` and times: look again behind the first colon.
            at = v6.start() + v6.as_str().find(':').map_or(1, |colon| colon + 1);
        }
    }
    out.push_str(&text[copied..]);
    routes(anonymizer, out)
}

fn one(
    anonymizer: &Anonymizer,
    found: &Captures<'_>,
    before: Option<char>,
    behind: &str,
) -> Option<String> {
    let name = |c: char| c.is_alphanumeric() || c == '_';
    let dotted = behind.starts_with('.') && behind[1..].starts_with(|c: char| c.is_ascii_digit());
    if let Some(mac) = found.name("mac") {
        return anonymizer
            .has(Class::Macs)
            .then(|| macs(anonymizer, mac.as_str()));
    }
    if !anonymizer.has(Class::Ips) || before.is_some_and(|c| c == '.' || name(c)) || dotted {
        return None;
    }
    if let Some(v4) = found.name("v4") {
        return address(
            anonymizer,
            v4.as_str(),
            found.name("v4len").map(|m| m.as_str()),
        );
    }
    if let Some(v6) = found.name("v6") {
        let joined = before.is_some_and(|c| c == ':') || behind.starts_with(name);
        let text = v6.as_str();
        if joined || text.bytes().filter(|b| *b == b':').count() < 2 {
            return None;
        }
        return address(anonymizer, text, found.name("v6len").map(|m| m.as_str()));
    }
    let dashed = found.name("dashed")?.as_str();
    if behind.starts_with('-') || before == Some('-') && !anonymizer.has(Class::Ips) {
        return None;
    }
    let real: IpAddr = dashed.replace('-', ".").parse().ok()?;
    let mapped = anonymizer
        .permutation
        .map(real)
        .to_string()
        .replace('.', "-");
    anonymizer.used(Class::Ips, dashed, &mapped);
    Some(mapped)
}

/// An address, or a network where its host bits are zero.
fn address(anonymizer: &Anonymizer, text: &str, length: Option<&str>) -> Option<String> {
    let real: IpAddr = text.parse().ok()?;
    let bits: Option<u8> = length.and_then(|length| length.parse().ok());
    let mapped = match bits {
        Some(bits) => anonymizer.permutation.map_network(real, bits),
        None => anonymizer.permutation.map(real),
    };
    let (mut from, mut to) = (text.to_owned(), mapped.to_string());
    if let Some(length) = length {
        // Writing to a String cannot fail.
        let _ = write!(from, "/{length}");
        let _ = write!(to, "/{length}");
        anonymizer.used(Class::Ips, &from, &to);
        // A host's address stands elsewhere without its length.
        if mapped == anonymizer.permutation.map(real) {
            anonymizer.used(Class::Ips, text, &mapped.to_string());
        }
    } else {
        anonymizer.used(Class::Ips, &from, &to);
    }
    Some(to)
}

/// One address of 6 bytes, or several in a row as in firewall logs; other lengths are rewritten in sixes.
fn macs(anonymizer: &Anonymizer, text: &str) -> String {
    let bytes: Vec<&str> = text.split(':').collect();
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
fn mac(anonymizer: &Anonymizer, real: &str) -> String {
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

/// Addresses in the kernel's routing table, which writes them as hexadecimal numbers of this machine.
fn routes(anonymizer: &Anonymizer, text: String) -> String {
    let Some(route) = ROUTE
        .as_ref()
        .filter(|route| anonymizer.has(Class::Ips) && route.is_match(&text))
    else {
        return text;
    };
    let number = |text: &str| u32::from_str_radix(text, 16).unwrap_or(0).swap_bytes();
    let mapped = |text: &str, mask: &str| {
        let real = IpAddr::V4(number(text).into());
        let length = u8::try_from(number(mask).count_ones()).unwrap_or(32);
        match anonymizer.permutation.map_network(real, length) {
            IpAddr::V4(v4) => format!("{:08X}", u32::from(v4).swap_bytes()),
            IpAddr::V6(_) => text.to_owned(),
        }
    };
    route
        .replace_all(&text, |line: &Captures<'_>| {
            format!(
                "{}{}\t{}{}{}",
                &line["head"],
                mapped(&line["to"], &line["mask"]),
                mapped(&line["via"], "FFFFFFFF"),
                &line["mid"],
                &line["mask"]
            )
        })
        .into_owned()
}
