//! Lines of a pasted text that were mended by a guess: typing errors in the words of known messages, and wraps that
//! were undone. What rests on them is said, and is never more than likely.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::patterns::Patterns;
use crate::dress::respell;
use crate::facts::failing::MendedLines;
use crate::facts::{AnyFact, Fact};
use crate::model::{Place, Problem};

/// A text, and what was mended in it.
pub(super) struct Typing<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    pub(super) fact: Option<AnyFact>,
    pub(super) problem: Option<Problem>,
}

/// Mends the typing errors of a text that is short and whole; `joined` lines were wrapped before.
pub(super) fn mend<'a>(
    path: &str,
    bytes: Cow<'a, [u8]>,
    joined: &BTreeSet<u32>,
    whole: bool,
    patterns: &Patterns,
) -> Typing<'a> {
    let text = std::str::from_utf8(&bytes).ok();
    let text = text.filter(|_| whole && respell::is_short(&bytes));
    let respelled = text.and_then(|text| respell::respell(text, patterns.words()));
    let (bytes, told) = match respelled {
        Some((mended, told)) => (Cow::Owned(mended.into_bytes()), told),
        None => (bytes, BTreeMap::new()),
    };
    let lines: BTreeSet<u32> = joined.iter().chain(told.keys()).copied().collect();
    let place = |line: Option<&u32>| Place {
        path: path.to_owned(),
        line: line.map(|line| line.saturating_add(1)),
    };
    let problem = (!told.is_empty()).then(|| Problem {
        place: place(told.keys().next()),
        text: format!("a typing error: {}", respell::notes(&told)),
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
    Typing {
        bytes,
        fact,
        problem,
    }
}
