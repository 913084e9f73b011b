//! Ranges of pods and services that share addresses with one another, with a node's networks, with
//! its name servers or with the addresses of the nodes themselves.

use std::net::IpAddr;

use ipnet::IpNet;

use super::{Known, fact};
use crate::facts::cluster::KubeadmNetwork;
use crate::facts::kube::Node;
use crate::facts::network::{AddressOverlap, Resolv};
use crate::facts::node::Process;
use crate::facts::{AnyFact, Fact};
use crate::firewall::iptables::Origin;
use crate::firewall::route::{RouteEntry, RouteKind, Routing};
use crate::model::Place;

/// Arguments of Kubernetes' programs that name ranges.
const ARGUMENTS: [(&str, &str); 5] = [
    ("--cluster-cidr", "pods"),
    ("--pod-cidr", "pods"),
    ("--service-cluster-ip-range", "services"),
    ("--service-cidr", "services"),
    ("--pod-network-cidr", "pods"),
];
/// Devices that a CNI makes for its own ranges.
const OF_CNI: [&str; 16] = [
    "cni",
    "cali",
    "lxc",
    "cilium",
    "flannel",
    "vxlan.calico",
    "tunl",
    "wireguard.cali",
    "veth",
    "kube-",
    "weave",
    "ovn-k8s",
    "antrea",
    "nodelocaldns",
    "genev_sys",
    "eni",
];

/// A range of the cluster, what it is and where it was read.
pub(super) struct Range {
    net: IpNet,
    is: &'static str,
    /// The cluster gives out its addresses itself. Where a cloud does, a program may be told the range of the whole network.
    own: bool,
    place: Place,
    text: String,
}

/// Overlaps of the cluster's own ranges.
pub(super) fn of_cluster(ranges: &[Range]) -> Vec<AnyFact> {
    let services = || ranges.iter().filter(|range| range.is == "services");
    let mut facts: Vec<AnyFact> = Vec::new();
    let mut seen: Vec<(IpNet, IpNet)> = Vec::new();
    for pods in ranges.iter().filter(|range| range.is == "pods") {
        for services in services().filter(|services| overlap(&pods.net, &services.net)) {
            if seen.contains(&(pods.net, services.net)) {
                continue;
            }
            seen.push((pods.net, services.net));
            facts.push(found(
                "",
                pods,
                services.net.to_string(),
                "services".to_owned(),
            ));
        }
    }
    facts
}

/// Addresses of nodes and of the API server that lie in a range whose addresses the cluster gives to pods or services.
pub(super) fn of_addresses(known: &Known<'_>, ranges: &[Range]) -> Vec<AnyFact> {
    let mut addresses: Vec<(String, String, String)> = Vec::new();
    for node in known.facts.table::<Node>() {
        let whose = format!("the address of node {}", node.data.name);
        let each = node.data.addresses.iter();
        addresses.extend(each.map(|one| (node.data.name.clone(), one.clone(), whose.clone())));
    }
    for told in known.facts.table::<KubeadmNetwork>() {
        let whose = "the address of the API server".to_owned();
        addresses.push((String::new(), told.data.server.clone(), whose));
    }
    let own = || ranges.iter().filter(|range| range.own);
    let found = addresses.into_iter().filter_map(|(node, address, whose)| {
        let parsed: IpAddr = address.parse().ok()?;
        let range = own().find(|range| range.net.contains(&parsed))?;
        Some(found(&node, range, address, whose))
    });
    found.collect()
}

/// Overlaps of the cluster's ranges with what a node reaches by other ways.
pub(super) fn of_node(ranges: &[Range], node: &str, routing: &Routing) -> Vec<AnyFact> {
    let mut facts = Vec::new();
    for route in routing.routes.iter().filter(|route| is_foreign(route)) {
        if let Some(range) = ranges.iter().find(|range| overlap(&range.net, &route.to)) {
            let device = route.device.as_deref().unwrap_or("?");
            let data = AddressOverlap {
                node: node.to_owned(),
                first: range.net.to_string(),
                first_is: range.is.to_owned(),
                second: route.to.to_string(),
                second_is: format!("the network of device {device}"),
            };
            facts.push(fact(data, &route.origin, &route.text));
        }
    }
    facts
}

