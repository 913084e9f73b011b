//! What asks for a line: found among what its shape leaves, or by the texts that stand in it.

use casefile_shapes::index::{Held, Index};

use super::Patterns;
use super::clauses::Clauses;
use super::known::{Open, Possible};
use crate::parsers::Channel;

/// So many texts are looked for one by one; more of them at once, with all others.
const OPEN: usize = 12;

/// What asks for a line: patterns and, behind them, extractors.
#[derive(Default)]
pub(super) struct Asking {
    pub(super) numbers: Vec<u32>,
    line: Held,
}

impl Asking {
    /// Takes what asks for a line of a known shape, or looks for texts in what is shown of it.
    pub(super) fn take_or_search<'l>(
        &mut self,
        patterns: &Patterns,
        channel: Channel,
        possible: Option<Possible<'_>>,
        (shown, line): (&mut dyn FnMut() -> &'l [u8], &[u8]),
    ) {
        self.numbers.clear();
        match possible {
            Some(Possible { numbers: [], .. }) => {}
            Some(few) if few.open.len() <= OPEN && patterns.are_few(few) => {
                self.numbers.extend_from_slice(few.numbers);
                if !few.open.is_empty() || !few.unsure.is_empty() {
                    self.line.take_unmarked(shown());
                    self.keep_standing(few.open);
                    self.keep_sure(few.unsure, &patterns.clauses);
                }
            }
            possible => {
                self.search(patterns.index(channel), shown());
                match possible {
                    Some(possible) => self.keep_among(possible),
                    None => self.keep_possible(&patterns.clauses, line),
                }
            }
        }
    }

    /// Notes what asks for some text of a line.
    fn search(&mut self, index: &Index, line: &[u8]) {
        let Self { numbers, .. } = self;
        numbers.clear();
        index.search(line, &mut |owners| numbers.extend_from_slice(owners));
    }

    /// Leaves out what asks only for texts that the line does not hold.
    fn keep_standing(&mut self, open: &[Open]) {
        let Self { numbers, line, .. } = self;
        let stands = |text: &[u8]| memchr::memmem::find(line.lower(), text).is_some();
        numbers.retain(|number| {
            let mut texts = open.iter().filter(|(owner, _)| owner == number).peekable();
            texts.peek().is_none() || texts.any(|(_, text)| stands(text))
        });
    }

    /// Leaves out the patterns that need some other text which the line does not hold.
    fn keep_sure(&mut self, unsure: &[u32], clauses: &[Clauses]) {
        let Self { numbers, line, .. } = self;
        numbers.retain(|number| {
            let clauses = clauses.get(*number as usize);
            unsure.binary_search(number).is_err() || clauses.is_none_or(|one| one.hold(line))
        });
    }

    /// Keeps what can match a line of its shape, each once and in order.
    fn keep_among(&mut self, possible: Possible<'_>) {
        self.numbers.sort_unstable();
        self.numbers.dedup();
        let is_possible = |number: &u32| possible.numbers.binary_search(number).is_ok();
        self.numbers.retain(is_possible);
    }

    /// Keeps the patterns of which every clause has a text in the line, and the extractors, each once and in order.
    fn keep_possible(&mut self, clauses: &[Clauses], raw: &[u8]) {
        let Self { numbers, line, .. } = self;
        if numbers.is_empty() {
            return;
        }
        numbers.sort_unstable();
        numbers.dedup();
        line.take(raw);
        numbers.retain(|index| {
            let clauses = clauses.get(*index as usize);
            clauses.is_none_or(|clauses| clauses.hold(line))
        });
    }
}
