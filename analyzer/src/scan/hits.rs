//! Hits that are kept while an input is read: alike ones are added up as soon as their entry is read.
//!
//! Of each pattern the groups with the smallest keys are kept over the whole input. What is larger than so many keys that were
//! met is not among them, whatever comes: on a large input most hits are, and they would fill the memory. Nothing of it
//! depends on the order in which entries are read.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::budget::Budget;
use super::node_of;
use super::patterns::{Captures, Hit};

/// Different groups kept of one pattern over the whole bundle.
pub(super) const GROUPS_PER_PATTERN: usize = 400;

/// What makes two hits of a pattern alike: what they are about, who said them, and what they capture.
type Key<'a> = (&'a str, &'a str, &'a Captures);

/// Hits of one boot and others that are alike stay apart in an entry, up to so many boots; fewer where there are too many hits.
const BOOTS: usize = 16;
const FEW_BOOTS: usize = 2;

/// A hit, and the last line of its like.
pub(super) struct Held {
    pub(super) hit: Hit,
    pub(super) far: Option<u32>,
}

/// Alike hits. Those stay apart of which one may turn out to be of an earlier boot and another not.
type Group = Vec<Held>;

/// The groups of an input, or of one entry.
pub(super) struct Hits {
    /// By pattern, in the order of their keys.
    patterns: BTreeMap<usize, Vec<Group>>,
    groups: usize,
    /// Groups that may be kept of all patterns together.
    most: usize,
    /// Groups that are kept of one pattern.
    of_pattern: usize,
    /// Boots that are told apart, while it is not known of which entry's lines are.
    boots: Option<usize>,
    /// Hits in all groups.
    held: usize,
}

impl Hits {
    /// For entries that were read to their end.
    pub(super) fn new(budget: Budget) -> Self {
        Self {
            patterns: BTreeMap::new(),
            groups: 0,
            most: budget.groups(),
            of_pattern: GROUPS_PER_PATTERN,
            boots: None,
            held: 0,
        }
    }

    /// For an entry that is being read.
    pub(super) fn of_entry(budget: Budget) -> Self {
        Self {
            boots: Some(BOOTS),
            ..Self::new(budget)
        }
    }

    /// Whether a hit with this key may be among those that are kept of its pattern.
    pub(super) fn admits(&self, pattern: usize, key: Key<'_>) -> bool {
        let Some(groups) = self.patterns.get(&pattern) else {
            return true;
        };
        let largest = groups.get(self.of_pattern.saturating_sub(1));
        largest.is_none_or(|largest| key <= key_of(largest))
    }

    /// Adds a hit.
    pub(super) fn add(&mut self, hit: Hit) {
        let far = hit.last_place.line;
        self.hold(Held { hit, far });
    }

    /// Adds a hit that alike ones were added to.
    pub(super) fn hold(&mut self, held: Held) {
        let groups = self.patterns.entry(held.hit.pattern).or_default();
        match groups.binary_search_by(|group| key_of(group).cmp(&key(&held.hit))) {
            Ok(at) => self.held += join(&mut groups[at], held, self.boots),
            Err(at) if at >= self.of_pattern => return,
            Err(at) => {
                groups.insert(at, vec![held]);
                self.groups += 1;
                self.held += 1;
                if groups.len() > self.of_pattern {
                    self.held -= groups.pop().map_or(0, |group| group.len());
                    self.groups -= 1;
                }
            }
        }
        self.lower();
    }

    /// Keeps fewer of each pattern while there are more than may be kept. The number of groups only grows with what is
    /// read, so that all of the input decides and no order of it.
    fn lower(&mut self) {
        while self.groups > self.most && self.of_pattern > 1 {
            self.lower_to(self.of_pattern / 2);
        }
        if self.held > 2 * self.most && self.boots == Some(BOOTS) {
            self.boots = Some(FEW_BOOTS);
            for group in self.patterns.values_mut().flatten() {
                for held in group.split_off(group.len().min(FEW_BOOTS)) {
                    join(group, held, self.boots);
                }
            }
            self.held = self.patterns.values().flatten().map(Vec::len).sum();
        }
    }

    /// Keeps no more of each pattern than so many.
    pub(super) fn lower_to(&mut self, of_pattern: usize) {
        if of_pattern >= self.of_pattern {
            return;
        }
        self.of_pattern = of_pattern;
        for groups in self.patterns.values_mut() {
            groups.truncate(of_pattern);
            groups.shrink_to_fit();
        }
        self.groups = self.patterns.values().map(Vec::len).sum();
        self.held = self.patterns.values().flatten().map(Vec::len).sum();
    }

    /// What is kept, and how many of each pattern at most.
    pub(super) fn into_held(self) -> (impl Iterator<Item = Held>, usize) {
        let held = self.patterns.into_values().flatten().flatten();
        (held, self.of_pattern)
    }

    /// How many kinds of lines are kept of each pattern, where that had to be lowered.
    pub(super) fn lowered(&self) -> Option<usize> {
        (self.of_pattern < GROUPS_PER_PATTERN).then_some(self.of_pattern)
    }

