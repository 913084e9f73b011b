//! What is known of a node's pods and their surroundings: addresses, interfaces, name servers.

use std::collections::BTreeSet;
use std::net::IpAddr;

use casefile_bundle::Entry;

use crate::derive::Known;
use crate::facts::kube::Pod;
use crate::firewall::packet::{Direction, Interface, Packet};
use crate::firewall::question::pod_interface;
use crate::firewall::route::{Route, Routing};
use crate::parsers::PacketLine;
use crate::scan::Documents;

/// The address of a pod on the node, preferably one that asks DNS for others.
pub(in crate::derive) fn pod_address(known: &Known<'_>, node: &str) -> Option<IpAddr> {
    let pods = known.facts.table::<Pod>().iter().map(|pod| &pod.data);
    let here = |pod: &&Pod| !pod.host_network && (pod.node == node || pod.node.is_empty());
    let mut addresses: Vec<(bool, IpAddr)> = pods
        .filter(here)
        .filter_map(|pod| Some((pod.component != "dns", pod.ip.as_ref()?.parse().ok()?)))
        .collect();
    addresses.sort();
    addresses.first().map(|(_, address)| *address)
}

/// The interface that the pod's packets come in on: the one that its address is routed to. Where no route tells (Cilium routes
/// pods to a device of its own), the pattern of the pods' interfaces that were captured or logged, if there is one only.
pub(in crate::derive) fn pod_side(
    known: &Known<'_>,
    node: &str,
    routing: Option<&Routing>,
    pod: IpAddr,
) -> Option<Interface> {
    let mut to_pod = Packet::new(Direction::Output, pod, pod);
    to_pod.mark = Some(0);
    if let Some(Route::Via { device, .. }) = routing.map(|routing| routing.decide(&to_pod))
        && pod_interface(&device).is_some()
    {
        return Some(Interface::Name(device));
    }
    let logged = known.facts.table::<PacketLine>().iter().filter_map(|line| {
        match &line.data.says.0.packet.in_iface {
            Some(Interface::Name(name)) => Some(name.clone()),
            _ => None,
        }
    });
    let listed = known
        .documents
        .get(&Entry::Printed(node, "ip-addr").path())
        .map(|text| interface_names(text))
        .unwrap_or_default();
    let patterns: BTreeSet<Interface> = logged
        .chain(listed)
        .filter_map(|name| pod_interface(&name))
        .collect();
    let mut patterns = patterns.into_iter();
    patterns.next().filter(|_| patterns.next().is_none())
}

/// Interface names of `ip addr`, in its JSON or its text form.
fn interface_names(text: &str) -> Vec<String> {
    if let Ok(serde_json::Value::Array(interfaces)) = serde_json::from_str(text) {
        let names = interfaces
            .iter()
            .filter_map(|one| one.get("ifname")?.as_str());
        return names.map(str::to_owned).collect();
    }
    let heads = text
        .lines()
        .filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
    heads
        .filter_map(|line| line.split(": ").nth(1))
        .map(|name| name.split('@').next().unwrap_or(name).to_owned())
        .collect()
}

/// The interface of the default route, from `ip route` in either form.
pub(in crate::derive) fn default_route_interface(
    documents: &Documents,
    node: &str,
) -> Option<String> {
    let text = documents.get(&Entry::Printed(node, "ip-route").path())?;
    if let Ok(serde_json::Value::Array(routes)) = serde_json::from_str(text) {
        let default = routes
            .iter()
            .find(|route| route.get("dst").and_then(|dst| dst.as_str()) == Some("default"))?;
        return default.get("dev")?.as_str().map(str::to_owned);
    }
    let line = text.lines().find(|line| line.starts_with("default "))?;
    let mut words = line.split_whitespace().skip_while(|word| *word != "dev");
    words.nth(1).map(str::to_owned)
}

/// Name servers that cluster DNS forwards to: those of the node, and those that logged packets went to.
pub(in crate::derive) fn upstream_servers(known: &Known<'_>, node: &str) -> BTreeSet<IpAddr> {
    let files = ["run/systemd/resolve/resolv.conf", "etc/resolv.conf"];
    let texts = files
        .iter()
        .filter_map(|file| known.documents.get(&Entry::Rootfs(node, file).path()));
    let named = texts.flat_map(|text| text.lines()).filter_map(|line| {
        line.strip_prefix("nameserver")?
            .trim()
            .parse::<IpAddr>()
            .ok()
    });
    let logged = known
        .facts
        .table::<PacketLine>()
        .iter()
        .map(|line| &line.data.says.0.packet)
        .filter(|packet| packet.dport == Some(53))
        .map(|packet| packet.dst);
    named
        .chain(logged)
        .filter(|address| !address.is_loopback())
        .collect()
}
