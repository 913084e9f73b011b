//! Traffic that a cluster needs, followed through a node's routes, kernel settings and rules: pods of this
//! and other nodes, services, the kubelet and the API server.

use std::net::IpAddr;

use super::Known;
use super::answer::Here;
use super::reply::FarNodes;
use crate::derive::egress::{OUTSIDE, captures, has_rules};
use crate::facts::AnyFact;
use crate::facts::kube::{Node, Pod};
use crate::facts::node::Process;
use crate::firewall::ipvs::{At, VirtualService, VirtualServices};
use crate::firewall::link::Link;
use crate::firewall::packet::{Direction, Interface, Packet, Protocol};
use crate::firewall::question::{Captures, Firewall, pod_to_dns, pod_to_tcp};
use crate::firewall::route::{Route, Routing};

/// A question about a packet that the node forwards or receives.
pub(super) struct Question {
    pub(super) name: &'static str,
    pub(super) packet: Packet,
}

/// An ordinary port of a pod.
const POD_PORT: u16 = 8080;
const KUBELET_PORT: u16 = 10_250;
const API_PORT: u16 = 6443;

/// The texts in which kube-proxy's rules may stand. A node of its nft mode has tables of iptables as well, which the kubelet
/// and others made.
pub(super) struct Saved<'a>([&'a str; 2]);

impl<'a> Saved<'a> {
    pub(super) fn of(captures: &Captures<'a>) -> Self {
        Self([captures.iptables, captures.nft].map(|file| file.map_or("", |file| file.text)))
    }

    fn lines(&self) -> impl Iterator<Item = &'a str> {
        self.0.into_iter().flat_map(str::lines)
    }

    /// The address of a service (`NAMESPACE/NAME`, with or without `:PORT`), from the first rule whose comment names it or
    /// the first map element that leads to its chain.
    pub(super) fn service(&self, name: &str) -> Option<IpAddr> {
        let (service, port) = name.split_once(':').unwrap_or((name, ""));
        let (chain, end) = (format!("-{service}/"), format!("/{port}"));
        let serves = |line: &&str| match line.split_once("goto service-") {
            Some((_, to)) => to.contains(&chain) && to.contains(&end),
            None => line.contains("cluster IP") && line.contains(name),
        };
        let line = self.lines().find(serves)?;
        let mut words = line.split_ascii_whitespace();
        words.find_map(|word| word.trim_end_matches("/32").parse().ok())
    }

    /// A port of TCP that kube-proxy serves on the node, by the rules or by the map that it keeps for such ports.
    fn node_port(&self) -> Option<u16> {
        self.lines().find_map(node_port_of_a_rule).or_else(|| {
            let (_, map) = self.0[1].split_once("map service-nodeports {")?;
            let elements = map.split_once("elements = {")?.1.split('}').next()?;
            let (_, first) = elements.split_once("tcp . ")?;
            first.split_ascii_whitespace().next()?.parse().ok()
        })
    }
}

/// The port of a rule of kube-proxy's chain for such ports. With counters, as the collector captures them, a rule begins
/// with `[12:345] `.
fn node_port_of_a_rule(line: &str) -> Option<u16> {
    let command = match line.split_once("] ") {
        Some((counters, rest)) if counters.starts_with('[') => rest,
        _ => line,
    };
    if !command.starts_with("-A KUBE-NODEPORTS ") || !command.contains("-p tcp") {
        return None;
    }
    let mut words = line.split_ascii_whitespace();
    words.find(|word| *word == "--dport")?;
    words.next()?.parse().ok()
}

/// Answers to every question that the bundle lets one ask about a node.
pub(super) fn derive(
    known: &Known<'_>,
    node: &str,
    routing: &Routing,
    links: &[Link],
    far: &FarNodes,
) -> Vec<AnyFact> {
    let captures = captures(known.documents, node);
    if !has_rules(&captures) || routing.routes.is_empty() {
        return Vec::new();
    }
    let firewall = Firewall::from_captures(&captures);
    let saved = Saved::of(&captures);
    let mut questions = between_pods(known, node, routing);
    questions.extend(to_the_outside(known, node, routing));
    let services = captures.ipvs.map(VirtualServices::parse);
    questions.extend(to_services(known, node, routing, &saved, services.as_ref()));
    questions.extend(to_a_node_port(known, node, routing, &saved));
    questions.extend(to_the_node(known, node, routing, links));
    let here = Here {
        known,
        node,
        routing,
        links,
        firewall: &firewall,
    };
    questions
        .iter()
        .filter_map(|question| here.answer(question, far))
        .collect()
}

