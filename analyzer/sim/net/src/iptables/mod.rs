//! A rule set: the tables, chains and rules of one `iptables-save` or
//! `ip6tables-save` output, or of several `iptables-restore` fragments applied
//! one after the other (as ufw does).

mod document;
mod headers;
mod options;
mod targets;
#[cfg(test)]
mod tests;
mod tuple;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

pub use document::{parse_save, words};
pub(crate) use targets::{destination, new_port, source};
pub(crate) use values::{ICMP_NAMES, ICMPV6_NAMES, port};

use super::condition::Condition;
use super::condition::lookup::{Fill, Lookup};
use super::packet::Family;
use super::queue::Queue;

/// Where a rule or policy stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// Path of the captured file inside the bundle, or a note in angle brackets
    /// for what a program adds by itself.
    pub path: Arc<str>,
    /// Line, counted from 1; 0 where there is no file.
    pub line: u32,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            f.write_str(&self.path)
        } else {
            write!(f, "{}:{}", self.path, self.line)
        }
    }
}

/// Which kernel interface holds a rule set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Backend {
    /// nf_tables through the iptables-nft programs.
    Nft,
    /// The legacy x_tables interface.
    Legacy,
    /// Not stated in the output (iptables before 1.8).
    Unstated,
    /// Assembled from ufw's files, not read from the kernel.
    UfwFiles,
    /// Inferred from the rows of `ufw status`.
    UfwStatus,
}

/// All tables of one family.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleSet {
    /// Address family.
    pub family: Family,
    /// Where the kernel keeps it.
    pub backend: Backend,
    /// Path of the captured file.
    pub path: Arc<str>,
    /// Tables by name (`filter`, `nat`, …).
    pub tables: BTreeMap<String, Table>,
    /// The output warned that the other backend has tables of its own.
    pub warns_of_legacy: bool,
    /// Tables that the output leaves out, because only nft can print them.
    pub incompatible: BTreeSet<String>,
    /// The text ended inside a table: tables that are missing may have been cut off.
    pub cut: bool,
    /// Lines that could not be read, in file order, at most [`MAX_PROBLEMS`].
    pub problems: Vec<Problem>,
}

/// Bound on recorded unreadable lines of one rule set.
pub const MAX_PROBLEMS: usize = 100;

/// A line that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it stands.
    pub origin: Origin,
    /// What is wrong with it.
    pub message: String,
}

/// One table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// Chains by name.
    pub chains: BTreeMap<String, Chain>,
    /// False when the text ended before `COMMIT` or a line of it was unreadable.
    pub complete: bool,
}

/// One chain.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    /// Default policy of a builtin chain.
    pub policy: Option<Policy>,
    /// Rules in order.
    pub rules: Vec<Rule>,
}

/// The default policy of a builtin chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// True for ACCEPT, false for DROP.
    pub accept: bool,
    /// The policy as written.
    pub text: String,
    /// Packets and bytes it decided, where the output says so.
    pub counters: Option<(u64, u64)>,
    /// Where it is set.
    pub origin: Origin,
}

/// One rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Where it stands.
    pub origin: Origin,
    /// The line as written, without counters.
    pub text: String,
    /// Packets and bytes, where the output was taken with `-c`.
    pub counters: Option<(u64, u64)>,
    /// Conditions, all of which must hold.
    pub conditions: Vec<Condition>,
    /// What a rule of nft does before its verdict: logging, marks.
    pub effects: Vec<Target>,
    /// What happens then.
    pub target: Target,
}

