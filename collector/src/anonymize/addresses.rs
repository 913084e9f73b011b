//! Addresses in text: found by their form, replaced by addresses.

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::{Anonymizer, Class, edges, hardware};

/// Candidates; what is one in truth is decided by parsing and by what stands in front of it.
static CANDIDATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        (?<mac>[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5,19}\b)
        |enx(?<enx>[0-9a-f]{12})\b
        |(?<dmac>[0-9A-Fa-f]{2}(?:-[0-9A-Fa-f]{2}){5})\b
        |(?<r4>\d{1,3}(?:\.\d{1,3}){0,3})\.in-addr\.arpa
        |(?<r6>[0-9A-Fa-f](?:\.[0-9A-Fa-f]){31})\.ip6\.arpa
        |(?<v4>\d{1,3}(?:\.\d{1,3}){3}\b)(?:/(?<v4len>\d{1,2})\b)?
        |(?<v6>(?:[0-9A-Fa-f]{1,4}|:):[0-9A-Fa-f:]*[0-9A-Fa-f:])(?:/(?<v6len>\d{1,3})\b)?
        |(?<dashed>\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3})(?:-(?<dlen>\d{1,2}))?\b
        ",
    )
    .ok()
});
/// A line of /proc/net/if_inet6 begins with an address without colons.
static BARE_V6: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)^(?<v6>[0-9a-f]{32})(?: [0-9a-f]{2}){4} ").ok());
/// A line of /proc/net/route: interface, destination and gateway in hexadecimal, flags and counters, mask.
static ROUTE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m)^(?<head>\S+\t)(?<to>[0-9A-F]{8})\t(?<via>[0-9A-F]{8})(?<mid>\t[0-9A-F]{4}(?:\t\d+){3}\t)(?<mask>[0-9A-F]{8})").ok()
});

/// A service or real server of /proc/net/ip_vs: an address and a port in hexadecimal.
static VIRTUAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m)^(?<head>(?:TCP|UDP|SCTP|  ->)[ ]+)(?<at>[0-9A-F]{8})(?<port>:[0-9A-F]{4}\b)")
        .ok()
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
        let behind = &text[whole.end()..];
        if let Some(mapped) = one(anonymizer, &found, &text[..whole.start()], behind) {
            out.push_str(&text[copied..whole.start()]);
            out.push_str(&mapped);
            copied = whole.end();
        } else if let Some(v6) = found.name("v6") {
            // `::ffff:1.2.3.4` and times: look again behind the first colon.
            at = v6.start() + v6.as_str().find(':').map_or(1, |colon| colon + 1);
        }
    }
    out.push_str(&text[copied..]);
    bare_v6(
        anonymizer,
        virtual_services(anonymizer, routes(anonymizer, out)),
    )
}

fn one(
    anonymizer: &Anonymizer,
    found: &Captures<'_>,
    before: &str,
    behind: &str,
) -> Option<String> {
    let name = |c: char| c.is_alphanumeric() || c == '_';
    let free = edges::begins(before, before.len(), name);
    let last = before.chars().next_back();
    let part = |name: &str| found.name(name).map(|part| part.as_str());
    if let Some(mac) = part("mac") {
        return (free && anonymizer.has(Class::Macs)).then(|| hardware::macs(anonymizer, mac));
    }
    if let Some(digits) = part("enx") {
        let wanted = free && anonymizer.has(Class::Macs);
        return wanted.then(|| format!("enx{}", hardware::joined(anonymizer, digits, "")));
    }
    if let Some(mac) = part("dmac") {
        // Digits alone may be a date and time.
        let letter = mac.bytes().any(|b| b.is_ascii_alphabetic());
        let alone = free && last != Some('-') && !behind.starts_with('-');
        let wanted = alone && letter && anonymizer.has(Class::Macs);
        return wanted.then(|| hardware::joined(anonymizer, mac, "-"));
    }
    if let Some(text) = part("v6") {
        let joined = last == Some(':') || behind.starts_with(name) || digit_behind_dot(behind);
        let colons = text.bytes().filter(|b| *b == b':').count();
        if !free || last == Some('.') || joined || colons < 2 {
            return None;
        }
        return v6(anonymizer, text, part("v6len"));
    }
    if !anonymizer.has(Class::Ips) || !free || last == Some('.') {
        return None;
    }
    if let Some(labels) = part("r4") {
        return reversed_v4(anonymizer, labels);
    }
    if let Some(labels) = part("r6") {
        return reversed_v6(anonymizer, labels);
    }
    if let Some(v4) = part("v4") {
        let dotted = digit_behind_dot(behind);
        return (!dotted)
            .then(|| address(anonymizer, v4, part("v4len")))
            .flatten();
    }
    if behind.starts_with('-') {
        return None;
    }
    dashed(anonymizer, part("dashed")?, part("dlen"))
}

