//! What the kernel's counters say against what the evaluation says.

use std::collections::BTreeSet;

use casefile_sim_net::eval::{DecidedBy, Evaluation, Verdict};
use casefile_sim_net::iptables::{Chain, Target, parse_save};
use casefile_sim_net::nft::parse_ruleset;
use casefile_sim_net::packet::Family;
use casefile_sim_net::question::{Captured, Captures};

use crate::lab::{Outcome, Texts};

const SAVED: &str = "iptables-save";
const LEGACY: &str = "iptables-legacy-save";
const NFT: &str = "nft";

/// The captures that a collector would take.
pub(crate) fn captures<'a>(texts: &'a Texts, routes: &'a str) -> Captures<'a> {
    let some = |path: &'static str, text: &'a String| {
        (!text.is_empty()).then_some(Captured { path, text })
    };
    Captures {
        iptables: some(SAVED, &texts.iptables).filter(|_| !texts.six),
        ip6tables: some(SAVED, &texts.iptables).filter(|_| texts.six),
        iptables_legacy: some(LEGACY, &texts.legacy),
        nft: some(NFT, &texts.nft),
        ipsets: some("ipset", &texts.ipset),
        routes: [
            Some(Captured {
                path: "ip-route",
                text: routes,
            }),
            None,
        ],
        ..Captures::default()
    }
}

/// Verdict, deciding rule and walk against the outcome and the counters.
pub(crate) fn compare(
    evaluation: &Evaluation,
    happened: Outcome,
    before: &Texts,
    after: &Texts,
) -> Result<(), String> {
    let expected = match &evaluation.verdict {
        Verdict::Accepted => Outcome::Arrived,
        Verdict::Dropped => Outcome::Nothing,
        Verdict::Rejected => Outcome::Refused,
        Verdict::Undecided { why } => return Err(format!("undecided: {why}")),
    };
    // The router's answer to a refused packet has rules of its own to pass; the deciding rule's
    // counter still shows that it was refused.
    let lost_answer = (expected, happened) == (Outcome::Refused, Outcome::Nothing);
    if expected != happened && !lost_answer {
        return Err(format!("expected {expected:?}, happened {happened:?}"));
    }
    let moved = moved(before, after, expected == Outcome::Refused);
    let walked: BTreeSet<(String, u32)> = evaluation
        .walk
        .iter()
        .filter(|step| !step.why.starts_with("may match"))
        .map(|step| (step.origin.path.to_string(), step.origin.line))
        .collect();
    let met = |place: &&(String, u32)| {
        let mut steps = evaluation.walk.iter();
        steps.any(|step| (&*step.origin.path, step.origin.line) == (place.0.as_str(), place.1))
    };
    let missing: Vec<_> = moved.certain.iter().filter(|place| !met(place)).collect();
    let extra: Vec<_> = walked
        .iter()
        .filter(|step| !moved.all.contains(*step))
        .collect();
    if !missing.is_empty() || !extra.is_empty() {
        return Err(format!(
            "counters moved but not in the walk: {missing:?}; in the walk but not moved: {extra:?}"
        ));
    }
    match &evaluation.decided_by {
        Some(DecidedBy::Rule { origin, .. } | DecidedBy::Policy { origin, .. }) => {
            let decider = (origin.path.to_string(), origin.line);
            if moved.all.contains(&decider) {
                Ok(())
            } else {
                Err(format!("{decider:?} did not move"))
            }
        }
        Some(DecidedBy::NoRules { .. }) => Ok(()),
        // nft's tables hold no chain that the packet passes.
        None if evaluation.verdict == Verdict::Accepted => Ok(()),
        None => Err("nothing decided".into()),
    }
}

#[derive(Default)]
struct Moved {
    /// Every rule and policy whose counter moved, or that has none.
    all: BTreeSet<(String, u32)>,
    /// Those that must be in the walk.
    certain: BTreeSet<(String, u32)>,
}