/// What a matching rule does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Counts only.
    None,
    /// Ends the hook: the packet passes.
    Accept,
    /// Ends everything: the packet is dropped silently.
    Drop,
    /// Ends everything: the packet is refused with this answer.
    Reject(String),
    /// Back to the calling chain, or to the policy.
    Return,
    /// Writes a kernel log line with this prefix and goes on.
    Log(String),
    /// Calls a chain.
    Jump(String),
    /// Continues in a chain without coming back here.
    Goto(String),
    /// mark = (mark AND NOT mask) XOR value.
    SetMark {
        /// Value that is XORed in.
        value: u32,
        /// Bits that are cleared first.
        mask: u32,
    },
    /// mark = (mark AND NOT nfmask) XOR (connmark AND ctmask).
    RestoreMark {
        /// Packet mark bits that are replaced.
        nfmask: u32,
        /// Connection mark bits that are taken.
        ctmask: u32,
    },
    /// connmark = (connmark AND NOT mask) XOR value.
    SetConnMark {
        /// Value that is XORed in.
        value: u32,
        /// Bits that are cleared first.
        mask: u32,
    },
    /// connmark = (connmark AND NOT ctmask) XOR (mark AND nfmask).
    SaveMark {
        /// Packet mark bits that are taken.
        nfmask: u32,
        /// Connection mark bits that are replaced.
        ctmask: u32,
    },
    /// Changes the connection mark in a way that is not followed.
    ChangeConnMark,
    /// Puts the packet's fields into a set, or takes them out of it.
    Fill(Box<Fill>),
    /// Exempts the packet from connection tracking.
    Untrack,
    /// Sets the mark to something that is not known.
    LoseMark,
    /// Service class = (class AND NOT mask) XOR value; `None` for a value that is not known.
    SetService(Option<(u8, u8)>),
    /// Sets the time to live; `None` for a value that is not known.
    SetTtl(Option<u8>),
    /// Address translation; ends the nat hook.
    Nat(Box<Nat>),
    /// The verdict that a map holds for the packet; goes on where it holds none.
    Map(Box<VerdictMap>),
    /// Hands the packet to a program.
    Queue(Queue),
    /// Hands the packet to a transparent socket that listens at `address:port`, and drops it where none does.
    Proxy(String),
    /// A target that lets the packet continue unchanged in what rules can see.
    Pass(String),
    /// A chain of this name, or else a target whose effect is not known.
    Named(String),
}

/// An address translation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nat {
    /// As written.
    pub text: String,
    /// Where the packet goes then.
    pub to: NatTo,
}

/// Where an address translation sends a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NatTo {
    /// Where it went before: only its source changes, to this.
    Source(NewSource),
    /// To this host itself, at another port where one is given.
    Local(Option<u16>),
    /// To this host itself, at a port of a range.
    LocalAny,
    /// To an address, a port, or both.
    Destination(Option<IpAddr>, Option<u16>),
    /// To what a map holds for the packet; each element's translation in the set's order.
    Map(Box<Lookup>, Vec<NatTo>),
    /// To a real server of IPVS.
    Server(ToServer),
    /// To something that the rule does not show.
    Unknown,
}

/// A real server that IPVS sends a packet to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToServer {
    /// Its address.
    pub address: IpAddr,
    /// Its port; `None` keeps the packet's.
    pub port: Option<u16>,
    /// Forwarding mode as the kernel names it.
    pub mode: &'static str,
    /// The packet's destination is rewritten to the server's.
    pub rewrites: bool,
    /// Every packet is scheduled by itself (`ops`), and answers are not written back.
    pub one_packet: bool,
}

/// The source that a translation gives a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewSource {
    /// Its address.
    pub address: SourceAddress,
    /// Its port.
    pub port: SourcePort,
}

/// The address that a packet's source becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceAddress {
    /// One of the interface that it leaves by (masquerading).
    Own,
    /// This one.
    Is(IpAddr),
    /// One that the rule does not show (a range, a map).
    Unknown,
}

/// The port that a packet's source becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourcePort {
    /// The one that it had, unless another connection has it already.
    Kept,
    /// This one.
    Is(u16),
    /// A random one, or one of a range.
    Any,
}

/// A map from fields of the packet to verdicts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictMap {
    /// The keys.
    pub lookup: Lookup,
    /// The verdicts, in the order of the set's elements.
    pub verdicts: Vec<Target>,
}

impl RuleSet {
    /// An empty rule set that claims nothing about where it is kept.
    pub fn empty(family: Family, backend: Backend, path: &str) -> RuleSet {
        RuleSet {
            family,
            backend,
            path: Arc::from(path),
            tables: BTreeMap::new(),
            warns_of_legacy: false,
            incompatible: BTreeSet::new(),
            cut: false,
            problems: Vec::new(),
        }
    }

    /// Number of rules in all tables.
    pub fn rule_count(&self) -> usize {
        let chains = self.tables.values().flat_map(|table| table.chains.values());
        chains.map(|chain| chain.rules.len()).sum()
    }

    fn problem(&mut self, line: u32, path: &Arc<str>, message: String) {
        if self.problems.len() < MAX_PROBLEMS {
            let origin = Origin {
                path: Arc::clone(path),
                line,
            };
            self.problems.push(Problem { origin, message });
        }
    }
}
