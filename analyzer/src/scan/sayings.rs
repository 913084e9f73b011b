//! What objects of lists say, on its way to the hits. A large cluster has very many events that match, of which few are
//! kept at last; until all is read each is held once, and not again for each pattern.

use std::collections::{BTreeMap, HashMap};

use super::hits::{GROUPS_PER_PATTERN, Hits};
use super::patterns::{Captures, Hit, Patterns};
use crate::parsers::Said;
use crate::shared::Shared;

/// A text inside an object, and the patterns that it matches.
pub(super) struct Saying {
    said: Said,
    matching: Vec<(usize, Captures)>,
}

/// What the objects of a piece of a list say, without what cannot be kept. The piece is taken whole or not at all, so that of
/// a pattern with enough smaller keys in it no larger one is.
pub(super) fn of_piece(patterns: &Patterns, said: Vec<Said>) -> Vec<Saying> {
    let sayings = said.into_iter();
    let mut sayings: Vec<Saying> = sayings
        .filter_map(|said| Saying::of(patterns, said))
        .collect();
    if sayings.len() > GROUPS_PER_PATTERN {
        let largest = largest_kept(&sayings);
        sayings.retain_mut(|one| one.keep_up_to(&largest));
        sayings.shrink_to_fit();
    }
    sayings
}

/// Of each pattern with more keys than are kept the largest that may be, as [`Hits`] order them.
fn largest_kept(sayings: &[Saying]) -> HashMap<usize, (Shared, Captures)> {
    let mut keys: BTreeMap<usize, Vec<(&Shared, &Captures)>> = BTreeMap::new();
    for Saying { said, matching } in sayings {
        for (pattern, captures) in matching {
            let of_pattern = keys.entry(*pattern).or_default();
            of_pattern.push((&said.subject, captures));
        }
    }
    let largest = keys.into_iter().filter_map(|(pattern, mut keys)| {
        keys.sort_unstable();
        keys.dedup();
        let (subject, captures) = keys.get(GROUPS_PER_PATTERN - 1)?;
        Some((pattern, ((*subject).clone(), (*captures).clone())))
    });
    largest.collect()
}

impl Saying {
    /// None where no pattern matches.
    pub(super) fn of(patterns: &Patterns, said: Said) -> Option<Self> {
        let matching = patterns.matching(&said);
        (!matching.is_empty()).then_some(Self { said, matching })
    }

    /// Leaves out larger keys than those; false where nothing is left. What is about nothing is kept whatever it says.
    fn keep_up_to(&mut self, largest: &HashMap<usize, (Shared, Captures)>) -> bool {
        let Self { said, matching } = self;
        let subject = &said.subject;
        matching.retain(|(pattern, captures)| {
            let largest = largest.get(pattern);
            subject.is_empty()
                || largest.is_none_or(|(most, caught)| (subject, captures) <= (most, caught))
        });
        !matching.is_empty()
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::model::Place;
    use crate::parsers::Channel;

    fn saying(subject: u32, matching: &[(usize, u32)]) -> Saying {
        let captured = |number: &u32| vec![("n".into(), number.to_string().as_str().into())];
        Saying {
            said: Said {
                channel: Channel::Event,
                subject: match subject {
                    0 => Shared::default(),
                    subject => format!("pod/a/p-{subject}").into(),
                },
                text: "failed".into(),
                place: Place::default(),
                at: None,
                count: 1,
            },
            matching: matching
                .iter()
                .map(|(pattern, number)| (*pattern, captured(number)))
                .collect(),
        }
    }

    proptest::proptest! {
        #[test]
        fn the_smallest_keys_of_each_pattern_stay_with_all_that_have_them_and_no_other(
            drawn in proptest::collection::vec((0..60u32, 0..40u32, 0..40u32), 0..1500),
        ) {
            let made = drawn.iter().map(|(subject, one, other)| saying(*subject, &[(0, *one), (9, one % 3), (1, *other)]));
            let mut sayings: Vec<Saying> = made.collect();
            let all: Vec<(usize, Shared, Captures)> = sayings.iter().flat_map(keys).collect();
            let kept: BTreeSet<(usize, Shared, Captures)> = [0, 1, 9].into_iter().flat_map(|pattern| {
                let own: BTreeSet<_> = all.iter().filter(|key| key.0 == pattern).cloned().collect();
                own.into_iter().take(GROUPS_PER_PATTERN)
            }).collect();
            let largest = largest_kept(&sayings);
            sayings.retain_mut(|one| one.keep_up_to(&largest));
            let wanted: Vec<_> = all.into_iter().filter(|key| key.1.is_empty() || kept.contains(key)).collect();
            let left: Vec<_> = sayings.iter().flat_map(keys).collect();
            proptest::prop_assert_eq!(left, wanted);
        }
    }

    fn keys(one: &Saying) -> Vec<(usize, Shared, Captures)> {
        let subject = &one.said.subject;
        let keys = one.matching.iter();
        keys.map(|(pattern, captures)| (*pattern, subject.clone(), captures.clone()))
            .collect()
    }
}
