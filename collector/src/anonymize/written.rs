//! Addresses as kernels, switches and InfiniBand tools write them: numbers without separators, dots between groups.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::{Anonymizer, Class, hardware};

/// Sockets of /proc/net/tcp, udp and raw: addresses as numbers of this machine.
static SOCKET: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m)^(?<head>\s*\d+: )(?<from>[0-9A-F]{8}|[0-9A-F]{32})(?<port>:[0-9A-F]{4} )(?<to>[0-9A-F]{8}|[0-9A-F]{32})(?<rest>:[0-9A-F]{4} )").ok()
});
/// A line of /proc/net/ipv6_route: destination, source and gateway, each but the last with its length.
static ROUTE6: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m)^(?<to>[0-9a-f]{32}) (?<tolen>[0-9a-f]{2}) (?<from>[0-9a-f]{32}) (?<fromlen>[0-9a-f]{2}) (?<via>[0-9a-f]{32})\b").ok()
});
/// `5254.0012.3456`, as switches write hardware addresses.
static DOTTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b(?<mac>[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4})\b").ok()
});
/// `Node GUID: 0xb8cef60300aabbcc`, `switchguid=0x...`, `"H-b8cef60300aabbcc"`.
static GUID: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)(?<head>guids?[\w ]{0,12}[\s:=(]{1,20}(?:0x)?|"[HSR]-)(?<guid>[0-9a-f]{16})\b"#,
    )
    .ok()
});
/// Hardware addresses without separators behind a word for them.
static JOINED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?i)(?<head>\b(?:mac|hwaddr|hwaddress|ethaddr|lladdr|bootif|chaddr)[\w]{0,8}\\?["']?[ =:]{1,3}\\?["']?)(?<mac>[0-9a-f]{12})\b"#).ok()
});

/// Replaces what stands in one of these forms.
pub(super) fn replace(anonymizer: &Anonymizer, text: String) -> String {
    let mut text = text;
    if anonymizer.has(Class::Ips) {
        text = all(&SOCKET, text, |line| {
            format!(
                "{}{}{}{}{}",
                &line["head"],
                number(anonymizer, &line["from"]),
                &line["port"],
                number(anonymizer, &line["to"]),
                &line["rest"]
            )
        });
        text = all(&ROUTE6, text, |line| route6(anonymizer, line));
    }
    if anonymizer.has(Class::Macs) {
        text = all(&DOTTED, text, |found| dotted(anonymizer, &found["mac"]));
        text = all(&GUID, text, |found| {
            let mapped = hardware::guid_digits(anonymizer, &found["guid"]);
            format!("{}{mapped}", &found["head"])
        });
        text = all(&JOINED, text, |found| {
            let mapped = hardware::joined(anonymizer, &found["mac"], "");
            format!("{}{mapped}", &found["head"])
        });
    }
    text
}

fn all(
    regex: &LazyLock<Option<Regex>>,
    text: String,
    with: impl Fn(&Captures<'_>) -> String,
) -> String {
    match regex.as_ref().filter(|regex| regex.is_match(&text)) {
        Some(regex) => regex.replace_all(&text, with).into_owned(),
        None => text,
    }
}

/// An address as one number, or as four, of this machine.
fn number(anonymizer: &Anonymizer, digits: &str) -> String {
    let words: Vec<u32> = digits
        .as_bytes()
        .chunks(8)
        .filter_map(|word| u32::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok())
        .map(u32::swap_bytes)
        .collect();
    let real = match words[..] {
        [v4] => IpAddr::V4(Ipv4Addr::from(v4)),
        [a, b, c, d] => IpAddr::V6(Ipv6Addr::from(words_of([a, b, c, d]))),
        _ => return digits.to_owned(),
    };
    match mapped(anonymizer, real) {
        IpAddr::V4(v4) => format!("{:08X}", u32::from(v4).swap_bytes()),
        IpAddr::V6(v6) => u128::from(v6)
            .to_be_bytes()
            .chunks(4)
            .map(|word| {
                let word = word
                    .iter()
                    .fold(0_u32, |all, byte| (all << 8) | u32::from(*byte));
                format!("{:08X}", word.swap_bytes())
            })
            .collect(),
    }
}

fn words_of(words: [u32; 4]) -> u128 {
    words
        .iter()
        .fold(0, |all, word| (all << 32) | u128::from(*word))
}

/// The pseudonym of an address, as text shows it elsewhere.
fn mapped(anonymizer: &Anonymizer, real: IpAddr) -> IpAddr {
    if let IpAddr::V6(v6) = real {
        if let Some(v4) = v6.to_ipv4_mapped()
            && let IpAddr::V4(mapped) = mapped(anonymizer, IpAddr::V4(v4))
        {
            return IpAddr::V6(mapped.to_ipv6_mapped());
        }
        if let Some(mapped) = hardware::link_local(anonymizer, v6) {
            return IpAddr::V6(mapped);
        }
    }
    let mapped = anonymizer.permutation.map(real);
    anonymizer.used(Class::Ips, &real.to_string(), &mapped.to_string());
    mapped
}

fn route6(anonymizer: &Anonymizer, line: &Captures<'_>) -> String {
    let one = |digits: &str, length: &str| {
        let real = Ipv6Addr::from(u128::from_str_radix(digits, 16).unwrap_or(0));
        let length = u8::from_str_radix(length, 16).unwrap_or(128);
        let mapped = match length {
            128 => mapped(anonymizer, IpAddr::V6(real)),
            length => anonymizer.permutation.map_network(IpAddr::V6(real), length),
        };
        match mapped {
            IpAddr::V6(v6) => format!("{:032x}", u128::from(v6)),
            IpAddr::V4(_) => digits.to_owned(),
        }
    };
    format!(
        "{} {} {} {} {}",
        one(&line["to"], &line["tolen"]),
        &line["tolen"],
        one(&line["from"], &line["fromlen"]),
        &line["fromlen"],
        one(&line["via"], "80")
    )
}

/// A switch's way to write a hardware address; digits alone are a version.
fn dotted(anonymizer: &Anonymizer, real: &str) -> String {
    if !real.bytes().any(|byte| byte.is_ascii_alphabetic()) && !real.starts_with('0') {
        return real.to_owned();
    }
    let digits = hardware::joined(anonymizer, real, "");
    let groups: Vec<&str> = [0, 4, 8]
        .iter()
        .filter_map(|at| digits.get(*at..at + 4))
        .collect();
    let mapped = groups.join(".");
    anonymizer.used(Class::Macs, real, &mapped);
    mapped
}
