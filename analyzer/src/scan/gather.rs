//! The pieces of entries put together again, with everything that they gave.

use std::collections::BTreeMap;

use casefile_bundle::{BundlePath, Entry, Summary, entry};
use chrono::{DateTime, Utc};

use super::ceiling::Ceiling;
use super::kube_list::Bounded;
use super::merge::{
    merge_hits, moved, shift, shift_place, state_all, unplaced_pods, without_doubles,
};
use super::pasted::{self, Origins, Pieces};
use super::patterns::{Hit, Patterns};
use super::sayings::Saying;
use super::sink::{Out, Sink};
use super::spill::Spill;
use std::collections::BTreeSet;

use super::{Documents, Router, Scanned, guarded, joined, kube_list, leftovers, node_of};
use crate::dress::Voice;
use crate::dress::document::Skipped;
use crate::facts::Facts;
use crate::layouts::{Part, Plan, Target};
use crate::ledger::joined::Joined;
use crate::model::{Place, Problem};
use crate::parsers::{Document, DriverLine, HostLine, PacketLine, Parsed, Read};

/// What a person pastes has no more lines of unknown origin, and no more files, than this.
const PASTED_LINES: u32 = 400;
const PASTED_FILES: usize = 40;

/// Puts the pieces of entries together again.
pub(super) struct Gather<'a> {
    pub(super) patterns: &'a Patterns,
    pub(super) router: &'a Router,
    pub(super) spill: &'a Spill,
    /// What is kept of what objects of lists say.
    pub(super) ceiling: Ceiling,
    /// Facts of lists so far.
    pub(super) listed: usize,
    pub(super) facts: Facts,
    pub(super) hits: Vec<Hit>,
    pub(super) packets: Vec<PacketLine>,
    pub(super) driver: Vec<DriverLine>,
    pub(super) host: Vec<HostLine>,
    pub(super) documents: Documents,
    pub(super) kept: usize,
    pub(super) problems: Vec<Problem>,
    pub(super) paths: Vec<String>,
    pub(super) pasted: Vec<pasted::PastedEntry>,
    pub(super) origins: Origins,
    /// Lines that nobody said.
    pub(super) skipped: Skipped,
    /// When each node last came up.
    pub(super) boots: BTreeMap<String, DateTime<Utc>>,
    /// Lines and files of unknown origin.
    pub(super) loose: (u32, usize),
    /// Entries of ours that other texts stand for.
    pub(super) replaced: BTreeSet<String>,
}

impl<'a> Gather<'a> {
    pub(super) fn new(patterns: &'a Patterns, router: &'a Router, spill: &'a Spill) -> Self {
        Self {
            patterns,
            router,
            spill,
            ceiling: Ceiling::default(),
            listed: 0,
            facts: Facts::default(),
            hits: Vec::new(),
            packets: Vec::new(),
            driver: Vec::new(),
            host: Vec::new(),
            documents: Documents::new(),
            kept: 0,
            problems: Vec::new(),
            paths: Vec::new(),
            pasted: Vec::new(),
            origins: Origins::new(),
            skipped: Skipped::new(),
            boots: BTreeMap::new(),
            loose: (0, 0),
            replaced: BTreeSet::new(),
        }
    }

