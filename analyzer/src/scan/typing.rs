//! Lines of a pasted text that were mended by a guess: typing errors in the words of known messages, and wraps that
//! were undone. What rests on them is said, and is never more than likely.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::lines::Origin;
use super::patterns::Patterns;
use crate::dress::respell;
use crate::facts::failing::MendedLines;
use crate::facts::{AnyFact, Fact};
use crate::model::{Place, Problem};

/// The typing errors of a text that is short and whole, mended, and what was read as what.
pub(super) fn mend<'a>(
    bytes: Cow<'a, [u8]>,
    whole: bool,
    patterns: &Patterns,
) -> (Cow<'a, [u8]>, BTreeMap<u32, String>) {
    let text = std::str::from_utf8(&bytes).ok();
    let text = text.filter(|_| whole && respell::is_short(&bytes));
    match text.and_then(|text| respell::respell(text, patterns.spelling())) {
        Some((mended, told)) => (Cow::Owned(mended.into_bytes()), told),
        None => (bytes, BTreeMap::new()),
    }
}

/// The messages that a text shows as it stands.
pub(super) fn shown(origin: &Origin<'_>, text: &[u8], patterns: &Patterns) -> BTreeSet<usize> {
    let hits = patterns.search(origin, text).hits;
    hits.iter().map(|hit| hit.pattern).collect()
}

/// Puts notes of lines behind those that are there.
pub(super) fn add(told: &mut BTreeMap<u32, String>, notes: BTreeMap<u32, String>) {
    for (line, note) in notes {
        told.entry(line)
            .and_modify(|before| *before = format!("{before}, {note}"))
            .or_insert(note);
    }
}

/// What is said of mended lines: a fact for what rests on them, and the slack in words. Where one wrap is a guess, so is
/// every line, row and object of the text.
pub(super) fn say(
    path: &str,
    all: u32,
    joined: &BTreeSet<u32>,
    told: &BTreeMap<u32, String>,
) -> (Option<AnyFact>, Vec<Problem>) {
    let place = |line: Option<&u32>| Place {
        path: path.into(),
        line: line.map(|line| line.saturating_add(1)),
    };
    let mut problems = Vec::new();
    if let Some(first) = joined.first() {
        let lines = match joined.len() {
            1 => "1 line is".to_owned(),
            many => format!("{many} lines are"),
        };
        let text = format!(
            "wrapped: {lines} read as before the wrap: what rests on this text is at most likely"
        );
        let place = place(Some(first));
        problems.push(Problem { place, text });
    }
    if let Some(first) = told.keys().next() {
        problems.push(Problem {
            place: place(Some(first)),
            text: format!("a typing error: {}", respell::notes(told)),
        });
    }
    let mut lines: BTreeSet<u32> = told.keys().map(|line| line.saturating_add(1)).collect();
    if !joined.is_empty() {
        lines.extend(1..=all.saturating_add(1));
    }
    let fact = lines.first().copied().map(|first| {
        let place = Place {
            path: path.into(),
            line: Some(first),
        };
        let (text, at) = (String::new(), None);
        let data = MendedLines { lines };
        Fact {
            data,
            place,
            text: text.into(),
            at,
        }
        .into()
    });
    (fact, problems)
}
