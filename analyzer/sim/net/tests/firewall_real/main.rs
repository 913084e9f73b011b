//! The evaluator against the real kernel: real rule sets in a network
//! namespace, real packets through it, and for each packet the verdict, the
//! deciding rule or policy and every rule on the way compared by counters.
//!
//! Needs root, iptables (both kinds), nft, ipset, ufw and python3; says so and
//! passes otherwise. `FW_RULE_SETS` sets the number of generated rule sets (60),
//! `FW_SEED` the first seed.

mod compare;
mod corpus;
mod dice;
mod fixed;
mod fixed_nft;
mod generate;
mod lab;
mod mtu;
mod mtu_lab;
mod nft;
mod odd;
mod record;
mod replies;
mod reply_rules;
mod routes;
mod setup;
mod shot;
mod six;
mod ufw;
mod works;

use std::io::Write;

use casefile_sim_net::packet::{CtState, Packet};
use casefile_sim_net::question::Firewall;
use compare::compare;
use lab::{Lab, Outcome, Texts};
use shot::{Router, Shot};
use works::{generated, in_a_lab, written};

/// UDP ports of a connection that is established before the rules are loaded.
const KNOWN: (u16, u16) = (7001, 7002);

/// Differences that no capture can settle: what the evaluation says, and why it must.
const EXPLAINED: [(&str, &str); 4] = [
    (
        "ct status dnat",
        "whether an old connection was translated when it began stands in the kernel's table alone",
    ),
    (
        "icmp checksum",
        "nft reads a port of an ICMP packet from its checksum, which no capture shows",
    ),
    (
        "destination port is not known",
        "an ICMP packet has no port, and what stands in its place is not captured",
    ),
    (
        "a copy arrives",
        "the packet is dropped as said; what arrives is the copy that `dup` or `TEE` sends on",
    ),
];

#[derive(Default)]
struct Score {
    /// Packets sent before, so that no two share their ports.
    salt: usize,
    rule_sets: usize,
    packets: usize,
    equal: usize,
    undecided: usize,
    differences: Vec<String>,
    /// Differences of [`EXPLAINED`], in its order.
    explained: [usize; EXPLAINED.len()],
    /// Rule sets that the kernel did not take.
    refused: Vec<String>,
    /// Packets for the next rule set, beside the usual ones.
    more: Vec<Shot>,
    /// Takes what the kernel does.
    record: Option<record::Recorder>,
}

impl std::fmt::Display for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (sets, packets, equal) = (self.rule_sets, self.packets, self.equal);
        write!(
            f,
            "{sets} rule sets, {packets} packets, {equal} equal, {} undecided",
            self.undecided
        )
    }
}

#[test]
fn verdicts_and_deciding_rules_equal_those_of_the_kernel() {
    let mut out = std::io::stderr();
    if let Some(why) = lab::missing() {
        let _ = writeln!(out, "skipped: {why}");
        return;
    }
    // Each waits for its packets most of the time, so several are sent at once, each in a laboratory of its own.
    let (few, more) = generate::KINDS.split_at(2);
    let mut first = Vec::from(written());
    first.extend(generated(few, generate::rules));
    let parts = [
        ("a", false, first),
        ("b", false, generated(more, generate::rules)),
        ("c", true, generated(generate::SIX, generate::six)),
    ];
    let scores: Vec<_> = std::thread::scope(|scope| {
        let start = |(name, six, works)| scope.spawn(move || in_a_lab(name, six, works));
        let running = parts.map(start);
        let scores = running.into_iter().map(|one| one.join());
        scores
            .flat_map(|scores| scores.expect("a laboratory works to its end"))
            .collect()
    });
    report(&scores);
}

fn number(name: &str, default: u64) -> u64 {
    let set = std::env::var(name).ok().and_then(|text| text.parse().ok());
    set.unwrap_or(default)
}

fn iptables(text: &str) -> Texts {
    Texts {
        iptables: text.to_owned(),
        ..Texts::default()
    }
}

/// Prints the counts of every kind, and fails with what differs.
fn report(scores: &[(&str, Score)]) {
    let mut out = std::io::stderr();
    let mut all = Score::default();
    for (kind, score) in scores {
        let _ = writeln!(out, "{kind}: {score}");
        all.rule_sets += score.rule_sets;
        all.packets += score.packets;
        all.equal += score.equal;
        all.undecided += score.undecided;
        for (sum, count) in all.explained.iter_mut().zip(score.explained) {
            *sum += count;
        }
    }
    let _ = writeln!(out, "all: {all}");
    for ((says, why), count) in EXPLAINED.iter().zip(all.explained) {
        let _ = writeln!(out, "{count} undecided by `{says}`: {why}");
    }
    let differences: Vec<&str> = scores
        .iter()
        .flat_map(|(_, score)| score.differences.iter().take(3))
        .map(String::as_str)
        .collect();
    let refused: Vec<&String> = scores.iter().flat_map(|(_, s)| &s.refused).collect();
    assert!(
        refused.is_empty(),
        "{} rule sets are refused, the first: {}",
        refused.len(),
        refused[0]
    );
    assert!(
        differences.is_empty(),
        "{} packets differ, the first ones:\n{}",
        all.packets - all.equal,
        differences.join("\n")
    );
}

/// Loads the rules, sends every shot through them and compares.
fn check(lab: &mut Lab, name: &str, rules: &Texts, score: &mut Score) {
    if let Err(why) = lab.load(rules) {
        score.refused.push(format!("{name}: {why}"));
        return;
    }
    check_loaded(lab, name, rules, score);
}

