//! The walk: hop by hop over captured hosts, into tunnels and out of them.

use super::header::{Header, kind};
use super::{Beyond, Host, Passed, Step, Way};
use crate::iptables::Origin;
use crate::link::Link;
use crate::packet::{Direction, Interface, Packet};
use crate::route::{Route, RouteEntry};

/// Hops that are followed, those of tunnels' packets included.
const MAX_HOPS: usize = 32;
/// Bytes of an IPv4 header, which every fragment has.
const IPV4: u64 = 20;

/// A packet, or a tunnel's packet around another.
pub(super) struct Layer {
    /// Its header, and whether that is one over IPv6; none for the packet itself.
    pub(super) header: Option<(Header, bool)>,
    pub(super) packet: Packet,
    /// It must not be fragmented.
    pub(super) df: bool,
    /// It is in fragments no larger than this.
    pub(super) cap: Option<u64>,
    /// Kind and identifier of the tunnel.
    pub(super) tunnel: (String, Option<u64>),
}

/// A size that is met.
pub(super) struct Size<'a> {
    pub(super) device: &'a str,
    pub(super) what: String,
    pub(super) own: u64,
    /// What passes here, which may be more than the number that stands there.
    pub(super) takes: u64,
    pub(super) beyond: Beyond,
    pub(super) origin: &'a Origin,
    pub(super) text: &'a str,
}

pub(super) struct Walker<'a> {
    pub(super) hosts: &'a [Host<'a>],
    pub(super) layers: Vec<Layer>,
    way: Way,
}

