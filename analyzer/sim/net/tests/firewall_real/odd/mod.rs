//! Odd rule sets: what few people write, beside one another in any order. Changes stand before conditions, chains that
//! translate have priorities of their own, sets are filled on the way, connections are exempted late.
//!
//! `FW_ODD_SETS` sets the number of generated rule sets of each kind, `FW_SEED` the first seed; `FW_CORPUS_REPORT` and
//! `FW_CORPUS_RECORD` are those of a corpus. What the simulator leaves undecided is counted, what it says otherwise than
//! the kernel fails.

mod iptables;
mod nft;

use std::io::Write;

use super::lab::{Lab, Texts, missing};
use super::{KNOWN, Score, check, corpus, number, record};

/// Kinds of sets.
#[derive(Clone, Copy)]
enum Kind {
    Nft,
    Iptables,
    Both,
}

#[test]
fn odd_combinations_do_what_the_kernel_does_or_are_left_undecided() {
    let mut out = std::io::stderr();
    if let Some(why) = missing() {
        let _ = writeln!(out, "skipped: {why}");
        return;
    }
    let mut lab = Lab::new("odd", false);
    lab.establish(KNOWN.0, KNOWN.1);
    let mut score = Score {
        record: record::Recorder::named(),
        ..Score::default()
    };
    let (first, count) = (number("FW_SEED", 1), number("FW_ODD_SETS", 12));
    for (kind, name) in [
        (Kind::Nft, "odd nft"),
        (Kind::Iptables, "odd iptables"),
        (Kind::Both, "odd, both"),
    ] {
        for seed in first..first + count {
            let _ = lab.router(corpus::EMPTY);
            check(
                &mut lab,
                &format!("{name}, seed {seed}"),
                &texts(kind, seed),
                &mut score,
            );
        }
    }
    corpus::tell(&mut out, &score);
    let wrong = score
        .differences
        .iter()
        .filter(|one| corpus::class(one) != "undecided");
    let count = wrong.count();
    assert_eq!(count, 0, "{count} packets differ");
}

fn texts(kind: Kind, seed: u64) -> Texts {
    let mut texts = Texts::default();
    if matches!(kind, Kind::Nft | Kind::Both) {
        texts.nft = nft::table(seed + 500_000);
    }
    if matches!(kind, Kind::Iptables | Kind::Both) {
        texts.ipset = iptables::IPSETS.to_owned();
        texts.iptables = iptables::tables(seed + 600_000);
    }
    texts
}
