//! Both forms of the two commands.

use std::net::IpAddr;
use std::sync::Arc;

use serde_json::Value;

use super::{Df, Link, Tunnel};
use crate::iptables::Origin;
use crate::question::CapturedText;

/// Links that are kept of one text: a node with thousands of pods has as many.
const MAX: usize = 20_000;
/// Kinds that the text form names at the start of a line of their own.
const KINDS: [&str; 20] = [
    "vxlan",
    "geneve",
    "wireguard",
    "ipip",
    "gre",
    "gretap",
    "ip6gre",
    "ip6gretap",
    "ip6tnl",
    "sit",
    "vti",
    "xfrm",
    "veth",
    "bridge",
    "bond",
    "vlan",
    "macvlan",
    "ipvlan",
    "dummy",
    "vrf",
];

/// The links of an output; what cannot be read is left out.
pub fn links(captured: CapturedText<'_>) -> Vec<Link> {
    let path: Arc<str> = Arc::from(captured.path);
    match serde_json::from_str(captured.text) {
        Ok(Value::Array(objects)) => {
            let links = objects.iter().filter_map(|object| of_json(object, &path));
            links.take(MAX).collect()
        }
        _ => of_text(captured.text, &path),
    }
}

fn of_json(object: &Value, path: &Arc<str>) -> Option<Link> {
    let name = object.get("ifname")?.as_str()?.to_owned();
    let mtu = object.get("mtu")?.as_u64()?;
    let info = object.get("linkinfo");
    let kind = info.and_then(|info| info.get("info_kind")?.as_str());
    let data = info.and_then(|info| info.get("info_data"));
    let below = data.and_then(|data| data.get("link")?.as_str());
    let addresses = object.get("addr_info").and_then(Value::as_array);
    let parent = below.or_else(|| object.get("link")?.as_str());
    let master = object.get("master").and_then(Value::as_str);
    Some(Link {
        text: format!(
            "{name}: mtu {mtu}{}",
            kind.map_or(String::new(), |kind| format!(" ({kind})"))
        ),
        kind: kind.unwrap_or_default().to_owned(),
        parent: parent.map(str::to_owned),
        master: master.map(str::to_owned),
        addresses: addresses
            .into_iter()
            .flatten()
            .filter_map(|one| one.get("local")?.as_str()?.parse().ok())
            .collect(),
        tunnel: data.map_or_else(Tunnel::default, tunnel_of_json),
        origin: Origin {
            path: Arc::clone(path),
            line: 1,
        },
        name,
        mtu,
    })
}

fn tunnel_of_json(data: &Value) -> Tunnel {
    let text = |key: &str| data.get(key).and_then(Value::as_str);
    let on = |key: &str| {
        data.get(key)
            .is_some_and(|value| *value != Value::Bool(false))
    };
    let id = data.get("id").and_then(Value::as_u64);
    // Some versions write `"pmtudisc":true`, others `"nopmtudisc":null`.
    let pmtudisc = match (on("pmtudisc"), data.get("pmtudisc"), on("nopmtudisc")) {
        (true, ..) => Some(true),
        (false, Some(_), _) | (_, _, true) => Some(false),
        _ => None,
    };
    Tunnel {
        local: end(text("local").or(text("local6"))),
        remote: end(text("remote").or(text("remote6"))),
        df: text("df").and_then(df).or(pmtudisc.map(discovers)),
        id: id.or(text("okey").and_then(key)),
        options: [("okey", 4), ("ocsum", 4), ("oseq", 4)]
            .iter()
            .filter(|(key, _)| on(key))
            .map(|(_, bytes)| bytes)
            .sum(),
        external: on("external"),
    }
}

/// An end of a tunnel; `any` is none.
fn end(text: Option<&str>) -> Option<IpAddr> {
    let address: IpAddr = text?.parse().ok()?;
    (!address.is_unspecified()).then_some(address)
}

fn df(word: &str) -> Option<Df> {
    match word {
        "set" => Some(Df::Set),
        "unset" => Some(Df::Unset),
        "inherit" => Some(Df::Inherit),
        _ => None,
    }
}

/// Tunnels of IP in IP take the bit of the inner packet over in any case.
fn discovers(pmtudisc: bool) -> Df {
    if pmtudisc { Df::Set } else { Df::Inherit }
}

/// A key of GRE, as a number or as an address.
fn key(text: &str) -> Option<u64> {
    let address = text.parse::<std::net::Ipv4Addr>();
    text.parse()
        .ok()
        .or(address.ok().map(|a| u64::from(u32::from(a))))
}

/// `7: flannel.1@NONE: <...> mtu 1450 ...` and the lines that belong to it.
fn of_text(text: &str, path: &Arc<str>) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::new();
    for (line, number) in text.lines().zip(1u32..) {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        if line.starts_with(|c: char| c.is_ascii_digit()) {
            if links.len() < MAX {
                links.extend(headed(&words, line, path, number));
            }
        } else if let Some(link) = links.last_mut() {
            detail(link, &words);
        }
    }
    links
}

fn after<'a>(words: &[&'a str], key: &str) -> Option<&'a str> {
    let at = words.iter().position(|word| *word == key)?;
    words.get(at + 1).copied()
}

/// The first line of a link.
fn headed(words: &[&str], line: &str, path: &Arc<str>, number: u32) -> Option<Link> {
    let name = words.get(1)?.trim_end_matches(':');
    let (name, parent) = name.split_once('@').unwrap_or((name, ""));
    Some(Link {
        name: name.to_owned(),
        mtu: after(words, "mtu")?.parse().ok()?,
        kind: String::new(),
        parent: (!parent.is_empty() && parent != "NONE" && !parent.starts_with("if"))
            .then(|| parent.to_owned()),
        master: after(words, "master").map(str::to_owned),
        addresses: Vec::new(),
        tunnel: Tunnel::default(),
        origin: Origin {
            path: Arc::clone(path),
            line: number,
        },
        text: line.trim().to_owned(),
    })
}

/// A further line of a link.
fn detail(link: &mut Link, words: &[&str]) {
    match words {
        ["inet" | "inet6", address, ..] => {
            let address = address.split('/').next().unwrap_or(address);
            link.addresses.extend(address.parse::<IpAddr>().ok());
        }
        // `gre remote any local any ...` and `ipip any remote ...`, but not `bridge_slave ...`.
        [kind, ..] if KINDS.contains(kind) => {
            link.kind = (*kind).to_owned();
            link.parent = after(words, "dev")
                .map(str::to_owned)
                .or(link.parent.take());
            link.tunnel = tunnel_of_words(words);
        }
        _ => {}
    }
}

fn tunnel_of_words(words: &[&str]) -> Tunnel {
    let has = |word: &str| words.contains(&word);
    let by_word = after(words, "df").and_then(df);
    let pmtudisc = match (has("pmtudisc"), has("nopmtudisc")) {
        (true, _) => Some(Df::Set),
        (_, true) => Some(Df::Inherit),
        _ => None,
    };
    // `df` is shown only where it was set.
    let usual = (has("vxlan") || has("geneve")).then_some(Df::Unset);
    Tunnel {
        local: end(after(words, "local")),
        remote: end(after(words, "remote")),
        df: by_word.or(pmtudisc).or(usual),
        id: after(words, "id")
            .and_then(|id| id.parse().ok())
            .or(after(words, "okey").and_then(key)),
        options: [("okey", 4), ("ocsum", 4), ("oseq", 4)]
            .iter()
            .filter(|(key, _)| has(key))
            .map(|(_, bytes)| bytes)
            .sum(),
        external: has("external"),
    }
}
