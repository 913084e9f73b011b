//! What happens to one piece of an entry, on a worker thread.

use std::borrow::Cow;
use std::collections::BTreeSet;

use casefile_bundle::{BundlePath, EntryInfo, Piece, PieceSink};

use super::assembly::Searched;
use super::lines::Origin;
use super::out::{Given, Out};
use super::pasted;
use super::patterns::{Found, Patterns};
use super::settled::Settling;
use super::spill::Spill;
use super::starts::{self, Boot};
use super::unwrap::Heard;
use super::{Router, clean, faults, indented, joined, kube_list, manual, sayings, typing};
use crate::dress::document;
use crate::layouts::{Plan, Target};
use crate::ledger::tail::{self, PieceOfLog};
use crate::lines::json_file;
use crate::loose;
use crate::parsers::{Channel, Item, Parsed, Read, SMALL};

/// An entry that is read as a whole may hold this much, in bytes.
const WHOLE_LIMIT: u64 = 16 << 20;

/// A text that is taken apart into entries or objects may hold this much, in bytes.
pub(super) const SPLIT_LIMIT: u64 = 64 << 20;

/// Routes pieces.
pub(super) struct Sink<'a> {
    pub(super) patterns: &'a Patterns,
    pub(super) router: &'a Router,
    /// Several bundles may hold one object, so objects are told apart.
    pub(super) uids: bool,
    /// What entries of another tool's capture are.
    pub(super) plan: Option<&'a Plan>,
    /// Where texts wait for the end of the reading.
    pub(super) spill: &'a Spill,
    /// Where entries of lines go.
    pub(super) settling: &'a Settling,
    /// Paths of entries that do not count.
    pub(super) passes_over: &'a (dyn Fn(&str) -> bool + Sync),
}

impl PieceSink for Sink<'_> {
    type Out = Given;

    fn piece(&self, piece: &Piece<'_>) -> Option<Given> {
        let target = self
            .plan
            .and_then(|plan| plan.target(piece.entry.path.as_str()));
        match target {
            Some((_, target)) => self.foreign(piece, target),
            None => self.read(piece, &piece.entry.path),
        }
        .map(Given::from)
    }
}

