//! Lines of a loose text that tell a time: of a log only those are kept that may date what is cited from it. A log of
//! megabytes tells a time in each of its lines, and they would push tables and objects of other texts out.

use std::ops::RangeInclusive;

use crate::facts::text::TimedLine;
use crate::facts::{AnyFact, Fact};
use crate::loose;
use crate::model::Place;
use crate::parsers::Parsed;

use super::pasted::Pieces;

/// A line that tells a time, its number from 1, and its text.
pub(super) type Timed = (TimedLine, u32, String);

/// Stretches of a text that something is cited from, with the lines above them that may date it.
#[derive(Default)]
pub(super) struct Cited(Vec<RangeInclusive<u32>>);

impl Cited {
    /// Adds a line.
    pub(super) fn place(&mut self, place: &Place) {
        if let Some(line) = place.line {
            self.lines(line..=line);
        }
    }

    /// Adds a stretch.
    pub(super) fn lines(&mut self, lines: RangeInclusive<u32>) {
        let from = lines.start().saturating_sub(TimedLine::REACH);
        self.0.push(from..=*lines.end());
    }

    /// Adds the places of facts.
    pub(super) fn facts(&mut self, facts: &mut [AnyFact]) {
        for fact in facts {
            fact.rewrite(&mut |place, _| self.place(place));
        }
    }

    /// Puts the stretches in order, without those inside others.
    fn settle(&mut self) {
        self.0
            .sort_unstable_by_key(|lines| (*lines.start(), *lines.end()));
        self.0.dedup_by(|next, before| {
            let overlaps = next.start() <= before.end();
            if overlaps {
                *before = *before.start()..=(*before.end()).max(*next.end());
            }
            overlaps
        });
    }

    fn holds(&self, line: u32) -> bool {
        let behind = self.0.partition_point(|lines| *lines.start() <= line);
        let before = behind.checked_sub(1).and_then(|at| self.0.get(at));
        before.is_some_and(|lines| lines.contains(&line))
    }
}

impl Pieces {
    /// States which lines tell a time, of those of a log the ones near what is cited. They are read from a text that came in
    /// several pieces; of one that came at once they are known.
    pub(super) fn date(&mut self, (path, text): (&str, Option<&str>), mut cited: Cited) {
        for parsed in &mut self.parsed {
            cited.facts(&mut parsed.facts);
        }
        self.entries
            .iter()
            .for_each(|entry| cited.lines(entry.lines()));
        cited.settle();
        let is_wanted = |line: u32| cited.holds(line);
        let mut timed = std::mem::take(&mut self.timed);
        match text {
            Some(text) => timed = loose::timed(text, &is_wanted),
            None => timed.retain(|(line, number, _)| line.row || is_wanted(*number)),
        }
        let facts = timed.into_iter().map(|(data, line, text)| {
            let place = Place {
                path: path.into(),
                line: Some(line),
            };
            AnyFact::new(Fact {
                place,
                text: text.into(),
                at: None,
                data,
            })
        });
        let facts: Vec<AnyFact> = facts.collect();
        if !facts.is_empty() {
            self.parsed.push(Parsed {
                facts,
                ..Parsed::default()
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_near_what_is_cited_are_kept_and_rows_all() {
        let log = |number: u32| format!("2026-11-30T10:00:00Z step {number}\n");
        let mut text: String = (1..=200).map(log).collect();
        text += "  Warning  Failed  5m  kubelet  no\n";
        let mut cited = Cited::default();
        cited.lines(100..=100);
        cited.lines(90..=95);
        let mut pieces = Pieces::default();
        pieces.date(("a.log", Some(&text)), cited);
        let mut lines = Vec::new();
        for fact in &mut pieces.parsed[0].facts {
            fact.rewrite(&mut |place, _| lines.extend(place.line));
        }
        let wanted: Vec<u32> = (50..=100).chain([201]).collect();
        assert_eq!(lines, wanted);
    }
}
