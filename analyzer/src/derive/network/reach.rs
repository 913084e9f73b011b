//! Traffic that a cluster needs, followed through a node's routes, kernel settings and rules: pods of this
//! and other nodes, services, the kubelet and the API server.

use std::net::IpAddr;

use super::links::Link;
use super::{Known, fact};
use crate::derive::egress::words::{decided_at, in_words, owner, verdict, words, zone};
use crate::derive::egress::{captures, has_rules};
use crate::facts::AnyFact;
use crate::facts::kube::{Node, Pod};
use crate::facts::network::ReachCheck;
use crate::facts::node::{Process, Setting};
use crate::firewall::iptables::Origin;
use crate::firewall::packet::{Direction, Family, Interface, Packet};
use crate::firewall::question::{Firewall, pod_to_dns, pod_to_tcp};
use crate::firewall::route::{Route, Routing};

/// A question about a packet that the node forwards or receives.
struct Question {
    name: &'static str,
    packet: Packet,
}

/// An ordinary port of a pod.
const POD_PORT: u16 = 8080;
const KUBELET_PORT: u16 = 10_250;
const API_PORT: u16 = 6443;

/// Answers to every question that the bundle lets one ask about a node.
pub(super) fn derive(
    known: &Known<'_>,
    node: &str,
    routing: &Routing,
    links: &[Link],
) -> Vec<AnyFact> {
    let captures = captures(known.documents, node);
    if !has_rules(&captures) || routing.routes.is_empty() {
        return Vec::new();
    }
    let firewall = Firewall::from_captures(&captures);
    let saved = captures
        .iptables
        .or(captures.nft)
        .map_or("", |file| file.text);
    let mut questions = between_pods(known, node, routing);
    questions.extend(to_services(known, node, routing, saved));
    questions.extend(to_the_node(known, node, routing, links));
    questions
        .iter()
        .filter_map(|question| answer(known, node, routing, &firewall, question))
        .collect()
}

/// Addresses of pods with interfaces of their own, on this node or on others.
fn pods(known: &Known<'_>, here: bool, node: &str) -> Vec<IpAddr> {
    let pods = known.facts.table::<Pod>().iter().map(|pod| &pod.data);
    let mut addresses: Vec<IpAddr> = pods
        .filter(|pod| !pod.host_network && !pod.node.is_empty() && (pod.node == node) == here)
        .filter_map(|pod| pod.ip.as_ref()?.parse().ok())
        .collect();
    addresses.sort();
    addresses.dedup();
    addresses
}

/// The interface of a pod of this node: the one that its address is routed by.
fn interface(routing: &Routing, pod: IpAddr) -> Option<Interface> {
    match routed(routing, pod, pod, None) {
        Route::Via { device, .. } => Some(Interface::Name(device)),
        _ => None,
    }
}

fn routed(routing: &Routing, from: IpAddr, to: IpAddr, iif: Option<Interface>) -> Route {
    let mut packet = Packet::new(Direction::Forward, from, to);
    packet.mark = Some(0);
    packet.in_iface = iif;
    routing.decide(&packet)
}

fn between_pods(known: &Known<'_>, node: &str, routing: &Routing) -> Vec<Question> {
    let (here, there) = (pods(known, true, node), pods(known, false, node));
    let Some((from, inside)) = here
        .iter()
        .find_map(|pod| Some((*pod, interface(routing, *pod)?)))
    else {
        return Vec::new();
    };
    let to = |other: IpAddr| pod_to_tcp(from, Some(inside.clone()), None, other, POD_PORT);
    // Pods on one bridge talk past the routes.
    let beside = here.iter().find(|other| {
        **other != from
            && other.is_ipv4() == from.is_ipv4()
            && interface(routing, **other).is_some_and(|outside| outside != inside)
    });
    let beyond = there.iter().find(|other| other.is_ipv4() == from.is_ipv4());
    [
        ("pod to pod on this node", beside),
        ("pod to pod on another node", beyond),
    ]
    .into_iter()
    .filter_map(|(name, other)| {
        Some(Question {
            name,
            packet: to(*other?),
        })
    })
    .collect()
}

/// Services by the comments that kube-proxy writes, in iptables or in nft.
fn to_services(known: &Known<'_>, node: &str, routing: &Routing, rules: &str) -> Vec<Question> {
    let from = pods(known, true, node);
    let Some((from, inside)) = from
        .iter()
        .find_map(|pod| Some((*pod, interface(routing, *pod)?)))
    else {
        return Vec::new();
    };
    let mut questions = Vec::new();
    if let Some(api) = service(rules, "default/kubernetes:https") {
        questions.push(Question {
            name: "pod to service kubernetes",
            packet: pod_to_tcp(from, Some(inside.clone()), None, api, 443),
        });
    }
    if let Some(dns) = service(rules, "kube-system/kube-dns:dns") {
        questions.push(Question {
            name: "pod to cluster DNS",
            packet: pod_to_dns(from, Some(inside), None, dns),
        });
    }
    questions.retain(|question| question.packet.src.is_ipv4() == question.packet.dst.is_ipv4());
    questions
}

