//! What happens to one piece of an entry, on a worker thread.

use std::borrow::Cow;
use std::collections::BTreeSet;

use casefile_bundle::{BundlePath, EntryInfo, Piece, PieceSink};

use super::ceiling::{Boot, Ceiling};
use super::lines::Origin;
use super::pasted::{self, Pieces};
use super::patterns::{Found, Patterns};
use super::sayings::Saying;
use super::spill::{Kept, Spill};
use super::unwrap::Heard;
use super::{Router, clean, faults, joined, kube_list, manual, typing};
use crate::dress::document::{self, Skipped};
use crate::layouts::{Plan, Target};
use crate::ledger::tail::{self, Tail};
use crate::loose;
use crate::parsers::{Channel, Item, Parsed, Read};

/// An entry that is read as a whole may hold this much, in bytes.
const WHOLE_LIMIT: u64 = 16 << 20;

/// A text that is taken apart into entries or objects may hold this much, in bytes.
const SPLIT_LIMIT: u64 = 64 << 20;

/// What one piece gave.
#[derive(Default)]
pub(super) struct Out {
    pub(super) parsed: Parsed,
    pub(super) found: Found,
    /// What objects of a list say.
    pub(super) said: Vec<Saying>,
    /// The newest boot that hits name which were let go.
    pub(super) boot: Option<Boot>,
    /// Pieces recognised in a text that came in one stretch.
    pub(super) pieces: Pieces,
    /// What the log ends with, as far as the piece goes.
    pub(super) tail: Tail,
    /// Newlines in the piece.
    pub(super) lines: u32,
    /// Bytes kept for a reader of the whole entry.
    pub(super) kept: Kept,
    /// A stretch of a list that is read when all else was: too many objects were in memory.
    pub(super) later: Kept,
    /// Of a list with one item a line: whether the piece begins it, and whether it ends it.
    pub(super) list: Option<(bool, bool)>,
    /// Lines that nobody said, and that were not searched.
    pub(super) skipped: Skipped,
    /// The entry is text of unknown origin.
    pub(super) loose: bool,
    /// The entry is over the limit for being kept.
    pub(super) too_large: bool,
    /// Objects of a list: their lines and uids, where they were asked for.
    pub(super) uids: Vec<(u32, String)>,
}

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
    /// Lets hits of logs go that would not be kept at last; none where not all that is read counts.
    pub(super) ceiling: Option<&'a Ceiling>,
}

