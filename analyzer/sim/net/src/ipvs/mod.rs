//! The virtual services of IPVS, from `/proc/net/ip_vs`, as kube-proxy in that mode fills it.
//!
//! Addresses and ports stand there in hexadecimal: `TCP  0A600001:01BB rr` is 10.96.0.1 port 443. The format is that of
//! `ip_vs_info_seq_show` in the kernel's `net/netfilter/ipvs/ip_vs_ctl.c`.

mod table;
#[cfg(test)]
mod tests;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use super::iptables::Origin;
use super::packet::Protocol;
use super::question::CapturedText;
pub(crate) use table::{IPVS_TITLE, table};

/// Services that are kept of one text.
const MAX_SERVICES: usize = 50_000;
/// Real servers that are kept of one text.
const MAX_SERVERS: usize = 500_000;

/// Where a virtual service is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum At {
    /// At an address and port; port 0 stands for every port.
    Address(Protocol, IpAddr, u16),
    /// By packets with this mark (`FWM`).
    Mark(u32),
}

/// How packets get to a real server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Forwarding {
    /// With a rewritten destination (`Masq`).
    Masq,
    /// As they are, to the server's link address (`Route`).
    Route,
    /// Inside a packet to the server (`Tunnel`).
    Tunnel,
    /// To this host itself (`Local`).
    Local,
}

impl Forwarding {
    /// As the kernel writes it.
    pub fn word(self) -> &'static str {
        match self {
            Forwarding::Masq => "Masq",
            Forwarding::Route => "Route",
            Forwarding::Tunnel => "Tunnel",
            Forwarding::Local => "Local",
        }
    }
}

/// A real server of a virtual service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Its address.
    pub address: IpAddr,
    /// Its port; 0 keeps the packet's.
    pub port: u16,
    /// How packets get there.
    pub forwarding: Forwarding,
    /// Its weight; one of 0 takes no new connections.
    pub weight: u32,
    /// Connections that are established.
    pub active: u64,
    /// Other connections that are remembered.
    pub inactive: u64,
    /// Where it stands.
    pub origin: Origin,
}

/// A virtual service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VirtualService {
    /// Where it is reached.
    pub at: At,
    /// Who chooses the server: `rr`, `wrr`, `lc`, `sh`, ...; `none` while it is being taken away.
    pub scheduler: String,
    /// Words behind the scheduler: `ops`, `persistent 360 FFFFFFFF`.
    pub flags: String,
    /// Its real servers.
    pub servers: Vec<Server>,
    /// Where it stands.
    pub origin: Origin,
    /// Its line.
    pub text: String,
}

/// All virtual services of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VirtualServices {
    /// Path of the captured file.
    pub path: Arc<str>,
    /// Services in file order.
    pub services: Vec<VirtualService>,
    /// Lines that could not be read, counted from 1.
    pub unread: Vec<u32>,
    /// The text is not a whole listing: without its head, cut off in a line, or too long.
    pub cut: bool,
}

impl VirtualService {
    /// Every datagram is scheduled by itself, and answers are not written back.
    pub fn one_packet(&self) -> bool {
        self.flags.split(' ').any(|word| word == "ops")
    }

    /// Servers that take new connections.
    pub fn usable(&self) -> impl Iterator<Item = &Server> {
        self.servers.iter().filter(|server| server.weight > 0)
    }
}

impl VirtualServices {
    /// Reads a listing.
    pub fn parse(captured: CapturedText<'_>) -> VirtualServices {
        let path: Arc<str> = Arc::from(captured.path);
        let mut all = VirtualServices {
            path: Arc::clone(&path),
            services: Vec::new(),
            unread: Vec::new(),
            cut: !captured.text.starts_with("IP Virtual Server version")
                || !captured.text.ends_with('\n'),
        };
        let mut servers = 0;
        for (line, number) in captured.text.lines().zip(1u32..) {
            let origin = Origin {
                path: Arc::clone(&path),
                line: number,
            };
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            match words.as_slice() {
                [] | ["IP", "Virtual", ..] | ["Prot", ..] | ["->", "RemoteAddress:Port", ..] => {}
                ["->", rest @ ..] => {
                    servers += 1;
                    let last = all.services.last_mut();
                    match (server(rest, origin), last) {
                        (Some(server), Some(last)) if servers <= MAX_SERVERS => {
                            last.servers.push(server);
                        }
                        _ => all.miss(number),
                    }
                }
                words => match service(words, origin, line) {
                    Some(service) if all.services.len() < MAX_SERVICES => {
                        all.services.push(service);
                    }
                    _ => all.miss(number),
                },
            }
        }
        all
    }

    /// A line that was not read may be a service or a server that decides.
    fn miss(&mut self, line: u32) {
        self.cut = true;
        if self.unread.len() < super::iptables::MAX_PROBLEMS {
            self.unread.push(line);
        }
    }
}

fn service(words: &[&str], origin: Origin, line: &str) -> Option<VirtualService> {
    let (kind, at, rest) = match words {
        [kind, at, rest @ ..] => (*kind, *at, rest),
        _ => return None,
    };
    let at = if kind == "FWM" {
        At::Mark(u32::from_str_radix(at, 16).ok()?)
    } else {
        let (address, port) = endpoint(at)?;
        At::Address(Protocol::parse(kind)?, address, port)
    };
    let (scheduler, flags) = rest.split_first()?;
    Some(VirtualService {
        at,
        scheduler: (*scheduler).to_owned(),
        flags: flags.join(" "),
        servers: Vec::new(),
        origin,
        text: line.trim().to_owned(),
    })
}

fn server(words: &[&str], origin: Origin) -> Option<Server> {
    let [at, forwarding, weight, active, inactive] = words else {
        return None;
    };
    let (address, port) = endpoint(at)?;
    Some(Server {
        address,
        port,
        forwarding: match *forwarding {
            "Masq" => Forwarding::Masq,
            "Route" => Forwarding::Route,
            "Tunnel" => Forwarding::Tunnel,
            "Local" => Forwarding::Local,
            _ => return None,
        },
        weight: weight.parse().ok()?,
        active: active.parse().ok()?,
        inactive: inactive.parse().ok()?,
        origin,
    })
}

/// `0A600001:01BB`, `[fd00:0000:...:0010]:0035`.
fn endpoint(text: &str) -> Option<(IpAddr, u16)> {
    let (address, port) = text.rsplit_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    if let Some(six) = address.strip_prefix('[') {
        let six: Ipv6Addr = six.strip_suffix(']')?.parse().ok()?;
        return Some((six.into(), port));
    }
    (address.len() == 8).then_some(())?;
    let bits = u32::from_str_radix(address, 16).ok()?;
    Some((Ipv4Addr::from_bits(bits).into(), port))
}
