//! The conclusion from the ends of all ways: one verdict, what decided it, the
//! walk to it, and where ways differ, what they differ about.

use std::collections::BTreeSet;

use super::explore::Explorer;
use super::is_rest;
use super::stage::Stage;
use super::way::{Does, End, Entry, Fate, Met};
use super::{Course, DecidedBy, Evaluation, MAX_COURSES, MAX_WALK, Step, Verdict};
use crate::iptables::{NatTo, NewSource, Origin, Target};

/// Behind a step that not every way takes, although all end alike.
const ELSEWHERE: &str = ", unless a rule before it that may match leads elsewhere";

/// Stands for the place of what connection tracking does by itself.
const CONNTRACK: &str = "<connection tracking>";

impl Explorer<'_> {
    /// The answer from all ends.
    pub(super) fn conclude(&self) -> Evaluation {
        let Some(base) = self.ends.iter().min_by_key(|end| end.doubts) else {
            return Evaluation::undecided("no way through the rules was found");
        };
        let mut evaluation = Evaluation::undecided("");
        evaluation.decided_by = self.describe(base);
        (evaluation.walk, evaluation.early) = self.walk(base);
        evaluation.assumptions = self.assumptions.iter().cloned().collect();
        evaluation.verdict = self.verdict(base, &mut evaluation.or_decided_by);
        evaluation.leaves = Some((*base.packet).clone());
        evaluation.courses = self.courses();
        let marks = self.ends.iter().map(|end| end.mark);
        evaluation.mark = base
            .mark
            .filter(|_| marks.clone().all(|one| one == base.mark));
        evaluation
    }

    /// The different packets that may leave, for as many as are followed.
    fn courses(&self) -> Vec<Course> {
        let mut courses: Vec<Course> = Vec::new();
        let passed = self.ends.iter().filter(|end| end.fate == Fate::Accepted);
        for end in passed {
            let course = Course {
                packet: (*end.packet).clone(),
                mark: end.mark,
                connmark: end.connmark,
                tracked: !end.untracked,
            };
            if courses.len() < MAX_COURSES && !courses.contains(&course) {
                courses.push(course);
            }
        }
        courses
    }

    fn verdict(&self, base: &End, others: &mut Vec<DecidedBy>) -> Verdict {
        let unknown = self
            .ends
            .iter()
            .filter(|end| matches!(end.fate, Fate::Unknown(_)))
            .min_by_key(|end| end.doubts);
        let differs = self.ends.iter().find(|end| passes(end) != passes(base));
        if let Some(end) = unknown.or(differs) {
            return Verdict::Undecided {
                why: self.difference(base, end),
            };
        }
        let mut all: BTreeSet<DecidedBy> = self
            .ends
            .iter()
            .filter_map(|end| self.describe(end))
            .collect();
        if let Some(decider) = self.describe(base) {
            all.remove(&decider);
        }
        others.extend(all);
        match base.fate {
            Fate::Dropped => Verdict::Dropped,
            Fate::Rejected => Verdict::Rejected,
            _ => Verdict::Accepted,
        }
    }

    /// Why the ends differ: what the doubt is about and what it would change.
    fn difference(&self, base: &End, other: &End) -> String {
        if let (Fate::Unknown(why), None) = (&other.fate, other.doubt) {
            return why.clone();
        }
        let doubt = other.doubt.map(|at| &self.entries[at]);
        let (rule, reason) = match doubt {
            Some(Entry {
                what: Met::Rule(rule, _),
                doubt,
                ..
            }) => (
                format!("`{}` ({})", rule.text, rule.origin),
                doubt.clone().unwrap_or_default(),
            ),
            _ => (String::new(), String::new()),
        };
        let outcome = match &other.fate {
            Fate::Unknown(why) => why.clone(),
            fate => word(fate).to_owned(),
        };
        format!(
            "{} unless {rule} matches, then {outcome}: {reason}",
            word(&base.fate)
        )
    }

    pub(super) fn describe(&self, end: &End) -> Option<DecidedBy> {
        self.decision(end.decider?)
    }

    /// The rule that rewrote the source of the packet that ends so.
    pub(super) fn rewriter(&self, end: &End) -> Option<DecidedBy> {
        self.decision(end.source?)
    }

    /// What that rule makes of the source.
    pub(super) fn new_source(&self, end: &End) -> Option<NewSource> {
        let to = match self.entries[end.source?].what {
            Met::Rule(_, Does::Target(Target::Nat(nat))) => &nat.to,
            Met::Rule(_, Does::Nat(to)) => to,
            _ => return None,
        };
        match to {
            NatTo::Source(source) => Some(*source),
            _ => None,
        }
    }

    fn decision(&self, at: usize) -> Option<DecidedBy> {
        let entry = &self.entries[at];
        let hook = self.hook(entry.stage, entry.hook)?;
        let table = hook.table.to_owned();
        Some(match entry.what {
            Met::Rule(rule, _) => DecidedBy::Rule {
                table,
                chain: entry.chain.to_owned(),
                text: rule.text.clone(),
                origin: rule.origin.clone(),
            },
            Met::Policy => {
                let policy = hook.found.and_then(|(_, chain)| chain.policy.as_ref())?;
                DecidedBy::Policy {
                    table,
                    chain: hook.chain_name.to_owned(),
                    policy: policy.text.clone(),
                    origin: policy.origin.clone(),
                }
            }
            Met::Undone(_) => return None,
            Met::Nothing => DecidedBy::NoRules {
                table,
                path: hook.path.to_owned(),
            },
        })
    }

    /// What was met on the way to an end, in order.
    fn met_by(&self, end: &End) -> Vec<&Entry<'_>> {
        let mut entries = Vec::new();
        let mut at = end.last;
        while let Some(index) = at {
            entries.push(&self.entries[index]);
            at = self.entries[index].before;
        }
        entries.reverse();
        entries
    }

    /// What every way has met, where the ways are few and end alike.
    fn shared(&self) -> Option<BTreeSet<Seen<'_>>> {
        let first = self.ends.first()?;
        let alike =
            |end: &End| passes(end) == passes(first) && !matches!(end.fate, Fate::Unknown(_));
        if !self.ends.iter().all(alike) {
            return None;
        }
        let mut all = None::<BTreeSet<Seen<'_>>>;
        for end in self.ends.iter().filter(|_| self.ends.len() <= MAX_COURSES) {
            let own: BTreeSet<Seen<'_>> = self.met_by(end).into_iter().map(seen).collect();
            all = Some(match all {
                Some(all) => all.intersection(&own).copied().collect(),
                None => own,
            });
        }
        all
    }

    /// The steps to an end, and how many of the first come before the packet is routed.
    fn walk(&self, end: &End) -> (Vec<Step>, usize) {
        let entries = self.met_by(end);
        let shared = self.shared();
        let same = |a: &&Entry<'_>, b: &&Entry<'_>| (a.stage, a.hook) == (b.stage, b.hook);
        let (mut steps, mut early): (Vec<Step>, usize) = (Vec::new(), 0);
        for group in entries.chunk_by(same) {
            // A translation chain that changes nothing is no part of the packet's way.
            let nat = group.first().and_then(|e| self.hook(e.stage, e.hook));
            let ends = end.last.map(|last| &self.entries[last]);
            let stopped =
                end.fate != Fate::Accepted && ends.is_some_and(|last| same(&last, &group[0]));
            let changes = stopped || group.iter().any(|entry| rewrites(entry));
            if nat.is_some_and(|hook| hook.nat) && !changes {
                continue;
            }
            steps.extend(group.iter().filter_map(|entry| {
                let mut step = self.describe_step(entry)?;
                let certain = shared.as_ref().is_none_or(|all| all.contains(&seen(entry)));
                if !certain && entry.doubt.is_none() {
                    step.why.push_str(ELSEWHERE);
                }
                Some(step)
            }));
            let early_stage = |entry: &&Entry<'_>| entry.stage <= Stage::Prerouting;
            if group.iter().any(early_stage) {
                early = steps.len();
            }
        }
        let skipped = steps.len().saturating_sub(MAX_WALK);
        steps.drain(..skipped);
        (steps, early.saturating_sub(skipped))
    }

    fn describe_step(&self, entry: &Entry<'_>) -> Option<Step> {
        let hook = self.hook(entry.stage, entry.hook)?;
        let (origin, text, why, log_prefix) = match entry.what {
            // What stands behind it in the rule tells whether it matches.
            Met::Rule(_, Does::Target(Target::Jump(rest))) if is_rest(rest) => return None,
            Met::Rule(rule, does) => {
                let logs = |target: &Target| match target {
                    Target::Log(prefix) => Some(prefix.clone()),
                    _ => None,
                };
                let mut all = rule.effects.iter().chain([&rule.target]);
                let prefix = all.find_map(logs);
                let why = match &entry.doubt {
                    Some(doubt) => format!("may match: {doubt}"),
                    None => does_what(does),
                };
                (rule.origin.clone(), rule.text.clone(), why, prefix)
            }
            Met::Policy => {
                let policy = hook.found.and_then(|(_, chain)| chain.policy.as_ref())?;
                let why = format!("no rule decided: policy {}", policy.text);
                (
                    policy.origin.clone(),
                    format!("policy {}", policy.text),
                    why,
                    None,
                )
            }
            Met::Undone(what) => {
                let origin = Origin {
                    path: CONNTRACK.into(),
                    line: 0,
                };
                (
                    origin,
                    "the connection's translation".to_owned(),
                    what.words(),
                    None,
                )
            }
            Met::Nothing => return None,
        };
        let (table, chain) = (hook.table.to_owned(), entry.chain.to_owned());
        Some(Step {
            table,
            chain,
            origin,
            text,
            why,
            log_prefix,
        })
    }
}

