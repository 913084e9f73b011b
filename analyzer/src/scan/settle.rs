//! The end of an entry of lines: what it gave is brought home, so that nothing of it waits for the end of the reading.

use casefile_bundle::{BundlePath, Piece, entry};

use super::assembly::{self, Assembly, Searched};
use super::bounds;
use super::node_of;
use super::out::{Given, Out};
use super::pasted::{self, Pieces};
use super::patterns::Hit;
use super::sayings::Saying;
use super::settled::Worth;
use super::sink::Sink;
use super::spill::Kept;
use crate::facts::failing::{LogEnd, LogSpan};
use crate::facts::{AnyFact, FactType};
use crate::model::{Place, Problem};
use crate::parsers::Parsed;

impl Sink<'_> {
    /// Takes what a piece of an entry gave; gives what is left of the entry once all of it was read.
    pub(super) fn settle(
        &self,
        piece: &Piece<'_>,
        held_as: &BundlePath,
        searched: Searched,
    ) -> Option<Out> {
        let path = piece.entry.path.as_str();
        if piece.seq == 0 && piece.last {
            let mut assembly = Assembly::default();
            assembly.add(searched, self.spill.budget());
            return Some(self.finish(path, assembly));
        }
        let entry = (held_as, path);
        let number = (piece.seq, piece.last);
        let budget = self.spill.budget();
        let complete = assembly::open(&self.settling.open, entry, number, searched, budget)?;
        Some(self.finish(path, complete))
    }

    /// What is left of entries that were not read to their end.
    pub(super) fn cut(&self) -> Vec<(BundlePath, u32, Given)> {
        let cut = assembly::cut(&self.settling.open, self.spill.budget()).into_iter();
        let cut = cut.map(|((held_as, path), assembly)| {
            let out = self.finish(&path, assembly);
            (held_as, 0, out.into())
        });
        cut.chain(self.settling.lists.cut()).collect()
    }

    fn finish(&self, path: &str, mut assembly: Assembly) -> Out {
        let single = assembly.kept.is_empty();
        let mut pieces = std::mem::take(&mut assembly.pieces);
        let text = self.text_of(path, &mut assembly);
        if let Some(text) = &text {
            pieces = pasted::read(path, text);
        }
        let mut others = self.said_in(&mut pieces);
        for hit in others.iter_mut().filter(|_| single) {
            let line = hit.last_place.line;
            hit.earlier_boot = assembly.starts.is_earlier(path, hit, line);
        }
        let end = std::mem::take(&mut assembly.end);
        let grade = end.grade();
        let mut ends = end.facts(path, path.starts_with(entry::POD_LOGS));
        if text.is_some() || !pieces.timed.is_empty() {
            let mut cited = assembly.cited();
            others.iter().for_each(|hit| cited.place(&hit.place));
            cited.facts(&mut ends);
            pieces.date((path, text.as_deref()), cited);
        }
        let worth = (tells_of_trouble(&ends), grade);
        self.bring_home(path, &mut assembly, others, (worth, ends));
        self.settling.lock().pieces(path, pieces);
        Out {
            parsed: Parsed {
                facts: assembly.facts,
                problems: assembly.problems,
                ..Parsed::default()
            },
            ..Out::default()
        }
    }

    fn bring_home(
        &self,
        path: &str,
        assembly: &mut Assembly,
        others: Vec<Hit>,
        (worth, ends): (Worth, Vec<AnyFact>),
    ) {
        let mut settled = self.settling.lock();
        if assembly.loose {
            settled.loose(assembly.lines);
        }
        assembly.settle_hits(path, others, &mut settled);
        assembly.settle_lines(path, &mut settled);
        let node = node_of(path);
        if let Some(at) = assembly.starts.booted().filter(|_| !node.is_empty()) {
            settled.booted(node, at);
        }
        for (kind, lines) in std::mem::take(&mut assembly.skipped) {
            *settled.skipped.entry(kind).or_default() += lines;
        }
        settled.end(path, worth, ends);
    }

    /// The text of an entry that came in several pieces, if objects are to be looked for in it.
    fn text_of(&self, path: &str, assembly: &mut Assembly) -> Option<String> {
        let kept = std::mem::take(&mut assembly.kept);
        // A text of many megabytes that grows as it is put together takes twice its room.
        let length = kept.iter().map(Kept::len).sum();
        let (mut text, mut lost) = (Vec::with_capacity(length), false);
        for kept in kept {
            lost |= !self.spill.take(kept, &mut text);
        }
        let at = |line| Place {
            path: path.into(),
            line,
        };
        let problem = |text: &str| Problem {
            place: at(None),
            text: text.to_owned(),
        };
        if lost {
            assembly.problems.push(problem(bounds::LOST));
        }
        if assembly.too_large {
            assembly.problems.push(problem(bounds::LINES_ONLY));
            return None;
        }
        let (text, fault) = bounds::text(text, at);
        assembly.problems.extend(fault);
        (!text.is_empty()).then_some(text)
    }

    /// What the objects in a text say.
    fn said_in(&self, pieces: &mut Pieces) -> Vec<Hit> {
        let said = pieces.parsed.iter_mut();
        let said = said.flat_map(|parsed| std::mem::take(&mut parsed.said));
        let matching: Vec<Saying> = said
            .filter_map(|said| Saying::of(self.patterns, said))
            .collect();
        let settled = self.settling.lock();
        let hits = matching
            .into_iter()
            .flat_map(|one| one.hits(self.patterns, settled.hits(), 0));
        hits.collect()
    }
}

/// Whether ends of a log say more than how it ends.
fn tells_of_trouble(ends: &[AnyFact]) -> bool {
    let plain = [LogEnd::KIND, LogSpan::KIND];
    ends.iter().any(|fact| !plain.contains(&fact.kind()))
}
