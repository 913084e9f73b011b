//! What entries of lines gave, added up as soon as an entry is read: whatever the order of entries, the same comes of it.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};

use super::arriving::Arriving;
use super::assembly::Opened;
use super::budget::Budget;
use super::hits::Hits;
use super::merge::state_all;
use super::pasted::Pieces;
use super::patterns::Hit;
use super::ranked::Ranked;
use crate::dress::Voice;
use crate::dress::document::Skipped;
use crate::facts::{AnyFact, Facts};
use crate::grade::Grade;
use crate::model::{Place, Problem};
use crate::parsers::{DriverLine, HostLine, PacketLine};

/// What a person pastes has no more lines of unknown origin, and no more files, than this.
pub(super) const PASTED_LINES: u32 = 400;
const PASTED_FILES: usize = 40;

/// Which ends of logs are kept before others: those that tell of trouble, then the gravest.
pub(super) type Worth = (bool, Grade);

/// Lines that say something of their node, the first of each entry before the second of any.
pub(super) type Lines<L> = Ranked<(usize, String), L>;

/// Where the threads that read entries bring what they gave.
pub(super) struct Settling {
    settled: Mutex<Settled>,
    /// Entries of which some pieces were read.
    pub(super) open: Opened,
    /// Lists of which some pieces were read.
    pub(super) lists: Arriving,
}

