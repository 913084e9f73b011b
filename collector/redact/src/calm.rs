//! Lines, and members of JSON, in which nothing is secret, whatever decimal digits and ids stand in them: logs say the same
//! again and again, at other times, of other numbers and of other objects. The last few thousand are kept, and not looked at
//! again.

use std::cell::Cell;
use std::ops::Range;

use super::alike::{self, Alike, Others, Zeros};
use super::explained::digits_may_explain;
use super::known::Known;
use super::scan::{Hit, digits_may_tell};
use super::unexplained::{self, Looked, Tried};

const CELLS: usize = 1 << 14;
/// A longer line is looked at anew.
const LONGEST: usize = 4096;

/// What is kept of a line besides its number.
const KEPT_OF: u64 = 0xff;
/// What is known of it.
const STATE: u64 = 3;
/// Those of its ids that are noted, one bit each behind the state.
const FIRST_ID: u32 = 2;
const LAST_ID: u32 = 7;
/// It stood there once, and nothing in it was secret.
const ONCE: u64 = 1;
/// Nothing in it is secret, whatever its digits and ids are.
const CALM: u64 = 2;
/// With others something may be.
const TOLD: u64 = 3;

// Boxed, for what lies in a thread's own storage is taken from the stack of every thread, also of those that redact nothing.
thread_local! {
    static KEPT: Box<[Cell<u64>]> = vec![Cell::new(0); CELLS].into_boxed_slice();
}

/// How often lines of a stream were known again: of one whose lines hardly ever are, only one in a few is numbered.
#[derive(Debug, Default)]
pub(super) struct Tally {
    lines: Count,
    names: Count,
}

/// How many were numbered, and how many of those were known.
#[derive(Debug, Default)]
struct Count {
    all: u32,
    known: u32,
}

impl Count {
    /// Whether the next one is worth to be numbered, if of at least so many one in `rare` is to be known.
    #[inline]
    fn is_worth(&mut self, [rare, least]: [u32; 2]) -> bool {
        if self.all >= MANY {
            (self.all, self.known) = (self.all / 2, self.known / 2);
        }
        self.all += 1;
        self.all < least || self.known * rare >= self.all || self.all.is_multiple_of(FEW)
    }
}

/// What is shorter is looked at as fast as numbered once more.
const LONG_WITH_NAMES: usize = 128;
/// So many are counted at most, older ones for less.
const MANY: u32 = 2048;
const FEW: u32 = 8;
/// To number a line takes a tenth of the time to look at it, and to number it once more twice as much.
const RARE: [u32; 2] = [10, 128];
const RARE_WITH_NAMES: [u32; 2] = [5, 512];

#[cfg(test)]
thread_local! {
    /// Nothing is known again.
    pub(crate) static ANEW: Cell<bool> = const { Cell::new(false) };
}

/// Whether all is looked at anew, as tests want it.
pub(super) fn anew() -> bool {
    #[cfg(test)]
    return ANEW.get();
    #[cfg(not(test))]
    false
}

/// A line as it is kept, and what was read of it to find it; none of what was not numbered, and of what has no ids.
pub(super) type LookedUp<'a> = (Option<Kept>, Option<Box<Alike<'a>>>);

/// A line or member as it is kept: all that differ from it in their digits and ids only have the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kept {
    number: u64,
    /// Which others have the number.
    others: Others,
}

