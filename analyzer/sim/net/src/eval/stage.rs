//! Stages of a packet's way, and what is done at them at fixed priorities.

use std::cmp::Ordering;

use crate::packet::{Direction, Packet};

/// A netfilter hook of the IP stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    Ingress,
    Prerouting,
    Input,
    Forward,
    Output,
    Postrouting,
}

impl Stage {
    pub(super) const ALL: [Stage; 6] = [
        Stage::Ingress,
        Stage::Prerouting,
        Stage::Input,
        Stage::Forward,
        Stage::Output,
        Stage::Postrouting,
    ];

    /// Where a packet starts.
    pub(super) fn first(packet: &Packet) -> Stage {
        match packet.direction {
            Direction::Output => Stage::Output,
            _ if !packet.past_prerouting => Stage::Ingress,
            direction => Stage::routed(direction),
        }
    }

    fn routed(direction: Direction) -> Stage {
        match direction {
            Direction::Input => Stage::Input,
            _ => Stage::Forward,
        }
    }

    /// The stage behind this one; `None` behind the last.
    pub(super) fn next(self, direction: Direction) -> Option<Stage> {
        match self {
            Stage::Ingress => Some(Stage::Prerouting),
            Stage::Prerouting => Some(Stage::routed(direction)),
            Stage::Forward | Stage::Output => Some(Stage::Postrouting),
            Stage::Input | Stage::Postrouting => None,
        }
    }

    /// Its name in nft.
    pub(super) fn word(self) -> &'static str {
        match self {
            Stage::Ingress => "ingress",
            Stage::Prerouting => "prerouting",
            Stage::Input => "input",
            Stage::Forward => "forward",
            Stage::Output => "output",
            Stage::Postrouting => "postrouting",
        }
    }

    pub(super) fn sees_in(self) -> bool {
        self != Stage::Output
    }

    pub(super) fn sees_out(self) -> bool {
        !matches!(self, Stage::Ingress | Stage::Prerouting | Stage::Input)
    }
}

/// The priority at which connection tracking looks at a packet.
const TRACKING: i32 = -200;

/// Whether connection tracking has looked at a packet before a chain does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tracking {
    Before,
    /// Both have the same priority, and which was registered first nothing shows.
    Either,
    Behind,
}

impl Tracking {
    pub(super) fn at(stage: Stage, priority: i32) -> Tracking {
        match (stage, priority.cmp(&TRACKING)) {
            (Stage::Input | Stage::Forward | Stage::Postrouting, _) => Tracking::Behind,
            (Stage::Ingress, _) | (_, Ordering::Less) => Tracking::Before,
            (_, Ordering::Equal) => Tracking::Either,
            (_, Ordering::Greater) => Tracking::Behind,
        }
    }
}

/// The priority of iptables' chains that rewrite sources, and at which answers' sources are written back.
pub(super) const SOURCES: i32 = 100;
/// The same for destinations.
pub(super) const DESTINATIONS: i32 = -100;

/// Where chains that translate are asked, whatever their own priority: that only orders them among one another
/// (`nf_nat_register_fn` in `net/netfilter/nf_nat_core.c`).
pub(super) fn translates_at(stage: Stage) -> i32 {
    match stage {
        Stage::Input | Stage::Postrouting => SOURCES,
        _ => DESTINATIONS,
    }
}