impl Settling {
    pub(super) fn new(budget: Budget) -> Self {
        Self {
            settled: Mutex::new(Settled::new(budget)),
            open: Opened::default(),
            lists: Arriving::default(),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Settled> {
        self.settled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of it.
    pub(super) fn take(&self, budget: Budget) -> Settled {
        std::mem::replace(&mut *self.lock(), Settled::new(budget))
    }
}

/// What was read to the end.
pub(super) struct Settled {
    hits: Hits,
    /// Hits in texts of unknown origin and in their objects, as long as a person may have pasted all of these.
    pasted: Vec<Hit>,
    /// Lines and files of unknown origin.
    loose: (u32, usize),
    /// How logs end.
    ends: Ranked<(Reverse<Worth>, String), Vec<AnyFact>>,
    /// What was recognised in texts of unknown origin, by their paths.
    pieces: Ranked<String, Pieces>,
    pub(super) packets: Lines<PacketLine>,
    pub(super) driver: Lines<DriverLine>,
    pub(super) host: Lines<HostLine>,
    /// Lines of these kinds that entries held beyond what is kept of one.
    pub(super) more_lines: u64,
    /// When each node last came up.
    boots: BTreeMap<String, DateTime<Utc>>,
    /// Lines that nobody said.
    pub(super) skipped: Skipped,
}

impl Settled {
    fn new(budget: Budget) -> Self {
        Self {
            hits: Hits::new(budget),
            pasted: Vec::new(),
            loose: (0, 0),
            ends: Ranked::new(budget.ends()),
            pieces: Ranked::new(budget.pieces()),
            packets: Ranked::new(budget.lines()),
            driver: Ranked::new(budget.lines()),
            host: Ranked::new(budget.lines()),
            more_lines: 0,
            boots: BTreeMap::new(),
            skipped: Skipped::new(),
        }
    }

    /// What is kept of hits.
    pub(super) fn hits(&self) -> &Hits {
        &self.hits
    }

    /// Adds a hit of an entry of which nothing more comes.
    pub(super) fn hit(&mut self, hit: Hit) {
        self.hits.add(hit);
    }

    /// Keeps no more hits of each pattern than so many.
    pub(super) fn lower_to(&mut self, of_pattern: usize) {
        self.hits.lower_to(of_pattern);
    }

    /// Adds a hit in a text of unknown origin, which was counted before.
    pub(super) fn loose_hit(&mut self, hit: Hit) {
        if self.may_be_pasted() {
            self.pasted.push(hit);
        } else {
            self.hits.add(hit);
        }
    }

    /// Counts lines of a text of unknown origin.
    pub(super) fn loose(&mut self, lines: u32) {
        self.loose.0 = self.loose.0.saturating_add(lines);
        self.loose.1 += 1;
        if !self.may_be_pasted() {
            for hit in std::mem::take(&mut self.pasted) {
                self.hits.add(hit);
            }
        }
    }

    fn may_be_pasted(&self) -> bool {
        self.loose.0 <= PASTED_LINES && self.loose.1 <= PASTED_FILES
    }

    /// Notes when a node came up.
    pub(super) fn booted(&mut self, node: &str, at: DateTime<Utc>) {
        let known = self.boots.entry(node.to_owned()).or_insert(at);
        *known = at.max(*known);
    }

    /// Takes how a log ends.
    pub(super) fn end(&mut self, path: &str, worth: Worth, facts: Vec<AnyFact>) {
        if facts.is_empty() {
            return;
        }
        let rank = (Reverse(worth), path.to_owned());
        let bytes = facts.iter().map(AnyFact::weight).sum::<usize>() + path.len();
        self.ends.add(rank, bytes, facts);
    }

    /// Takes what was recognised in a text.
    pub(super) fn pieces(&mut self, path: &str, pieces: Pieces) {
        if !pieces.is_empty() {
            self.pieces
                .add(path.to_owned(), pieces.weight() + path.len(), pieces);
        }
    }

    /// Hands over what was recognised in a text.
    pub(super) fn take_pieces(&mut self, path: &String) -> Option<Pieces> {
        self.pieces.take(path)
    }

    /// Names what was left out.
    pub(super) fn losses(&self) -> impl Iterator<Item = Problem> {
        let ends = self.ends.left_out();
        let ends = (ends > 0).then(|| {
            format!("the ends of {ends} logs were left out, the gravest lines were kept: the input holds more than are evaluated together")
        });
        let lines = self.packets.left_out() + self.driver.left_out();
        let lines = lines + self.host.left_out() + self.more_lines;
        let lines = (lines > 0).then(|| {
            format!("{lines} different lines about packets, the NVIDIA driver and hosts were left out: the input holds more than are evaluated together")
        });
        let texts = self.pieces.left_out();
        let texts = (texts > 0).then(|| {
            format!("tables and objects in {texts} texts were left out, the last by their paths: the input holds more than are evaluated together")
        });
        let hits = self.hits.lowered().map(|most| {
            format!("of each message only the first {most} kinds of lines were kept: the input holds more different messages than are evaluated together")
        });
        let all = [ends, lines, texts, hits].into_iter().flatten();
        all.map(|text| Problem {
            place: Place::default(),
            text,
        })
    }

    /// Packets that kernels logged; afterwards none is known.
    pub(super) fn take_packets(&mut self) -> Vec<PacketLine> {
        let packets = std::mem::replace(&mut self.packets, Ranked::new(0));
        packets.finish().collect()
    }

    /// States what logs say of their nodes and how they end; afterwards nothing of it is known.
    pub(super) fn state(&mut self, packets: Vec<PacketLine>, facts: &mut Facts) {
        let ends = std::mem::replace(&mut self.ends, Ranked::new(0));
        ends.finish().flatten().for_each(|fact| facts.add(fact));
        let driver = std::mem::replace(&mut self.driver, Ranked::new(0));
        state_all(driver.finish().collect(), facts);
        state_all(packets, facts);
        let host = std::mem::replace(&mut self.host, Ranked::new(0));
        state_all(host.finish().collect(), facts);
    }

    /// All hits.
    pub(super) fn into_hits(mut self) -> Vec<Hit> {
        for mut hit in self.pasted {
            // A person chose these lines: that they were said is what the person says.
            if hit.scattered && matches!(hit.voice, Voice::Note | Voice::Bare) {
                hit.voice = Voice::Spoken;
            }
            hit.scattered = false;
            self.hits.add(hit);
        }
        self.hits.finish(&self.boots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Fact;
    use crate::facts::failing::LogEnd;

    fn end(at: usize) -> (String, Grade, AnyFact) {
        let path = format!("cluster-resources/pods/logs/shop/web-{at}/web.log");
        let grade = match at % 10 {
            0 => Grade::Fatal,
            _ => Grade::Plain,
        };
        let data = LogEnd {
            grade,
            line: "x".repeat(600),
            ..LogEnd::default()
        };
        let place = Place {
            path: path.as_str().into(),
            line: Some(1),
        };
        let fact = Fact {
            data,
            place,
            text: "x".repeat(600).into(),
            at: None,
        };
        (path, grade, fact.into())
    }

    /// The last words that are kept, with what is said of the others.
    fn kept(order: impl Iterator<Item = usize>) -> (Vec<(String, Grade)>, Vec<Problem>) {
        let mut settled = Settled::new(Budget::of(0));
        for (path, grade, fact) in order.map(end) {
            settled.end(&path, (false, grade), vec![fact]);
        }
        let losses = settled.losses().collect();
        let mut facts = Facts::default();
        settled.state(Vec::new(), &mut facts);
        facts.sort();
        let ends = facts.table::<LogEnd>().iter();
        let ends = ends.map(|one| (one.place.path.to_string(), one.data.grade));
        (ends.collect(), losses)
    }

    #[test]
    fn of_too_many_logs_the_gravest_ends_are_kept_and_the_others_counted() {
        let (few, none) = kept(0..500);
        assert_eq!((few.len(), none.len()), (500, 0));
        let (forward, losses) = kept(0..5000);
        assert_eq!((forward.clone(), losses.clone()), kept((0..5000).rev()));
        let fatal = forward.iter().filter(|(_, grade)| *grade == Grade::Fatal);
        assert_eq!(fatal.count(), 500, "none of the grave ones is lost");
        assert!((501..3000).contains(&forward.len()), "{}", forward.len());
        let left = format!("the ends of {} logs were left out", 5000 - forward.len());
        assert!(losses[0].text.starts_with(&left), "{losses:?}");
    }

    #[test]
    fn lines_that_a_person_pasted_are_spoken_and_of_a_heap_of_texts_stay_what_they_are() {
        use crate::lines::{Channel, Origin};
        use crate::scan::patterns::{Expression, LinePattern, Patterns};

        let patterns = Patterns::new(vec![LinePattern {
            regex: Expression::new("lost item"),
            channels: Vec::new(),
            speaker: None,
            nature: None,
        }]);
        let voices = |files: u32| {
            let mut settled = Settled::new(Budget::default());
            for file in 0..files {
                let path = format!("{file}.txt");
                let found = patterns.search(&Origin::of(&path, Channel::Text), b"lost item\n");
                settled.loose(1);
                found
                    .hits
                    .into_iter()
                    .for_each(|hit| settled.loose_hit(hit));
            }
            let hits = settled.into_hits();
            let hit = hits.first().cloned().unwrap();
            (hits.len(), hit.count, hit.voice, hit.scattered)
        };
        assert_eq!(voices(40), (1, 40, Voice::Spoken, false));
        assert_eq!(voices(41), (1, 41, Voice::Bare, true));
    }
}
