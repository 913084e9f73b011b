//! The kernel's look at where a packet says it comes from: reverse path filtering (`rp_filter`) and martian sources.
//!
//! IPv4 only: for IPv6 the kernel leaves this to rules. It happens where the packet is routed, so behind the
//! PREROUTING chains and before INPUT and FORWARD. The steps are those of `fib_validate_source` in the kernel's
//! `net/ipv4/fib_frontend.c`.

use super::{Look, Route, RouteEntry, RouteKind, Routing};
use crate::iptables::Origin;
use crate::packet::{Direction, Interface, Packet};

/// What decides how an interface's packets are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceCheck {
    /// `rp_filter`: the larger of the values of `all` and of the interface. 0 is off, 1 strict, 2 loose.
    pub filter: u8,
    /// `accept_local`, of `all` or of the interface.
    pub accept_local: bool,
    /// `src_valid_mark`, of `all` or of the interface: the packet's mark counts for the way back.
    pub src_valid_mark: bool,
    /// Whether the interface has an IPv4 address of its own; `None` where that is not known.
    pub has_address: Option<bool>,
}

/// What the kernel thinks of a packet's source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The packet goes on.
    Taken,
    /// The packet is dropped without an answer.
    Refused {
        /// Why, as a sentence fragment.
        why: String,
        /// The route that the answer would take, where there is one.
        origin: Option<Origin>,
    },
    /// The captures do not tell.
    Unknown,
}

impl Routing {
    /// Whether a packet that came in by an interface is taken for one from where it says.
    pub fn source(&self, packet: &Packet, check: SourceCheck) -> Source {
        let Some(input) = &packet.in_iface else {
            return Source::Unknown;
        };
        if packet.direction == Direction::Output || !packet.src.is_ipv4() {
            return Source::Taken;
        }
        if self.lacks(packet.family()) {
            return Source::Unknown;
        }
        let back = match self.answer_to(packet, check) {
            Some(back) => back,
            // What is not routed at all is dropped before anybody asks where it comes from.
            None => return Source::Taken,
        };
        match self.look(&back) {
            Look::Unknown => Source::Unknown,
            Look::Entry(entry) if is_answerable(entry, check) => uses(entry, input, check),
            Look::Entry(entry) if is_own(entry) => Source::Refused {
                why: format!("{} is an address of this host", packet.src),
                origin: Some(entry.origin.clone()),
            },
            found => no_way_back(found, packet, check),
        }
    }

    /// The packet that would answer: it comes in by the interface that this one leaves by, or from this
    /// host itself.
    fn answer_to(&self, packet: &Packet, check: SourceCheck) -> Option<Packet> {
        let mut back = Packet::new(Direction::Output, packet.dst, packet.src);
        match self.decide(packet) {
            Route::Local => {}
            Route::Via { device, also, .. } => {
                back.direction = Direction::Forward;
                back.in_iface = also.is_empty().then_some(Interface::Name(device));
            }
            Route::Unknown => back.direction = Direction::Forward,
            Route::Refused { .. } => return None,
        }
        back.mark = if check.src_valid_mark {
            packet.mark
        } else {
            Some(0)
        };
        Some(back)
    }
}

fn is_own(entry: &RouteEntry) -> bool {
    matches!(entry.kind, RouteKind::Local | RouteKind::Broadcast)
}

fn is_answerable(entry: &RouteEntry, check: SourceCheck) -> bool {
    entry.kind == RouteKind::Unicast || (entry.kind == RouteKind::Local && check.accept_local)
}

/// Nowhere leads back to the source; without a filter nobody asks.
fn no_way_back(found: Look<'_>, packet: &Packet, check: SourceCheck) -> Source {
    if check.filter == 0 {
        return Source::Taken;
    }
    let origin = match found {
        Look::Entry(entry) => Some(entry.origin.clone()),
        _ => None,
    };
    Source::Refused {
        why: format!("no route leads back to {}", packet.src),
        origin,
    }
}

/// Whether the way back leads out by the interface that the packet came in by, and what follows if not.
fn uses(entry: &RouteEntry, input: &Interface, check: SourceCheck) -> Source {
    if check.filter == 0 {
        return Source::Taken;
    }
    let devices: Vec<&str> = entry
        .device
        .iter()
        .chain(&entry.also)
        .map(String::as_str)
        .collect();
    let (same, name) = match input {
        Interface::Name(name) => (devices.contains(&name.as_str()), name),
        // One of the pods' interfaces; which one is not known.
        Interface::Prefix(start) if devices.iter().any(|one| one.starts_with(start.as_str())) => {
            return Source::Unknown;
        }
        Interface::Prefix(start) => (false, start),
    };
    // A loose filter asks for any way back, but of an interface without an address for that by itself.
    let refused = match (same, check.filter, check.has_address) {
        (true, ..) | (false, 2.., Some(true)) => false,
        (false, 1, _) | (false, _, Some(false)) => true,
        (false, _, None) => return Source::Unknown,
        _ => false,
    };
    if !refused {
        return Source::Taken;
    }
    Source::Refused {
        why: format!("it comes in on {name}, and the way back is {}", entry.text),
        origin: Some(entry.origin.clone()),
    }
}
