//! A packet that is sent through the router.

use casefile_sim_net::connection::{Connection, Tuple};
use casefile_sim_net::header::HeaderBytes;
use casefile_sim_net::packet::{BridgePorts, CtState, Direction, Interface, Packet, Protocol};

pub(crate) const POD_SIDE: &str = "lxc4f39491e6165";
pub(crate) const OUT_SIDE: &str = "eno1";
pub(crate) const POD_IP: &str = "10.1.0.185";
pub(crate) const OUT_IP: &str = "192.0.2.53";

/// The router's address on the pod's side.
pub(crate) const ROUTER_IP: &str = "10.1.0.1";

/// The same three in IPv6.
pub(crate) const SIX: [&str; 3] = ["fd00:1::185", "2001:db8::53", "fd00:1::1"];

/// The router's address on the other side, in both families.
pub(crate) const ASIDE: [&str; 2] = ["192.0.2.1", "2001:db8::1"];

/// Addresses of the pod, the outside and the router.
pub(crate) fn addresses(six: bool) -> [&'static str; 3] {
    if six {
        SIX
    } else {
        [POD_IP, OUT_IP, ROUTER_IP]
    }
}

/// What the router has to do with a packet, beside sending it on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Router {
    #[default]
    Plain,
    /// The pod asks it by its address on the other side.
    Aside,
    /// It sends the packet itself.
    Sends,
}

/// A packet to send.
#[derive(Debug, Clone)]
pub(crate) struct Shot {
    /// Over IPv6; then protocol 1 is ICMPv6.
    pub(crate) six: bool,
    /// To the router itself, from the pod.
    pub(crate) to_router: bool,
    /// To the router's address on the other side, or sent by the router itself.
    pub(crate) router: Router,
    /// True from the pod to the outside, false the other way.
    pub(crate) from_pod: bool,
    pub(crate) proto: u8,
    pub(crate) sport: u16,
    /// Destination port, or the ICMP type.
    pub(crate) dport: u16,
    pub(crate) flags: u8,
    pub(crate) state: CtState,
}

impl Shot {
    /// The packet; with its number, where it has gone over the wire with one.
    pub(crate) fn packet(&self, id: Option<u16>) -> Packet {
        let (input, output) = if self.from_pod {
            (POD_SIDE, OUT_SIDE)
        } else {
            (OUT_SIDE, POD_SIDE)
        };
        let (src, dst) = self.ends();
        let mut packet = Packet::new(
            Direction::Forward,
            src.parse().expect("address"),
            dst.parse().expect("address"),
        );
        packet.in_iface = Some(Interface::Name(input.into()));
        packet.out_iface = Some(Interface::Name(output.into()));
        if self.to_router {
            packet.direction = Direction::Input;
            packet.out_iface = None;
        }
        if self.router == Router::Sends {
            packet.direction = Direction::Output;
            packet.in_iface = None;
        }
        packet.proto = Some(Protocol(self.number()));
        if self.proto == 1 {
            packet.icmp_type = u8::try_from(self.dport).ok();
            packet.icmp_code = Some(0);
        } else {
            packet.sport = Some(self.sport);
            packet.dport = Some(self.dport);
        }
        packet.tcp_flags = (self.proto == 6).then_some(self.flags);
        packet.mark = Some(0);
        packet.ttl = Some(64);
        packet.fragment = Some(false);
        let head = if self.six { 40 } else { 20 };
        packet.length = Some(match self.proto {
            17 => head + 10,
            6 => head + 20,
            _ => head + 8,
        });
        packet.ct_states = [self.state].into();
        // The interfaces are no ports of a bridge.
        packet.bridge_ports = Some(BridgePorts::default());
        packet.headers = self.headers(&packet, id);
        packet.connection = self.known();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        packet.at = now.ok().and_then(|now| i64::try_from(now.as_secs()).ok());
        packet
    }

    /// Where it comes from and where it goes.
    pub(crate) fn ends(&self) -> (&'static str, &'static str) {
        let [pod, out, router] = addresses(self.six);
        let aside = ASIDE[usize::from(self.six)];
        match (self.router, self.from_pod) {
            (Router::Sends, true) => (aside, out),
            (Router::Sends, false) => (router, pod),
            (Router::Aside, _) => (pod, aside),
            (Router::Plain, true) if self.to_router => (pod, router),
            (Router::Plain, true) => (pod, out),
            (Router::Plain, false) => (out, pod),
        }
    }

    /// What the wire writes, but for what changes on the way.
    fn headers(&self, packet: &Packet, id: Option<u16>) -> HeaderBytes {
        let mut headers = HeaderBytes::plain(packet);
        let known = |bytes: &mut Vec<Option<u8>>, at: usize, values: &[u8]| {
            bytes.resize(bytes.len().max(at + values.len()), None);
            for (byte, value) in bytes[at..].iter_mut().zip(values) {
                *byte = Some(*value);
            }
        };
        let (network, transport) = (&mut headers.network, &mut headers.transport);
        if !self.six {
            known(network, 6, &[0, 0]);
        }
        match (self.proto, self.six) {
            (6, _) => {
                known(transport, 8, &[0, 0, 0, 0, 0x50]);
                known(transport, 14, &[0xff, 0xff]);
                known(transport, 18, &[0, 0]);
            }
            (17, false) => known(transport, 6, &[0, 0]),
            (1, _) => known(transport, 6, &[0, 1]),
            _ => {}
        }
        let Some([high, low]) = id.map(u16::to_be_bytes) else {
            return headers;
        };
        if self.six {
            known(network, 2, &[high, low]);
        } else {
            known(network, 4, &[high, low]);
        }
        match self.proto {
            6 => known(transport, 4, &[0, 0, high, low]),
            17 => known(transport, 8, &[high, low]),
            _ => known(transport, 4, &[high, low]),
        }
        headers
    }

    /// The connection that was made before the rules were loaded; its mark may have been set since.
    fn known(&self) -> Option<Box<Connection>> {
        if self.state != CtState::Established {
            return None;
        }
        let [pod, out, _] = addresses(self.six);
        let (sport, dport) = match self.from_pod {
            true => (self.sport, self.dport),
            false => (self.dport, self.sport),
        };
        let original = Tuple {
            src: pod.parse().expect("address"),
            sport: Some(sport),
            dst: out.parse().expect("address"),
            dport: Some(dport),
        };
        Some(Box::new(Connection {
            reply: !self.from_pod,
            original,
            replies: Some(original.turned()),
            dnat: Some(false),
            snat: Some(false),
            served: None,
            mark: None,
        }))
    }

    /// The protocol's number in the packet.
    pub(crate) fn number(&self) -> u8 {
        if self.six && self.proto == 1 {
            58
        } else {
            self.proto
        }
    }
}
