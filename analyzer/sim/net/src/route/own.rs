//! Which addresses are the node's own, by which interface others are reached, and which one masquerading takes.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::{Look, RouteEntry, RouteKind, Routing};
use crate::iptables::Origin;
use crate::packet::{Family, Packet};

impl Routing {
    /// The device that has the packet's destination as an address of its own, and where that stands.
    pub fn holder(&self, packet: &Packet) -> Option<(&str, &Origin)> {
        match self.look(packet) {
            Look::Entry(entry) if entry.kind == RouteKind::Local => {
                Some((entry.device.as_deref()?, &entry.origin))
            }
            _ => None,
        }
    }

    /// The device that the packet's destination is reached by without another hop.
    pub fn on_link(&self, packet: &Packet) -> Option<&str> {
        match self.look(packet) {
            Look::Entry(entry) if entry.kind == RouteKind::Unicast && entry.gateway.is_none() => {
                entry.device.as_deref().filter(|_| entry.also.is_empty())
            }
            _ => None,
        }
    }

    /// The address that masquerading takes for what leaves by a device to a next hop: the one whose network
    /// holds the next hop, or the only one. `None` where the routes do not show which.
    pub fn masquerade_address(&self, device: &str, next: IpAddr) -> Option<IpAddr> {
        let family = Family::of(next);
        let on = |route: &&RouteEntry| route.device.as_deref() == Some(device);
        let own: BTreeSet<IpAddr> = self
            .routes
            .iter()
            .filter(on)
            .filter(|route| {
                let host = route.to.prefix_len() == route.to.max_prefix_len();
                let link =
                    matches!(route.to.addr(), IpAddr::V6(six) if six.is_unicast_link_local());
                route.kind == RouteKind::Local && host && !link
            })
            .map(|route| route.to.addr())
            .filter(|address| Family::of(*address) == family)
            .collect();
        let networks = self.routes.iter().filter(on).filter(|route| {
            route.kind == RouteKind::Unicast && route.gateway.is_none() && route.to.contains(&next)
        });
        let networks: Vec<&RouteEntry> = networks.collect();
        let near: Vec<&IpAddr> = own
            .iter()
            .filter(|address| networks.iter().any(|route| route.to.contains(*address)))
            .collect();
        match (near.as_slice(), own.len()) {
            ([one], _) => Some(**one),
            (_, 1) => own.first().copied(),
            _ => None,
        }
    }

    /// Addresses of the host itself, without those that only it knows and those of services that IPVS serves.
    pub fn own_addresses(&self, family: Family) -> Vec<IpAddr> {
        let local = self.routes.iter().filter(|route| {
            let device = route.device.as_deref().unwrap_or("");
            let host = route.to.prefix_len() == route.to.max_prefix_len();
            route.kind == RouteKind::Local && host && !matches!(device, "lo" | "kube-ipvs0")
        });
        let all: BTreeSet<IpAddr> = local
            .map(|route| route.to.addr())
            .filter(|address| Family::of(*address) == family && !address.is_loopback())
            .collect();
        all.into_iter().collect()
    }

    /// The first address that the host has on a device.
    pub fn own_address(&self, device: &str, family: Family) -> Option<IpAddr> {
        let mut local = self.routes.iter().filter(|route| {
            route.kind == RouteKind::Local && route.device.as_deref() == Some(device)
        });
        let found = local.find(|route| {
            route.to.prefix_len() == route.to.max_prefix_len()
                && Family::of(route.to.addr()) == family
        });
        found.map(|route| route.to.addr())
    }
}
