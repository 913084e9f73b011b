//! Any packet, asked by a person: from where to where, and what the node that sees it first does with it.

use std::net::{IpAddr, Ipv6Addr};

use super::answer::Here;
use super::reach::{Question, Saved, interface, routed};
use super::reply::FarNodes;
use super::{Known, links, routing};
use crate::derive::egress::{OUTSIDE, captures, has_rules};
use crate::facts::kube::{Node, Pod, Service};
use crate::facts::network::ReachCheck;
use crate::firewall::packet::{Direction, Family, Interface, Packet, Protocol};
use crate::firewall::question::{Firewall, pod_to_tcp};
use crate::firewall::route::{Route, Routing};

/// One end of the packet's way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// `pod/NAMESPACE/NAME`.
    Pod(String, String),
    /// `node/NAME`.
    Node(String),
    /// `svc/NAMESPACE/NAME`.
    Service(String, String),
    /// An address.
    Address(IpAddr),
}

impl End {
    /// Reads an end with the port behind it, if there is one.
    ///
    /// # Errors
    /// Says which forms there are.
    pub(crate) fn parse(text: &str) -> Result<(Self, Option<u16>), String> {
        let forms = || {
            format!(
                "{text} is none of pod/NAMESPACE/NAME, node/NAME, svc/NAMESPACE/NAME, ADDRESS, each with :PORT if there is one"
            )
        };
        if let Ok(address) = text.parse() {
            return Ok((Self::Address(address), None));
        }
        if let Ok(socket) = text.parse::<std::net::SocketAddr>() {
            return Ok((Self::Address(socket.ip()), Some(socket.port())));
        }
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) => (name, Some(port.parse().map_err(|_| forms())?)),
            None => (text, None),
        };
        let words: Vec<&str> = name.split('/').filter(|word| !word.is_empty()).collect();
        let own = |word: &str| word.to_owned();
        let end = match words.as_slice() {
            ["pod", namespace, name] => Self::Pod(own(namespace), own(name)),
            ["svc" | "service", namespace, name] => Self::Service(own(namespace), own(name)),
            ["node", name] => Self::Node(own(name)),
            _ => return Err(forms()),
        };
        Ok((end, port))
    }
}

/// What is asked.
pub(crate) struct Asked<'a> {
    pub(crate) from: End,
    pub(crate) to: End,
    pub(crate) port: Option<u16>,
    pub(crate) protocol: Protocol,
    /// The node whose rules are asked, where it is not the sender's own.
    pub(crate) node: Option<&'a str>,
    /// The packet as it was seen, where its bytes are known.
    pub(crate) shown: Option<Packet>,
}

/// The answer to a question, and what a reader has to know beside it.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) check: ReachCheck,
    pub(crate) notes: Vec<String>,
}

/// The answer of the node that sees the packet first.
///
/// # Errors
/// Says what was not collected, or what the names do not lead to.
pub(crate) fn packet(known: &Known<'_>, asked: &Asked<'_>) -> Result<Told, String> {
    let node = node_of(known, asked)?;
    let captures = captures(known.documents, &node);
    let routing = routing(known, &node);
    if !has_rules(&captures) || routing.routes.is_empty() {
        return Err(format!("rules or routes of node {node} were not collected"));
    }
    let saved = Saved::of(&captures);
    let (source, to) = addresses(known, asked, &saved)?;
    let inside = match &asked.from {
        End::Pod(..) => interface(&routing, source),
        End::Node(name) if *name == node => None,
        _ => match routed(&routing, OUTSIDE, source, None) {
            Route::Via { device, .. } => Some(Interface::Name(device)),
            _ => None,
        },
    };
    let port = asked
        .port
        .map_or_else(|| port_of(known, asked), |port| Ok(Some(port)))?;
    let mut packet = first_packet(source, inside, to, (asked.protocol, port));
    if let Some(shown) = &asked.shown {
        show(&mut packet, shown)?;
    }
    if matches!(&asked.from, End::Node(name) if *name == node) {
        packet.direction = Direction::Output;
        if let Route::Via { device, .. } = routed(&routing, source, to, None) {
            packet.out_iface = Some(Interface::Name(device));
        }
    }
    let firewall = Firewall::from_captures(&captures);
    let links = links::read(known, &node);
    let here = Here {
        known,
        node: &node,
        routing: &routing,
        links: &links,
        firewall: &firewall,
    };
    let question = Question {
        name: "asked",
        packet,
    };
    let mut facts = crate::facts::Facts::default();
    facts.add(
        here.answer(&question, &FarNodes::default())
            .ok_or("neither a rule nor a route decides over this packet")?,
    );
    let check = facts.table::<ReachCheck>().first();
    let check = check.map(|fact| fact.data.clone());
    let check = check.ok_or_else(|| "no answer was found".to_owned())?;
    let ends = [(&asked.from, source), (&asked.to, to)];
    let named = ends
        .into_iter()
        .filter_map(|(end, address)| taken(known, end, address));
    let notes = named.chain(unserved(known, &check, to)).collect();
    Ok(Told { check, notes })
}

