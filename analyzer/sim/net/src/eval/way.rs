//! A way: one course that the packet may take, how it ends and what it met.

use std::net::IpAddr;
use std::sync::Arc;

use super::stage::Stage;
use crate::condition::lookup::Filled;
use crate::iptables::{Chain, NatTo, Rule, Target};
use crate::packet::{Direction, Interface, Packet};

/// How a way ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fate {
    Accepted,
    Dropped,
    Rejected,
    Unknown(String),
}

/// The end of one way.
#[derive(Debug, Clone)]
pub(super) struct End {
    pub(super) fate: Fate,
    /// Walk entry that decided.
    pub(super) decider: Option<usize>,
    /// Last walk entry.
    pub(super) last: Option<usize>,
    /// Doubtful rules that were taken as matching: how many, and the first one.
    pub(super) doubts: usize,
    pub(super) doubt: Option<usize>,
    /// Walk entry that rewrote the source.
    pub(super) source: Option<usize>,
    /// The mark it leaves with, where that is known.
    pub(super) mark: Option<u32>,
    /// The mark of its connection, where that is known.
    pub(super) connmark: Option<u32>,
    /// It is exempted from connection tracking.
    pub(super) untracked: bool,
    /// The packet as it leaves.
    pub(super) packet: Arc<Packet>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Frame<'a> {
    pub(super) name: &'a str,
    pub(super) next: usize,
}

#[derive(Clone)]
pub(super) struct Way<'a> {
    pub(super) stage: Stage,
    pub(super) hook: usize,
    /// Chains entered, with their rules; the last is the current one.
    pub(super) frames: Vec<(Frame<'a>, &'a Chain)>,
    pub(super) packet: Arc<Packet>,
    pub(super) mark: Option<u32>,
    /// The mark with which the chains that rewrite sources were asked; they may take it off, as kube-proxy's do.
    pub(super) asked_with: Option<Option<u32>>,
    pub(super) connmark: Option<u32>,
    pub(super) untracked: bool,
    /// IPVS has sent it on, and does not look again.
    pub(super) served: bool,
    /// An address was rewritten at this stage.
    pub(super) natted: bool,
    /// Rules have rewritten the source, or may have; asked where a chain stands behind them.
    pub(super) resourced: Option<bool>,
    /// Sets that rules on the way have changed.
    pub(super) fills: Vec<Filled>,
    /// Walk entry that rewrote the source.
    pub(super) source: Option<usize>,
    /// Whether it was rewritten at all, where that is known.
    pub(super) rewritten: Option<bool>,
    pub(super) decider: Option<usize>,
    pub(super) last: Option<usize>,
    pub(super) doubts: usize,
    pub(super) doubt: Option<usize>,
}

/// What two ways must share to have the same outcomes.
pub(super) type Key<'a> = (
    (Stage, usize, Vec<Frame<'a>>),
    (
        Option<u32>,
        Option<Option<u32>>,
        Option<u32>,
        bool,
        bool,
        Vec<Filled>,
    ),
    (IpAddr, Option<u16>, Option<bool>),
    (Direction, Option<Interface>),
    (Vec<Option<u8>>, Option<u8>),
    Option<usize>,
);

impl<'a> Way<'a> {
    pub(super) fn key(&self) -> Key<'a> {
        let frames = self.frames.iter().map(|(frame, _)| *frame).collect();
        (
            (self.stage, self.hook, frames),
            (
                self.mark,
                self.asked_with,
                self.connmark,
                self.untracked,
                self.natted,
                self.fills.clone(),
            ),
            (self.packet.dst, self.packet.dport, self.rewritten),
            (self.packet.direction, self.packet.out_iface.clone()),
            (class(&self.packet), self.packet.ttl),
            self.decider,
        )
    }
}

/// Chains that hold the rest of a rule, behind what the rule changes, are called so; no other chain has a brace in its name.
const REST: &str = "{+";

/// The name of such a chain.
pub(crate) fn rest_name(line: u32, nth: usize) -> String {
    format!("{REST}{line}:{nth}}}")
}

/// Whether a chain is the rest of a rule.
pub(crate) fn is_rest(name: &str) -> bool {
    name.starts_with(REST)
}

impl<'a> Way<'a> {
    /// The chain that the way is in, as it is written.
    pub(super) fn chain(&self) -> &'a str {
        let mut names = self.frames.iter().rev().map(|(frame, _)| frame.name);
        names.find(|name| !is_rest(name)).unwrap_or("")
    }

    /// Leaves the rest of a rule, as a verdict of the rule leaves the chain that the rule stands in.
    pub(super) fn out_of_rule(&mut self) {
        while self
            .frames
            .last()
            .is_some_and(|(frame, _)| is_rest(frame.name))
        {
            self.frames.pop();
        }
    }
}

/// The bytes that hold the service class.
fn class(packet: &Packet) -> Vec<Option<u8>> {
    packet.headers.network.iter().take(2).copied().collect()
}

/// A walk entry: what was met, and the entry before it.
pub(super) struct Entry<'a> {
    pub(super) before: Option<usize>,
    pub(super) stage: Stage,
    pub(super) hook: usize,
    pub(super) chain: &'a str,
    pub(super) what: Met<'a>,
    /// Why it is not certain that the rule matches.
    pub(super) doubt: Option<String>,
}

#[derive(Clone, Copy)]
pub(super) enum Met<'a> {
    /// A rule, and what it does: its own target, or the one that its map holds.
    Rule(&'a Rule, Does<'a>),
    Policy,
    Nothing,
    /// A translation of the connection is written back in its answer.
    Undone(Undone),
}

/// The address that an answer gets back.
#[derive(Clone, Copy)]
pub(super) enum Undone {
    /// Its destination becomes the source that the connection began with.
    Destination(IpAddr),
    /// Its source becomes the destination that was asked.
    Source(IpAddr),
}

impl Undone {
    pub(super) fn words(self) -> String {
        match self {
            Undone::Destination(address) => format!("an answer: its destination becomes {address}"),
            Undone::Source(address) => format!("an answer: its source becomes {address}"),
        }
    }
}

/// What a met rule does.
#[derive(Clone, Copy)]
pub(super) enum Does<'a> {
    Target(&'a Target),
    Nat(&'a NatTo),
}