/// Where something was met: the stage, the hook, the chain, and the line of a rule.
type Seen<'a> = (Stage, usize, &'a str, Option<u32>);

fn seen<'a>(entry: &Entry<'a>) -> Seen<'a> {
    let line = match entry.what {
        Met::Rule(rule, _) => Some(rule.origin.line),
        _ => None,
    };
    (entry.stage, entry.hook, entry.chain, line)
}

fn passes(end: &End) -> bool {
    !matches!(end.fate, Fate::Dropped | Fate::Rejected)
}

fn word(fate: &Fate) -> &'static str {
    match fate {
        Fate::Accepted => "accepted",
        Fate::Dropped => "dropped",
        Fate::Rejected => "rejected",
        Fate::Unknown(_) => "unknown",
    }
}

fn rewrites(entry: &Entry<'_>) -> bool {
    match entry.what {
        Met::Rule(_, Does::Nat(_)) => true,
        Met::Rule(_, Does::Target(Target::Nat(nat))) => !matches!(nat.to, NatTo::Source(_)),
        Met::Undone(_) => true,
        _ => false,
    }
}

fn does_what(does: Does<'_>) -> String {
    match does {
        Does::Target(target) => action(target),
        Does::Nat(NatTo::Destination(Some(address), Some(port))) => {
            format!("matches: destination becomes {address} port {port}")
        }
        Does::Nat(NatTo::Destination(Some(address), None)) => {
            format!("matches: destination becomes {address}")
        }
        Does::Nat(NatTo::Server(to)) => format!("matches: IPVS sends it to {}", to.address),
        Does::Nat(_) => "matches: destination is rewritten".to_owned(),
    }
}

