//! The pieces of an entry of lines, put together in their order while others are still read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use casefile_bundle::BundlePath;

use super::budget::Budget;
use super::dated::Cited;
use super::hits::{Held, Hits};
use super::merge::{merge_alike, shift_place};
use super::pasted::Pieces;
use super::patterns::{Found, Hit};
use super::settled::{Lines, PASTED_LINES, Settled};
use super::spill::Kept;
use super::starts::{Boot, Starts};
use crate::dress::document::Skipped;
use crate::facts::AnyFact;
use crate::ledger::joined::Joined;
use crate::ledger::tail::Tail;
use crate::model::Problem;
use crate::parsers::{DriverLine, HostLine, PacketLine, Repeated, Statement};

/// Different lines of one kind that are kept of one entry.
const LINES_OF_ENTRY: usize = 5000;

/// What the lines of a piece gave.
#[derive(Default)]
pub(super) struct Searched {
    pub(super) found: Found,
    /// The newest boot that any hit names, also of those that were let go.
    pub(super) newest: Option<Boot>,
    /// What the log ends with, as far as the piece goes.
    pub(super) tail: Tail,
    /// Newlines in the piece.
    pub(super) lines: u32,
    pub(super) facts: Vec<AnyFact>,
    pub(super) problems: Vec<Problem>,
    /// Lines that nobody said, and that were not searched.
    pub(super) skipped: Skipped,
    /// The entry is text of unknown origin.
    pub(super) loose: bool,
    /// Pieces recognised in a text that came in one stretch.
    pub(super) pieces: Pieces,
    /// Bytes kept for a reader of the whole entry.
    pub(super) kept: Kept,
    /// The entry is over the limit for being kept.
    pub(super) too_large: bool,
}

/// An entry's path in the input, and ours.
type Paths = (BundlePath, String);

/// Entries of which some pieces were read.
pub(super) type Opened = Mutex<BTreeMap<Paths, Arc<Mutex<Opening>>>>;

/// An entry of which some pieces were read.
#[derive(Default)]
pub(super) struct Opening {
    assembly: Assembly,
    /// The next piece, and those behind it that came before it.
    next: u32,
    waiting: BTreeMap<u32, Searched>,
    /// The number of the last piece.
    last: Option<u32>,
}

impl Opening {
    /// Takes a piece; gives the entry once it is complete.
    fn piece(
        &mut self,
        (seq, is_last): (u32, bool),
        piece: Searched,
        budget: Budget,
    ) -> Option<Assembly> {
        self.waiting.insert(seq, piece);
        if is_last {
            self.last = Some(seq);
        }
        while let Some(piece) = self.waiting.remove(&self.next) {
            self.assembly.add(piece, budget);
            self.next = self.next.saturating_add(1);
        }
        let complete = self.last.is_some_and(|last| last < self.next);
        complete.then(|| std::mem::take(&mut self.assembly))
    }

    /// The entry as far as it was read.
    fn cut(mut self, budget: Budget) -> Assembly {
        for piece in std::mem::take(&mut self.waiting).into_values() {
            self.assembly.add(piece, budget);
        }
        self.assembly
    }
}

/// Takes a piece of an entry of several; gives the entry once it is complete.
pub(super) fn open(
    opened: &Opened,
    (held_as, path): (&BundlePath, &str),
    number: (u32, bool),
    piece: Searched,
    budget: Budget,
) -> Option<Assembly> {
    let key = (held_as.clone(), path.to_owned());
    let lock = || opened.lock().unwrap_or_else(PoisonError::into_inner);
    let opening = Arc::clone(lock().entry(key.clone()).or_default());
    let mut one = opening.lock().unwrap_or_else(PoisonError::into_inner);
    let complete = one.piece(number, piece, budget);
    if complete.is_some() {
        lock().remove(&key);
    }
    complete
}

/// Entries that were not read to their end.
pub(super) fn cut(opened: &Opened, budget: Budget) -> Vec<(Paths, Assembly)> {
    let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
    let opened = std::mem::take(&mut *opened).into_iter();
    let cut = opened.map(|(paths, opening)| {
        let mut opening = opening.lock().unwrap_or_else(PoisonError::into_inner);
        (paths, std::mem::take(&mut *opening).cut(budget))
    });
    cut.collect()
}

