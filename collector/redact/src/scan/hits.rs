//! What a search of one line found, by place, as far as it can be said of the end of the line again.

use super::super::{encoded, escapes};
use super::search::SEARCH;
use super::{Hints, hints};

/// Where more is found, the end of the line is searched again.
const MOST: usize = 8;

/// What one line may hold.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hits {
    all: u128,
    places: [(usize, u128); MOST],
    count: usize,
}

impl Hits {
    /// Searches a line.
    pub(crate) fn of(line: &[u8]) -> Self {
        let mut hits = Self {
            all: 0,
            places: [(0, 0); MOST],
            count: 0,
        };
        SEARCH.run(line, |start, _, bit| {
            hits.all |= bit;
            if let Some(place) = hits.places.get_mut(hits.count) {
                *place = (start, bit);
            }
            hits.count += 1;
            false
        });
        hits
    }

    /// Whether nothing was found.
    pub(crate) fn none(&self) -> bool {
        self.count == 0
    }

    /// Everything that may stand in the line.
    pub(crate) fn hints(&self) -> Hints {
        Hints(self.all)
    }

    /// What may stand in the rest of the line from a place on, without its line end, were it a text of its own. Only where it
    /// begins may that be more or less than was found in the line.
    pub(crate) fn behind(&self, prefix: usize, rest: &[u8]) -> Hints {
        if prefix == 0 {
            return self.hints();
        }
        let Some(places) = self.places.get(..self.count) else {
            return hints(rest);
        };
        let begin = begins(rest);
        let mut all = places
            .iter()
            .filter(|(start, _)| *start >= prefix + begin)
            .fold(0, |all, (_, bit)| all | bit);
        SEARCH.within(rest, &(0..begin), |_, _, bit| {
            all |= bit;
            false
        });
        Hints(all)
    }
}

/// What one line may hold besides words that nothing explains.
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

/// How far the names at the beginning of a text may be parts of names that begin in front of it: to what is in no name,
/// or to the second blank, since a name has two words at most.
fn begins(text: &[u8]) -> usize {
    let mut blanks = 0;
    let ends = |byte: &u8| {
        blanks += usize::from(*byte == b' ');
        let named = byte.is_ascii_alphanumeric() || b"_-./:@+ ".contains(byte) || !byte.is_ascii();
        blanks == 2 || !named
    };
    text.iter().position(ends).map_or(text.len(), |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

    #[test]
    fn the_rest_of_a_line_holds_what_it_does_alone() {
        const PARTS: [&str; 24] = [
            "api",
            "key",
            "keys",
            "pass",
            "word",
            "token",
            " ",
            "  ",
            "=",
            ":",
            "/",
            "%",
            "\\n",
            "[31m",
            "ä",
            "x",
            "-",
            "_",
            "pat",
            "\"",
            "curl",
            "sk-",
            "q7ZkP2mXv9q7ZkP2mXv9",
            "kind:",
        ];
        let mut draws = Draws::new();
        for _ in 0..30_000 {
            let count = 2 + draws.below(10);
            let parts: Vec<&str> = (0..count).map(|_| draws.of(&PARTS)).collect();
            let (prefix, rest) = (
                parts[..draws.below(count)].concat(),
                &parts[count / 2..].concat(),
            );
            let line = format!("{prefix}{rest}\r\n");
            let found = Hits::of(line.as_bytes());
            assert_eq!(found.hints(), hints(line.as_bytes()), "{line:?}");
            let behind = found.behind(prefix.len(), rest.as_bytes());
            assert_eq!(behind, hints(rest.as_bytes()), "{prefix:?} {rest:?}");
        }
    }
}
