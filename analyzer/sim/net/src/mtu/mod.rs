//! The largest packet that gets through: the sizes along a packet's way over captured hosts, step by step, with the
//! place of each number; tunnels over tunnels; what becomes of a larger packet, and whether its sender hears of it.
//!
//! Sizes are those of IP packets in bytes, and of packets that must not be fragmented, as TCP's are. The steps are those
//! of the kernel: a route's `mtu` stands in for its device's, in forwarding too (`ip_dst_mtu_maybe_forward`); between
//! links a frame may be longer than the receiver's MTU by a VLAN tag (`is_skb_forwardable`), and what is longer is
//! dropped without a word. Pure: links, routes and rules in, an explained answer out.

mod header;
mod hears;
mod tcp;
#[cfg(test)]
mod tests;
mod walk;
mod wire;

use std::fmt;
use std::net::IpAddr;

pub use header::{Below, Header, below, is_nominal, kind};
pub use hears::{Hears, hears, needed, rules_say};
pub use tcp::{Clamp, Tcp, tcp};
pub use walk::walk;

use ipnet::IpNet;

use super::iptables::Origin;
use super::link::Link;
use super::packet::Packet;
use super::question::Firewall;
use super::route::Routing;

/// A captured host on the way.
#[derive(Debug, Clone, Copy)]
pub struct Host<'a> {
    /// Name, for words.
    pub name: &'a str,
    /// Its links.
    pub links: &'a [Link],
    /// Its routes and policy rules.
    pub routing: &'a Routing,
    /// Its packet filter, where captured.
    pub firewall: Option<&'a Firewall>,
    /// Ranges and the address of the host that they are at: where tunnels without a fixed end lead.
    pub ends: &'a [(IpNet, IpAddr)],
}

impl<'a> Host<'a> {
    /// The link of this name.
    pub fn link(&self, name: &str) -> Option<&'a Link> {
        self.links.iter().find(|link| link.name == name)
    }
}

/// What becomes of a packet that is too large for a step and must not be fragmented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Beyond {
    /// The sending host itself refuses it, and says so to the program.
    Sender {
        /// The size that it names.
        mtu: u64,
    },
    /// The host drops it and answers "fragmentation needed".
    Told {
        /// The size that it names.
        mtu: u64,
    },
    /// The packet around it is sent on in fragments.
    Fragmented,
    /// It is dropped, and the sender is not told.
    Lost,
}

/// A size on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Host, as an index into those that were given.
    pub host: usize,
    /// Device that has the size or whose route has it.
    pub device: String,
    /// Whose size it is, e.g. `route of 10.42.1.0/24`, `other side of the veth`.
    pub what: String,
    /// The size that stands there.
    pub own: u64,
    /// Headers of tunnels around the packet there, in bytes.
    pub around: u64,
    /// The largest packet of the sender that passes; none where any that comes this far does.
    pub largest: Option<u64>,
    /// What becomes of a larger one.
    pub beyond: Beyond,
    /// Where the size stands.
    pub origin: Origin,
    /// The text there.
    pub text: String,
}

/// A host that the packet itself passes (not only a tunnel's packet around it).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passed {
    /// Host, as an index into those that were given.
    pub host: usize,
    /// The packet with its direction and interfaces there.
    pub packet: Packet,
    /// The size by which the host sends it on; none where it is delivered.
    pub mtu: Option<u64>,
}

/// A packet's way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Way {
    /// Sizes in the order of the way.
    pub steps: Vec<Step>,
    /// Hosts in the order of the way.
    pub passed: Vec<Passed>,
    /// The host that takes the packet in, where the way was followed to its end.
    pub reached: Option<usize>,
    /// What the captures do not tell, as sentences.
    pub open: Vec<String>,
}

/// What becomes of a packet of a certain size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It gets as far as the way was followed.
    Passes {
        /// A tunnel's packet around it is fragmented.
        fragmented: bool,
    },
    /// A step stops it; its index.
    Stopped(usize),
}

impl Way {
    /// The largest packet that gets through, in fragments or not; none where no size was found.
    pub fn largest(&self) -> Option<u64> {
        let stops = self
            .steps
            .iter()
            .filter(|step| step.beyond != Beyond::Fragmented);
        stops.filter_map(|step| step.largest).min()
    }

    /// The step that sets the largest size, of several the first.
    pub fn tightest(&self) -> Option<&Step> {
        let sized = self.steps.iter().filter(|step| step.largest.is_some());
        sized.min_by_key(|step| step.largest)
    }

    /// What becomes of a packet of so many bytes.
    pub fn fate(&self, size: u64) -> Fate {
        let too_large = |step: &Step| step.largest.is_some_and(|largest| size > largest);
        let stopped = self
            .steps
            .iter()
            .position(|step| too_large(step) && step.beyond != Beyond::Fragmented);
        match stopped {
            Some(at) => Fate::Stopped(at),
            None => Fate::Passes {
                fragmented: self.steps.iter().any(too_large),
            },
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {}: {} bytes ({})",
            self.what, self.device, self.own, self.origin
        )?;
        if self.around > 0 {
            write!(f, ", {} of them for headers around it", self.around)?;
        }
        match (self.largest, self.beyond) {
            (None, _) => f.write_str(", takes all that comes this far"),
            (Some(size), Beyond::Sender { .. }) => {
                write!(f, ", larger than {size} is refused to the sender at once")
            }
            (Some(size), Beyond::Told { mtu }) => write!(
                f,
                ", larger than {size} is dropped with an answer that names {mtu}"
            ),
            (Some(size), Beyond::Fragmented) => {
                write!(f, ", larger than {size} is sent on in fragments")
            }
            (Some(size), Beyond::Lost) => {
                write!(f, ", larger than {size} is dropped without an answer")
            }
        }
    }
}
