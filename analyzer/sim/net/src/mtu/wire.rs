//! What lies below a device: a tunnel's packet, a bridge's ports, the other side of a veth, the next host.

use std::net::IpAddr;

use super::header::{Below, Header, below, is_nominal, kind};
use super::walk::{Layer, Size, Walker};
use super::{Beyond, Host};
use crate::link::{Df, Link};
use crate::packet::{BridgePorts, Direction, Interface, Packet};
use crate::route::Route;

/// Tunnels inside one another that are followed.
const MAX_LAYERS: usize = 5;
/// Devices below one another on one host.
const MAX_LOWER: usize = 8;
/// A frame may be longer than a link's MTU by a VLAN tag that it does not have.
const TAG: u64 = 4;
/// An outside address, for the way out where a tunnel's other end is not known: TEST-NET-1.
const OUTSIDE: [u8; 4] = [192, 0, 2, 1];

impl<'a> Walker<'a> {
    /// Sends the packet out by a device, towards the next hop; the host that gets it, with the packet there.
    pub(super) fn leave(
        &mut self,
        at: usize,
        link: &Link,
        packet: &Packet,
        next: IpAddr,
    ) -> Option<(usize, Packet)> {
        let name = self.hosts[at].name;
        if is_nominal(link) {
            self.open(format!(
                "the MTU of {} on {name} is nominal: its program sets the real size elsewhere",
                link.name
            ));
            return None;
        }
        match below(link) {
            Below::Unknown => {
                self.open(format!(
                    "how much {} on {name} ({}) adds to a packet is not shown",
                    link.name,
                    kind(link)
                ));
                None
            }
            Below::Inside(header) => self.enter(at, link, header, packet, next),
            Below::Same => {
                self.lower(at, link);
                self.cross(at, link, packet, next)
            }
        }
    }

    fn wire(&mut self, at: usize, link: &Link, what: &str) {
        let tag = if kind(link) == "veth" { TAG } else { 0 };
        let size = Size {
            device: &link.name,
            what: what.to_owned(),
            own: link.mtu,
            takes: link.mtu.saturating_add(tag),
            beyond: Beyond::Lost,
            origin: &link.origin,
            text: &link.text,
        };
        self.step(at, size);
    }

    /// VLANs and their like lie on another link, a bond on its ports.
    fn lower(&mut self, at: usize, link: &Link) {
        let host = self.hosts[at];
        let mut seen = vec![link.name.as_str()];
        let mut upper = link;
        while seen.len() < MAX_LOWER {
            let found = match kind(upper) {
                "vlan" | "macvlan" | "ipvlan" | "macvtap" | "ipvtap" => {
                    upper.parent.as_deref().and_then(|name| host.link(name))
                }
                "bond" | "team" => smallest_port(&host, &upper.name),
                _ => return,
            };
            let Some(below) = found.filter(|below| !seen.contains(&below.name.as_str())) else {
                self.open(format!(
                    "the link below {} of {} was not collected",
                    upper.name, host.name
                ));
                return;
            };
            self.wire(at, below, "link below");
            seen.push(&below.name);
            upper = below;
        }
    }

    /// Over a bridge, through a veth, to the next host.
    fn cross(
        &mut self,
        at: usize,
        link: &Link,
        packet: &Packet,
        next: IpAddr,
    ) -> Option<(usize, Packet)> {
        let host = self.hosts[at];
        if kind(link) == "bridge" {
            self.ports(at, &link.name);
        }
        if kind(link) == "veth"
            && let Some(other) = link.parent.as_deref().and_then(|name| host.link(name))
        {
            self.wire(at, other, "other side of the veth");
        }
        let Some((to, taker)) = self.neighbour(at, next) else {
            self.open(format!(
                "what takes packets for {next} behind {} of {} was not collected",
                link.name, host.name
            ));
            return None;
        };
        if kind(taker) == "bridge" {
            self.ports(to, &taker.name);
        } else {
            self.wire(to, taker, "MTU of the receiver");
        }
        let mut packet = packet.clone();
        packet.direction = Direction::Forward;
        packet.in_iface = Some(Interface::Name(taker.name.clone()));
        packet.out_iface = None;
        packet.mark = Some(0);
        packet.bridge_ports = (kind(taker) != "bridge").then(BridgePorts::default);
        Some((to, packet))
    }