impl PieceSink for Sink<'_> {
    type Out = Out;

    fn piece(&self, piece: &Piece<'_>) -> Option<Out> {
        let target = self
            .plan
            .and_then(|plan| plan.target(piece.entry.path.as_str()));
        match target {
            Some((_, target)) => self.foreign(piece, target),
            None => self.read(piece),
        }
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
                self.read(&Piece {
                    entry: &entry,
                    ..*piece
                })
            }
            Target::Yaml(ours) if piece.seq == 0 && piece.last && !self.spill.is_crowded() => {
                let text = String::from_utf8_lossy(piece.bytes);
                let list = kube_list::parse_yaml(self.router, ours, &text, usize::MAX);
                self.spill.count(list.parsed.count());
                Some(Out {
                    parsed: list.parsed,
                    // It is counted as one.
                    list: Some((false, true)),
                    ..Out::default()
                })
            }
            Target::Yaml(_) | Target::Split(_) => {
                let mut out = Out::default();
                self.keep(piece, SPLIT_LIMIT, &mut out);
                Some(out)
            }
            Target::Loose => {
                let mut out = Out::default();
                self.loose(piece, &mut out);
                Some(out)
            }
            Target::Double | Target::Unknown => Some(Out::default()),
        }
    }

    fn read(&self, piece: &Piece<'_>) -> Option<Out> {
        let path = piece.entry.path.as_str();
        let mut out = Out {
            lines: u32::try_from(memchr::memchr_iter(b'\n', piece.bytes).count()).unwrap_or(0),
            ..Out::default()
        };
        match self.router.parser(path).map(|parser| parser.read) {
            Some(Read::Lines(channel)) => {
                let origin = Origin::of(path, channel);
                out.found = self.patterns.search(&origin, piece.bytes);
                out.boot = self
                    .ceiling
                    .and_then(|ceiling| ceiling.let_go(&mut out.found));
                if !out.found.is_records {
                    out.parsed.problems = faults::of_lines(&origin, piece.bytes);
                }
                out.parsed.problems.extend(faults::of_split(&origin, piece));
                out.tail = tail::of_piece(&origin, piece.bytes, out.lines, piece.last);
            }
            Some(Read::Loose) => self.loose(piece, &mut out),
            Some(Read::Items(_)) if !self.uids && self.spill.is_crowded() => {
                out.later = self.spill.keep(piece.bytes);
                out.list = Some(kube_list::ends(piece.bytes));
            }
            Some(Read::Items(parse)) => {
                if !self.items(path, piece.bytes, parse, &mut out) {
                    self.keep(piece, SPLIT_LIMIT, &mut out);
                }
            }
            Some(Read::Whole(_) | Read::Keep) => self.keep(piece, WHOLE_LIMIT, &mut out),
            Some(Read::Skip) | None => {}
        }
        Some(out)
    }

    /// Reads a stretch of a list with one item a line; false where it is laid out in another way.
    pub(super) fn items(
        &self,
        path: &str,
        bytes: &[u8],
        parse: fn(&Item<'_>) -> Parsed,
        out: &mut Out,
    ) -> bool {
        let Some(mut parsed) = kube_list::parse_lines(path, bytes, parse) else {
            return false;
        };
        // Searched here and let go: the messages of all events would fill the memory.
        let said = std::mem::take(&mut parsed.said);
        if self.uids {
            let hits = said.iter().flat_map(|said| self.patterns.search_said(said));
            out.found.hits = hits.collect();
        } else {
            let sayings = said.into_iter();
            let sayings = sayings.filter_map(|said| Saying::of(self.patterns, said));
            out.said = sayings.collect();
        }
        self.spill.count(parsed.count());
        out.parsed = parsed;
        out.list = Some(kube_list::ends(bytes));
        if self.uids {
            out.uids = uids(bytes);
        }
        true
    }

    fn loose(&self, piece: &Piece<'_>, out: &mut Out) {
        let path = piece.entry.path.as_str();
        let origin = Origin::of(path, Channel::Text);
        let clean = clean::clean(piece.bytes, piece.seq == 0);
        let whole = piece.seq == 0 && piece.last;
        let (mut bytes, mut told) = typing::mend(clean, whole, self.patterns);
        out.lines = u32::try_from(memchr::memchr_iter(b'\n', &bytes).count()).unwrap_or(0);
        out.loose = true;
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
        out.found = heard.found;
        out.skipped = heard.skipped;
        let (mended, slack) = typing::say(path, out.lines, &joined, &told);
        out.parsed.facts.extend(mended);
        if heard.silent {
            return;
        }
        out.parsed.problems = faults::of_lines(&origin, &bytes);
        out.parsed.problems.extend(slack);
        out.parsed.problems.extend(faults::of_split(&origin, piece));
        out.tail = tail::of_piece(&origin, &bytes, out.lines, piece.last);
        if piece.seq == 0 && piece.last {
            out.pieces = pasted::read(self.router, path, &String::from_utf8_lossy(&bytes));
        } else if too_large(piece, loose::LIMIT) {
            out.too_large = true;
        } else {
            out.kept = self.spill.keep(&bytes);
        }
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

    fn keep(&self, piece: &Piece<'_>, limit: u64, out: &mut Out) {
        if too_large(piece, limit) {
            out.too_large = true;
        } else {
            out.kept = self.spill.keep(piece.bytes);
        }
    }

    /// A text in place of an entry; none where the path cannot be one of a bundle.
    pub(super) fn text(&self, path: &str, text: &str) -> Option<(BundlePath, Out)> {
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