/// The address of a service, from the first rule or map element whose comment names it.
fn service(rules: &str, name: &str) -> Option<IpAddr> {
    let line = rules.lines().find(|line| {
        line.contains(name) && (line.contains("cluster IP") || line.contains("goto service-"))
    })?;
    let mut words = line.split_ascii_whitespace();
    words.find_map(|word| word.trim_end_matches("/32").parse().ok())
}

/// What other nodes send to this one.
fn to_the_node(known: &Known<'_>, node: &str, routing: &Routing, links: &[Link]) -> Vec<Question> {
    let nodes = || known.facts.table::<Node>().iter().map(|one| &one.data);
    let address = |node: &Node| {
        node.addresses
            .iter()
            .find_map(|one| one.parse::<IpAddr>().ok())
    };
    let Some(own) = nodes().find(|one| one.name == node).and_then(address) else {
        return Vec::new();
    };
    let other = nodes()
        .filter(|one| one.name != node)
        .filter_map(address)
        .find(|other| other.is_ipv4() == own.is_ipv4());
    let Some(other) = other else {
        return Vec::new();
    };
    let holder = links.iter().find(|link| link.addresses.contains(&own));
    let inside = match routed(routing, own, other, None) {
        Route::Via { device, .. } => Some(device),
        _ => holder.map(|link| link.name.clone()),
    };
    let question = |name, port| {
        let mut packet = pod_to_tcp(other, inside.clone().map(Interface::Name), None, own, port);
        packet.direction = Direction::Input;
        packet.mark = Some(0);
        Question { name, packet }
    };
    let mut questions = vec![question("another node to the kubelet", KUBELET_PORT)];
    let mut processes = known.facts.table::<Process>().iter().map(|one| &one.data);
    if processes.any(|process| process.node == node && process.comm.starts_with("kube-apiserver")) {
        questions.push(question("another node to the API server", API_PORT));
    }
    questions
}

fn answer(
    known: &Known<'_>,
    node: &str,
    routing: &Routing,
    firewall: &Firewall,
    question: &Question,
) -> Option<AnyFact> {
    let mut packet = question.packet.clone();
    let route = routing.decide(&packet);
    if let Route::Via { device, .. } = &route
        && packet.direction == Direction::Forward
    {
        packet.out_iface = Some(Interface::Name(device.clone()));
    }
    let answer = firewall.evaluate(&packet);
    // A service's address is rewritten before it is routed.
    let leaves = answer
        .evaluation
        .leaves
        .clone()
        .unwrap_or_else(|| packet.clone());
    let rewritten = leaves.dst != packet.dst;
    let route = if rewritten {
        routing.decide(&leaves)
    } else {
        route
    };
    let mut check = ReachCheck {
        node: node.to_owned(),
        question: question.name.to_owned(),
        packet: in_words(&packet),
        route: in_route_words(&route, rewritten.then_some(leaves.dst)),
        verdict: verdict(&answer),
        decided_by: words(&answer),
        owner: owner(&answer, false),
        zone: zone(&answer).unwrap_or_default(),
    };
    let mut origin = decided_at(&answer).cloned();
    let passes = !answer.evaluation.verdict.is_blocked();
    let forwards = leaves.direction == Direction::Forward;
    if passes
        && forwards
        && let Some(setting) = not_forwarded(known, node, packet.family())
    {
        check.verdict = "not-forwarded".to_owned();
        check.decided_by = format!("{} = 0 ({})", setting.0, setting.1);
        check.owner.clear();
        origin = Some(setting.1);
    } else if passes
        && forwards
        && let Route::Refused { what, origin: at } = &route
    {
        check.verdict = "no-route".to_owned();
        check.decided_by = what.clone();
        check.owner.clear();
        origin = at.clone().or(origin);
    }
    Some(fact(check, &origin?, ""))
}

fn in_route_words(route: &Route, rewritten: Option<IpAddr>) -> String {
    let way = match route {
        Route::Local => "to the host itself".to_owned(),
        Route::Via { device, origin, .. } => format!("by {device} ({origin})"),
        Route::Refused { what, .. } => what.clone(),
        Route::Unknown => "unknown".to_owned(),
    };
    match rewritten {
        Some(address) => format!("to {address} after translation, {way}"),
        None => way,
    }
}

/// The setting by which the node forwards nothing, and where it stands.
fn not_forwarded(known: &Known<'_>, node: &str, family: Family) -> Option<(String, Origin)> {
    let name = match family {
        Family::V4 => "net.ipv4.ip_forward",
        Family::V6 => "net.ipv6.conf.all.forwarding",
    };
    let mut settings = known.facts.table::<Setting>().iter();
    let off = settings.find(|one| {
        one.data.node == node && one.data.name.replace('/', ".") == name && one.data.value == "0"
    })?;
    let origin = Origin {
        path: off.place.path.as_str().into(),
        line: off.place.line.unwrap_or(0),
    };
    Some((name.to_owned(), origin))
}