    /// The ports of a bridge. Which one it is a bridge learns from frames, and no capture shows it.
    fn ports(&mut self, at: usize, bridge: &str) {
        let host = self.hosts[at];
        let mut ports = host
            .links
            .iter()
            .filter(|link| link.master.as_deref() == Some(bridge));
        let Some(smallest) = smallest_port(&host, bridge) else {
            return;
        };
        if ports.any(|port| port.mtu != smallest.mtu) {
            self.open(format!(
                "the ports of {bridge} on {} differ in their MTU, and which one the packet takes is not known: the smallest is taken",
                host.name
            ));
        }
        self.wire(at, smallest, "port of the bridge");
    }

    /// The other host that has an address, and its link.
    fn neighbour(&self, at: usize, address: IpAddr) -> Option<(usize, &'a Link)> {
        let hosts = self.hosts;
        let others = hosts.iter().enumerate().filter(|(index, _)| *index != at);
        others
            .filter_map(|(index, host)| {
                let mut links = host.links.iter();
                Some((index, links.find(|link| link.addresses.contains(&address))?))
            })
            .next()
    }

    /// Puts the packet into the tunnel's packet, which this host then sends.
    fn enter(
        &mut self,
        at: usize,
        link: &Link,
        header: Header,
        packet: &Packet,
        next: IpAddr,
    ) -> Option<(usize, Packet)> {
        let host = self.hosts[at];
        if self.layers.len() > MAX_LAYERS {
            self.open(format!("{} on {} lies on itself", link.name, host.name));
            return None;
        }
        let end = end(&host, link, packet, next);
        let over_v6 = end.or(link.tunnel.local).is_some_and(|end| end.is_ipv6());
        let inner = self.layers.last()?.df;
        self.layers.push(Layer {
            header: Some((header, over_v6)),
            packet: packet.clone(),
            df: match header.df {
                Some(Df::Set) => true,
                Some(Df::Inherit) => inner,
                Some(Df::Unset) | None => false,
            },
            cap: None,
            tunnel: (kind(link).to_owned(), link.tunnel.id),
        });
        let Some(end) = end else {
            self.way_out(at, link);
            return None;
        };
        let unspecified = IpAddr::from([0, 0, 0, 0]);
        let mut outer = Packet::new(
            Direction::Output,
            link.tunnel.local.unwrap_or(unspecified),
            end,
        );
        // WireGuard may mark what it sends, and the mark is not shown.
        outer.mark = (kind(link) != "wireguard").then_some(0);
        if let Some(top) = self.layers.last_mut() {
            top.packet = outer.clone();
        }
        Some((at, outer))
    }

    /// The tunnel's other end is not known: the link that it names, or that of the default route, is its way out.
    fn way_out(&mut self, at: usize, tunnel: &Link) {
        let host = self.hosts[at];
        let mut outside = Packet::new(Direction::Output, [192, 0, 2, 2].into(), OUTSIDE.into());
        outside.mark = Some(0);
        let by_default = || match host.routing.decide(&outside) {
            Route::Via { device, .. } if device != tunnel.name => host.link(&device),
            _ => None,
        };
        let named = tunnel.parent.as_deref().and_then(|name| host.link(name));
        let Some(link) = named.or_else(by_default) else {
            self.open(format!(
                "neither the end of {} on {} nor its way out is known",
                tunnel.name, host.name
            ));
            return;
        };
        let size = Size {
            device: &link.name,
            what: "MTU".to_owned(),
            own: link.mtu,
            takes: link.mtu,
            beyond: self.beyond(link.mtu, Direction::Output),
            origin: &link.origin,
            text: &link.text,
        };
        self.step(at, size);
        self.open(format!(
            "where the packets of {} on {} go was not collected",
            tunnel.name, host.name
        ));
    }
}

/// Where a tunnel's packets go: its only end, the next hop of IP in IP, or the host that the destination is at.
fn end(host: &Host<'_>, link: &Link, packet: &Packet, next: IpAddr) -> Option<IpAddr> {
    let by_route =
        (matches!(kind(link), "ipip" | "sit" | "gre") && next != packet.dst).then_some(next);
    let at = |address: IpAddr| {
        let ends = host
            .ends
            .iter()
            .filter(|(range, _)| range.contains(&address));
        ends.max_by_key(|(range, _)| range.prefix_len())
            .map(|(_, end)| *end)
    };
    link.tunnel
        .remote
        .or(by_route)
        .or_else(|| at(packet.dst))
        .or_else(|| at(next))
}

fn smallest_port<'a>(host: &Host<'a>, master: &str) -> Option<&'a Link> {
    let ports = host
        .links
        .iter()
        .filter(|link| link.master.as_deref() == Some(master));
    ports.min_by_key(|link| link.mtu)
}
