//! What the kernel's counters say against what the evaluation says.

use std::collections::BTreeSet;

use casefile_sim_net::eval::{DecidedBy, Evaluation, Verdict};
use casefile_sim_net::iptables::{Chain, Target, parse_save};
use casefile_sim_net::nft::parse_ruleset;
use casefile_sim_net::packet::{Family, Protocol};
use casefile_sim_net::question::{CapturedText, Captures};

use crate::lab::{Outcome, Texts};

const SAVED: &str = "iptables-save";
const LEGACY: &str = "iptables-legacy-save";
const NFT: &str = "nft";

/// The captures that a collector would take.
pub(crate) fn captures<'a>(texts: &'a Texts, routes: &'a str) -> Captures<'a> {
    let some = |path: &'static str, text: &'a String| {
        (!text.is_empty()).then_some(CapturedText { path, text })
    };
    Captures {
        iptables: some(SAVED, &texts.iptables).filter(|_| !texts.six),
        ip6tables: some(SAVED, &texts.iptables).filter(|_| texts.six),
        iptables_legacy: some(LEGACY, &texts.legacy),
        nft: some(NFT, &texts.nft),
        ipsets: some("ipset", &texts.ipset),
        listening: some("ss-listening", &texts.listening),
        // No program listens in the laboratory.
        queues: Some(CapturedText {
            path: "nfnetlink_queue",
            text: "",
        }),
        routes: [
            Some(CapturedText {
                path: "ip-route",
                text: routes,
            }),
            None,
        ],
        ..Captures::default()
    }
}