fn check_loaded(lab: &mut Lab, name: &str, rules: &Texts, score: &mut Score) {
    let routes = lab.routes();
    let mut before = lab.save(rules);
    if before.lists_nothing() {
        // Some releases of nft end while they list what they have loaded.
        score
            .refused
            .push(format!("{name}: the program lists nothing of it"));
        return;
    }
    score.rule_sets += 1;
    if let Some(record) = &mut score.record {
        record.rules(name, &before, &routes);
    }
    let more = score.more.drain(..);
    let shots: Vec<Shot> = shots(score.salt + score.packets, rules.six)
        .into_iter()
        .chain(more)
        .collect();
    let whole = (name, rules, routes.as_str());
    for shot in shots {
        let (mut after, mut told) = fire(lab, whole, &shot, &before, score);
        // A packet of the machine's own that passes at the same moment moves counters as well; it does not come twice.
        if told.difference.is_some() && score.record.is_none() {
            (after, told) = fire(lab, whole, &again(&shot), &after, score);
        }
        told.count(score);
        before = after;
    }
}

/// Sends a packet through the rules, and compares: how they stand behind it, and what was found.
fn fire(
    lab: &mut Lab,
    (name, rules, routes): (&str, &Texts, &str),
    shot: &Shot,
    before: &Texts,
    score: &mut Score,
) -> (Texts, Told) {
    let id = lab.fire(shot);
    let seen = lab.seen();
    let after = lab.save(rules);
    let happened = seen
        .iter()
        .find(|(seen, _)| *seen == id)
        .map_or(Outcome::Nothing, |(_, outcome)| *outcome);
    let packet = shot.packet(Some(id));
    if let Some(record) = &mut score.record {
        record.packet(shot, (&packet, id), happened, &after);
    }
    let case = Case {
        name,
        shot,
        packet: &packet,
        routes,
        before,
        after: &after,
    };
    let told = judge(&case, happened);
    (after, told)
}

/// The same packet as the first of another connection.
fn again(shot: &Shot) -> Shot {
    const APART: u16 = 40;
    match shot.state {
        CtState::New if shot.sport > 0 => Shot {
            sport: shot.sport + APART,
            ..shot.clone()
        },
        _ => shot.clone(),
    }
}

/// A packet, with the rules as they stood before it and behind it.
struct Case<'a> {
    name: &'a str,
    shot: &'a Shot,
    packet: &'a Packet,
    routes: &'a str,
    before: &'a Texts,
    after: &'a Texts,
}

/// What came of one packet.
#[derive(Default)]
struct Told {
    /// Which of [`EXPLAINED`] it is.
    explained: Option<usize>,
    /// What is not as it was said.
    difference: Option<String>,
    undecided: bool,
}

impl Told {
    fn count(self, score: &mut Score) {
        score.packets += 1;
        score.undecided += usize::from(self.undecided);
        match (self.explained, self.difference) {
            (Some(at), _) => score.explained[at] += 1,
            (None, Some(difference)) => score.differences.push(difference),
            (None, None) => score.equal += 1,
        }
    }
}

/// Compares what the evaluation says with what happened.
fn judge(case: &Case<'_>, happened: Outcome) -> Told {
    let firewall = Firewall::from_captures(&compare::captures(case.before, case.routes));
    let answer = firewall.evaluate(case.packet);
    let mut told = Told {
        undecided: answer.evaluation.verdict.is_undecided(),
        ..Told::default()
    };
    if let Err(why) = compare(&answer.evaluation, happened, case.before, case.after) {
        told.explained = EXPLAINED.iter().position(|(says, _)| why.contains(says));
        if told.explained.is_none() {
            told.difference = Some(format!(
                "{}: {:?}: {why}\n{:?}\n{:?}",
                case.name, case.shot, answer.evaluation, case.before
            ));
        }
    }
    told
}

/// The packets sent through every rule set; source ports differ from set to
/// set so that each is the first of its connection.
fn shots(salt: usize, six: bool) -> Vec<Shot> {
    let port = 20_000 + u16::try_from(salt % 20_000).unwrap_or(0);
    let shot = |from_pod, proto, sport, dport, flags| Shot {
        six,
        to_router: false,
        router: Router::Plain,
        from_pod,
        proto,
        sport,
        dport,
        flags,
        state: CtState::New,
    };
    vec![
        shot(true, 17, port, 53, 0),
        shot(true, 17, port + 1, 123, 0),
        shot(true, 6, port + 2, 443, 0x02),
        shot(true, 6, port + 3, 8080, 0x02),
        shot(false, 17, port + 4, 8472, 0),
        shot(false, 6, port + 5, 22, 0x02),
        Shot {
            to_router: true,
            ..shot(true, 17, port + 7, 53, 0)
        },
        Shot {
            to_router: true,
            ..shot(true, 17, port + 8, 10_250, 0)
        },
        Shot {
            to_router: true,
            router: Router::Aside,
            ..shot(true, 17, port + 9, 53, 0)
        },
        of_router(shot(true, 17, port + 10, 53, 0)),
        of_router(shot(true, 6, port + 11, 443, 0x02)),
        of_router(shot(false, 17, port + 12, 8472, 0)),
        shot(true, 1, 0, if six { 128 } else { 8 }, 0),
        Shot {
            state: CtState::Established,
            ..shot(true, 17, KNOWN.0, KNOWN.1, 0)
        },
        Shot {
            state: CtState::Established,
            ..shot(false, 17, KNOWN.1, KNOWN.0, 0)
        },
        Shot {
            state: CtState::Invalid,
            ..shot(true, 6, port + 6, 443, 0x03)
        },
    ]
}

/// The same packet, sent by the router.
fn of_router(shot: Shot) -> Shot {
    Shot {
        router: Router::Sends,
        ..shot
    }
}
