//! The evaluation of a packet against one rule set: verdict, deciding rule or
//! policy, and the walk that leads there.

mod begin;
mod conclude;
mod counted;
mod explore;
mod forwarding;
mod gifts;
mod hooks;
mod masquerade;
mod reaches;
mod serve;
mod socket;
mod stage;
mod take;
#[cfg(test)]
mod tests;
mod undo;
mod view;
mod way;

use std::fmt;

use super::iptables::{NatTo, Origin, Problem, RuleSet, Target};
use super::nft::NftTable;
use super::packet::Packet;
use super::queue::Listeners;
use super::route::Routing;
use super::sockets::Listening;
use explore::Explorer;
pub use gifts::Gift;
pub use masquerade::{SourceNat, source_nat};
pub(crate) use way::{is_rest, rest_name};

/// All rules that a packet of one family has to pass.
#[derive(Debug, Clone, Default)]
pub struct Rules<'a> {
    /// Outputs of iptables-save and what was assembled from ufw's files.
    pub saved: Vec<&'a RuleSet>,
    /// Tables of `nft list ruleset` that iptables-save does not show.
    pub nft: Vec<&'a NftTable>,
    /// All tables as nft lists them, with those that iptables-save shows: in the order in which they were made.
    pub listed: Vec<&'a NftTable>,
    /// The virtual services of IPVS, where they were captured.
    pub ipvs: Option<&'a NftTable>,
    /// IPVS keeps what it takes in connection tracking (`net.ipv4.vs.conntrack`).
    pub ipvs_tracks: Option<bool>,
    /// The queues that programs listen at, where they were captured.
    pub queues: Option<&'a Listeners>,
    /// The sockets that listen, where they were captured.
    pub listening: Option<&'a Listening>,
    /// The node's routes, for packets whose destination is rewritten.
    pub routes: Option<&'a Routing>,
}

/// What happens to the packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It passes.
    Accepted,
    /// It is dropped without an answer.
    Dropped,
    /// It is refused with an answer to the sender.
    Rejected,
    /// The captures do not tell.
    Undecided {
        /// What is missing, as a sentence fragment.
        why: String,
    },
}

impl Verdict {
    /// True when the packet certainly does not pass.
    pub fn is_blocked(&self) -> bool {
        matches!(self, Verdict::Dropped | Verdict::Rejected)
    }

    /// True when it is not known whether the packet passes.
    pub fn is_undecided(&self) -> bool {
        matches!(self, Verdict::Undecided { .. })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Accepted => f.write_str("accepted"),
            Verdict::Dropped => f.write_str("dropped"),
            Verdict::Rejected => f.write_str("rejected"),
            Verdict::Undecided { why } => write!(f, "undecided: {why}"),
        }
    }
}

/// What decided.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum DecidedBy {
    /// A rule.
    Rule {
        /// Table, e.g. `filter`.
        table: String,
        /// Chain the rule stands in.
        chain: String,
        /// The rule as written.
        text: String,
        /// File and line.
        origin: Origin,
    },
    /// The default policy of a builtin chain.
    Policy {
        /// Table, e.g. `filter`.
        table: String,
        /// Builtin chain, e.g. `FORWARD`.
        chain: String,
        /// `ACCEPT` or `DROP`.
        policy: String,
        /// File and line that set it.
        origin: Origin,
    },
    /// The captured rules hold no chain for this hook, so nothing stops the packet.
    NoRules {
        /// Table that is not there.
        table: String,
        /// CapturedText file that would have shown it.
        path: String,
    },
}

impl DecidedBy {
    /// File and line, where there is one.
    pub fn origin(&self) -> Option<&Origin> {
        match self {
            DecidedBy::Rule { origin, .. } | DecidedBy::Policy { origin, .. } => Some(origin),
            DecidedBy::NoRules { .. } => None,
        }
    }
}

impl fmt::Display for DecidedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecidedBy::Rule { text, origin, .. } => write!(f, "rule `{text}` ({origin})"),
            DecidedBy::Policy {
                chain,
                policy,
                origin,
                ..
            } => {
                write!(f, "default policy {policy} of chain {chain} ({origin})")
            }
            DecidedBy::NoRules { table, path } => write!(f, "no {table} rules in {path}"),
        }
    }
}

/// One step of a walk: a rule that matched or may match, or a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Table.
    pub table: String,
    /// Chain.
    pub chain: String,
    /// File and line.
    pub origin: Origin,
    /// The rule or policy as written.
    pub text: String,
    /// What happens there, and what is in doubt.
    pub why: String,
    /// The prefix, when the step is a LOG rule.
    pub log_prefix: Option<String>,
}

/// Longest walk that is reported; longer ones lose their middle.
pub const MAX_WALK: usize = 200;

/// Courses that are kept of one evaluation.
pub const MAX_COURSES: usize = 32;

/// A packet as it may leave the host, before its source is rewritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Course {
    /// The packet, with a rewritten destination.
    pub packet: Packet,
    /// Its mark, as chains that rewrite sources see it; `None` where that is not known.
    pub mark: Option<u32>,
    /// The mark of its connection; `None` where that is not known.
    pub connmark: Option<u32>,
    /// False where a rule exempts it from connection tracking.
    pub tracked: bool,
}