    pub(super) fn sink(&self) -> Sink<'a> {
        Sink {
            patterns: self.patterns,
            router: self.router,
            uids: false,
            plan: None,
            spill: self.spill,
            ceiling: None,
        }
    }

    /// Entries that hold these texts.
    pub(super) fn texts(&mut self, texts: &Documents) {
        let sink = self.sink();
        for (path, text) in texts {
            if let Some((path, out)) = sink.text(path, text) {
                self.entry(&path, vec![out]);
            }
        }
    }

    /// An entry as the input holds it, which may be one or several of ours.
    pub(super) fn foreign(&mut self, plan: &Plan, path: &BundlePath, pieces: Vec<Out>) {
        let place = |line| Place {
            path: path.to_string(),
            line: Some(line),
        };
        match plan.target(path.as_str()) {
            Some((_, target @ (Target::As(ours) | Target::Yaml(ours)))) => {
                if let Ok(known) = BundlePath::new(ours)
                    && !self.replaced.contains(ours)
                {
                    self.origins.insert(ours.clone(), place(1));
                    self.assembled(&known, pieces, matches!(target, Target::Yaml(_)));
                }
            }
            Some((capture, Target::Split(split))) => {
                let mut bytes = Vec::with_capacity(kept(&pieces));
                let too_large = pieces.iter().any(|piece| piece.too_large);
                let mut lost = false;
                for piece in pieces {
                    lost |= !self.spill.take(piece.kept, &mut bytes);
                }
                self.lost(path.as_str(), lost);
                if too_large {
                    let text =
                        "is larger than what is taken apart (64 MiB); only its beginning was read";
                    self.problem(path.as_str(), text);
                }
                let text = text_of(bytes);
                let parts = split(capture, path.as_str(), &text);
                drop(text);
                for part in parts {
                    self.part(part, place);
                }
            }
            Some((_, Target::Loose)) | None => {
                if !self.replaced.contains(path.as_str()) {
                    self.entry(path, pieces);
                }
            }
            Some((_, Target::Double | Target::Unknown)) => {}
        }
    }

    fn part(&mut self, part: Part, place: impl Fn(u32) -> Place) {
        if self.replaced.contains(&part.path) {
            return;
        }
        let sink = self.sink();
        if let Some((path, out)) = sink.text(&part.path, &part.text) {
            self.origins.insert(part.path, place(part.line));
            self.entry(&path, vec![out]);
        }
    }

    pub(super) fn entry(&mut self, path: &BundlePath, pieces: Vec<Out>) {
        self.assembled(path, pieces, false);
    }

    /// Puts an entry together; `yaml` where it holds as YAML what we hold as JSON.
    fn assembled(&mut self, path: &BundlePath, pieces: Vec<Out>, yaml: bool) {
        let path = path.as_str();
        self.paths.push(path.to_owned());
        let mut lines_before = 0u32;
        let mut text = Vec::with_capacity(kept(&pieces));
        let mut too_large = false;
        if pieces.iter().any(|piece| piece.loose) {
            self.loose.1 += 1;
        }
        let mut end = Joined::default();
        let begun = pieces.first().and_then(|piece| piece.list);
        let ended = pieces.last().and_then(|piece| piece.list);
        if begun.is_some_and(|(begins, _)| begins) && ended.is_some_and(|(_, ends)| !ends) {
            let text = "ends before the end of its list; objects may be missing from it";
            self.problem(path, text);
        }
        let first_hit = self.hits.len();
        let mut came_up = None;
        let (mut boot, mut let_go) = (None, None);
        let (mut lost, mut left_out) = (false, None);
        for mut piece in pieces {
            lost |= !self.read_later(path, &mut piece);
            if self.is_over(&mut piece) {
                left_out.get_or_insert(lines_before.saturating_add(1));
            }
            if let Some((line, at)) = piece.found.came_up {
                came_up = Some((line.saturating_add(lines_before), at));
            }
            boot = piece.found.boot.or(boot);
            let_go = [let_go, piece.boot]
                .into_iter()
                .flatten()
                .max_by_key(|(_, at)| *at);
            let mut parsed = piece.parsed;
            shift(&mut parsed, lines_before);
            self.parsed(parsed);
            for mut hit in piece.found.hits {
                shift_place(&mut hit.place, lines_before);
                shift_place(&mut hit.last_place, lines_before);
                self.hits.push(hit);
            }
            let said = piece.said.into_iter();
            let hits = |one: Saying| one.hits(self.patterns, &self.ceiling, lines_before);
            self.hits.extend(said.flat_map(hits));
            moved(piece.found.packets, lines_before, &mut self.packets);
            moved(piece.found.driver, lines_before, &mut self.driver);
            moved(piece.found.host, lines_before, &mut self.host);
            self.pieces(piece.pieces);
            if piece.loose {
                self.loose.0 = self.loose.0.saturating_add(piece.lines);
            }
            for (kind, lines) in piece.skipped {
                *self.skipped.entry(kind).or_default() += lines;
            }
            end.add(piece.tail);
            lines_before = lines_before.saturating_add(piece.lines);
            too_large |= piece.too_large;
            lost |= !self.spill.take(piece.kept, &mut text);
        }
        self.lost(path, lost);
        self.left_out(path, left_out);
        let boots = let_go.into_iter().chain(boot);
        self.mark_boots(path, first_hit, came_up.as_ref(), boots);
        let is_pod_log = path.starts_with(entry::POD_LOGS);
        for fact in end.facts(path, is_pod_log) {
            self.facts.add(fact);
        }
        if too_large {
            self.too_large(path);
        } else if !text.is_empty() {
            self.whole(path, text, yaml);
        }
    }

    fn whole(&mut self, path: &str, bytes: Vec<u8>, yaml: bool) {
        let read = self.router.parser(path).map(|parser| parser.read);
        let is_kept = !matches!(read, Some(Read::Items(_) | Read::Loose));
        if is_kept && self.kept.saturating_add(bytes.len()) > self.spill.budget().kept() {
            let text = "was left out: the files kept in memory reached their limit";
            return self.problem(path, text);
        }
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let line = 1 + memchr::memchr_iter(b'\n', &error.as_bytes()[..at]).count();
                self.problems.push(Problem {
                    place: Place {
                        path: path.to_owned(),
                        line: u32::try_from(line).ok(),
                    },
                    text: "holds bytes that are not UTF-8; they are shown as \u{fffd}".into(),
                });
                String::from_utf8_lossy(error.as_bytes()).into_owned()
            }
        };
        let document = Document {
            path,
            node: node_of(path),
            text: &text,
        };
        if yaml {
            let room = self.room();
            let list: Bounded = guarded("yaml", path, || {
                kube_list::parse_yaml(self.router, path, &text, room)
            });
            return self.list(path, list);
        }
        match self
            .router
            .parser(path)
            .map(|parser| (parser.id, parser.read))
        {
            Some((id, Read::Whole(parse))) => {
                let parsed = guarded(id, path, || parse(&document));
                self.parsed(parsed);
            }
            Some((id, Read::Items(parse))) => {
                let room = self.room();
                let list: Bounded = guarded(id, path, || kube_list::parse(&document, parse, room));
                return self.list(path, list);
            }
            Some((_, Read::Loose)) => {
                self.pieces(pasted::read(self.router, path, &text));
                return;
            }
            _ => {}
        }
        self.kept += text.len();
        self.documents.insert(path.to_owned(), text);
    }

    fn pieces(&mut self, pieces: Pieces) {
        for parsed in pieces.parsed {
            self.parsed(parsed);
        }
        self.pasted.extend(pieces.entries);
        for (list, place) in pieces.lists {
            self.origins.entry(list).or_insert(place);
        }
    }

    /// Gives pasted pieces of nodes their places, once it is known what the node is called.
    fn place_pasted(&mut self) {
        let node = pasted::node_name(&self.facts);
        for (entry, number) in std::mem::take(&mut self.pasted).into_iter().zip(1usize..) {
            let placed = pasted::place(self.router, entry, &node, number);
            let known = self.documents.get(&placed.path);
            if self.paths.contains(&placed.path) || known.is_some() {
                if known.is_none_or(|known| known.trim() != placed.text.trim()) {
                    self.problems.push(Problem {
                        text: format!(
                            "holds {} once more and with another content; only the first is evaluated",
                            placed.path.rsplit('/').next().unwrap_or(&placed.path)
                        ),
                        place: placed.origin,
                    });
                }
                continue;
            }
            self.parsed(placed.parsed);
            self.kept += placed.text.len();
            if self.kept <= self.spill.budget().kept() {
                self.documents.insert(placed.path.clone(), placed.text);
            }
            let origin = pasted::original(&self.origins, &placed.origin);
            let origin = origin.unwrap_or(placed.origin);
            self.origins.insert(placed.path, origin);
        }
        // Kernel lines of a text belong to the node that the text is about.
        for packet in &mut self.packets {
            if packet.node.is_empty() {
                packet.node.clone_from(&node);
                let path = Entry::Node(&node, "pasted/kernel").path();
                self.origins
                    .entry(path)
                    .or_insert_with(|| packet.place.clone());
            }
        }
        for fact in pasted::unlisted_releases(&self.documents, &self.facts) {
            self.facts.add(fact);
        }
    }

    pub(super) fn parsed(&mut self, parsed: Parsed) {
        for fact in parsed.facts {
            self.facts.add(fact);
        }
        self.problems.extend(parsed.problems);
        let sayings = parsed.said.into_iter();
        let sayings = sayings.filter_map(|said| Saying::of(self.patterns, said));
        let hits = sayings.flat_map(|one| one.hits(self.patterns, &self.ceiling, 0));
        self.hits.extend(hits);
    }

    pub(super) fn problem(&mut self, path: &str, text: &str) {
        self.problems.push(Problem {
            place: Place {
                path: path.to_owned(),
                line: None,
            },
            text: text.to_owned(),
        });
    }

    pub(super) fn finish(mut self, summary: Summary) -> Scanned {
        self.place_pasted();
        state_all(self.driver, &mut self.facts);
        state_all(self.packets, &mut self.facts);
        state_all(self.host, &mut self.facts);
        self.facts.sort();
        let again = unplaced_pods(&self.facts);
        if !again.is_empty() {
            self.facts = self.facts.kept(&|place: &Place| !again.contains(place));
        }
        self.problems.sort();
        if self.loose.0 <= PASTED_LINES && self.loose.1 <= PASTED_FILES {
            // A person chose these lines: that they were said is what the person says.
            for hit in &mut self.hits {
                if hit.scattered && matches!(hit.voice, Voice::Note | Voice::Bare) {
                    hit.voice = Voice::Spoken;
                }
                hit.scattered = false;
            }
        }
        for hit in &mut self.hits {
            let booted = self.boots.get(node_of(&hit.place.path));
            hit.earlier_boot |= booted
                .zip(hit.last)
                .is_some_and(|(booted, last)| last < *booted);
        }
        Scanned {
            summary,
            facts: self.facts,
            hits: merge_hits(without_doubles(self.hits)),
            documents: self.documents,
            problems: self.problems,
            paths: self.paths,
            origins: self.origins,
            homes: joined::Homes::new(),
            leftovers: leftovers::Leftovers::new(),
            skipped: self.skipped,
            plan: Plan::default(),
            replayed: false,
        }
    }
}

/// How many bytes of an entry wait.
fn kept(pieces: &[Out]) -> usize {
    pieces.iter().map(|piece| piece.kept.len()).sum()
}

/// Bytes as a text, without a copy where they are one.
fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
