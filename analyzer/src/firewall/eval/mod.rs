//! The evaluation of a packet against one rule set: verdict, deciding rule or
//! policy, and the walk that leads there.

mod conclude;
mod explore;
mod hooks;
#[cfg(test)]
mod tests;

use std::fmt;

use super::iptables::{Origin, RuleSet};
use super::packet::Packet;
use explore::{Explorer, Fate};

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
        /// Captured file that would have shown it.
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

/// Evaluates a packet against the rule set of its family.
pub fn evaluate(set: &RuleSet, packet: &Packet) -> Evaluation {
    let states = packet.possible_states();
    let hooks = hooks::filtering(set, packet);
    let mut explorer = Explorer::new(set, packet, &states, &hooks);
    explorer.run();
    let mut evaluation = explorer.conclude();
    note_problems(set, &mut evaluation);
    if !packet.past_prerouting && states.contains(&super::packet::CtState::New) {
        consider_nat(set, packet, &states, &mut evaluation);
    }
    evaluation
}

fn note_problems(set: &RuleSet, evaluation: &mut Evaluation) {
    if let Some(first) = set.problems.first() {
        let count = set.problems.len();
        evaluation.notes.push(format!(
            "{count} unreadable place(s), the first at {}: {}",
            first.origin, first.message
        ));
    }
}

/// Destination NAT happens before the filter rules see the packet: a packet
/// that the nat table rewrites was not the packet that has been evaluated.
fn consider_nat(
    set: &RuleSet,
    packet: &Packet,
    states: &std::collections::BTreeSet<super::packet::CtState>,
    evaluation: &mut Evaluation,
) {
    let hooks = hooks::destination_nat(set, packet);
    if hooks.is_empty() {
        return;
    }
    let mut explorer = Explorer::new(set, packet, states, &hooks);
    explorer.run();
    let rewrites: Vec<_> = explorer
        .ends()
        .iter()
        .filter(|end| end.fate == Fate::Nat)
        .collect();
    let Some(first) = rewrites.first().and_then(|end| explorer.describe(end)) else {
        return;
    };
    if rewrites.len() == explorer.ends().len() {
        let why = format!("the nat table rewrites the destination first, by {first}");
        evaluation.verdict = Verdict::Undecided { why };
    } else {
        evaluation.assumptions.push(format!(
            "no destination NAT applies, though {first} may match"
        ));
    }
}