fn digit_behind_dot(behind: &str) -> bool {
    behind
        .strip_prefix('.')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// An IPv6 address, or an InfiniBand identifier, which looks like half of one.
fn v6(anonymizer: &Anonymizer, text: &str, length: Option<&str>) -> Option<String> {
    let parsed: Result<Ipv6Addr, _> = text.parse();
    if anonymizer.has(Class::Macs) {
        let Ok(real) = parsed else {
            return hardware::guid(anonymizer, text);
        };
        if let Some(mapped) = hardware::link_local(anonymizer, real) {
            let mapped = mapped.to_string();
            anonymizer.used(Class::Macs, text, &mapped);
            return Some(length.map_or(mapped.clone(), |length| format!("{mapped}/{length}")));
        }
    }
    if !anonymizer.has(Class::Ips) {
        return None;
    }
    if let Some(v4) = parsed.ok().and_then(|real| real.to_ipv4_mapped()) {
        let IpAddr::V4(mapped) = anonymizer.permutation.map(IpAddr::V4(v4)) else {
            return None;
        };
        let mapped = mapped.to_ipv6_mapped().to_string();
        anonymizer.used(Class::Ips, text, &mapped);
        return Some(mapped);
    }
    address(anonymizer, text, length)
}

/// `4.23.1.10.in-addr.arpa`, or the zone of a network in fewer labels.
fn reversed_v4(anonymizer: &Anonymizer, labels: &str) -> Option<String> {
    let mut parts: Vec<&str> = labels.split('.').rev().collect();
    let count = parts.len();
    parts.resize(4, "0");
    let real: IpAddr = parts.join(".").parse().ok()?;
    let bits = u8::try_from(8 * count).ok()?;
    let mapped = match bits {
        32 => anonymizer.permutation.map(real),
        bits => anonymizer.permutation.map_network(real, bits),
    }
    .to_string();
    let kept: Vec<&str> = mapped.split('.').take(count).collect();
    let mapped: Vec<&str> = kept.into_iter().rev().collect();
    let (real, mapped) = (
        format!("{labels}.in-addr.arpa"),
        format!("{}.in-addr.arpa", mapped.join(".")),
    );
    anonymizer.used(Class::Ips, &real, &mapped);
    Some(mapped)
}

fn reversed_v6(anonymizer: &Anonymizer, labels: &str) -> Option<String> {
    let digits: String = labels.split('.').rev().collect();
    let real = Ipv6Addr::from(u128::from_str_radix(&digits, 16).ok()?);
    let IpAddr::V6(mapped) = anonymizer.permutation.map(IpAddr::V6(real)) else {
        return None;
    };
    let digits = format!("{:032x}", u128::from(mapped));
    let labels_of: Vec<String> = digits.chars().rev().map(String::from).collect();
    let mapped = format!("{}.ip6.arpa", labels_of.join("."));
    anonymizer.used(Class::Ips, &format!("{labels}.ip6.arpa"), &mapped);
    Some(mapped)
}

/// `10-1-2-3` of cloud names and pod records, and `10-1-2-0-26` as Calico names its blocks.
fn dashed(anonymizer: &Anonymizer, text: &str, length: Option<&str>) -> Option<String> {
    let real: IpAddr = text.replace('-', ".").parse().ok()?;
    let bits: Option<u8> = length.and_then(|length| length.parse().ok());
    let mapped = match bits {
        Some(bits) if bits > 32 => return None,
        Some(bits) => anonymizer.permutation.map_network(real, bits),
        None => anonymizer.permutation.map(real),
    };
    let with = |text: &str| length.map_or(text.to_owned(), |length| format!("{text}-{length}"));
    let mapped = with(&mapped.to_string().replace('.', "-"));
    anonymizer.used(Class::Ips, &with(text), &mapped);
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

/// The addresses of /proc/net/ip_vs, whose first digits are the first of the address.
fn virtual_services(anonymizer: &Anonymizer, text: String) -> String {
    let Some(service) = VIRTUAL
        .as_ref()
        .filter(|service| anonymizer.has(Class::Ips) && service.is_match(&text))
    else {
        return text;
    };
    service
        .replace_all(&text, |line: &Captures<'_>| {
            let real = Ipv4Addr::from(u32::from_str_radix(&line["at"], 16).unwrap_or(0));
            let mapped = address(anonymizer, &real.to_string(), None);
            let mapped = mapped.and_then(|text| text.parse::<Ipv4Addr>().ok());
            let mapped = format!("{:08X}", u32::from(mapped.unwrap_or(real)));
            format!("{}{mapped}{}", &line["head"], &line["port"])
        })
        .into_owned()
}

/// The addresses of /proc/net/if_inet6.
fn bare_v6(anonymizer: &Anonymizer, text: String) -> String {
    let Some(bare) = BARE_V6.as_ref().filter(|bare| bare.is_match(&text)) else {
        return text;
    };
    bare.replace_all(&text, |line: &Captures<'_>| {
        let whole = &line[0];
        let real = u128::from_str_radix(&line["v6"], 16).unwrap_or(0);
        let mapped = v6(anonymizer, &Ipv6Addr::from(real).to_string(), None);
        let mapped: Option<Ipv6Addr> = mapped.and_then(|text| text.parse().ok());
        mapped.map_or(whole.to_owned(), |mapped| {
            format!("{:032x}{}", u128::from(mapped), &whole[32..])
        })
    })
    .into_owned()
}