impl Kept {
    /// A line, and what was read of it to know it again. None of one that is too long, or not worth it.
    #[inline]
    pub(super) fn line<'a>(line: &'a [u8], known: &Known, tally: &mut Tally) -> LookedUp<'a> {
        if line.len() > LONGEST || !tally.lines.is_worth(RARE) {
            return (None, None);
        }
        let (number, alike) = alike::number(line, known);
        let kept = Self::of(number, Others::All);
        let state = kept.state() & STATE;
        tally.lines.known += u32::from(state == CALM);
        match state == TOLD && line.len() >= LONG_WITH_NAMES {
            true => Self::with_names(line, kept, alike, tally),
            false => (Some(kept), alike),
        }
    }

    /// One with the same names, where digits may tell.
    #[inline(never)]
    fn with_names<'a>(
        line: &'a [u8],
        kept: Self,
        alike: Option<Box<Alike<'a>>>,
        tally: &mut Tally,
    ) -> LookedUp<'a> {
        if !tally.names.is_worth(RARE_WITH_NAMES) {
            return (Some(kept), alike);
        }
        let alike = alike.unwrap_or_else(|| Box::new(Alike::of(line)));
        let number = alike.number_with_names(kept.number);
        let kept = Self::of(number, Others::SameNames);
        let known = u32::from(kept.is_calm());
        tally.names.known += known;
        tally.lines.known += known;
        (Some(kept), Some(alike))
    }

    /// A member of a line, in which nothing is secret wherever it stands.
    #[inline]
    pub(super) fn member(
        line: &Alike<'_>,
        place: &Range<usize>,
        ids: &[Range<usize>],
    ) -> Option<Self> {
        let number = line.number_of_part(place, ids)?;
        Some(Self::of(!number, Others::All))
    }

    fn of(number: u64, others: Others) -> Self {
        let number = number & !KEPT_OF;
        Self { number, others }
    }

    /// Whether nothing is secret in a member.
    pub(super) fn is_calm(self) -> bool {
        self.state() & STATE == CALM
    }

    /// Whether nothing is secret in a line with these ids. Those that their place explains are known from now on.
    #[inline]
    pub(super) fn passes(self, line: Option<&Alike<'_>>, known: &Known) -> bool {
        let state = self.state();
        if state & STATE == CALM && state >> FIRST_ID > 0 {
            note(state, line, known);
        }
        state & STATE == CALM
    }

    #[inline]
    fn state(self) -> u64 {
        let kept = KEPT.with(|kept| kept[self.cell()].get());
        if kept & !KEPT_OF == self.number && !anew() {
            kept & KEPT_OF
        } else {
            0
        }
    }

    /// Whether it stood there once, and it is to be found out what others like it are.
    pub(super) fn is_new(self) -> bool {
        self.state() == ONCE
    }

    /// A line that stood there once, tried as if no id was known: that tells what others like it are.
    pub(super) fn tried(self, line: &Alike<'_>, known: &Known) -> Option<Tried> {
        let tried = || unexplained::tried(line, self.others, known);
        self.is_new().then(tried).flatten()
    }

    /// Says that nothing in such a line was secret, though words that are searched for stand in it. Only what stood there
    /// before is worth to find out what it would be with other digits; then it was tried as if no id was known.
    pub(super) fn passed(self, line: &Alike<'_>, found: &[Hit], tried: Option<&Tried>) {
        self.pass(|| noted_of_others(line, found, tried?));
    }

    /// Says that nothing was found in such a member.
    pub(super) fn member_passed(self, line: &Alike<'_>, place: &Range<usize>, looked: &Looked) {
        let told = || {
            !looked.around.is_empty()
                || looked.ids
                || others_may_tell(line, &line.zeros(place), &[], looked)
        };
        self.pass(|| (!told()).then_some(0));
    }

    /// Keeps what is known now; `noted` says which ids are noted of what is calm.
    fn pass(self, noted: impl FnOnce() -> Option<u64>) {
        let state = match self.state() {
            0 => ONCE,
            ONCE => noted().map_or(TOLD, |noted| CALM | noted),
            known => known,
        };
        KEPT.with(|kept| kept[self.cell()].set(self.number | state));
    }

    fn cell(self) -> usize {
        usize::try_from(self.number >> 40).unwrap_or(0) % CELLS
    }
}

/// Notes the ids of a line that its state says are to be.
#[cold]
fn note(state: u64, line: Option<&Alike<'_>>, known: &Known) {
    let line = line.into_iter();
    let ids = line.flat_map(|line| line.all_ids().iter().map(|id| &line.text[id.clone()]));
    let noted = (FIRST_ID..)
        .zip(ids)
        .filter(|(bit, _)| state >> bit & 1 > 0);
    noted.for_each(|(_, id)| known.note(id));
}

/// The ids that are noted of a line and of all others like it, as bits; none where something may be secret in one of them.
fn noted_of_others(line: &Alike<'_>, found: &[Hit], tried: &Tried) -> Option<u64> {
    let zeros = line.zeros(&(0..line.text.len()));
    let looked = &tried.looked;
    if others_may_tell(line, &zeros, found, looked)
        || (!looked.around.is_empty()
            && digits_may_explain(line, &looked.around, &zeros, looked.others))
    {
        return None;
    }
    tried.noted.iter().try_fold(0, |noted, place| {
        let ids = (FIRST_ID..=LAST_ID).zip(line.all_ids());
        let (bit, _) = { ids }.find(|(_, id)| *id == place)?;
        Some(noted | 1 << bit)
    })
}

/// Whether something may be secret where nothing is, were digits and ids others; besides what explains words by their place.
fn others_may_tell(line: &Alike<'_>, zeros: &Zeros, found: &[Hit], looked: &Looked) -> bool {
    let may = || looked.digits || digits_may_tell(line, zeros, found, looked.others);
    zeros.text.contains(&b'0') && may()
}
