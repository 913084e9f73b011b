//! What else than its own letters made a difference to what a token is.

use std::ops::Range;

use super::super::alike::{Alike, Others};
use super::super::explained;
use super::tokens::Token;

/// What else made a difference to tokens that were looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Looked {
    /// What stands around one of them, up to there; an empty range where nothing does.
    pub(crate) around: Range<usize>,
    /// Which decimal digits one of them holds, besides those of ids and beside them.
    pub(crate) digits: bool,
    /// What is known of ids.
    pub(crate) ids: bool,
    /// Were it what it is in these.
    pub(crate) others: Others,
}

impl Looked {
    /// Nothing was looked at.
    pub(crate) const NOTHING: Self = Self {
        around: 0..0,
        digits: false,
        ids: false,
        others: Others::All,
    };
    /// The same where nobody asks for digits, which takes the longest to find out.
    pub(crate) const WITHOUT_DIGITS: Self = Self {
        digits: true,
        ..Self::NOTHING
    };

    /// Which digits a token holds, if they were asked for: those that may be others count.
    pub(super) fn ask_digits(&mut self, text: &Alike<'_>, token: &Token, asked: bool) {
        let free = || token.digits > 0 && text.is_free(&token.place, self.others);
        self.digits = self.digits || (asked && free());
    }

    /// So many bytes in front of a token and behind it.
    pub(super) fn look_around(&mut self, token: &Range<usize>, [before, behind]: [usize; 2]) {
        let here = token.start.saturating_sub(before)..token.end.saturating_add(behind);
        self.around = match self.around.is_empty() {
            true => here,
            false => self.around.start.min(here.start)..self.around.end.max(here.end),
        };
    }
}

/// What a name in front of a token is looked for in.
pub(super) const NAMED: [usize; 2] = [explained::REACH, 0];
/// A cursor begins its line.
pub(super) const BEGINS: [usize; 2] = [usize::MAX, 0];

/// What would make a difference to a text in which nothing is found, were its ids others.
pub(crate) struct Tried {
    pub(crate) looked: Looked,
    /// The ids that are noted.
    pub(crate) noted: Vec<Range<usize>>,
}
