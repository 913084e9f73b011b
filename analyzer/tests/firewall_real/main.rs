//! The evaluator against the real kernel: real rule sets in a network
//! namespace, real packets through it, and for each packet the verdict, the
//! deciding rule or policy and every rule on the way compared by counters.
//!
//! Needs root, iptables, nft, ufw and python3; says so and passes otherwise.
//! `FW_RULE_SETS` sets the number of generated rule sets (60), `FW_SEED` the
//! first seed.

mod generate;
mod lab;

use std::collections::BTreeSet;
use std::io::Write;

use casefile_analyzer::firewall::eval::{DecidedBy, Evaluation, Verdict};
use casefile_analyzer::firewall::iptables::{Backend, RuleSet, Target, parse_save};
use casefile_analyzer::firewall::packet::{CtState, Family};
use casefile_analyzer::firewall::question::{Captured, Captures, Firewall};
use casefile_analyzer::firewall::ufw::UfwFiles;
use lab::{Lab, Outcome, Shot};

/// UDP ports of a connection that is established before the rules are loaded.
const KNOWN: (u16, u16) = (7001, 7002);

#[derive(Default)]
struct Score {
    rule_sets: usize,
    packets: usize,
    equal: usize,
    undecided: usize,
    differences: Vec<String>,
}