/// An address of a service that no rule rewrites is none that a packet can arrive at.
fn unserved(known: &Known<'_>, check: &ReachCheck, to: IpAddr) -> Option<String> {
    let mut services = known.facts.table::<Service>().iter().map(|one| &one.data);
    let own = |address: &String| address.parse::<IpAddr>() == Ok(to);
    let service = services.find(|one| one.addresses.iter().any(own))?;
    let served = check.route.contains("after translation") || check.verdict == "rejected";
    (!served).then(|| {
        format!(
            "{to} is service {}/{}, and no captured rule rewrites it: where Cilium or another eBPF program serves it, its packets do not meet these rules with that address",
            service.namespace, service.name
        )
    })
}

/// The port of a service that is asked about without one.
fn port_of(known: &Known<'_>, asked: &Asked<'_>) -> Result<Option<u16>, String> {
    let (End::Service(namespace, name), true) = (&asked.to, asked.protocol.has_ports()) else {
        return Ok(None);
    };
    let Some(service) = service(known, namespace, name) else {
        return Ok(None);
    };
    let fits = |protocol: &str| Protocol::parse(protocol) == Some(asked.protocol);
    let port = service.ports.iter().find(|port| fits(&port.protocol));
    if port.is_none() && !service.ports.is_empty() {
        let all = service.ports.iter();
        let all: Vec<String> = all
            .map(|port| format!("{} {}", port.protocol, port.number))
            .collect();
        return Err(format!(
            "service {namespace}/{name} serves {}, and {} is asked about; see --proto",
            all.join(", "),
            asked.protocol
        ));
    }
    Ok(port.map(|port| port.number))
}

fn first_packet(
    from: IpAddr,
    inside: Option<Interface>,
    to: IpAddr,
    (protocol, port): (Protocol, Option<u16>),
) -> Packet {
    let mut packet = pod_to_tcp(from, inside, None, to, port.unwrap_or(0));
    // What Cilium lets out of a pod may carry a mark, as the packet says then.
    let marked = |name: &str| name.starts_with("lxc");
    if !matches!(&packet.in_iface, Some(Interface::Name(name)) if marked(name)) {
        packet.mark = Some(0);
    }
    let pings = matches!(protocol, Protocol::ICMP | Protocol::ICMPV6);
    packet.proto = Some(match to {
        IpAddr::V4(_) if pings => Protocol::ICMP,
        IpAddr::V6(_) if pings => Protocol::ICMPV6,
        _ => protocol,
    });
    if pings {
        // What `ping` sends.
        packet.icmp_type = Some(if to.is_ipv4() { 8 } else { 128 });
        packet.icmp_code = Some(0);
    }
    if protocol != Protocol::TCP {
        packet.tcp_flags = None;
    }
    if !protocol.has_ports() {
        (packet.sport, packet.dport) = (None, None);
    } else if port.is_none() {
        packet.dport = None;
    }
    packet
}

/// What was seen of the packet goes before what is usual.
fn show(packet: &mut Packet, shown: &Packet) -> Result<(), String> {
    let asked = (packet.src, packet.dst, packet.proto);
    if asked != (shown.src, shown.dst, shown.proto) {
        return Err(format!(
            "the bytes are another packet ({shown}) than the one that is asked about ({packet})"
        ));
    }
    let port = packet.dport.filter(|port| *port != 0);
    if let (Some(port), Some(own)) = (port, shown.dport)
        && port != own
    {
        return Err(format!(
            "the bytes are a packet to port {own}, and port {port} is asked about"
        ));
    }
    *packet = Packet {
        direction: packet.direction,
        in_iface: packet.in_iface.take(),
        out_iface: packet.out_iface.take(),
        bridge_ports: packet.bridge_ports.take(),
        mark: packet.mark,
        ..shown.clone()
    };
    Ok(())
}

/// The node whose rules the packet meets first.
fn node_of(known: &Known<'_>, asked: &Asked<'_>) -> Result<String, String> {
    if let Some(node) = asked.node {
        return Ok(node.to_owned());
    }
    let own = |end: &End| match end {
        End::Pod(namespace, name) => pod(known, namespace, name).map(|pod| pod.node.clone()),
        End::Node(name) => Some(name.clone()),
        _ => None,
    };
    let nodes = known.nodes();
    let only = || nodes.first().filter(|_| nodes.len() == 1).cloned();
    own(&asked.from)
        .or_else(|| own(&asked.to))
        .or_else(only)
        .filter(|node| !node.is_empty())
        .ok_or_else(|| "which node is asked is not known; name it with --node".to_owned())
}

