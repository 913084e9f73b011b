//! The pieces of entries put together again, with everything that they gave.

use std::collections::BTreeSet;

use casefile_bundle::{BundlePath, Entry, Summary};

use super::bounds;
use super::kube_list::Bounded;
use super::merge::{shift, shift_place, unplaced_pods};
use super::out::Out;
use super::pasted::{self, Origins, Pieces};
use super::patterns::{Hit, Patterns};
use super::placed;
use super::sayings::Saying;
use super::settled::Settling;
use super::sink::{SPLIT_LIMIT, Sink};
use super::spill::Spill;
use super::{
    Documents, Router, Scanned, guarded, is_of_earlier_boot, joined, kube_list, leftovers, node_of,
};
use crate::facts::Facts;
use crate::layouts::{Part, Plan, Target};
use crate::model::{Place, Problem};
use crate::parsers::{Document, PacketLine, Parsed, Read, SMALL};

/// Puts the pieces of entries together again.
pub(super) struct Gather<'a> {
    pub(super) patterns: &'a Patterns,
    pub(super) router: &'a Router,
    pub(super) spill: &'a Spill,
    /// What entries of lines gave, and the hits of all.
    pub(super) settling: &'a Settling,
    /// Facts of lists so far.
    pub(super) listed: usize,
    pub(super) facts: Facts,
    pub(super) documents: Documents,
    pub(super) kept: usize,
    pub(super) problems: Vec<Problem>,
    pub(super) paths: Vec<String>,
    pub(super) pasted: Vec<pasted::PastedEntry>,
    pub(super) origins: Origins,
    /// Entries of ours that other texts stand for.
    pub(super) replaced: BTreeSet<String>,
}

impl<'a> Gather<'a> {
    pub(super) fn new(
        patterns: &'a Patterns,
        router: &'a Router,
        (spill, settling): (&'a Spill, &'a Settling),
    ) -> Self {
        Self {
            patterns,
            router,
            spill,
            settling,
            listed: 0,
            facts: Facts::default(),
            documents: Documents::new(),
            kept: 0,
            problems: Vec::new(),
            paths: Vec::new(),
            pasted: Vec::new(),
            origins: Origins::new(),
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
            settling: self.settling,
            passes_over: &|_| false,
        }
    }

    /// Entries that hold these texts.
    pub(super) fn texts(&mut self, texts: &Documents) {
        let sink = self.sink();
        for (path, text) in texts {
            if let Some((path, out)) = sink.text(path, text) {
                self.entry(&path, vec![out.into()]);
            }
        }
    }

    /// An entry as the input holds it, which may be one or several of ours.
    pub(super) fn foreign(&mut self, plan: &Plan, path: &BundlePath, pieces: Vec<Out>) {
        let place = |line| Place {
            path: path.as_str().into(),
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
                let (text, _) = bounds::text(bytes, |line| Place {
                    path: path.as_str().into(),
                    line,
                });
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
            self.entry(&path, vec![out.into()]);
        }
    }

    pub(super) fn entry(&mut self, path: &BundlePath, pieces: Vec<Out>) {
        self.assembled(path, pieces, false);
    }

    /// Puts an entry together; `yaml` where it holds as YAML what we hold as JSON.
    fn assembled(&mut self, path: &BundlePath, pieces: Vec<Out>, yaml: bool) {
        let path = &path.to_string();
        self.paths.push(path.clone());
        let mut lines_before = 0u32;
        // Of a list of which objects were cut out, what is left is known at last only.
        let waiting = kept(&pieces);
        let mut too_large = waiting as u64 > SPLIT_LIMIT;
        let mut text = Vec::with_capacity(if too_large { 0 } else { waiting });
        let begun = pieces.first().and_then(|piece| piece.list);
        let ended = pieces.last().and_then(|piece| piece.list);
        if begun.is_some_and(|(begins, _)| begins) && ended.is_some_and(|(_, ends)| !ends) {
            let text = "ends before the end of its list; objects may be missing from it";
            self.problem(path, text);
        }
        let (mut lost, mut left_out) = (false, None);
        for mut piece in pieces.into_iter().flat_map(Out::stretched) {
            lost |= !self.read_later(path, &mut piece);
            if self.is_over(&mut piece) {
                let begins = piece.begins;
                left_out.get_or_insert(begins.unwrap_or(lines_before.saturating_add(1)));
            }
            self.piece(path, &mut piece, lines_before);
            lines_before = lines_before.saturating_add(piece.lines);
            too_large |= piece.too_large;
            if !too_large {
                lost |= !self.spill.take(piece.kept, &mut text);
            }
        }
        let pieces = self.settling.lock().take_pieces(path);
        if let Some(pieces) = pieces {
            self.pieces(pieces);
        }
        self.lost(path, lost);
        self.left_out(path, left_out);
        if too_large {
            self.too_large(path);
        } else if !text.is_empty() {
            self.whole(path, text, yaml);
        }
    }