/// Verdict, deciding rule and walk against the outcome and the counters.
#[expect(
    clippy::too_many_lines,
    reason = "each way of differing has its own sentence"
)]
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
    let mut moved = moved(
        before,
        after,
        happened == Outcome::Refused || expected == Outcome::Refused,
    );
    // What the host sends to itself is looked for by nobody.
    let to_itself = |packet: &casefile_sim_net::packet::Packet| {
        packet.out_iface == Some(casefile_sim_net::packet::Interface::Name("lo".to_owned()))
    };
    // What the router sends to itself, and what it is answered, passes its own input chains.
    let own = |packet: &casefile_sim_net::packet::Packet| {
        packet.direction == casefile_sim_net::packet::Direction::Output
    };
    let leaves = evaluation.leaves.as_ref();
    let back = expected == Outcome::Refused || leaves.is_some_and(to_itself);
    if leaves.is_some_and(own) && back {
        moved.certain.clear();
    }
    // Nobody listens at a port that a packet was sent to by a rule: the host answers, not a rule.
    let at_home = |packet: &casefile_sim_net::packet::Packet| {
        packet.direction == casefile_sim_net::packet::Direction::Input
    };
    let home = evaluation
        .leaves
        .as_ref()
        .is_some_and(|packet| at_home(packet) || to_itself(packet));
    let by_the_host =
        (expected, happened) == (Outcome::Arrived, Outcome::Refused) && home && !moved.refuses;
    // A ping that a rule sends to the router itself is answered there, where nobody counts what arrives.
    let pings = |packet: &casefile_sim_net::packet::Packet| packet.proto == Some(Protocol::ICMP);
    let answered = (expected, happened) == (Outcome::Arrived, Outcome::Nothing)
        && home
        && evaluation.leaves.as_ref().is_some_and(pings);
    // What a rule sends to a port of the router that nobody serves is refused by the host, whose answer its own rules may drop.
    let unheard = (expected, happened) == (Outcome::Arrived, Outcome::Nothing)
        && home
        && evaluation
            .walk
            .iter()
            .any(|step| step.why.to_lowercase().contains("redirect"));
    // Behind a limit a packet is refused as long as it is not exceeded, and dropped then: both block.
    let refuses = |by: &DecidedBy| matches!(by, DecidedBy::Rule { text, .. } if text.to_lowercase().contains("reject"));
    let behind_a_limit = (expected, happened) == (Outcome::Nothing, Outcome::Refused)
        && evaluation.or_decided_by.iter().any(refuses);
    let copies = |text: &str| text.contains("dup to ") || text.contains("-j TEE ");
    let mut steps = evaluation.walk.iter();
    if (expected, happened) == (Outcome::Nothing, Outcome::Arrived)
        && steps.any(|step| copies(&step.text))
    {
        return Err("a copy arrives".to_owned());
    }
    let looped = expected == Outcome::Arrived && evaluation.leaves.as_ref().is_some_and(to_itself);
    let known = looped || lost_answer || by_the_host || unheard || behind_a_limit || answered;
    if expected != happened && !known {
        return Err(format!("expected {expected:?}, happened {happened:?}"));
    }
    let walked: BTreeSet<(String, u32)> = evaluation
        .walk
        .iter()
        .filter(|step| !step.why.starts_with("may match") && !step.why.ends_with("leads elsewhere"))
        .map(|step| (step.origin.path.to_string(), step.origin.line))
        .collect();
    // Where one of several rules decides, any of them may be the one that did.
    let others: Vec<(String, u32)> = evaluation.or_decided_by.iter().filter_map(place).collect();
    if others.iter().any(|place| moved.all.contains(place)) {
        return Ok(());
    }
    let met = |place: &&(String, u32)| {
        let mut steps = evaluation.walk.iter();
        steps.any(|step| (&*step.origin.path, step.origin.line) == (place.0.as_str(), place.1))
    };
    let missing: Vec<_> = moved.certain.iter().filter(|place| !met(place)).collect();
    let extra: Vec<_> = walked
        .iter()
        .filter(|step| !moved.all.contains(*step))
        .collect();
    // Where another rule set leaves the packet's way open, only that of the one that refuses it is told.
    let alone = |note: &String| note.starts_with("other rules may stop it before");
    // Where a doubtful rule leads is told beside the way, not on it.
    let mut steps = evaluation.walk.iter();
    let open = steps.any(|step| step.why.starts_with("may match"));
    let missing = if open || evaluation.notes.iter().any(alone) {
        Vec::new()
    } else {
        missing
    };
    if !missing.is_empty() || !extra.is_empty() {
        return Err(format!(
            "counters moved but not in the walk: {missing:?}; in the walk but not moved: {extra:?}"
        ));
    }
    match &evaluation.decided_by {
        Some(by @ (DecidedBy::Rule { .. } | DecidedBy::Policy { .. })) => {
            let decider = place(by).unwrap_or_default();
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

/// File and line of what decides.
fn place(by: &DecidedBy) -> Option<(String, u32)> {
    match by {
        DecidedBy::Rule { origin, .. } | DecidedBy::Policy { origin, .. } => {
            Some((origin.path.to_string(), origin.line))
        }
        DecidedBy::NoRules { .. } => None,
    }
}

#[derive(Default)]
struct Moved {
    /// Every rule and policy whose counter moved, or that has none.
    all: BTreeSet<(String, u32)>,
    /// Those that must be in the walk.
    certain: BTreeSet<(String, u32)>,
    /// A rule that refuses is among them.
    refuses: bool,
}

/// Whose packets a chain counts beside the one that was sent.
#[derive(Clone, Copy)]
struct Whose {
    /// A chain of a table that translates, which is left out of a walk that it does not change.
    nat: bool,
    /// The kernel's own refusals pass it.
    own: bool,
    /// Nothing else does: what the router says by itself, solicitations among it.
    output: bool,
}

/// Every chain of every rule set, with whose packets it counts.
fn chains(texts: &Texts) -> Vec<(Whose, String, Chain)> {
    let mut all = Vec::new();
    let family = if texts.six { Family::V6 } else { Family::V4 };
    for (path, text) in [(SAVED, &texts.iptables), (LEGACY, &texts.legacy)] {
        for (name, table) in parse_save(path, text, family).tables {
            // The kernel's own refusals leave by these; they are not the packet's way.
            let leaving = reached(&table.chains, &["OUTPUT", "POSTROUTING"]);
            let through = reached(
                &table.chains,
                &["PREROUTING", "INPUT", "FORWARD", "POSTROUTING"],
            );
            let chains = table.chains.into_iter();
            all.extend(chains.map(|(chain, rules)| {
                let own = leaving.contains(&chain);
                let whose = Whose {
                    nat: name == "nat",
                    own,
                    output: own && !through.contains(&chain),
                };
                (whose, chain, rules)
            }));
        }
    }
    for table in parse_ruleset(NFT, &texts.nft).tables {
        // iptables-nft's own tables are asked as iptables-save shows them.
        if table.looks_like_iptables() && !texts.iptables.is_empty() {
            continue;
        }
        let from = |wanted: &dyn Fn(&casefile_sim_net::nft::Base) -> bool| {
            let bases = table.bases.iter().filter(|base| wanted(base));
            let names: Vec<&str> = bases.map(|base| base.chain.as_str()).collect();
            reached(&table.rules.chains, &names)
        };
        let leaving = from(&|base| matches!(base.hook.as_str(), "output" | "postrouting"));
        let through = from(&|base| base.hook != "output");
        let translating = from(&|base| base.kind == "nat");
        // The rest of a rule has the counter of its beginning.
        let whole = |name: &String| !name.starts_with("{+");
        for (chain, rules) in table
            .rules
            .chains
            .into_iter()
            .filter(|(name, _)| whole(name))
        {
            let whose = Whose {
                nat: translating.contains(&chain),
                own: leaving.contains(&chain),
                output: leaving.contains(&chain) && !through.contains(&chain),
            };
            all.push((whose, chain, rules));
        }
    }
    all
}

/// The chains that a packet comes to from these.
fn reached<'a>(
    chains: impl IntoIterator<Item = (&'a String, &'a Chain)> + Clone,
    from: &[&str],
) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = from.iter().map(|name| (*name).to_owned()).collect();
    loop {
        let before = found.len();
        for (name, chain) in chains.clone() {
            if !found.contains(name) {
                continue;
            }
            let jumps = chain.rules.iter().filter_map(|rule| match &rule.target {
                Target::Jump(to) | Target::Goto(to) | Target::Named(to) => Some(to.clone()),
                _ => None,
            });
            let jumps: Vec<String> = jumps.collect();
            found.extend(jumps);
        }
        if found.len() == before {
            return found;
        }
    }
}