fn pod<'a>(known: &'a Known<'_>, namespace: &str, name: &str) -> Option<&'a Pod> {
    let mut pods = known.facts.table::<Pod>().iter().map(|pod| &pod.data);
    pods.find(|pod| pod.namespace == namespace && pod.name == name)
}

fn service<'a>(known: &'a Known<'_>, namespace: &str, name: &str) -> Option<&'a Service> {
    let mut services = known.facts.table::<Service>().iter().map(|one| &one.data);
    services.find(|one| one.namespace == namespace && one.name == name)
}

/// The addresses of both ends, of one family.
fn addresses(
    known: &Known<'_>,
    asked: &Asked<'_>,
    saved: &Saved<'_>,
) -> Result<(IpAddr, IpAddr), String> {
    let from = all_of(known, &asked.from, saved)?;
    let to = all_of(known, &asked.to, saved)?;
    let pairs = from
        .iter()
        .flat_map(|from| to.iter().map(move |to| (*from, *to)));
    let fits = |(from, to): &(IpAddr, IpAddr)| from.is_ipv4() == to.is_ipv4();
    let first = pairs.clone().next();
    pairs.clone().find(fits).ok_or_else(|| match first {
        Some((from, to)) => format!("{from} and {to} are of different families"),
        None => "an end has no address".to_owned(),
    })
}

/// The addresses of a node by its routes: before others the one that it has where its default route leads, which is what a
/// kubelet takes for its node's.
fn own_addresses(routing: &Routing) -> Vec<IpAddr> {
    let outside = IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1));
    let families = [(Family::V4, OUTSIDE), (Family::V6, outside)];
    let of = |(family, to): (Family, IpAddr)| {
        let first = match routed(routing, to, to, None) {
            Route::Via {
                device, gateway, ..
            } => routing.masquerade_address(&device, gateway.unwrap_or(to)),
            _ => None,
        };
        let others = routing.own_addresses(family).into_iter();
        let others = others.filter(move |one| Some(*one) != first);
        first.into_iter().chain(others).collect::<Vec<_>>()
    };
    families.into_iter().flat_map(of).collect()
}

/// Says which address of a node was asked about, and why that one.
fn taken(known: &Known<'_>, end: &End, address: IpAddr) -> Option<String> {
    let End::Node(name) = end else { return None };
    let mut nodes = known.facts.table::<Node>().iter().map(|node| &node.data);
    let written = |one: &String| one.parse() == Ok(address);
    let told = nodes.any(|node| node.name == *name && node.addresses.iter().any(written));
    Some(match told {
        true => format!("{address} is the InternalIP of node {name}"),
        false => format!(
            "{address} is taken for node {name} by its routes; its Node object, which names its InternalIP, was not collected"
        ),
    })
}

/// Every address of an end, at least one.
fn all_of(known: &Known<'_>, end: &End, saved: &Saved<'_>) -> Result<Vec<IpAddr>, String> {
    let read =
        |all: &[String]| -> Vec<IpAddr> { all.iter().filter_map(|one| one.parse().ok()).collect() };
    let found = match end {
        End::Address(address) => vec![*address],
        End::Pod(namespace, name) => {
            let pod = pod(known, namespace, name);
            let own = |pod: &Pod| match pod.ips.as_slice() {
                [] => read(pod.ip.as_slice()),
                all => read(all),
            };
            pod.map(own).unwrap_or_default()
        }
        End::Node(name) => {
            let mut nodes = known.facts.table::<Node>().iter().map(|node| &node.data);
            let node = nodes.find(|node| node.name == *name);
            let told = node.map(|node| read(&node.addresses));
            // Where the object was not collected, the node's own addresses do.
            told.filter(|all| !all.is_empty())
                .unwrap_or_else(|| own_addresses(&routing(known, name)))
        }
        End::Service(namespace, name) => match service(known, namespace, name) {
            Some(service) if service.addresses.is_empty() => {
                return Err(format!(
                    "service {namespace}/{name} has no address of its own; ask for one of its pods"
                ));
            }
            Some(service) => read(&service.addresses),
            // Where the objects were not collected, services stand in the rules that serve them.
            None => {
                let found = saved.service(&format!("{namespace}/{name}"));
                found.into_iter().collect()
            }
        },
    };
    if !found.is_empty() {
        return Ok(found);
    }
    Err(match end {
        End::Pod(namespace, name) => {
            format!("pod {namespace}/{name} was not collected or has no address")
        }
        End::Node(name) => format!("node {name} was not collected or has no address"),
        End::Service(namespace, name) => format!(
            "service {namespace}/{name} was not collected, and no captured rule names it; ask for its address instead"
        ),
        End::Address(address) => format!("{address} is no address"),
    })
}
