//! Packets to ask about: what a pod sends to its upstream name server or out.

use std::net::IpAddr;

use crate::packet::{BridgePorts, CtState, Direction, Interface, Packet, Protocol, tcp_flag};

/// Host-side names of pod interfaces, with whether packets from them may cross a bridge.
const POD_INTERFACES: [(&str, bool); 11] = [
    ("lxc", false),
    ("cali", false),
    ("eni", false),
    ("azv", false),
    ("gke", false),
    ("tunl", false),
    ("veth", true),
    ("cni", true),
    ("docker", true),
    ("br-", true),
    ("kube-bridge", true),
];

/// Stands for the source port that the pod's kernel would choose.
const EPHEMERAL_PORT: u16 = 40_000;

/// The pattern of a host-side pod interface: `lxc4f39491e6165` gives `lxc+`.
/// `None` for a name that no known CNI gives its pod side.
pub fn pod_interface(name: &str) -> Option<Interface> {
    let (prefix, _) = POD_INTERFACES
        .iter()
        .find(|(prefix, _)| name.starts_with(prefix))?;
    // A bridge is one interface for all pods, not one of many with the prefix.
    match *prefix {
        "cni" | "docker" | "br-" | "kube-bridge" => Some(Interface::Name(name.to_owned())),
        prefix => Some(Interface::Prefix(prefix.to_owned())),
    }
}

/// A pod's DNS query (UDP, port 53) to a server outside the cluster.
pub fn pod_to_dns(
    pod: IpAddr,
    inside: Option<Interface>,
    outside: Option<Interface>,
    server: IpAddr,
) -> Packet {
    pod_packet(pod, inside, outside, server, Protocol::UDP, 53)
}

/// The first packet of a pod's TCP connection to an address outside the cluster.
pub fn pod_to_tcp(
    pod: IpAddr,
    inside: Option<Interface>,
    outside: Option<Interface>,
    to: IpAddr,
    port: u16,
) -> Packet {
    let mut packet = pod_packet(pod, inside, outside, to, Protocol::TCP, port);
    packet.tcp_flags = Some(tcp_flag::SYN);
    packet
}

fn pod_packet(
    pod: IpAddr,
    inside: Option<Interface>,
    outside: Option<Interface>,
    to: IpAddr,
    proto: Protocol,
    port: u16,
) -> Packet {
    let name = match &inside {
        Some(Interface::Name(name) | Interface::Prefix(name)) => name.as_str(),
        None => "",
    };
    let bridged = POD_INTERFACES
        .iter()
        .find(|(prefix, _)| name.starts_with(prefix))
        .is_none_or(|(_, bridged)| *bridged);
    // Cilium marks what leaves its lxc interfaces; others start without a mark.
    let mark = (!name.is_empty() && !name.starts_with("lxc")).then_some(0);
    let mut packet = Packet::new(Direction::Forward, pod, to);
    packet.bridge_ports = (!bridged).then(BridgePorts::default);
    packet.mark = mark;
    packet.in_iface = inside;
    packet.out_iface = outside;
    packet.proto = Some(proto);
    packet.sport = Some(EPHEMERAL_PORT);
    packet.dport = Some(port);
    packet.ct_states = [CtState::New].into();
    packet.fragment = Some(false);
    packet
}
