//! Lines of a pasted text that were mended by a guess: typing errors in the words of known messages, and wraps that
//! were undone. What rests on them is said, and is never more than likely.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::lines::Origin;
use super::patterns::{Found, Patterns};
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

/// Of lines that were put together from wrapped ones those of which a message is found only so, and not in what was
/// `shown` before.
pub(super) fn needed(
    joined: BTreeSet<u32>,
    shown: &BTreeSet<usize>,
    found: &Found,
) -> BTreeSet<u32> {
    let only_so = |line: &u32| {
        let mut hits = found.hits.iter();
        hits.any(|hit| hit.place.line == Some(line + 1) && !shown.contains(&hit.pattern))
    };
    joined.into_iter().filter(only_so).collect()
}

/// What is said of mended lines: a fact for what rests on them, and the slack in words.
pub(super) fn say(
    path: &str,
    joined: &BTreeSet<u32>,
    told: &BTreeMap<u32, String>,
) -> (Option<AnyFact>, Option<Problem>) {
    let lines: BTreeSet<u32> = joined.iter().chain(told.keys()).copied().collect();
    let place = |line: Option<&u32>| Place {
        path: path.to_owned(),
        line: line.map(|line| line.saturating_add(1)),
    };
    let problem = (!told.is_empty()).then(|| Problem {
        place: place(told.keys().next()),
        text: format!("a typing error: {}", respell::notes(told)),
    });
    let fact = (!lines.is_empty()).then(|| {
        Fact {
            data: MendedLines {
                lines: lines.iter().map(|line| line.saturating_add(1)).collect(),
            },
            place: place(lines.first()),
            text: String::new(),
            at: None,
        }
        .into()
    });
    (fact, problem)
}