/// An entry as far as its pieces were added.
#[derive(Default)]
pub(super) struct Assembly {
    pub(super) lines: u32,
    pub(super) starts: Starts,
    /// Hits that stay single: objects are looked for in their text, and what these say takes the place of lines.
    single: Vec<Hit>,
    /// Hits of other entries, alike ones added up.
    hits: Option<Hits>,
    pub(super) end: Joined,
    packets: Vec<PacketLine>,
    driver: Vec<DriverLine>,
    host: Vec<HostLine>,
    more_lines: u64,
    pub(super) facts: Vec<AnyFact>,
    pub(super) problems: Vec<Problem>,
    pub(super) skipped: Skipped,
    pub(super) loose: bool,
    pub(super) pieces: Pieces,
    pub(super) kept: Vec<Kept>,
    pub(super) too_large: bool,
}

impl Assembly {
    /// Adds the next piece.
    pub(super) fn add(&mut self, piece: Searched, budget: Budget) {
        let before = self.lines;
        let mut found = piece.found;
        self.starts
            .add((found.came_up, before), (found.boot.take(), piece.newest));
        for mut fact in piece.facts {
            fact.shift(before);
            self.facts.push(fact);
        }
        for mut problem in piece.problems {
            shift_place(&mut problem.place, before);
            self.problems.push(problem);
        }
        for mut hit in found.hits {
            shift_place(&mut hit.place, before);
            shift_place(&mut hit.last_place, before);
            match &mut self.hits {
                Some(hits) => hits.add(hit),
                None => self.single.push(hit),
            }
        }
        self.more_lines += moved(found.packets, before, &mut self.packets)
            + moved(found.driver, before, &mut self.driver)
            + moved(found.host, before, &mut self.host);
        for (kind, lines) in piece.skipped {
            *self.skipped.entry(kind).or_default() += lines;
        }
        self.end.add(piece.tail);
        self.lines = self.lines.saturating_add(piece.lines);
        self.loose |= piece.loose;
        self.too_large |= piece.too_large;
        self.pieces.append(piece.pieces);
        if !piece.kept.is_empty() {
            self.kept.push(piece.kept);
        }
        // Objects are looked for in a text that is not too large.
        let stay_single = self.loose && !(self.too_large && self.lines > PASTED_LINES);
        if !stay_single && !self.single.is_empty() {
            let hits = self.hits.get_or_insert_with(|| Hits::of_entry(budget));
            std::mem::take(&mut self.single)
                .into_iter()
                .for_each(|hit| hits.add(hit));
        }
    }

    /// The places in it that may be cited, but for those of what was recognised in it.
    pub(super) fn cited(&mut self) -> Cited {
        let mut cited = Cited::default();
        for hit in &self.single {
            cited.place(&hit.place);
            cited.place(&hit.last_place);
        }
        self.packets
            .iter()
            .for_each(|line| cited.place(&line.place));
        self.driver.iter().for_each(|line| cited.place(&line.place));
        self.host.iter().for_each(|line| cited.place(&line.place));
        cited.facts(&mut self.facts);
        cited
    }

    /// Brings its hits home, marked with whether they were said before the machine's last start. `others` is what its
    /// objects say, which is marked before.
    pub(super) fn settle_hits(&mut self, path: &str, others: Vec<Hit>, settled: &mut Settled) {
        let marked = |Held { mut hit, far }: Held| {
            hit.earlier_boot = self.starts.is_earlier(path, &hit, far);
            hit
        };
        if let Some(hits) = self.hits.take() {
            let (held, of_pattern) = hits.into_held();
            settled.lower_to(of_pattern);
            held.for_each(|held| settled.hit(marked(held)));
        }
        let single = std::mem::take(&mut self.single).into_iter();
        let single = single.map(|hit| {
            let far = hit.last_place.line;
            marked(Held { hit, far })
        });
        let mut single: Vec<Hit> = single.chain(others).collect();
        if self.loose {
            single = without_doubles(single);
        }
        single.into_iter().for_each(|hit| match self.loose {
            true => settled.loose_hit(hit),
            false => settled.hit(hit),
        });
    }

    /// Brings home what its lines say of their node.
    pub(super) fn settle_lines(&mut self, path: &str, settled: &mut Settled) {
        settled.more_lines += self.more_lines
            + settle(&mut self.packets, path, &mut settled.packets)
            + settle(&mut self.driver, path, &mut settled.driver)
            + settle(&mut self.host, path, &mut settled.host);
    }
}

/// Takes the lines of a later piece of an entry, whose places count from the piece's beginning; how many different ones
/// were left out.
fn moved<S: Statement>(lines: Vec<Repeated<S>>, before: u32, into: &mut Vec<Repeated<S>>) -> u64 {
    for mut line in lines {
        shift_place(&mut line.place, before);
        into.push(line);
    }
    match into.len() > 2 * LINES_OF_ENTRY {
        true => first_lines(into),
        false => 0,
    }
}