/// Follows a packet that must not be fragmented from a host, as far as the hosts were captured.
pub fn walk(hosts: &[Host<'_>], from: usize, packet: &Packet) -> Way {
    let mut walker = Walker {
        hosts,
        layers: vec![Layer {
            header: None,
            packet: packet.clone(),
            df: true,
            cap: None,
            tunnel: (String::new(), None),
        }],
        way: Way::default(),
    };
    let mut at = Some((from, packet.clone()));
    for _ in 0..MAX_HOPS {
        at = match at {
            Some((host, packet)) if host < hosts.len() => walker.hop(host, packet),
            _ => return walker.way,
        };
    }
    if at.is_some() {
        walker.open("the routes lead in a circle".to_owned());
    }
    walker.way
}

impl<'a> Walker<'a> {
    pub(super) fn open(&mut self, what: String) {
        if !self.way.open.contains(&what) {
            self.way.open.push(what);
        }
    }

    /// True while the packet itself is followed.
    fn bare(&self) -> bool {
        self.layers.len() == 1
    }

    /// One host: where the packet goes from there.
    fn hop(&mut self, at: usize, mut packet: Packet) -> Option<(usize, Packet)> {
        let hosts = self.hosts;
        let host = &hosts[at];
        let name = host.name;
        match host.routing.decide(&packet) {
            Route::Local => self.arrive(at, packet),
            Route::Via {
                device,
                also,
                gateway,
                ..
            } => {
                if !also.is_empty() {
                    self.open(format!(
                        "{name} sends it by {device} or {}: which one a hash decides",
                        also.join(" or ")
                    ));
                }
                packet.out_iface = Some(Interface::Name(device.clone()));
                let Some(link) = host.link(&device) else {
                    self.open(format!("the link {device} of {name} was not collected"));
                    return None;
                };
                let mtu = self.routed(at, link, &packet);
                if self.bare() {
                    self.way.passed.push(Passed {
                        host: at,
                        packet: packet.clone(),
                        mtu: Some(mtu),
                    });
                }
                let next = gateway.unwrap_or(packet.dst);
                self.leave(at, link, &packet, next)
            }
            Route::Refused { what, .. } => {
                self.open(format!("{name} sends it nowhere: {what}"));
                None
            }
            Route::Unknown => {
                self.open(format!("the routes of {name} do not tell where it goes"));
                None
            }
        }
    }

    /// The packet is for this host: it is delivered, or what is inside goes on.
    fn arrive(&mut self, at: usize, mut packet: Packet) -> Option<(usize, Packet)> {
        if self.bare() {
            packet.direction = match packet.direction {
                Direction::Forward => Direction::Input,
                other => other,
            };
            packet.out_iface = None;
            self.way.passed.push(Passed {
                host: at,
                packet,
                mtu: None,
            });
            self.way.reached = Some(at);
            return None;
        }
        let outer = self.layers.pop()?;
        let (wanted, id) = &outer.tunnel;
        let hosts = self.hosts;
        let host = &hosts[at];
        let same = |link: &&Link| {
            kind(link) == wanted.as_str()
                && (id.is_none() || link.tunnel.id.is_none() || link.tunnel.id == *id)
        };
        let Some(end) = host.links.iter().find(same) else {
            self.open(format!(
                "{} has no link that takes the tunnel's packets out",
                host.name
            ));
            return None;
        };
        let mut inner = self.layers.last()?.packet.clone();
        inner.direction = Direction::Forward;
        inner.in_iface = Some(Interface::Name(end.name.clone()));
        inner.out_iface = None;
        Some((at, inner))
    }

    /// The size by which the host routes the packet: that of the route, or else of the device.
    fn routed(&mut self, at: usize, link: &Link, packet: &Packet) -> u64 {
        let hosts = self.hosts;
        let entry = hosts[at].routing.entry(packet);
        let of_route = |entry: &'a RouteEntry| Some((entry.mtu?, entry));
        let (own, what, origin, text) = match entry.and_then(of_route) {
            Some((mtu, entry)) => (
                mtu,
                format!("route to {}", entry.to),
                &entry.origin,
                &entry.text,
            ),
            None => (link.mtu, "MTU".to_owned(), &link.origin, &link.text),
        };
        let beyond = self.beyond(own, packet.direction);
        let size = Size {
            device: &link.name,
            what,
            own,
            takes: own,
            beyond,
            origin,
            text,
        };
        self.step(at, size);
        if beyond == Beyond::Fragmented
            && let Some(top) = self.layers.last_mut()
        {
            let fragment = own.saturating_sub(IPV4) / 8 * 8 + IPV4;
            top.cap = Some(top.cap.map_or(fragment, |cap| cap.min(fragment)));
        }
        own
    }

    /// What becomes of a packet that is larger than a host sends on.
    pub(super) fn beyond(&self, own: u64, direction: Direction) -> Beyond {
        let [.., inner, outer] = self.layers.as_slice() else {
            return match direction {
                Direction::Forward => Beyond::Told { mtu: own },
                _ => Beyond::Sender { mtu: own },
            };
        };
        let Some((header, over_v6)) = outer.header else {
            return Beyond::Lost;
        };
        match (outer.df, direction) {
            (false, _) if !over_v6 => Beyond::Fragmented,
            // The sender of IPv6 may fragment; of the tunnels only WireGuard does.
            (false, Direction::Output) if outer.tunnel.0 == "wireguard" => Beyond::Fragmented,
            // Who hears of a refused outer packet is the tunnel's end; that of IP in IP looks before it sends.
            (_, Direction::Output) if header.tells && inner.df && self.layers.len() == 2 => {
                let mtu = own.saturating_sub(header.bytes(over_v6));
                Beyond::Told { mtu }
            }
            _ => Beyond::Lost,
        }
    }

    /// Adds a size to the way.
    pub(super) fn step(&mut self, host: usize, size: Size<'_>) {
        let headers = self.layers.iter().filter_map(|layer| layer.header);
        let around = headers.map(|(header, v6)| header.bytes(v6)).sum();
        self.way.steps.push(Step {
            host,
            device: size.device.to_owned(),
            what: size.what,
            own: size.own,
            around,
            largest: self.of_sender(size.takes),
            beyond: size.beyond,
            origin: size.origin.clone(),
            text: size.text.to_owned(),
        });
    }

    /// The sender's packet that becomes as large as this here; none where fragments stay below it.
    fn of_sender(&self, here: u64) -> Option<u64> {
        let mut size = here;
        for layer in self.layers.iter().rev() {
            if layer.cap.is_some_and(|cap| cap <= size) {
                return None;
            }
            if let Some((header, over_v6)) = layer.header {
                size = header.inside(size, over_v6)?;
            }
        }
        Some(size)
    }
}
