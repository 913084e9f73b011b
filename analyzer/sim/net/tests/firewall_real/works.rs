//! What is checked in which laboratory.

use crate::lab::{Lab, Texts};
use crate::{KNOWN, Score, check, fixed, fixed_nft, iptables, number, ufw};

/// Rule sets of a kind, and how they are checked.
pub(crate) type Work = (&'static str, Box<dyn FnOnce(&mut Lab, &mut Score) + Send>);

/// Works in turn, in a laboratory of their own.
pub(crate) fn in_a_lab(name: &str, six: bool, works: Vec<Work>) -> Vec<(&'static str, Score)> {
    let mut lab = Lab::new(name, six);
    lab.establish(KNOWN.0, KNOWN.1);
    let mut scores: Vec<(&str, Score)> = Vec::new();
    for (kind, work) in works {
        let mut score = Score {
            salt: scores.iter().map(|(_, score)| score.packets).sum(),
            ..Score::default()
        };
        work(&mut lab, &mut score);
        scores.push((kind, score));
    }
    scores
}

/// What ufw makes of commands, and rule sets as programs write them.
pub(crate) fn written() -> [Work; 2] {
    let ufw = |lab: &mut Lab, score: &mut Score| {
        for (name, commands) in fixed::UFW {
            ufw::check(lab, name, commands, score);
        }
    };
    let programs = |lab: &mut Lab, score: &mut Score| {
        for (name, rules) in fixed::FIXED {
            check(lab, name, &iptables(rules), score);
        }
        for (name, rules) in fixed_nft::FIXED {
            let rules = Texts {
                nft: (*rules).to_owned(),
                ..Texts::default()
            };
            check(lab, name, &rules, score);
        }
    };
    [
        ("ufw", Box::new(ufw)),
        ("written by programs", Box::new(programs)),
    ]
}

/// Generated rule sets of these kinds.
pub(crate) fn generated(
    kinds: &'static [(&'static str, u64)],
    rules: fn(&str, u64) -> Texts,
) -> Vec<Work> {
    let (first, count) = (number("FW_SEED", 1), number("FW_RULE_SETS", 60));
    let work = |(kind, share): &'static (&'static str, u64)| -> Work {
        let checked = move |lab: &mut Lab, score: &mut Score| {
            for seed in first..first + count * share / 100 {
                check(
                    lab,
                    &format!("{kind}, seed {seed}"),
                    &rules(kind, seed),
                    score,
                );
            }
        };
        (kind, Box::new(checked))
    };
    kinds.iter().map(work).collect()
}