/// Addresses of pods with interfaces of their own, on this node or on others.
pub(super) fn pods(known: &Known<'_>, here: bool, node: &str) -> Vec<IpAddr> {
    let pods = known.facts.table::<Pod>().iter().map(|pod| &pod.data);
    let mut addresses: Vec<IpAddr> = pods
        .filter(|pod| !pod.host_network && !pod.node.is_empty() && (pod.node == node) == here)
        .filter_map(|pod| pod.ip.as_ref()?.parse().ok())
        .collect();
    addresses.sort();
    addresses.dedup();
    addresses
}

/// The interface of a pod of this node: the one that its address is routed by. No router stands before it: where the
/// routes lead to one, they do not tell the interface.
pub(super) fn interface(routing: &Routing, pod: IpAddr) -> Option<Interface> {
    match routed(routing, pod, pod, None) {
        Route::Via {
            device,
            gateway: None,
            ..
        } => Some(Interface::Name(device)),
        _ => None,
    }
}

pub(super) fn routed(routing: &Routing, from: IpAddr, to: IpAddr, iif: Option<Interface>) -> Route {
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

/// An address that is nowhere in particular stands for the outside.
fn to_the_outside(known: &Known<'_>, node: &str, routing: &Routing) -> Option<Question> {
    let mut from = pods(known, true, node).into_iter().filter(IpAddr::is_ipv4);
    let (from, inside) = from.find_map(|pod| Some((pod, interface(routing, pod)?)))?;
    Some(Question {
        name: "pod to the outside",
        packet: pod_to_tcp(from, Some(inside), None, OUTSIDE, 443),
    })
}

/// Services by the comments that kube-proxy writes, in iptables or in nft.
fn to_services(
    known: &Known<'_>,
    node: &str,
    routing: &Routing,
    saved: &Saved<'_>,
    virtual_services: Option<&VirtualServices>,
) -> Vec<Question> {
    let from = pods(known, true, node);
    let Some((from, inside)) = from
        .iter()
        .find_map(|pod| Some((*pod, interface(routing, *pod)?)))
    else {
        return Vec::new();
    };
    let mut questions = Vec::new();
    let served = |is: fn(&VirtualService) -> bool| virtual_service(virtual_services, is);
    if let Some(api) = saved
        .service("default/kubernetes:https")
        .or_else(|| served(is_api))
    {
        questions.push(Question {
            name: "pod to service kubernetes",
            packet: pod_to_tcp(from, Some(inside.clone()), None, api, 443),
        });
    }
    if let Some(dns) = saved
        .service("kube-system/kube-dns:dns")
        .or_else(|| served(is_dns))
    {
        questions.push(Question {
            name: "pod to cluster DNS",
            packet: pod_to_dns(from, Some(inside), None, dns),
        });
    }
    questions.retain(|question| question.packet.src.is_ipv4() == question.packet.dst.is_ipv4());
    questions
}

/// The address of a virtual service of IPVS, whose listing names none of them.
fn virtual_service(
    all: Option<&VirtualServices>,
    is: fn(&VirtualService) -> bool,
) -> Option<IpAddr> {
    let found = all?.services.iter().find(|service| is(service))?;
    match found.at {
        At::Address(_, address, _) => Some(address),
        At::Mark(_) => None,
    }
}

/// Port 443 with servers at the API server's port.
fn is_api(service: &VirtualService) -> bool {
    matches!(service.at, At::Address(Protocol::TCP, _, 443))
        && service.servers.iter().any(|server| server.port == API_PORT)
}

fn is_dns(service: &VirtualService) -> bool {
    matches!(service.at, At::Address(Protocol::UDP, _, 53))
}

/// A client of a service's port on the node.
fn to_a_node_port(
    known: &Known<'_>,
    node: &str,
    routing: &Routing,
    saved: &Saved<'_>,
) -> Option<Question> {
    let port = saved.node_port()?;
    let mut nodes = known.facts.table::<Node>().iter().map(|one| &one.data);
    let own = nodes.find(|one| one.name == node)?;
    let own = own
        .addresses
        .iter()
        .filter_map(|one| one.parse::<IpAddr>().ok())
        .find(IpAddr::is_ipv4)?;
    let Route::Via { device, .. } = routed(routing, own, OUTSIDE, None) else {
        return None;
    };
    let mut packet = pod_to_tcp(OUTSIDE, Some(Interface::Name(device)), None, own, port);
    packet.mark = Some(0);
    Some(Question {
        name: "the outside to a node port",
        packet,
    })
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
    let inside = match (routed(routing, own, other, None), holder) {
        // What comes over a router arrives on the link that has the address, whatever the way back is.
        (
            Route::Via {
                device,
                gateway: Some(_),
                ..
            },
            Some(link),
        ) if device != link.name && link.name != "lo" && link.kind != "dummy" => {
            Some(link.name.clone())
        }
        (Route::Via { device, .. }, _) => Some(device),
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
