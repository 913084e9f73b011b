//! How a line is said: what a log puts before its message, and what in a text nobody said at all.
//!
//! [`line`] takes the dress off a line: the clock, the host, who speaks and how loudly. [`document`] tells
//! text that is read from text that was said: help, comments, lists, schemas, source code.

pub mod document;
pub mod line;
mod rows;

pub use line::{Dress, Level, undress};

/// How much weight a line carries as a statement, the most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Voice {
    /// Somebody said it, and not as a mere note.
    #[default]
    Spoken,
    /// Its speaker calls it information: a setting, a start, a step that went well.
    Note,
    /// The vocabulary knows it: every start says it, or it reads like a fault and is none.
    Routine,
    /// Nothing says who said it, or whether it was said, in a text that is more than what a person pastes.
    Bare,
}
