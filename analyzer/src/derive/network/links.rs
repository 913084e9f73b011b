//! The links of a node, from `ip -d link` or `ip addr`, as JSON or as text.

use std::net::IpAddr;
use std::sync::Arc;

use serde_json::Value;

use super::{Known, command};
use crate::firewall::iptables::Origin;
use crate::firewall::question::Captured;

/// One link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) name: String,
    pub(super) mtu: u64,
    /// `vxlan`, `wireguard`, `ipip`, `veth`, `bridge`, ...; empty where it is not shown.
    pub(super) kind: String,
    /// The link below it.
    pub(super) parent: Option<String>,
    pub(super) addresses: Vec<IpAddr>,
    pub(super) origin: Origin,
    pub(super) text: String,
}

/// The links of a node; of two outputs the one that shows kinds and parents.
pub(super) fn read(known: &Known<'_>, node: &str) -> Vec<Link> {
    let detailed = command(known, node, "ip-link")
        .map(links)
        .unwrap_or_default();
    let addressed = command(known, node, "ip-addr")
        .map(links)
        .unwrap_or_default();
    if detailed.is_empty() {
        return addressed;
    }
    let mut all = detailed;
    for link in &mut all {
        if let Some(same) = addressed.iter().find(|other| other.name == link.name) {
            link.addresses.clone_from(&same.addresses);
        }
    }
    all
}

pub(super) fn links(captured: Captured<'_>) -> Vec<Link> {
    let path: Arc<str> = Arc::from(captured.path);
    match serde_json::from_str(captured.text) {
        Ok(Value::Array(objects)) => objects
            .iter()
            .filter_map(|object| of_json(object, &path))
            .collect(),
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
    Some(Link {
        text: format!(
            "{name}: mtu {mtu}{}",
            kind.map_or(String::new(), |kind| format!(" ({kind})"))
        ),
        kind: kind.unwrap_or_default().to_owned(),
        parent: parent.map(str::to_owned),
        addresses: addresses
            .into_iter()
            .flatten()
            .filter_map(|one| one.get("local")?.as_str()?.parse().ok())
            .collect(),
        origin: Origin {
            path: Arc::clone(path),
            line: 1,
        },
        name,
        mtu,
    })
}

/// `7: flannel.1@NONE: <...> mtu 1450 ...` and the lines that belong to it.
fn of_text(text: &str, path: &Arc<str>) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::new();
    for (line, number) in text.lines().zip(1u32..) {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let after = |key: &str| {
            let at = words.iter().position(|word| *word == key)?;
            words.get(at + 1).copied()
        };
        if line.starts_with(|c: char| c.is_ascii_digit()) {
            let Some(name) = words.get(1).map(|word| word.trim_end_matches(':')) else {
                continue;
            };
            let (name, parent) = name.split_once('@').unwrap_or((name, ""));
            let Some(mtu) = after("mtu").and_then(|mtu| mtu.parse().ok()) else {
                continue;
            };
            links.push(Link {
                name: name.to_owned(),
                mtu,
                kind: String::new(),
                parent: (!parent.is_empty() && parent != "NONE" && !parent.starts_with("if"))
                    .then(|| parent.to_owned()),
                addresses: Vec::new(),
                origin: Origin {
                    path: Arc::clone(path),
                    line: number,
                },
                text: line.trim().to_owned(),
            });
        } else if let Some(link) = links.last_mut() {
            match words.as_slice() {
                ["inet" | "inet6", address, ..] => {
                    let address = address.split('/').next().unwrap_or(address);
                    link.addresses.extend(address.parse::<IpAddr>().ok());
                }
                [
                    kind @ ("vxlan" | "wireguard" | "ipip" | "gre" | "geneve" | "veth"),
                    ..,
                ] => {
                    link.kind = (*kind).to_owned();
                    link.parent = after("dev").map(str::to_owned).or(link.parent.take());
                }
                _ => {}
            }
        }
    }
    links
}
