//! Where in some lines of text secrets may stand, found out once and no further than it is asked for: nothing that is
//! searched for goes on from one line to the next.

use std::ops::Range;

use super::super::{encoded, escapes};
use super::Hits;
use super::search::SEARCH;

/// Whole lines of text, and what is known of them.
pub(crate) struct Lookout<'a> {
    bytes: &'a [u8],
    /// Where the next word begins that is searched for, as far as it was.
    word: Option<usize>,
    /// The same of what is encoded.
    encoded: Option<usize>,
    /// The same of an escape of a hidden text.
    escape: Option<usize>,
}

/// What one line may hold.
pub(crate) struct Seen {
    /// The words that are searched for.
    pub(crate) hits: Hits,
    /// Something encoded or escaped.
    hidden: bool,
}

impl Seen {
    /// Searches a line.
    pub(crate) fn of(line: &[u8]) -> Self {
        let hits = Hits::of(line);
        let hidden =
            hits.hints().none() && (encoded::possible(line) || escapes::first(line).is_some());
        Self { hits, hidden }
    }

    /// Whether nothing was found at all: the line means nothing to others either.
    pub(crate) fn empty(&self) -> bool {
        self.hits.none() && !self.hidden
    }

    /// Whether nothing may be secret but words that nothing explains.
    pub(crate) fn nothing(&self) -> bool {
        self.hits.hints().none() && !self.hidden
    }
}

impl<'a> Lookout<'a> {
    /// Nothing is known yet.
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            word: None,
            encoded: None,
            escape: None,
        }
    }

    /// The lines.
    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Where the first thing stands that may be secret, words apart that nothing explains, in the line that begins at a
    /// place or behind it; asked for from front to back.
    pub(super) fn next(&mut self, from: usize) -> usize {
        let bytes = self.bytes;
        let update = |known: &mut Option<usize>, search: fn(&[u8], usize) -> usize| {
            let at = known.filter(|at| *at >= from);
            *known.insert(at.unwrap_or_else(|| search(bytes, from)))
        };
        let word = update(&mut self.word, next_word);
        let encoded = update(&mut self.encoded, |bytes, from| {
            from + encoded::first(&bytes[from..]).unwrap_or(bytes.len() - from)
        });
        let escape = update(&mut self.escape, |bytes, from| {
            from + escapes::first(&bytes[from..]).unwrap_or(bytes.len() - from)
        });
        word.min(encoded).min(escape)
    }

    /// What a line may hold; asked for from front to back.
    pub(crate) fn line(&mut self, line: &Range<usize>) -> Seen {
        let hidden = self.next(line.start) < line.end && {
            let inside = |at: Option<usize>| at.is_some_and(|at| at < line.end);
            inside(self.encoded) || inside(self.escape)
        };
        // In front of the first word stands no other.
        let first = self.word.unwrap_or(line.start).min(line.end);
        let hits = Hits::within(self.bytes, line, first);
        Seen { hits, hidden }
    }
}

fn next_word(bytes: &[u8], from: usize) -> usize {
    let mut at = bytes.len();
    SEARCH.within(bytes, &(from..bytes.len()), |start, _, _| {
        at = start;
        true
    });
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

    const PARTS: [&str; 23] = [
        "\n",
        "\n",
        "\r\n",
        "a: 1",
        " ",
        "564i_0a9_v58bn",
        "api",
        "key",
        "=",
        "%3D",
        "%",
        "[1, 2, 3, ",
        "\\x41\\x42",
        "\\",
        "cGFzc3dvcmQ6IGh1bnRlcjI=",
        "cGFzc3dv",
        "--",
        "data:",
        "kind:",
        "pw",
        "://",
        "curl",
        "ä",
    ];

    #[test]
    fn a_line_holds_what_it_does_alone() {
        let mut draws = Draws::new();
        for _ in 0..3000 {
            let text: String = (0..30).map(|_| draws.of(&PARTS)).chain(["\n"]).collect();
            let mut look = Lookout::of(text.as_bytes());
            let mut from = 0;
            for line in text.split_inclusive('\n') {
                let place = from..from + line.len();
                from = place.end;
                // Some lines are not asked for.
                if draws.below(4) == 0 {
                    continue;
                }
                let (seen, alone) = (look.line(&place), Seen::of(line.as_bytes()));
                assert_eq!(seen.hits, alone.hits, "{text:?} {line:?}");
                assert_eq!(seen.nothing(), alone.nothing(), "{text:?} {line:?}");
                assert_eq!(seen.empty(), alone.nothing() && alone.hits.none());
            }
        }
    }
}
