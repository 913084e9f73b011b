//! Lines in which nothing is secret, whatever decimal digits stand in them: logs say the same again and again, at other
//! times and of other numbers. The last few thousand are kept, and not looked at again.

use std::cell::Cell;

use super::number::{self, without_digits};
use super::scan::digits_may_tell;
use super::unexplained::Looked;

const CELLS: usize = 1 << 13;
/// A longer line is looked at anew.
const LONGEST: usize = 4096;

/// What is kept of a line besides its number.
const STATE: u64 = 3;
/// It stood there once, and nothing in it was secret.
const ONCE: u64 = 1;
/// Nothing in it is secret, whatever its digits are.
const CALM: u64 = 2;
/// With other digits something may be.
const TOLD: u64 = 3;

// Boxed, for what lies in a thread's own storage is taken from the stack of every thread, also of those that redact nothing.
thread_local! {
    static LINES: Box<[Cell<u64>]> = vec![Cell::new(0); CELLS].into_boxed_slice();
}

/// A line as it is kept: all that differ from it in their digits only have the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line(u64);

impl Line {
    /// None of a line that is too long.
    pub(super) fn of(line: &[u8]) -> Option<Self> {
        let number = || number::of_long(line, without_digits) & !STATE;
        (line.len() <= LONGEST).then(|| Self(number()))
    }

    /// Whether nothing in it is secret.
    pub(super) fn is_calm(self) -> bool {
        self.state() == CALM
    }

    fn state(self) -> u64 {
        let kept = LINES.with(|lines| lines[self.cell()].get());
        if kept & !STATE == self.0 {
            kept & STATE
        } else {
            0
        }
    }

    /// Says that nothing in such a line was secret, and what made a difference to that. Only a line that stood there before
    /// is worth to find out what it would be with other digits.
    pub(super) fn passed(self, line: &[u8], looked: Looked) {
        let state = match self.state() {
            _ if looked.around || looked.digits => TOLD,
            0 => ONCE,
            ONCE if digits_may_tell(line) => TOLD,
            ONCE => CALM,
            known => known,
        };
        LINES.with(|lines| lines[self.cell()].set(self.0 | state));
    }

    fn cell(self) -> usize {
        usize::try_from(self.0 >> 40).unwrap_or(0) % CELLS
    }
}
