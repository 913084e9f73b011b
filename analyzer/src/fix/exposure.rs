//! What a change of the firewall lets through that was stopped before.

use std::net::{IpAddr, Ipv4Addr};

use casefile_bundle::Entry;

use crate::change::Change;
use crate::change::captured::Captured;
use crate::change::kinds::{firewalld, iptables, nft_rule, ufw_route};
use crate::derive::egress;
use crate::firewall::eval::Verdict;
use crate::firewall::packet::Interface;
use crate::firewall::question::{Firewall, pod_interface, pod_to_tcp};
use crate::scan::Documents;

/// Stands for an address outside (TEST-NET-1) and for one of a pod (TEST-NET-2) where rules name none.
const OUTSIDE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
const INSIDE: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 51, 100, 1));
/// A port that nothing is known for.
const ANY_PORT: u16 = 8080;

/// New connections that the changed firewall accepts and the captured one did not, as sentences.
pub(super) fn opened(state: &mut Captured, changes: &[Change]) -> Vec<String> {
    let mut sentences = Vec::new();
    for change in changes {
        let (node, pairs) = match change {
            Change::UfwRoute(change) => (Some(change.node.clone()), ufw_route::interfaces(change)),
            Change::Iptables(change) => (
                change.node.clone().or_else(|| state.only_node()),
                iptables::interfaces(change),
            ),
            Change::Firewalld(change) => (
                change.node.clone().or_else(|| state.only_node()),
                firewalld::interfaces(change),
            ),
            Change::NftRule(change) => (
                change.node.clone().or_else(|| state.only_node()),
                nft_rule::interfaces(change),
            ),
            _ => continue,
        };
        let Some(node) = &node else { continue };
        let (before, after) = documents(state, node);
        for (input, output) in pairs {
            let packet = pod_to_tcp(INSIDE, input.clone(), output.clone(), OUTSIDE, ANY_PORT);
            let accepted = |documents: &Documents| {
                let firewall = Firewall::from_captures(&egress::captures(documents, node));
                firewall.evaluate(&packet).evaluation.verdict == Verdict::Accepted
            };
            if !accepted(&before) && accepted(&after) {
                sentences.push(sentence(input.as_ref(), output.as_ref()));
            }
        }
    }
    sentences.dedup();
    sentences
}

/// What a change of one node's firewall leaves open to doubt: the pods of other nodes come in another way.
pub(super) fn unshown(state: &mut Captured, changes: &[Change]) -> Vec<String> {
    let changed = changes.iter().filter_map(|change| match change {
        Change::UfwRoute(change) => Some(change.node.clone()),
        Change::Iptables(change) => change.node.clone().or_else(|| state.only_node()),
        Change::Firewalld(change) => change.node.clone().or_else(|| state.only_node()),
        Change::NftRule(change) => change.node.clone().or_else(|| state.only_node()),
        _ => None,
    });
    let mut changed: Vec<String> = changed.collect();
    changed.sort();
    changed.dedup();
    if changed.is_empty() {
        return Vec::new();
    }
    let own = changed.join(" and ");
    let nodes = state.now(&Entry::List("nodes").path());
    let nodes = nodes.and_then(|text| serde_json::from_str(&text).ok());
    let nodes: serde_json::Value = nodes.unwrap_or_default();
    let Some(all) = nodes["items"]
        .as_array()
        .map(Vec::len)
        .filter(|all| *all > 0)
    else {
        return vec![format!(
            "Only the flow of pods on {own} is looked at; whether the cluster has other nodes was not collected."
        )];
    };
    let others = match all.saturating_sub(changed.len()) {
        0 => return Vec::new(),
        1 => "the other node".to_owned(),
        others => format!("the other {others} nodes"),
    };
    vec![format!(
        "The flow of pods on {own} is shown to pass; that of pods on {others} comes in on another interface, here and there, and is not."
    )]
}

fn sentence(input: Option<&Interface>, output: Option<&Interface>) -> String {
    let name = |one: Option<&Interface>| {
        one.map_or_else(|| "any interface".to_owned(), ToString::to_string)
    };
    let is_pods = |one: Option<&Interface>| {
        one.is_some_and(|one| pod_interface(one.to_string().trim_end_matches('+')).is_some())
    };
    let what = match (is_pods(input), is_pods(output)) {
        (false, true) => {
            "anything outside that is routed to this node may open connections to pods, on every port; answers to pods pass without this rule"
        }
        (true, false) => "pods may open connections to the outside, on every port",
        (true, true) => "pods may open connections to one another, on every port",
        (false, false) => "traffic between these interfaces may pass, on every port",
    };
    format!(
        "new connections in on {} and out on {}: {what}",
        name(input),
        name(output)
    )
}

/// The node's firewall files before and after.
fn documents(state: &mut Captured, node: &str) -> (Documents, Documents) {
    let prefix = Entry::Node(node, "").path();
    let paths: Vec<String> = state
        .paths()
        .filter(|path| path.starts_with(&prefix))
        .filter(|path| path.contains("/ufw") || path.contains("tables") || path.contains("nft"))
        .map(str::to_owned)
        .collect();
    let (mut before, mut after) = (Documents::new(), Documents::new());
    for path in paths {
        if let Some(text) = state.before(&path) {
            before.insert(path.clone(), text);
        }
        if let Some(text) = state.now(&path) {
            after.insert(path, text);
        }
    }
    (before, after)
}
