//! Resolver files of a node: whom they name, and whether pods get them.

use std::net::IpAddr;
use std::sync::Arc;

use casefile_bundle::Entry;

use super::overlap::{Range, argument, of_resolv};
use super::{Known, fact};
use crate::facts::AnyFact;
use crate::facts::network::Resolv;
use crate::facts::node::Process;
use crate::firewall::iptables::Origin;

const FILES: [&str; 3] = [
    "etc/resolv.conf",
    "run/systemd/resolve/resolv.conf",
    "run/systemd/resolve/stub-resolv.conf",
];
/// Where kubelets keep their configuration.
const KUBELET: [&str; 2] = [
    "var/lib/kubelet/config.yaml",
    "etc/kubernetes/kubelet/config.yaml",
];

/// The resolver files that were captured of a node.
pub(super) fn derive(known: &Known<'_>, node: &str, ranges: &[Range]) -> Vec<AnyFact> {
    let given = given_to_pods(known, node);
    let mut facts = Vec::new();
    for file in FILES {
        let path = Entry::Rootfs(node, file).path();
        let Some(text) = known.documents.get(&path) else {
            continue;
        };
        let (resolv, line) = read(node, file, text, given.as_deref());
        let origin = Origin {
            path: Arc::from(path),
            line,
        };
        facts.extend(of_resolv(ranges, &resolv, &origin));
        let shown = resolv.nameservers.join(", ");
        facts.push(fact(resolv, &origin, &format!("nameserver {shown}")));
    }
    facts
}

fn read(node: &str, file: &str, text: &str, given: Option<&str>) -> (Resolv, u32) {
    let mut resolv = Resolv {
        node: node.to_owned(),
        path: format!("/{file}"),
        ..Resolv::default()
    };
    let mut first = 0;
    for (line, number) in text.lines().zip(1u32..) {
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("nameserver") => {
                resolv.nameservers.extend(words.next().map(str::to_owned));
                first = if first == 0 { number } else { first };
            }
            // The last line counts, as for the resolver.
            Some("search" | "domain") => resolv.search = words.map(str::to_owned).collect(),
            _ => {}
        }
    }
    let loopback = |text: &String| text.parse::<IpAddr>().is_ok_and(|one| one.is_loopback());
    resolv.only_loopback =
        !resolv.nameservers.is_empty() && resolv.nameservers.iter().all(loopback);
    resolv.given_to_pods = match given {
        Some(path) if path == resolv.path => "yes",
        Some(_) => "no",
        None => "unknown",
    }
    .to_owned();
    (resolv, first)
}

/// The file that the kubelet hands to pods; `None` where no kubelet of the node was seen.
fn given_to_pods(known: &Known<'_>, node: &str) -> Option<String> {
    let processes = known.facts.table::<Process>().iter().map(|one| &one.data);
    let kubelet = processes
        .filter(|process| process.node == node)
        .find(|process| process.cmdline.iter().any(|word| word.ends_with("kubelet")))?;
    if let Some(path) = argument(&kubelet.cmdline, "--resolv-conf") {
        return Some(path.to_owned());
    }
    let named = argument(&kubelet.cmdline, "--config").map(|path| path.trim_start_matches('/'));
    let files = named.into_iter().chain(KUBELET);
    let mut captured =
        files.filter_map(|file| known.documents.get(&Entry::Rootfs(node, file).path()));
    let text = captured.next()?;
    let setting = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("resolvConf:"));
    let value = setting.map(|value| value.trim().trim_matches(['"', '\'']));
    Some(value.unwrap_or("/etc/resolv.conf").to_owned())
}
