//! What an expression matches in every line of a shape: what it finds there has no open place in it and none beside it,
//! so that it need not be tried on each.

use std::borrow::Cow;

use casefile_shapes::automaton::Automaton;
use casefile_shapes::expression::Expression;
use casefile_shapes::tries::Tries;
use memchr::memmem::Finder;

use super::caught::{self, Caught, kept};
use super::hit::Captures;

/// A pattern that matches every line of a shape.
#[derive(Clone)]
pub(super) struct Certain {
    /// Its number.
    pub(super) number: u32,
    /// What it captures there.
    pub(super) captures: Captures,
    /// What stands there with one byte on both sides; of a line of which only a part may be the message, the message has to
    /// hold it. None where all of the shape is the message.
    witness: Option<Finder<'static>>,
    /// A longer message, in bytes, it may not match.
    longest: usize,
}

impl Certain {
    /// A pattern of which that is so, as one look at the shape tells; `is_message` where all of the shape is the message.
    pub(super) fn at_once(
        number: u32,
        (regex, tries): (&Expression, &Tries),
        (shape, is_message): (&[u8], bool),
    ) -> Option<Self> {
        let at = regex.matches_shape(tries, shape)?;
        let witness = match is_message {
            true => None,
            false => {
                let witness = shape.get(at.start.checked_sub(1)?..at.end + 1)?;
                Some(Finder::new(witness).into_owned())
            }
        };
        Some(Self::new(number, Captures::new(), witness, usize::MAX))
    }

    /// A pattern of which that is so, and which one look does not tell; all of the shape is the message, and some message of
    /// the shape it matches.
    pub(super) fn of_message(
        number: u32,
        (regex, automaton): (&Expression, Option<&Automaton>),
        shape: &[u8],
    ) -> Option<Self> {
        if let Some(named) = regex.captures_of_shape(shape) {
            let captures = kept(&caught::sorted(named));
            return Some(Self::new(number, captures, None, usize::MAX));
        }
        let longest = regex.matches_always(automaton?, shape)?;
        Some(Self::new(number, Captures::new(), None, longest))
    }

    fn new(
        number: u32,
        captures: Captures,
        witness: Option<Finder<'static>>,
        longest: usize,
    ) -> Self {
        Self {
            number,
            captures,
            witness,
            longest,
        }
    }

    /// What it captures in a message of the shape; none where the message is a part that does not show it.
    pub(super) fn caught(&self, message: &str) -> Option<Caught<'_>> {
        let is_shown = |witness: &Finder<'_>| witness.find(message.as_bytes()).is_some();
        let witness = self.witness.as_ref();
        let is_so = self.is_so_for(message.len()) && witness.is_none_or(is_shown);
        is_so.then(|| self.captured())
    }

    /// Whether it matches messages of the shape of up to so many bytes.
    pub(super) fn is_so_for(&self, length: usize) -> bool {
        length <= self.longest
    }

    /// Up to how many bytes a message may have that it is known to match.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// What it captures in every message of the shape that shows it.
    pub(super) fn captured(&self) -> Caught<'_> {
        let captures = self.captures.iter();
        let caught = captures.map(|(name, value)| (name.as_str(), Cow::Borrowed(value.as_str())));
        caught.collect()
    }
}
