//! Packets that errors of failing things name, through the captured rules and routes of the node that they left.

use std::net::IpAddr;

use casefile_bundle::Entry;

use super::egress::sides::{default_route_interface, pod_address, pod_side};
use super::egress::words::{decided_at, in_words, owner, verdict, words};
use super::egress::{captures, has_rules};
use super::{Deriver, Known};
use crate::facts::failing::{Failing, FlowCheck};
use crate::facts::kube::{Node, Pod};
use crate::facts::{AnyFact, Fact};
use crate::firewall::packet::{CtState, Direction, Interface, Packet, Protocol, tcp_flag};
use crate::firewall::question::{Firewall, pod_to_dns, pod_to_tcp};
use crate::ledger::flow::{self, Named};

/// Evaluates what errors name.
pub(super) static DERIVER: Deriver = Deriver {
    id: "flows",
    derive,
};

/// Packets evaluated; a cluster that is cut off names one packet in every log.
const MOST: usize = 64;

fn derive(known: &Known<'_>) -> Vec<AnyFact> {
    let mut facts = Vec::new();
    let nodes = known.nodes();
    for failing in known.facts.table::<Failing>() {
        for named in packets(&failing.data) {
            if facts.len() >= MOST {
                return facts;
            }
            facts.extend(check(known, &nodes, failing, &named));
        }
    }
    facts
}

fn packets(failing: &Failing) -> Vec<Named> {
    let texts = [&failing.words, &failing.message];
    let mut found: Vec<Named> = Vec::new();
    for text in texts.into_iter().chain(&failing.warnings) {
        for named in flow::named(text) {
            if !found.contains(&named) {
                found.push(named);
            }
        }
    }
    found
}

/// Whether the node itself sends the packet: its own units, the kubelet's probes and the pulls of its runtime do.
fn is_from_node(failing: &Failing, named: &Named) -> bool {
    let says = |text: &String| {
        let of_node =
            text.contains("pull") || text.contains("probe failed") || text.contains("sandbox");
        of_node && flow::named(text).contains(named)
    };
    failing.what != "pod" || failing.warnings.iter().any(says) || says(&failing.message)
}

fn check(
    known: &Known<'_>,
    nodes: &[String],
    failing: &Fact<Failing>,
    named: &Named,
) -> Option<AnyFact> {
    let data = &failing.data;
    // Of a single node that was captured, a thing that names none is taken to be on it.
    let node = nodes.iter().find(|node| **node == data.node).or_else(|| {
        nodes
            .first()
            .filter(|_| nodes.len() == 1 && data.node.is_empty())
    })?;
    let captures = captures(known.documents, node);
    if !has_rules(&captures) {
        return None;
    }
    let firewall = Firewall::from_captures(&captures);
    let packet = packet(known, &firewall, node, data, named)?;
    let answer = firewall.evaluate(&packet);
    let verdict = verdict(&answer);
    let fact = FlowCheck {
        subject: data.subject.clone(),
        node: node.clone(),
        error: named.error.clone(),
        packet: in_words(&packet),
        dst: named.to.to_string(),
        dport: named.port,
        decided_by: words(&answer),
        decided_at: decided_at(&answer)
            .map(ToString::to_string)
            .unwrap_or_default(),
        owner: owner(&answer, false),
        says: sentence(node, named, &verdict, &words(&answer)),
        verdict,
    };
    Some(
        Fact {
            data: fact,
            place: failing.place.clone(),
            text: failing.text.clone(),
            at: failing.at,
        }
        .into(),
    )
}

fn packet(
    known: &Known<'_>,
    firewall: &Firewall,
    node: &str,
    failing: &Failing,
    named: &Named,
) -> Option<Packet> {
    if is_from_node(failing, named) {
        return from_node(known, node, named);
    }
    let pods = known.facts.table::<Pod>().iter().map(|pod| &pod.data);
    let mut own = pods.filter(|pod| pod.namespace == failing.namespace && pod.name == failing.name);
    let own = own.next();
    if own.is_some_and(|pod| pod.host_network) {
        return from_node(known, node, named);
    }
    let address = own.and_then(|pod| pod.ip.as_ref()?.parse::<IpAddr>().ok());
    let from = named
        .from
        .or(address)
        .or_else(|| pod_address(known, node))?;
    if from.is_ipv4() != named.to.is_ipv4() {
        return None;
    }
    let inside = pod_side(known, node, firewall.routes(), from);
    let routed = known
        .documents
        .contains_key(&Entry::Printed(node, "ip-route").path());
    let outside = default_route_interface(known.documents, node)
        .filter(|_| !routed)
        .map(Interface::Name);
    let mut packet = if named.udp {
        pod_to_dns(from, inside, outside, named.to)
    } else {
        pod_to_tcp(from, inside, outside, named.to, named.port)
    };
    packet.dport = Some(named.port);
    Some(packet)
}

fn from_node(known: &Known<'_>, node: &str, named: &Named) -> Option<Packet> {
    let nodes = known.facts.table::<Node>().iter();
    let mut own = nodes.filter(|one| one.data.name == node);
    let addresses = own
        .next()
        .map(|one| one.data.addresses.as_slice())
        .unwrap_or_default();
    let mut parsed = addresses
        .iter()
        .filter_map(|one| one.parse::<IpAddr>().ok());
    let from = parsed
        .find(|one| one.is_ipv4() == named.to.is_ipv4())
        .or(named.from)?;
    let mut packet = Packet::new(Direction::Output, from, named.to);
    packet.proto = Some(if named.udp {
        Protocol::UDP
    } else {
        Protocol::TCP
    });
    packet.tcp_flags = (!named.udp).then_some(tcp_flag::SYN);
    packet.dport = Some(named.port);
    packet.ct_states = [CtState::New].into();
    packet.mark = Some(0);
    packet.fragment = Some(false);
    Some(packet)
}

/// What follows from the verdict for this error, as a sentence.
fn sentence(node: &str, named: &Named, verdict: &str, decided_by: &str) -> String {
    let to = format!("{} port {}", named.to, named.port);
    match verdict {
        "dropped" | "rejected" => {
            format!(
                "The captured firewall of {node} ends the packet to {to} ({verdict}): {decided_by}"
            )
        }
        "accepted" => {
            let hint = match named.error.as_str() {
                "connection refused" | "econnrefused" => "; the destination refuses the connection",
                _ => "; look at the route, the far node and the destination",
            };
            format!("The captured firewall of {node} does not end the packet to {to}{hint}")
        }
        _ => format!(
            "The captured rules of {node} do not decide what becomes of the packet to {to}: {decided_by}"
        ),
    }
}