#[test]
fn verdicts_and_deciding_rules_equal_those_of_the_kernel() {
    let mut out = std::io::stderr();
    if let Some(why) = lab::missing() {
        let _ = writeln!(out, "skipped: {why}");
        return;
    }
    let mut lab = Lab::new();
    lab.establish(KNOWN.0, KNOWN.1);
    let mut score = Score::default();
    for (name, rules) in generate::FIXED {
        assert!(lab.load(rules), "{name}: the kernel refuses the rules");
        check(&mut lab, name, &mut score);
    }
    for (name, commands) in generate::UFW {
        check_ufw(&mut lab, name, commands, &mut score);
    }
    let number = |name: &str, default: u64| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    let first = number("FW_SEED", 1);
    for seed in first..first + number("FW_RULE_SETS", 60) {
        let rules = generate::rule_set(seed);
        assert!(lab.load(&rules), "seed {seed}: the kernel refuses\n{rules}");
        check(&mut lab, &format!("seed {seed}"), &mut score);
    }
    let Score {
        rule_sets,
        packets,
        equal,
        undecided,
        differences,
    } = score;
    let _ = writeln!(
        out,
        "{rule_sets} rule sets, {packets} packets, {equal} equal, {undecided} undecided"
    );
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Sends every shot through the loaded rules and compares.
fn check(lab: &mut Lab, name: &str, score: &mut Score) {
    score.rule_sets += 1;
    let mut before = lab.save();
    for shot in shots(score.packets) {
        let id = lab.fire(&shot);
        let seen = wait_for_quiet(lab);
        let after = lab.save();
        let happened = seen
            .iter()
            .find(|(seen, _)| *seen == id)
            .map_or(Outcome::Nothing, |(_, outcome)| *outcome);
        let captures = Captures {
            iptables: Some(captured("iptables-save", &before)),
            ..Captures::default()
        };
        let answer = Firewall::from_captures(&captures).evaluate(&shot.packet());
        score.packets += 1;
        let (set_before, set_after) = (parsed(&before), parsed(&after));
        match compare(&answer.evaluation, happened, &set_before, &set_after) {
            Ok(()) => score.equal += 1,
            Err(why) => {
                score.differences.push(format!(
                    "{name}: {shot:?}: {why}\n{:?}\n{before}",
                    answer.evaluation
                ));
            }
        }
        score.undecided += usize::from(answer.evaluation.verdict.is_undecided());
        before = after;
    }
}

/// The answer to the first question travels behind the packet; asking twice
/// gives the kernel's softirq time to deliver.
fn wait_for_quiet(lab: &mut Lab) -> Vec<(u16, Outcome)> {
    let mut seen = lab.seen();
    lab::sh("true");
    seen.extend(lab.seen());
    seen
}

fn compare(
    evaluation: &Evaluation,
    happened: Outcome,
    before: &RuleSet,
    after: &RuleSet,
) -> Result<(), String> {
    let expected = match evaluation.verdict {
        Verdict::Accepted => Outcome::Arrived,
        Verdict::Dropped => Outcome::Nothing,
        Verdict::Rejected => Outcome::Refused,
        Verdict::Undecided { .. } => return Err("undecided".into()),
    };
    if expected != happened {
        return Err(format!("expected {expected:?}, happened {happened:?}"));
    }
    let moved = moved(before, after);
    let walked: BTreeSet<(String, u32)> = evaluation
        .walk
        .iter()
        .map(|step| (step.table.clone(), step.origin.line))
        .collect();
    let missing: Vec<_> = moved.certain.difference(&walked).collect();
    let extra: Vec<_> = walked
        .iter()
        .filter(|step| !moved.all.contains(*step))
        .collect();
    if !missing.is_empty() || !extra.is_empty() {
        return Err(format!(
            "counters moved but not in the walk: {missing:?}; in the walk but not moved: {extra:?}"
        ));
    }
    let decider = match &evaluation.decided_by {
        Some(DecidedBy::Rule { table, origin, .. } | DecidedBy::Policy { table, origin, .. }) => {
            (table.clone(), origin.line)
        }
        other => {
            return if other.is_some() {
                Ok(())
            } else {
                Err("nothing decided".into())
            };
        }
    };
    if moved.all.contains(&decider) {
        Ok(())
    } else {
        Err(format!("{decider:?} did not move"))
    }
}

#[derive(Default)]
struct Moved {
    /// Every rule and policy whose counter moved.
    all: BTreeSet<(String, u32)>,
    /// Those that must be in the walk.
    certain: BTreeSet<(String, u32)>,
}

fn moved(before: &RuleSet, after: &RuleSet) -> Moved {
    let mut moved = Moved::default();
    for (table, new) in &after.tables {
        // The kernel's own refusals leave by these; they are not the packet's way.
        let own =
            |name: &str| matches!(name, "OUTPUT" | "POSTROUTING") || name.ends_with("-output");
        for (name, chain) in &new.chains {
            let old = &before.tables[table].chains[name];
            for (rule, old_rule) in chain.rules.iter().zip(&old.rules) {
                if rule.counters != old_rule.counters {
                    moved.all.insert((table.clone(), rule.origin.line));
                    // A rate-limited rule may or may not have counted.
                    if !own(name) && !matches!(rule.target, Target::Log(_)) {
                        moved.certain.insert((table.clone(), rule.origin.line));
                    }
                } else if matches!(rule.target, Target::Log(_)) {
                    moved.all.insert((table.clone(), rule.origin.line));
                }
            }
            if let (Some(policy), Some(old)) = (&chain.policy, &old.policy)
                && policy.counters != old.counters
            {
                moved.all.insert((table.clone(), policy.origin.line));
            }
        }
    }
    moved
}

fn parsed(text: &str) -> RuleSet {
    parse_save("iptables-save", text, Family::V4)
}

fn captured<'a>(path: &'a str, text: &'a str) -> Captured<'a> {
    Captured { path, text }
}

/// The packets sent through every rule set; source ports differ from set to
/// set so that each is the first of its connection.
fn shots(salt: usize) -> Vec<Shot> {
    let port = 20_000 + u16::try_from(salt % 20_000).unwrap_or(0);
    let shot = |from_pod, proto, sport, dport, flags| Shot {
        to_router: false,
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
        shot(true, 1, 0, 8, 0),
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

/// Lets the real ufw load rules, checks them, and checks that the rule set
/// assembled from ufw's files alone answers the same.
fn check_ufw(lab: &mut Lab, name: &str, commands: &str, score: &mut Score) {
    lab.fresh_ufw();
    lab.load("*filter\n:INPUT ACCEPT\n:FORWARD ACCEPT\n:OUTPUT ACCEPT\nCOMMIT\n");
    let (done, output) = lab.router(commands);
    assert!(done, "{name}: {output}");
    check(lab, name, score);
    let saved = lab.save();
    let status = lab.router("ufw status verbose").1;
    let read = |file: &str| std::fs::read_to_string(lab.etc().join(file)).expect("ufw's file");
    let texts = [
        "default-ufw",
        "ufw/ufw.conf",
        "ufw/before.rules",
        "ufw/after.rules",
        "ufw/user.rules",
    ]
    .map(read);
    let files = UfwFiles {
        defaults: Some(captured("etc/default/ufw", &texts[0])),
        conf: Some(captured("etc/ufw/ufw.conf", &texts[1])),
        before: Some(captured("etc/ufw/before.rules", &texts[2])),
        after: Some(captured("etc/ufw/after.rules", &texts[3])),
        user: Some(captured("etc/ufw/user.rules", &texts[4])),
        ..UfwFiles::default()
    };
    let ufw_status = Some(captured("ufw-status", &status));
    let kernel = Captures {
        iptables: Some(captured("iptables-save", &saved)),
        ufw_status,
        ufw_files: files,
        ..Captures::default()
    };
    let kernel = Firewall::from_captures(&kernel);
    let alone = Firewall::from_captures(&Captures {
        ufw_status,
        ufw_files: files,
        ..Captures::default()
    });
    let by_status = Firewall::from_captures(&Captures {
        ufw_status,
        ..Captures::default()
    });
    assert_eq!(alone.rule_sets()[0].backend, Backend::UfwFiles);
    for shot in shots(0) {
        let (a, b) = (
            kernel.evaluate(&shot.packet()),
            alone.evaluate(&shot.packet()),
        );
        assert_eq!(
            a.evaluation.verdict, b.evaluation.verdict,
            "{name}: {shot:?}: kernel rules against files\n{a:?}\n{b:?}"
        );
        let c = by_status.evaluate(&shot.packet());
        assert_eq!(
            a.evaluation.verdict, c.evaluation.verdict,
            "{name}: {shot:?}: kernel rules against status\n{status}"
        );
        if alone.ufw().active() == Some(true) {
            assert_eq!(
                a.ufw, b.ufw,
                "{name}: {shot:?}: ufw's words from kernel rules and from files"
            );
            assert!(
                a.ufw.is_some_and(|words| words.origin.is_some()),
                "{name}: {shot:?}"
            );
        }
    }
}