    /// Takes what a piece gave, before which so many lines of its entry stand.
    fn piece(&mut self, path: &str, piece: &mut Out, lines_before: u32) {
        let mut parsed = std::mem::take(&mut piece.parsed);
        shift(&mut parsed, lines_before);
        let mut hits = std::mem::take(&mut piece.hits);
        for hit in &mut hits {
            shift_place(&mut hit.place, lines_before);
            shift_place(&mut hit.last_place, lines_before);
        }
        let said = std::mem::take(&mut parsed.said).into_iter();
        let said = said.filter_map(|said| Saying::of(self.patterns, said));
        hits.extend(self.hits(said, 0));
        let said = std::mem::take(&mut piece.said).into_iter();
        hits.extend(self.hits(said, lines_before));
        self.settle(Some(path), hits);
        self.parsed(parsed);
    }

    /// The hits in what objects say.
    fn hits(&self, said: impl Iterator<Item = Saying>, lines_before: u32) -> Vec<Hit> {
        let hits = said.flat_map(|one| {
            let settled = self.settling.lock();
            one.hits(self.patterns, settled.hits(), lines_before)
        });
        hits.collect()
    }

    /// Brings hits of objects home; those of an entry are marked with whether it was written for an earlier boot.
    fn settle(&self, entry: Option<&str>, hits: Vec<Hit>) {
        let earlier_boot = entry.is_some_and(is_of_earlier_boot);
        let mut settled = self.settling.lock();
        for mut hit in hits {
            hit.earlier_boot |= earlier_boot;
            settled.hit(hit);
        }
    }

    fn whole(&mut self, path: &str, bytes: Vec<u8>, yaml: bool) {
        let read = self.router.parser(path).map(|parser| parser.read);
        if matches!(read, Some(Read::Small(_))) && bytes.len() > SMALL {
            return self.too_large(path);
        }
        let is_kept = !matches!(read, Some(Read::Items(_)));
        if is_kept && self.kept.saturating_add(bytes.len()) > self.spill.budget().kept() {
            let text = "was left out: the files kept in memory reached their limit";
            return self.problem(path, text);
        }
        let (text, fault) = bounds::text(bytes, |line| Place {
            path: path.into(),
            line,
        });
        self.problems.extend(fault);
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
            Some((id, Read::Whole(parse) | Read::Small(parse))) => {
                let parsed = guarded(id, path, || parse(&document));
                self.parsed(parsed);
            }
            Some((id, Read::Items(parse))) => {
                let room = self.room();
                let list: Bounded = guarded(id, path, || kube_list::parse(&document, parse, room));
                return self.list(path, list);
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
    fn place_pasted(&mut self, packets: &mut [PacketLine]) {
        let node = placed::node_name(&self.facts);
        for (entry, number) in std::mem::take(&mut self.pasted).into_iter().zip(1usize..) {
            let placed = placed::place(self.router, entry, &node, number);
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
        for packet in packets {
            if packet.node.is_empty() {
                packet.node.clone_from(&node);
                let path = Entry::Node(&node, "pasted/kernel").path();
                self.origins
                    .entry(path)
                    .or_insert_with(|| packet.place.clone());
            }
        }
        for fact in placed::unlisted_releases(&self.documents, &self.facts) {
            self.facts.add(fact);
        }
    }

    pub(super) fn parsed(&mut self, parsed: Parsed) {
        for fact in parsed.facts {
            self.facts.hold(fact);
        }
        self.problems.extend(parsed.problems);
        let said = parsed.said.into_iter();
        let hits = self.hits(said.filter_map(|said| Saying::of(self.patterns, said)), 0);
        self.settle(None, hits);
    }

    pub(super) fn problem(&mut self, path: &str, text: &str) {
        self.problems.push(Problem {
            place: Place {
                path: path.into(),
                line: None,
            },
            text: text.to_owned(),
        });
    }

    pub(super) fn finish(mut self, summary: Summary) -> Scanned {
        let losses: Vec<Problem> = self.settling.lock().losses().collect();
        self.problems.extend(losses);
        self.facts.settle();
        let mut packets = self.settling.lock().take_packets();
        self.place_pasted(&mut packets);
        let mut settled = self.settling.take(self.spill.budget());
        self.facts.settle();
        settled.state(packets, &mut self.facts);
        self.facts.sort();
        let again = unplaced_pods(&self.facts);
        if !again.is_empty() {
            self.facts = self.facts.kept(&|place: &Place| !again.contains(place));
        }
        self.problems.sort();
        Scanned {
            summary,
            facts: self.facts,
            documents: self.documents,
            problems: self.problems,
            paths: self.paths,
            origins: self.origins,
            homes: joined::Homes::new(),
            leftovers: leftovers::Leftovers::new(),
            skipped: std::mem::take(&mut settled.skipped),
            hits: settled.into_hits(),
            plan: Plan::default(),
            replayed: false,
        }
    }
}

/// How many bytes of an entry wait.
fn kept(pieces: &[Out]) -> usize {
    pieces.iter().map(|piece| piece.kept.len()).sum()
}
