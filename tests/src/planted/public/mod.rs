//! A second corpus, written from what secret scanners and vendors publish about forms and files: each shape as the tool
//! writes it, with a fresh secret in it. The same hand wrote this and the redaction, which has learnt from it since, so
//! it says that published shapes are covered, and is no outside check.

mod commands;
mod files;
mod tokens;
mod wrapped;

use super::places::plain;
use super::rng::Rng;
use super::{Case, Document};

/// Its name in the tables, how its secret is made, and the document around it.
type Shape = (&'static str, fn(&mut Rng) -> String, fn(&str) -> Document);

/// Each shape is made so often.
const TIMES: usize = 4;

/// Every shape, with fresh secrets.
pub(super) fn cases(rng: &mut Rng) -> Vec<Case> {
    let all = [
        tokens::SHAPES,
        files::SHAPES,
        commands::SHAPES,
        wrapped::SHAPES,
    ];
    let mut cases = Vec::new();
    for (id, make, plant) in all.into_iter().flatten() {
        for _ in 0..TIMES {
            let secret = make(rng);
            cases.push(Case {
                kind: "as published",
                place: id,
                document: plant(&secret),
                needles: vec![secret],
            });
        }
    }
    cases
}

fn word(r: &mut Rng) -> String {
    r.mixed(18)
}

fn said(s: &str) -> Document {
    plain(format!("2026-11-20T10:15:00Z client refused {s} at once\n"))
}