/// A counter of nft before a match counts packets that the rule does not match.
fn counts_early(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let after = words.iter().position(|word| *word == "counter");
    let after = after.filter(|at| words.get(at + 1) == Some(&"packets"));
    let next = after.and_then(|at| words.get(at + 5)).copied();
    let matches = [
        "ip", "ip6", "tcp", "udp", "meta", "ct", "iifname", "oifname", "th", "ether", "synproxy",
        "osf", "fib", "rt", "socket", "icmp", "icmpv6", "sctp", "tproxy", "limit", "quota", "add",
        "update", "set", "reject",
    ];
    next.is_some_and(|next| matches.contains(&next))
}

/// A counter behind a verdict map counts only what the map lets go on.
fn counts_late(text: &str) -> bool {
    let at = |word: &str| text.find(word);
    at(" vmap ")
        .zip(at(" counter packets "))
        .is_some_and(|(map, counter)| map < counter)
}

fn moved(before: &Texts, after: &Texts, refused: bool) -> Moved {
    let mut moved = Moved::default();
    for ((whose, _, old), (_, _, new)) in chains(before).into_iter().zip(chains(after)) {
        for (rule, old_rule) in new.rules.iter().zip(&old.rules) {
            // The packet was asked about with the rules as they stood before it.
            let place = (old_rule.origin.path.to_string(), old_rule.origin.line);
            let logs = |target: &Target| matches!(target, Target::Log(_));
            // A rate-limited rule may or may not have counted.
            let limited = logs(&rule.target) || rule.effects.iter().any(logs);
            let counted = rule.counters != old_rule.counters;
            if counted || limited || rule.counters.is_none() || counts_late(&rule.text) {
                moved.refuses |= counted && matches!(rule.target, Target::Reject(_));
                moved.all.insert(place.clone());
            }
            let others = whose.nat || whose.output || (whose.own && refused);
            if counted && !others && !limited && !counts_early(&rule.text) {
                moved.certain.insert(place);
            }
        }
        if let (Some(policy), Some(old)) = (&new.policy, &old.policy)
            && (policy.counters.is_none() || policy.counters != old.counters)
        {
            let place = (old.origin.path.to_string(), old.origin.line);
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