/// Adds alike lines up and leaves out those behind the first ones; how many.
fn first_lines<S: Statement>(lines: &mut Vec<Repeated<S>>) -> u64 {
    *lines = merge_alike(std::mem::take(lines));
    lines.sort_by(|a, b| a.place.cmp(&b.place));
    let more = lines.len().saturating_sub(LINES_OF_ENTRY);
    lines.truncate(LINES_OF_ENTRY);
    more as u64
}

fn settle<S: Statement>(
    lines: &mut Vec<Repeated<S>>,
    path: &str,
    into: &mut Lines<Repeated<S>>,
) -> u64 {
    let mut lines = std::mem::take(lines);
    let more = first_lines(&mut lines);
    for (at, line) in lines.into_iter().enumerate() {
        let texts = line.text.len() + 2 * path.len() + line.node.len();
        let bytes = size_of::<Repeated<S>>() + texts;
        into.add((at, path.to_owned()), bytes, line);
    }
    more
}

/// Leaves out what a plain line of a text said where the object around that line says it too, and knows
/// what it is about.
fn without_doubles(mut hits: Vec<Hit>) -> Vec<Hit> {
    let about: BTreeSet<(usize, Option<u32>)> = hits
        .iter()
        .filter(|hit| !hit.subject.is_empty())
        .map(|hit| (hit.pattern, hit.place.line))
        .collect();
    hits.retain(|hit| !hit.subject.is_empty() || !about.contains(&(hit.pattern, hit.place.line)));
    hits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::{Channel, Origin};
    use crate::scan::patterns::{Expression, LinePattern, Patterns};

    /// What comes of a journal of many pieces, in each of which other items are lost.
    fn hits(order: impl Iterator<Item = u32>, is_cut: bool) -> Vec<Hit> {
        const PIECES: u32 = 40;
        let patterns = Patterns::new(vec![LinePattern {
            regex: Expression::new(r"lost (?P<what>\w+)"),
            channels: Vec::new(),
            speaker: None,
            nature: None,
        }]);
        let path = "nodes/n/journal/k.json";
        let origin = Origin::of(path, Channel::Journal);
        let opened = Opened::default();
        let held_as = BundlePath::new(path).unwrap();
        let mut complete = None;
        for seq in order {
            let boot = seq / 20;
            let lines = (0..30u32).map(|line| {
                let what = (seq * 30 + line) * 7919 % 900;
                format!("{{\"MESSAGE\":\"lost item{what}\",\"_BOOT_ID\":\"b{boot}\",\"__REALTIME_TIMESTAMP\":\"17950308{seq:02}000000\"}}\n")
            });
            let text: String = lines.collect();
            let mut found = patterns.search(&origin, text.as_bytes());
            let piece = Searched {
                newest: super::super::starts::newest(&found.hits),
                found: std::mem::take(&mut found),
                lines: 30,
                ..Searched::default()
            };
            let is_last = seq + 1 == PIECES && !is_cut;
            let number = (seq, is_last);
            complete = complete.or(open(
                &opened,
                (&held_as, path),
                number,
                piece,
                Budget::default(),
            ));
        }
        let mut rest = cut(&opened, Budget::default()).into_iter();
        let mut assembly = match complete {
            Some(assembly) => assembly,
            None => rest.next().unwrap().1,
        };
        assert!(rest.next().is_none());
        let settling = super::super::settled::Settling::new(Budget::default());
        assembly.settle_hits(path, Vec::new(), &mut settling.lock());
        settling.take(Budget::default()).into_hits()
    }

    #[test]
    fn pieces_come_to_the_same_in_whatever_order_they_are_read() {
        let forward = hits(0..40, false);
        assert_eq!(forward.len(), 400);
        assert_eq!(hits((0..40).rev(), false), forward);
        assert_eq!(hits((0..40).map(|at| at * 7 % 40), false), forward);
        assert_eq!(hits(0..40, true), forward, "cut at the end");
        let twice = forward.iter().find(|hit| hit.count == 2).unwrap();
        assert!(!twice.earlier_boot && twice.place.line < twice.last_place.line);
        let earlier = |hit: &&Hit| hit.earlier_boot;
        assert!(
            forward
                .iter()
                .find(earlier)
                .is_some_and(|hit| hit.boot == "b0")
        );
    }
}