fn action(target: &Target) -> String {
    match target {
        Target::None => "matches, has no target".to_owned(),
        Target::Accept => "matches: accepted".to_owned(),
        Target::Drop => "matches: dropped".to_owned(),
        Target::Reject(with) => format!("matches: rejected with {with}"),
        Target::Return => "matches: returns to the calling chain".to_owned(),
        Target::Log(_) => "matches: logged, continues".to_owned(),
        Target::Jump(name) | Target::Named(name) => format!("matches: jumps to {name}"),
        Target::Goto(name) => format!("matches: continues in {name}"),
        Target::SetMark { value, mask } => format!("matches: mark is set to {value:#x}/{mask:#x}"),
        Target::RestoreMark { .. } => "matches: mark is restored from the connection".to_owned(),
        Target::SetConnMark { .. } | Target::SaveMark { .. } | Target::ChangeConnMark => {
            "matches: connection mark changes".to_owned()
        }
        Target::Untrack => "matches: not tracked".to_owned(),
        Target::Fill(_) => "matches: a set changes".to_owned(),
        Target::LoseMark => "matches: mark is set".to_owned(),
        Target::SetService(_) => "matches: service class is set".to_owned(),
        Target::SetTtl(_) => "matches: time to live is set".to_owned(),
        Target::Nat(nat) => format!("matches: {}", nat.text),
        Target::Map(_) => "matches: a map decides".to_owned(),
        Target::Queue(queue) => format!("matches: goes to {}", queue.words()),
        Target::Proxy(at) => format!("matches: goes to a transparent socket at {at}"),
        Target::Pass(name) => format!("matches: {name}, continues"),
    }
}