/// Whose packets a chain counts beside the one that was sent.
#[derive(Clone, Copy)]
struct Whose {
    /// A chain of a table that translates, which is left out of a walk that it does not change.
    nat: bool,
    /// The kernel's own refusals pass it.
    own: bool,
}

/// Every chain of every rule set, with whose packets it counts.
fn chains(texts: &Texts) -> Vec<(Whose, String, Chain)> {
    let mut all = Vec::new();
    let family = if texts.six { Family::V6 } else { Family::V4 };
    for (path, text) in [(SAVED, &texts.iptables), (LEGACY, &texts.legacy)] {
        for (name, table) in parse_save(path, text, family).tables {
            let chains = table.chains.into_iter();
            all.extend(chains.map(|(chain, rules)| {
                // The kernel's own refusals leave by these; they are not the packet's way.
                let own = matches!(chain.as_str(), "OUTPUT" | "POSTROUTING")
                    || chain.ends_with("-output");
                let whose = Whose {
                    nat: name == "nat",
                    own,
                };
                (whose, chain, rules)
            }));
        }
    }
    for table in parse_ruleset(NFT, &texts.nft).tables {
        // iptables-nft's own tables are asked as iptables-save shows them.
        if table.looks_like_iptables() {
            continue;
        }
        for (chain, rules) in table.rules.chains {
            let base = table.bases.iter().find(|base| base.chain == chain);
            let whose = Whose {
                nat: base.is_some_and(|base| base.kind == "nat") || chain.starts_with("nat"),
                own: base.is_some_and(|base| base.hook == "postrouting"),
            };
            all.push((whose, chain, rules));
        }
    }
    all
}

fn moved(before: &Texts, after: &Texts, refused: bool) -> Moved {
    let mut moved = Moved::default();
    for ((whose, _, old), (_, _, new)) in chains(before).into_iter().zip(chains(after)) {
        for (rule, old_rule) in new.rules.iter().zip(&old.rules) {
            let place = (rule.origin.path.to_string(), rule.origin.line);
            let logs = |target: &Target| matches!(target, Target::Log(_));
            // A rate-limited rule may or may not have counted.
            let limited = logs(&rule.target) || rule.effects.iter().any(logs);
            let counted = rule.counters != old_rule.counters;
            if counted || limited || rule.counters.is_none() {
                moved.all.insert(place.clone());
            }
            let others = whose.nat || (whose.own && refused);
            if counted && !others && !limited {
                moved.certain.insert(place);
            }
        }
        if let (Some(policy), Some(old)) = (&new.policy, &old.policy)
            && (policy.counters.is_none() || policy.counters != old.counters)
        {
            let place = (policy.origin.path.to_string(), policy.origin.line);
            moved.all.insert(place);
        }
    }
    moved
}

/// The rules that moved against the walks of a packet and of its answer.
pub(crate) fn moved_places(
    walks: &[Option<&Evaluation>],
    before: &Texts,
    after: &Texts,
) -> Result<(), String> {
    let rejected = |walk: &&Evaluation| walk.verdict == Verdict::Rejected;
    let walks: Vec<&Evaluation> = walks.iter().flatten().copied().collect();
    let moved = moved(before, after, walks.iter().any(rejected));
    let steps = || walks.iter().flat_map(|walk| &walk.walk);
    let met: BTreeSet<(String, u32)> = steps()
        .map(|step| (step.origin.path.to_string(), step.origin.line))
        .collect();
    let missing: Vec<_> = moved.certain.difference(&met).collect();
    let certain = steps().filter(|step| step.origin.line > 0 && !step.why.starts_with("may match"));
    let extra: Vec<_> = certain
        .map(|step| (step.origin.path.to_string(), step.origin.line))
        .filter(|place| !moved.all.contains(place))
        .collect();
    if missing.is_empty() && extra.is_empty() {
        return Ok(());
    }
    Err(format!(
        "counters moved but not in a walk: {missing:?}; in a walk but not moved: {extra:?}"
    ))
}