impl Sink<'_> {
    /// An entry of another tool's capture.
    fn foreign(&self, piece: &Piece<'_>, target: &Target) -> Option<Out> {
        match target {
            Target::As(ours) => {
                let entry = EntryInfo {
                    path: BundlePath::new(ours).ok()?,
                    ..piece.entry.clone()
                };
                let ours = Piece {
                    entry: &entry,
                    ..*piece
                };
                self.read(&ours, &piece.entry.path)
            }
            Target::Yaml(ours) => self.yaml(piece, ours),
            Target::Split(_) => {
                let mut out = Out::default();
                self.keep(piece, SPLIT_LIMIT, &mut out);
                Some(out)
            }
            Target::Loose => self.loose(piece, &piece.entry.path),
            Target::Double | Target::Unknown => Some(Out::default()),
        }
    }

    /// An entry of ours, which the input may hold under another path.
    fn read(&self, piece: &Piece<'_>, held_as: &BundlePath) -> Option<Out> {
        let path = piece.entry.path.as_str();
        if (self.passes_over)(path) {
            return Some(Out::default());
        }
        let read = self.router.parser(path).map(|parser| parser.read);
        match read {
            Some(Read::Lines(channel)) => {
                return self.settle(piece, held_as, self.searched(piece, channel));
            }
            Some(Read::Loose) => return self.loose(piece, held_as),
            _ => {}
        }
        let mut out = Out {
            lines: newlines(piece.bytes),
            ..Out::default()
        };
        match read {
            Some(Read::Items(parse)) => {
                out.indent = self.indent(piece, held_as);
                if !self.uids && self.spill.is_crowded() {
                    out.later = self.spill.keep(piece.bytes);
                    out.list = Some(kube_list::ends(piece.bytes));
                } else if !self.items(path, piece.bytes, parse, &mut out) {
                    self.keep(piece, SPLIT_LIMIT, &mut out);
                }
            }
            Some(Read::Small(_)) => self.keep(piece, SMALL as u64, &mut out),
            Some(Read::Whole(_) | Read::Keep) => self.keep(piece, WHOLE_LIMIT, &mut out),
            // Nothing reads it, and there may be very many.
            _ => return Some(Out::default()),
        }
        Some(out)
    }

    /// What the lines of a log give.
    fn searched(&self, piece: &Piece<'_>, channel: Channel) -> Searched {
        let origin = Origin::of(piece.entry.path.as_str(), channel);
        let bytes = &*match origin.path.ends_with(".json") {
            true => Cow::Borrowed(piece.bytes),
            false => json_file::opened(piece.bytes),
        };
        let mut found = self.patterns.search(&origin, bytes);
        let lines = found.newlines;
        let newest = self.let_go(&mut found);
        let mut problems = match found.is_records {
            true => Vec::new(),
            false => faults::of_lines(&origin, bytes),
        };
        problems.extend(faults::of_split(&origin, piece));
        let ends = PieceOfLog {
            is_first: piece.seq == 0,
            is_last: piece.last,
            is_records: found.is_records,
            marks: found.marks,
        };
        Searched {
            found,
            newest,
            tail: tail::of_piece(&origin, bytes, lines, ends),
            lines,
            problems,
            ..Searched::default()
        }
    }

    /// Lets hits go that would not be kept at last; gives the newest boot that any names.
    ///
    /// Hits without a subject stay: whether they count depends on what else is said of their line.
    fn let_go(&self, found: &mut Found) -> Option<Boot> {
        let newest = starts::newest(&found.hits);
        let settled = self.settling.lock();
        found.hits.retain(|hit| {
            let (pattern, subject, speaker, captures) = hit.key();
            let admits = || settled.hits().admits(pattern, (subject, speaker, captures));
            hit.subject.is_empty() || admits()
        });
        newest
    }

    /// By how many blanks the objects of a list are indented that comes in several pieces.
    fn indent(&self, piece: &Piece<'_>, held_as: &BundlePath) -> Option<usize> {
        let is_whole = piece.seq == 0 && piece.last;
        let plan = self.plan.filter(|_| !is_whole && !self.uids)?;
        plan.indent(held_as.as_str())
    }

    /// Reads a stretch of a list with one item a line, or with items that are indented alike; false where it is laid out in
    /// another way.
    pub(super) fn items(
        &self,
        path: &str,
        bytes: &[u8],
        parse: fn(&Item<'_>) -> Parsed,
        out: &mut Out,
    ) -> bool {
        let (list, ends) = match out.indent {
            Some(indent) => {
                let (list, rest) = indented::parse(path, (bytes, indent), parse);
                out.kept = self.spill.keep(&rest);
                (list, (false, true))
            }
            None => match kube_list::parse_lines(path, bytes, parse) {
                Some(list) => (list, kube_list::ends(bytes)),
                None => return false,
            },
        };
        let mut parsed = list.parsed;
        // Searched here and let go: the messages of all events would fill the memory.
        let said = std::mem::take(&mut parsed.said);
        if self.uids {
            let hits = said.iter().flat_map(|said| self.patterns.search_said(said));
            out.hits = hits.collect();
        } else {
            out.said = sayings::of_piece(self.patterns, said);
        }
        out.cost = list.cost;
        self.spill.count(out.cost);
        out.parsed = parsed;
        out.list = Some(ends);
        if self.uids {
            out.uids = uids(bytes);
        }
        true
    }

    fn loose(&self, piece: &Piece<'_>, held_as: &BundlePath) -> Option<Out> {
        if (self.passes_over)(piece.entry.path.as_str()) {
            return Some(Out::default());
        }
        self.settle(piece, held_as, self.searched_loose(piece))
    }

    /// What the lines of a text of unknown origin give.
    fn searched_loose(&self, piece: &Piece<'_>) -> Searched {
        let path = piece.entry.path.as_str();
        let origin = Origin::of(path, Channel::Text);
        let clean = clean::clean(piece.bytes, piece.seq == 0);
        let whole = piece.seq == 0 && piece.last;
        let (mut bytes, mut told) = typing::mend(clean, whole, self.patterns);
        let lines = newlines(&bytes);
        let mut heard = self.heard(&origin, &bytes);
        let mut joined = BTreeSet::new();
        if let Some(better) = self.unwrapped(&origin, &bytes, whole, &heard) {
            bytes = Cow::Owned(better.text);
            heard = better.heard;
            joined = better.joined;
        }
        if let Some((text, notes)) = self.respelled(&origin, &bytes, whole, &heard) {
            bytes = Cow::Owned(text);
            heard = self.heard(&origin, &bytes);
            typing::add(&mut told, notes);
        }
        let (mended, slack) = typing::say(path, lines, &joined, &told);
        let mut searched = Searched {
            newest: self.let_go(&mut heard.found),
            found: heard.found,
            lines,
            facts: mended.into_iter().collect(),
            skipped: heard.skipped,
            loose: true,
            ..Searched::default()
        };
        if heard.silent {
            return searched;
        }
        searched.problems = faults::of_lines(&origin, &bytes);
        searched.problems.extend(slack);
        let split = faults::of_split(&origin, piece);
        searched.problems.extend(split);
        // Of a text only a part was searched.
        let ends = PieceOfLog::unsearched((piece.seq == 0, piece.last));
        searched.tail = tail::of_piece(&origin, &bytes, lines, ends);
        if whole {
            let text = String::from_utf8_lossy(&bytes);
            searched.pieces = pasted::read(path, &text);
            searched.pieces.timed = loose::timed(&text, &|_| true);
        } else if too_large(piece, loose::LIMIT) {
            searched.too_large = true;
        } else {
            searched.kept = self.spill.keep(&bytes);
        }
        searched
    }

    /// What is found in a text of unknown origin.
    pub(super) fn heard(&self, origin: &Origin<'_>, bytes: &[u8]) -> Heard {
        let said = manual::without_help(Cow::Borrowed(bytes));
        let (speech, skipped) = document::speech(origin.path, &said);
        Heard {
            found: self.patterns.search(origin, &speech),
            skipped,
            silent: speech.iter().all(|byte| *byte == b'\n'),
        }
    }

    pub(super) fn keep(&self, piece: &Piece<'_>, limit: u64, out: &mut Out) {
        if too_large(piece, limit) {
            out.too_large = true;
        } else {
            out.kept = self.spill.keep(piece.bytes);
        }
    }

    /// A text in place of an entry; none where the path cannot be one of a bundle.
    pub(super) fn text(&self, path: &str, text: &str) -> Option<(BundlePath, Given)> {
        let path = BundlePath::new(path).ok()?;
        let entry = EntryInfo {
            index: 0,
            path: path.clone(),
            size: u64::try_from(text.len()).ok(),
        };
        let piece = Piece {
            entry: &entry,
            seq: 0,
            last: true,
            bytes: text.as_bytes(),
            starts_line: true,
            ends_line: true,
        };
        Some((path, self.piece(&piece)?))
    }
}

fn newlines(bytes: &[u8]) -> u32 {
    u32::try_from(memchr::memchr_iter(b'\n', bytes).count()).unwrap_or(0)
}

fn uids(bytes: &[u8]) -> Vec<(u32, String)> {
    let lines = bytes.split(|byte| *byte == b'\n').zip(1u32..);
    lines
        .filter_map(|(line, number)| Some((number, joined::uid(line)?)))
        .collect()
}

/// Whether an entry is over a limit, as far as its size or the number of its pieces tells.
fn too_large(piece: &Piece<'_>, limit: u64) -> bool {
    // The size is what the archive says; the reader delivers no more than that. What was compressed has none, and
    // its pieces are of 256 KiB or, where they hold the rest of a line only, less.
    let pieces = u64::from(piece.seq) * (128 << 10);
    piece.entry.size.unwrap_or(pieces) > limit
}
