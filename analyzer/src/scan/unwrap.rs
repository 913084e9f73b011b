//! Wraps of a pasted text undone: of the guesses how it may have been before, the one that most speaks for.
//!
//! Two lines that stand below one another hold any two words. So what speaks for a seam is a message of which the text
//! itself goes over it, or a word of messages that it cut; that two halves of a wide expression stand on its two sides
//! does not.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use super::lines::Origin;
use super::patterns::{Found, Patterns};
use super::sink::Sink;
use super::{slips, typing};
use crate::dress::document::Skipped;
use crate::dress::respell;
use crate::dress::rewrap::{self, Guess};
use crate::ledger::tail;
use crate::loose;

/// What was found in a text, and what of it nobody said.
pub(super) struct Heard {
    pub(super) found: Found,
    pub(super) skipped: Skipped,
    pub(super) silent: bool,
}

/// A text without its wraps.
pub(super) struct Unwrapped {
    pub(super) text: Vec<u8>,
    /// Lines, from 0, that go on below.
    pub(super) joined: BTreeSet<u32>,
    pub(super) heard: Heard,
}

impl Heard {
    /// The messages.
    fn patterns(&self) -> BTreeSet<usize> {
        self.found.hits.iter().map(|hit| hit.pattern).collect()
    }
}

/// A text of which a person may have pasted all; none where it is longer, or nobody says anything in it.
fn pasted<'b>(bytes: &'b [u8], whole: bool, heard: &Heard) -> Option<&'b str> {
    let text = std::str::from_utf8(bytes).ok();
    text.filter(|_| whole && respell::is_short(bytes) && !heard.silent)
}

impl Sink<'_> {
    /// A short text as it was before it was wrapped, and what is found in it; none where nothing speaks for a wrap.
    pub(super) fn unwrapped(
        &self,
        origin: &Origin<'_>,
        bytes: &[u8],
        whole: bool,
        plain: &Heard,
    ) -> Option<Unwrapped> {
        let text = pasted(bytes, whole, plain)?;
        let known = |word: &str| self.patterns.spelling().has(word);
        let shown = LazyCell::new(|| typing::shown(origin, bytes, self.patterns));
        let tested = LazyCell::new(|| typing::shown(origin, bytes, self.patterns.tested()));
        let pieces = LazyCell::new(|| loose::pieces(text).len());
        let grade = LazyCell::new(|| tail::gravest(origin, bytes));
        let read = plain.patterns();
        let mut best: Option<(usize, Unwrapped)> = None;
        for guess in rewrap::guesses(text, &known) {
            let mut weight = self.weight(origin, &guess, &shown, &tested);
            let text = guess.text();
            if guess.is_framed {
                weight += loose::pieces(&text).len().saturating_sub(*pieces);
                weight += usize::from(tail::gravest(origin, text.as_bytes()) > *grade);
            }
            if best.as_ref().map_or(0, |best| best.0) >= weight {
                continue;
            }
            let heard = self.heard(origin, text.as_bytes());
            // What stands in the text as it is does not go.
            if heard.patterns().is_superset(&read) {
                let unwrapped = Unwrapped {
                    text: text.into_bytes(),
                    joined: guess.joined,
                    heard,
                };
                best = Some((weight, unwrapped));
            }
        }
        best.map(|(_, unwrapped)| unwrapped)
    }

    /// A short text with the typing errors mended that the rest of their lines tells, and what was read as what.
    pub(super) fn respelled(
        &self,
        origin: &Origin<'_>,
        bytes: &[u8],
        whole: bool,
        heard: &Heard,
    ) -> Option<(Vec<u8>, BTreeMap<u32, String>)> {
        let text = pasted(bytes, whole, heard)?;
        let (text, told) = slips::mend(text, origin, self.patterns)?;
        Some((text.into_bytes(), told))
    }

    /// How much speaks for a guess: messages that go over a seam, or stand in a frame, and words that were cut. That both
    /// sides of a seam hold a part of a message counts where the line before it is unfinished by itself, or as wide as
    /// programs make lines. What the text shows as it stands, by messages and by tests, is asked for only where a guess
    /// shows anything.
    fn weight(
        &self,
        origin: &Origin<'_>,
        guess: &Guess,
        shown: &impl Deref<Target = BTreeSet<usize>>,
        tested: &impl Deref<Target = BTreeSet<usize>>,
    ) -> usize {
        let is_enough = guess.is_framed || guess.is_usual || guess.unfinished > 0;
        let new = |patterns: &Patterns, is_shown: &dyn Fn(&usize) -> bool| -> usize {
            let read = |text: String| -> BTreeSet<(Option<u32>, usize)> {
                let hits = patterns.search(origin, text.as_bytes()).hits;
                let hits = hits.iter().map(|hit| (hit.place.line, hit.pattern));
                hits.filter(|(_, pattern)| !is_shown(pattern)).collect()
            };
            let whole = read(guess.seams(false));
            match is_enough || whole.is_empty() {
                true => whole.len(),
                false => whole.difference(&read(guess.seams(true))).count(),
            }
        };
        new(self.patterns, &|pattern| shown.contains(pattern))
            + new(self.patterns.tested(), &|pattern| tested.contains(pattern))
            + guess.healed
    }
}
