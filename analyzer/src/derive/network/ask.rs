//! Any packet, asked by a person: from where to where, and what the node that sees it first does with it.

use std::net::IpAddr;

use super::answer::Here;
use super::reach::{Question, interface, routed, service};
use super::reply::FarNodes;
use super::{Known, links, routing};
use crate::derive::egress::{OUTSIDE, captures, has_rules};
use crate::facts::kube::{Node, Pod};
use crate::facts::network::ReachCheck;
use crate::firewall::packet::{Direction, Interface, Packet, Protocol};
use crate::firewall::question::{Firewall, pod_to_tcp};
use crate::firewall::route::Route;

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

/// The answer of the node that sees the packet first.
///
/// # Errors
/// Says what was not collected, or what the names do not lead to.
pub(crate) fn packet(known: &Known<'_>, asked: &Asked<'_>) -> Result<ReachCheck, String> {
    let node = node_of(known, asked)?;
    let captures = captures(known.documents, &node);
    let routing = routing(known, &node);
    if !has_rules(&captures) || routing.routes.is_empty() {
        return Err(format!("rules or routes of node {node} were not collected"));
    }
    let saved = captures
        .iptables
        .or(captures.nft)
        .map_or("", |file| file.text);
    let source = address(known, &asked.from, saved)?;
    let to = address(known, &asked.to, saved)?;
    if source.is_ipv4() != to.is_ipv4() {
        return Err(format!("{source} and {to} are of different families"));
    }
    let inside = match &asked.from {
        End::Pod(..) => interface(&routing, source),
        End::Node(name) if *name == node => None,
        _ => match routed(&routing, OUTSIDE, source, None) {
            Route::Via { device, .. } => Some(Interface::Name(device)),
            _ => None,
        },
    };
    let mut packet = first_packet(source, inside, to, asked);
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
    check
        .map(|fact| fact.data.clone())
        .ok_or_else(|| "no answer was found".to_owned())
}

