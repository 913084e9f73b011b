//! What objects of lists say, on its way to the hits. A large cluster has very many events that match, of which few are
//! kept at last; until all is read each is held once, and not again for each pattern.

use super::hits::Hits;
use super::patterns::{Captures, Hit, Patterns};
use crate::parsers::Said;

/// A text inside an object, and the patterns that it matches.
pub(super) struct Saying {
    said: Said,
    matching: Vec<(usize, Captures)>,
}

impl Saying {
    /// None where no pattern matches.
    pub(super) fn of(patterns: &Patterns, said: Said) -> Option<Self> {
        let matching = patterns.matching(&said);
        (!matching.is_empty()).then_some(Self { said, matching })
    }

    /// Its hits that may be among those that are kept.
    pub(super) fn hits(self, patterns: &Patterns, kept: &Hits, lines_before: u32) -> Vec<Hit> {
        let Self { mut said, matching } = self;
        super::merge::shift_place(&mut said.place, lines_before);
        let stays = |(pattern, captures): (usize, Captures)| {
            let key = (said.subject.as_str(), "", &captures);
            let stays = said.subject.is_empty() || kept.admits(pattern, key);
            stays
                .then(|| patterns.hit_of(&said, pattern, captures))
                .flatten()
        };
        matching.into_iter().filter_map(stays).collect()
    }
}