/// The answer for one packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluation {
    /// What happens.
    pub verdict: Verdict,
    /// What decides; for an undecided verdict, what would decide if nothing
    /// that is in doubt matched. `None` when no rules were captured.
    pub decided_by: Option<DecidedBy>,
    /// Other deciders with the same verdict, possible if a doubtful rule matches.
    pub or_decided_by: Vec<DecidedBy>,
    /// Rules met on the way to `decided_by`, in order.
    pub walk: Vec<Step>,
    /// How many of the walk's first steps come before the packet is routed.
    pub early: usize,
    /// The packet as it leaves the host, with a rewritten destination; `None` where there is no answer.
    pub leaves: Option<Packet>,
    /// The mark that it leaves with, as chains that rewrite sources see it; `None` where that is not known.
    pub mark: Option<u32>,
    /// The different packets that may leave, at most [`MAX_COURSES`].
    pub courses: Vec<Course>,
    /// What was taken for granted, as sentences.
    pub assumptions: Vec<String>,
    /// What was not evaluated and other remarks, as sentences.
    pub notes: Vec<String>,
}

impl Evaluation {
    /// An answer that says only why there is none.
    pub fn undecided(why: &str) -> Evaluation {
        Evaluation {
            verdict: Verdict::Undecided {
                why: why.to_owned(),
            },
            decided_by: None,
            or_decided_by: Vec::new(),
            walk: Vec::new(),
            early: 0,
            leaves: None,
            mark: None,
            courses: Vec::new(),
            assumptions: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// True when the walk passes a LOG rule with this prefix.
    pub fn passes_log(&self, prefix: &str) -> bool {
        self.walk
            .iter()
            .any(|step| step.log_prefix.as_deref() == Some(prefix.trim()))
    }
}

/// Evaluates a packet against one rule set of its family.
pub fn evaluate(set: &RuleSet, packet: &Packet) -> Evaluation {
    let rules = Rules {
        saved: vec![set],
        ..Rules::default()
    };
    evaluate_all(&rules, packet)
}

/// Evaluates a packet against all rules of its family: every base chain has to
/// let it pass, in the order of the kernel's priorities.
pub fn evaluate_all(rules: &Rules<'_>, packet: &Packet) -> Evaluation {
    let evaluation = explore(rules, packet);
    if evaluation.verdict.is_undecided() {
        // What one rule set leaves open another may still refuse for certain, unless the packet comes to it as another.
        let changing = rules.each().filter(alters).count();
        let alone = rules
            .each()
            .filter(|one| changing == usize::from(alters(one)));
        let alone = alone.map(|one| explore(&one, packet));
        if rules.count() > 1
            && let Some(mut refused) = alone.into_iter().find(|one| one.verdict.is_blocked())
        {
            if let Verdict::Undecided { why } = evaluation.verdict {
                refused
                    .notes
                    .push(format!("other rules may stop it before: {why}"));
            }
            return refused;
        }
    }
    evaluation
}

/// Whether rules change what others see of a packet: its mark, its destination, its tracking.
fn alters(rules: &Rules<'_>) -> bool {
    let saved = rules.saved.iter().flat_map(|set| set.tables.values());
    let tables = saved.chain(rules.nft.iter().map(|table| &table.rules));
    let chains = tables.flat_map(|table| &table.chains);
    let mut targets: Vec<&Target> = Vec::new();
    for (_, chain) in chains {
        let all = chain.rules.iter();
        targets.extend(all.flat_map(|rule| rule.effects.iter().chain([&rule.target])));
    }
    while let Some(target) = targets.pop() {
        match target {
            Target::Map(map) => targets.extend(&map.verdicts),
            Target::Nat(nat) if matches!(nat.to, NatTo::Source(_)) => {}
            Target::None
            | Target::Accept
            | Target::Drop
            | Target::Reject(_)
            | Target::Return
            | Target::Log(_)
            | Target::Jump(_)
            | Target::Goto(_)
            | Target::Queue(_)
            | Target::Proxy(_)
            | Target::Pass(_) => {}
            _ => return true,
        }
    }
    false
}

fn explore(rules: &Rules<'_>, packet: &Packet) -> Evaluation {
    let states = packet.possible_states();
    let mut explorer = Explorer::new(rules, packet, &states);
    explorer.run();
    let mut evaluation = explorer.conclude();
    for set in &rules.saved {
        note_problems(&set.problems, &mut evaluation);
    }
    evaluation
}

impl<'a> Rules<'a> {
    fn count(&self) -> usize {
        self.saved.len() + self.nft.len()
    }

    /// Each rule set as if it were the only one.
    fn each(&self) -> impl Iterator<Item = Rules<'a>> {
        let rest = Rules {
            saved: Vec::new(),
            nft: Vec::new(),
            ..self.clone()
        };
        let other = rest.clone();
        let saved = self.saved.iter().map(move |set| Rules {
            saved: vec![*set],
            ..rest.clone()
        });
        let nft = self.nft.iter().map(move |table| Rules {
            nft: vec![*table],
            ..other.clone()
        });
        saved.chain(nft)
    }
}

pub(super) fn note_problems(problems: &[Problem], evaluation: &mut Evaluation) {
    if let Some(first) = problems.first() {
        let count = problems.len();
        evaluation.notes.push(format!(
            "{count} unreadable place(s), the first at {}: {}",
            first.origin, first.message
        ));
    }
}
