//! Hits that cannot be among those kept of their pattern are let go when they are found.
//!
//! Of each pattern the groups with the smallest keys are kept over the whole input ([`super::merge`]). What is larger than so
//! many keys that were met is not among them, whatever comes: on a large input most hits are, and they would fill the
//! memory.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, Utc};

use super::merge::GROUPS_PER_PATTERN;
use super::patterns::{Captures, Found, Hit};

/// What makes two hits of a pattern alike.
type Key = (String, String, Captures);
type KeyOf<'a> = (&'a str, &'a str, &'a Captures);

/// The boot of a line, as the journal calls it, and when the line was said.
pub(super) type Boot = (String, Option<DateTime<Utc>>);

/// The smallest keys met so far, sorted, by the pattern.
#[derive(Default)]
pub(super) struct Ceiling(Mutex<BTreeMap<usize, Vec<Key>>>);

impl Ceiling {
    /// Lets go what is above; gives the newest boot that it names.
    ///
    /// Hits without a subject stay: whether they count depends on what else is said of their line.
    pub(super) fn let_go(&self, found: &mut Found) -> Option<Boot> {
        let mut boots = Vec::new();
        let mut met = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.hits.retain(|hit| {
            let stays =
                hit.subject.is_empty() || is_among(met.entry(hit.pattern).or_default(), of(hit));
            if !stays && !hit.boot.is_empty() {
                boots.push((hit.boot.clone(), hit.last));
            }
            stays
        });
        boots.into_iter().max_by_key(|(_, at)| *at)
    }

    /// Whether a hit with this key may be among those that are kept of its pattern.
    pub(super) fn admits(&self, pattern: usize, key: KeyOf<'_>) -> bool {
        let mut met = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        is_among(met.entry(pattern).or_default(), key)
    }
}

fn of(hit: &Hit) -> KeyOf<'_> {
    let (_, subject, speaker, captures) = hit.key();
    (subject, speaker, captures)
}

/// Whether a key is among the smallest, of which it is one from now on.
fn is_among(smallest: &mut Vec<Key>, (subject, speaker, captures): KeyOf<'_>) -> bool {
    let order = |key: &Key| {
        let key = (key.0.as_str(), key.1.as_str(), &key.2);
        key.cmp(&(subject, speaker, captures))
    };
    let Err(at) = smallest.binary_search_by(order) else {
        return true;
    };
    if at >= GROUPS_PER_PATTERN {
        return false;
    }
    let key = (subject.to_owned(), speaker.to_owned(), captures.clone());
    smallest.insert(at, key);
    smallest.truncate(GROUPS_PER_PATTERN);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::{Channel, Origin};
    use crate::scan::merge::merge_hits;
    use crate::scan::patterns::{Expression, LinePattern, Patterns};

    #[test]
    fn what_is_let_go_would_not_have_been_kept() {
        let pattern = LinePattern {
            regex: Expression::new(r"lost (?P<what>\w+)"),
            channels: Vec::new(),
            speaker: None,
            nature: None,
        };
        let patterns = Patterns::new(vec![pattern]);
        let ceiling = Ceiling::default();
        let (mut all, mut some) = (Vec::new(), Vec::new());
        for piece in 0..60u32 {
            let lines = (0..30u32).map(|line| {
                let what = (piece * 30 + line) * 7919 % 1777;
                format!("{{\"MESSAGE\":\"lost item{what}\",\"_BOOT_ID\":\"b{piece}\"}}\n")
            });
            let text: String = lines.collect();
            let origin = Origin::of("nodes/n/journal/k.json", Channel::Journal);
            let mut found = patterns.search(&origin, text.as_bytes());
            all.extend(found.hits.clone());
            let boot = ceiling.let_go(&mut found);
            assert_eq!(boot.is_some(), found.hits.len() < 30);
            some.extend(found.hits);
        }
        assert!(some.len() < all.len());
        assert_eq!(merge_hits(some), merge_hits(all));
    }
}