fn first_packet(from: IpAddr, inside: Option<Interface>, to: IpAddr, asked: &Asked<'_>) -> Packet {
    let mut packet = pod_to_tcp(from, inside, None, to, asked.port.unwrap_or(0));
    packet.mark = Some(0);
    packet.proto = Some(asked.protocol);
    if asked.protocol != Protocol::TCP {
        packet.tcp_flags = None;
    }
    if !asked.protocol.has_ports() {
        (packet.sport, packet.dport) = (None, None);
    } else if asked.port.is_none() {
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

fn address(known: &Known<'_>, end: &End, rules: &str) -> Result<IpAddr, String> {
    let found = match end {
        End::Address(address) => Some(*address),
        End::Pod(namespace, name) => {
            let pod = pod(known, namespace, name);
            pod.and_then(|pod| pod.ip.as_ref()?.parse().ok())
        }
        End::Node(name) => {
            let mut nodes = known.facts.table::<Node>().iter().map(|node| &node.data);
            let node = nodes.find(|node| node.name == *name);
            node.and_then(|node| node.addresses.iter().find_map(|one| one.parse().ok()))
        }
        // Services stand in the rules that serve them.
        End::Service(namespace, name) => service(rules, &format!("{namespace}/{name}")),
    };
    found.ok_or_else(|| match end {
        End::Pod(namespace, name) => {
            format!("pod {namespace}/{name} was not collected or has no address")
        }
        End::Node(name) => format!("node {name} was not collected or has no address"),
        End::Service(namespace, name) => {
            format!(
                "no captured rule names the service {namespace}/{name}; ask for its address instead"
            )
        }
        End::Address(address) => format!("{address} is no address"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derive::network::tests::{ROUTES, RULES, cluster, of_n1};

    fn asked(from: &str, to: &str, protocol: Protocol) -> Result<ReachCheck, String> {
        seen(RULES, from, to, protocol, None)
    }

    fn seen(
        rules: &str,
        from: &str,
        to: &str,
        protocol: Protocol,
        shown: Option<Packet>,
    ) -> Result<ReachCheck, String> {
        let documents = of_n1(&[
            ("commands/ip-route.out", ROUTES),
            ("commands/iptables-save.out", rules),
        ]);
        let paths: Vec<String> = documents.keys().cloned().collect();
        let facts = cluster();
        let known = Known {
            facts: &facts,
            documents: &documents,
            paths: &paths,
            origins: &crate::scan::pasted::Origins::new(),
            broken: &std::collections::BTreeSet::new(),
            now: None,
            replayed: false,
        };
        let (from, _) = End::parse(from)?;
        let (to, port) = End::parse(to)?;
        let asked = Asked {
            from,
            to,
            port,
            protocol,
            node: None,
            shown,
        };
        packet(&known, &asked)
    }

    #[test]
    fn a_packet_is_followed_from_the_pod_to_the_rule_that_decides() {
        let verdict =
            |from: &str, to: &str, protocol| asked(from, to, protocol).map(|one| one.verdict);
        assert_eq!(
            verdict("pod//a", "svc/kube-system/kube-dns:53", Protocol::UDP),
            Err(End::parse("pod//a").unwrap_err())
        );
        assert_eq!(
            verdict("10.42.0.7", "10.42.0.8:80", Protocol::TCP),
            Ok("accepted".into())
        );
        assert_eq!(
            verdict("10.42.0.7", "svc/kube-system/kube-dns:53", Protocol::UDP),
            Ok("accepted".into())
        );
        assert_eq!(
            verdict("10.42.0.7", "198.51.100.9:443", Protocol::TCP),
            Ok("dropped".into())
        );
        assert_eq!(
            verdict("node/n2", "node/n1:10250", Protocol::TCP).map_err(|_| ()),
            Err(()),
            "n2's files were not collected"
        );
        let missing = asked("10.42.0.7", "svc/shop/web:80", Protocol::TCP);
        assert!(missing.is_err_and(|why| why.contains("shop/web")));
    }

    #[test]
    fn the_bytes_of_a_packet_decide_a_rule_that_reads_them() {
        let rules = "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n\
             -A FORWARD -m u32 --u32 \"0x2&0xffff=0x1c46\" -j DROP\n-A FORWARD -m dscp --dscp 0x2e -j DROP\nCOMMIT\n";
        let ask = |text: Option<&str>, to: &str| {
            let bytes = text.map(|text| crate::firewall::dissect::bytes(text).unwrap());
            let shown = bytes.map(|bytes| crate::firewall::dissect::packet(&bytes).unwrap());
            seen(rules, "10.42.0.7", to, Protocol::UDP, shown).map(|one| one.verdict)
        };
        let head = |class: &str, number: &str| {
            format!(
                "45{class} 001c {number} 4000 4011 0000 0a2a 0007 c633 6409 9c40 0035 0008 0000"
            )
        };
        let to = "198.51.100.9:53";
        assert_eq!(ask(None, to), Ok("undecided".into()));
        assert_eq!(ask(Some(&head("00", "0001")), to), Ok("accepted".into()));
        assert_eq!(ask(Some(&head("b8", "0001")), to), Ok("dropped".into()));
        assert_eq!(ask(Some(&head("00", "1c46")), to), Ok("dropped".into()));
        let other = ask(Some(&head("00", "0001")), "198.51.100.10:53");
        assert!(other.is_err_and(|why| why.contains("another packet")));
    }

    #[test]
    fn ends_are_read_with_and_without_ports() {
        assert_eq!(
            End::parse("10.0.0.1:80"),
            Ok((End::Address("10.0.0.1".parse().unwrap()), Some(80)))
        );
        assert_eq!(
            End::parse("[fd00::1]:80").map(|(_, port)| port),
            Ok(Some(80))
        );
        assert_eq!(
            End::parse("svc/a/b:443"),
            Ok((End::Service("a".into(), "b".into()), Some(443)))
        );
        assert!(End::parse("web").is_err() && End::parse("svc/a/b:http").is_err());
    }
}