/// Name servers of a resolver file that lie in the ranges of pods.
pub(super) fn of_resolv(ranges: &[Range], resolv: &Resolv, origin: &Origin) -> Vec<AnyFact> {
    let addresses = resolv
        .nameservers
        .iter()
        .filter_map(|one| one.parse::<IpAddr>().ok());
    addresses
        .filter_map(|address| {
            // An address in the range of services may be the cluster's own DNS.
            let mut pods = ranges.iter().filter(|range| range.is == "pods");
            let range = pods.find(|range| range.net.contains(&address))?;
            let data = AddressOverlap {
                node: resolv.node.clone(),
                first: range.net.to_string(),
                first_is: range.is.to_owned(),
                second: address.to_string(),
                second_is: "a name server of the node".to_owned(),
            };
            Some(fact(data, origin, &format!("nameserver {address}")))
        })
        .collect()
}

fn found(node: &str, range: &Range, second: String, second_is: String) -> AnyFact {
    Fact {
        data: AddressOverlap {
            node: node.to_owned(),
            first: range.net.to_string(),
            first_is: range.is.to_owned(),
            second,
            second_is,
        },
        place: range.place.clone(),
        text: range.text.as_str().into(),
        at: None,
    }
    .into()
}

fn overlap(a: &IpNet, b: &IpNet) -> bool {
    a.contains(b) || b.contains(a)
}

/// A network that the node is linked to itself, and not through the CNI.
fn is_foreign(route: &RouteEntry) -> bool {
    let device = route.device.as_deref().unwrap_or("");
    route.kind == RouteKind::Unicast
        && route.gateway.is_none()
        && route.table == "main"
        && route.to.prefix_len() > 0
        && route.to.prefix_len() < route.to.max_prefix_len()
        && !device.is_empty()
        && !OF_CNI.iter().any(|start| device.starts_with(start))
}

/// The ranges of pods and services, as programs, nodes and kubeadm were told them.
pub(super) fn ranges(known: &Known<'_>) -> Vec<Range> {
    let mut ranges = Vec::new();
    for process in known.facts.table::<Process>() {
        for (name, is) in ARGUMENTS {
            let value = argument(&process.data.cmdline, name);
            let nets = value.into_iter().flat_map(|value| value.split(','));
            ranges.extend(nets.filter_map(|text| {
                Some(Range {
                    net: text.trim().parse().ok()?,
                    is,
                    own: false,
                    place: process.place.clone(),
                    text: format!("{name}={text}"),
                })
            }));
        }
    }
    for node in known.facts.table::<Node>() {
        ranges.extend(node.data.pod_cidrs.iter().filter_map(|text| {
            Some(Range {
                net: text.parse().ok()?,
                is: "pods",
                own: true,
                place: node.place.clone(),
                text: format!("podCIDR of node {}: {text}", node.data.name),
            })
        }));
    }
    for told in known.facts.table::<KubeadmNetwork>() {
        let network = &told.data;
        for (is, key, each) in [
            ("pods", "podSubnet", &network.pods),
            ("services", "serviceSubnet", &network.services),
        ] {
            ranges.extend(each.iter().filter_map(|text| {
                Some(Range {
                    net: text.parse().ok()?,
                    is,
                    own: true,
                    place: told.place.clone(),
                    text: format!("{key}: {text}"),
                })
            }));
        }
    }
    ranges
}

/// `--name=value` or `--name value`.
pub(super) fn argument<'a>(cmdline: &'a [String], name: &str) -> Option<&'a str> {
    cmdline.iter().enumerate().find_map(|(at, word)| {
        let rest = word.strip_prefix(name)?;
        match rest.strip_prefix('=') {
            Some(value) => Some(value),
            None if rest.is_empty() => cmdline.get(at + 1).map(String::as_str),
            None => None,
        }
    })
}