    /// All of them, in the order of pattern and key; `boots` is when each node last came up.
    pub(super) fn finish(self, boots: &BTreeMap<String, DateTime<Utc>>) -> Vec<Hit> {
        let mut hits = Vec::with_capacity(self.groups);
        for mut group in self.patterns.into_values().flatten() {
            // Where a line and the object around it say the same, the line goes first.
            group.sort_by_cached_key(|Held { hit, .. }| {
                let node = node_of(&hit.place.path).to_owned();
                (!hit.scattered, hit.earlier_boot, hit.last.is_none(), node)
            });
            let marked = group.into_iter().map(|Held { mut hit, .. }| {
                let booted = boots.get(node_of(&hit.place.path));
                let both = booted.zip(hit.last);
                hit.earlier_boot |= both.is_some_and(|(booted, last)| last < *booted);
                hit
            });
            hits.extend(marked.reduce(|mut one, other| {
                one.absorb(other);
                one
            }));
        }
        hits
    }
}

fn key(hit: &Hit) -> Key<'_> {
    let (_, subject, speaker, captures) = hit.key();
    (subject, speaker, captures)
}

/// The key of a group, which is never empty.
fn key_of(group: &Group) -> Key<'_> {
    const NONE: &Captures = &Captures::new();
    group.first().map_or(("", "", NONE), |one| key(&one.hit))
}

/// Adds a hit to those of its group with which it shares a fate; how many more the group holds afterwards.
///
/// Whether hits of an entry are of an earlier boot is known when it was read to its end, and depends on the boots that they
/// name. What is known then may be changed by what other entries say of the node, if a hit says its time.
fn join(group: &mut Group, held: Held, boots: Option<usize>) -> usize {
    let new = &held.hit;
    let fate = |hit: &Hit| (hit.earlier_boot, hit.last.is_some(), hit.scattered);
    let full = boots.is_some_and(|boots| group.len() >= boots);
    let is_near = |one: &Hit| match boots {
        Some(_) => full || one.boot == new.boot,
        None => node_of(&one.place.path) == node_of(&new.place.path),
    };
    let mut shares = group.iter_mut();
    match shares.find(|one| fate(&one.hit) == fate(new) && is_near(&one.hit)) {
        Some(one) => {
            one.far = one.far.max(held.far);
            one.hit.absorb(held.hit);
            0
        }
        None => {
            group.push(held);
            1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::{Channel, Origin};
    use crate::scan::patterns::{Expression, LinePattern, Patterns};

    /// Hits in files of several nodes, of which every fourth line says no time.
    fn hits(kinds: u32) -> Vec<Hit> {
        let pattern = |regex| LinePattern {
            regex: Expression::new(regex),
            channels: Vec::new(),
            speaker: None,
            nature: None,
        };
        let patterns = Patterns::new(vec![
            pattern(r"lost (?P<what>\w+)"),
            pattern(r"lost item(?P<number>\d)"),
        ]);
        let mut all = Vec::new();
        for file in 0..60u32 {
            let lines = (0..30u32).map(|line| {
                let number = file * 30 + line;
                let what = number * 7919 % kinds;
                let time = match number % 4 {
                    0 => String::new(),
                    _ => format!(
                        ",\"__REALTIME_TIMESTAMP\":\"17950308{:02}000000\"",
                        number % 97
                    ),
                };
                format!("{{\"MESSAGE\":\"lost item{what}\",\"_SYSTEMD_UNIT\":\"a\",\"_BOOT_ID\":\"b\"{time}}}\n")
            });
            let text: String = lines.collect();
            let path = format!("nodes/n{}/journal/k{file}.json", file % 3);
            let origin = Origin::of(&path, Channel::Journal);
            all.extend(patterns.search(&origin, text.as_bytes()).hits);
        }
        all
    }

    fn kept(hits: impl Iterator<Item = Hit>, budget: Budget) -> Vec<Hit> {
        let mut all = Hits::new(budget);
        hits.for_each(|hit| all.add(hit));
        let booted = DateTime::from_timestamp(1_795_030_850, 0).unwrap();
        all.finish(&BTreeMap::from([("n0".to_owned(), booted)]))
    }

    #[test]
    fn hits_come_to_the_same_in_whatever_order_they_are_added() {
        let all = hits(500);
        let forward = kept(all.iter().cloned(), Budget::default());
        let backward = kept(all.iter().rev().cloned(), Budget::default());
        assert_eq!(forward, backward);
        assert!(forward.is_sorted_by(|a, b| a.key() < b.key()));
        let count =
            |hits: &[Hit], pattern| hits.iter().filter(|hit| hit.pattern == pattern).count();
        assert_eq!(count(&forward, 0), GROUPS_PER_PATTERN);
        let total: u64 = forward.iter().map(|hit| hit.count).sum();
        assert!(total > 1800, "all of a kind are counted: {total}");
        let earlier = |hit: &&Hit| hit.earlier_boot;
        assert!(
            forward
                .iter()
                .find(earlier)
                .is_some_and(|hit| hit.last.is_some())
        );
        assert!(!forward.iter().all(|hit| hit.earlier_boot));
    }

    #[test]
    fn fewer_kinds_of_lines_are_kept_of_each_pattern_where_all_together_are_too_many() {
        let all = hits(500);
        let small = |most| {
            let mut hits = Hits::new(Budget::default());
            hits.most = most;
            hits
        };
        let (mut forward, mut backward) = (small(150), small(150));
        all.iter().for_each(|hit| forward.add(hit.clone()));
        all.iter().rev().for_each(|hit| backward.add(hit.clone()));
        assert_eq!(forward.lowered(), Some(100));
        let kept = forward.finish(&BTreeMap::new());
        assert_eq!(kept, backward.finish(&BTreeMap::new()));
        assert!(kept.len() <= 150);
        let whole = Hits::new(Budget::default());
        assert_eq!(whole.lowered(), None);
    }
}
