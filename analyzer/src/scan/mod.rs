//! The one pass over a bundle: routes every entry to its parser and every line to the patterns.

mod again;
mod clean;
mod faults;
pub mod joined;
pub mod kube_list;
pub mod leftovers;
pub mod lines;
pub mod literals;
pub mod pasted;
pub mod patterns;
mod sink;

use std::collections::{BTreeMap, BTreeSet};

use casefile_bundle::{BundlePath, Input, Limits, OpenError, Summary};
use globset::{GlobSet, GlobSetBuilder};

use crate::facts::{AnyFact, Fact, FactType, Facts};
use crate::model::{Place, Problem};
use crate::parsers::{
    Document, DriverLine, HostLine, PARSERS, PacketLine, Parsed, Parser, Read, Repeats,
};
use pasted::{Origins, Pieces};
use patterns::{Hit, Patterns};
use sink::{Out, Sink};

/// Documents kept as text for derivers may hold this much together, in bytes.
const KEPT_TOTAL: usize = 64 << 20;
/// Different groups kept of one pattern over the whole bundle.
const GROUPS_PER_PATTERN: usize = 400;

/// Entries kept as text, by path.
pub type Documents = BTreeMap<String, String>;

/// Everything that one pass over the input gave.
pub struct Scanned {
    /// What the reader says of the input.
    pub summary: Summary,
    /// Facts that parsers stated.
    pub facts: Facts,
    /// Lines that matched patterns, in the order of their places.
    pub hits: Vec<Hit>,
    /// Texts for derivers.
    pub documents: Documents,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// Paths of all entries.
    pub paths: Vec<String>,
    /// Where the pieces of loose texts stand that were given the path of a bundle's entry.
    pub origins: Origins,
    /// In a joined analysis: which node's bundle holds each entry of the cluster.
    pub homes: joined::Homes,
    /// In a joined analysis: sources of which older bundles tell what the newest does not.
    pub leftovers: leftovers::Leftovers,
}

/// Which parser reads which entry.
pub struct Router {
    globs: GlobSet,
    parsers: Vec<&'static Parser>,
}

impl Router {
    /// Compiles the globs of all parsers.
    pub fn new() -> Result<Self, globset::Error> {
        let mut builder = GlobSetBuilder::new();
        let mut parsers = Vec::new();
        for parser in PARSERS {
            for glob in parser.reads {
                let mut glob = globset::GlobBuilder::new(glob);
                builder.add(glob.literal_separator(true).build()?);
                parsers.push(*parser);
            }
        }
        Ok(Self {
            globs: builder.build()?,
            parsers,
        })
    }

    /// The first registered parser that reads this entry.
    pub fn parser(&self, path: &str) -> Option<&'static Parser> {
        let first = self.globs.matches(path).into_iter().min()?;
        Some(self.parsers[first])
    }
}

/// The node that a path names; empty for cluster entries.
pub fn node_of(path: &str) -> &str {
    path.strip_prefix("nodes/")
        .and_then(|rest| rest.split('/').next())
        .unwrap_or("")
}

/// Reads a bundle, tar or folder once.
pub fn scan<'a>(
    input: impl Into<Input<'a>>,
    patterns: &Patterns,
    router: &Router,
) -> Result<Scanned, OpenError> {
    scan_with(input, patterns, router, &Documents::new())
}

/// The same, as if the entries named in `instead` held those texts.
pub fn scan_with<'a>(
    input: impl Into<Input<'a>>,
    patterns: &Patterns,
    router: &Router,
    instead: &Documents,
) -> Result<Scanned, OpenError> {
    let sink = Sink {
        patterns,
        router,
        uids: false,
    };
    let (summary, outputs) = casefile_bundle::scan(input, &Limits::default(), &sink)?;
    let mut gather = Gather::new(patterns, router);
    let mut outputs = outputs
        .into_iter()
        .filter(|(path, _, _)| !instead.contains_key(path.as_str()))
        .peekable();
    while let Some((path, _, first)) = outputs.next() {
        let mut pieces = vec![first];
        while let Some((_, _, out)) = outputs.next_if(|(next, _, _)| *next == path) {
            pieces.push(out);
        }
        gather.entry(&path, pieces);
    }
    for (path, text) in instead {
        if let Some((path, out)) = sink.text(path, text) {
            gather.entry(&path, vec![out]);
        }
    }
    gather.paths.sort();
    Ok(gather.finish(summary))
}

/// Puts the pieces of entries together again.
struct Gather<'a> {
    patterns: &'a Patterns,
    router: &'a Router,
    facts: Facts,
    hits: Vec<Hit>,
    packets: Vec<PacketLine>,
    driver: Vec<DriverLine>,
    host: Vec<HostLine>,
    documents: Documents,
    kept: usize,
    problems: Vec<Problem>,
    paths: Vec<String>,
    pasted: Vec<pasted::Entry>,
    origins: Origins,
}

impl<'a> Gather<'a> {
    fn new(patterns: &'a Patterns, router: &'a Router) -> Self {
        Self {
            patterns,
            router,
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
        }
    }

    fn entry(&mut self, path: &BundlePath, pieces: Vec<Out>) {
        let path = path.as_str();
        self.paths.push(path.to_owned());
        let mut lines_before = 0u32;
        let mut text: Vec<u8> = Vec::new();
        let mut too_large = false;
        let begun = pieces.first().and_then(|piece| piece.list);
        let ended = pieces.last().and_then(|piece| piece.list);
        if begun.is_some_and(|(begins, _)| begins) && ended.is_some_and(|(_, ends)| !ends) {
            let text = "ends before the end of its list; objects may be missing from it";
            self.problem(path, text);
        }
        for piece in pieces {
            let mut parsed = piece.parsed;
            shift(&mut parsed, lines_before);
            self.parsed(parsed);
            for mut hit in piece.found.hits {
                shift_place(&mut hit.place, lines_before);
                self.hits.push(hit);
            }
            moved(piece.found.packets, lines_before, &mut self.packets);
            moved(piece.found.driver, lines_before, &mut self.driver);
            moved(piece.found.host, lines_before, &mut self.host);
            self.pieces(piece.pieces);
            lines_before = lines_before.saturating_add(piece.lines);
            too_large |= piece.too_large;
            text.extend_from_slice(&piece.kept);
        }
        if too_large {
            self.problem(path, "is too large to be read as a whole and was not read");
        } else if !text.is_empty() {
            self.whole(path, text);
        }
    }

    fn whole(&mut self, path: &str, bytes: Vec<u8>) {
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
                let parsed = guarded(id, path, || kube_list::parse(&document, parse));
                self.parsed(parsed);
                return;
            }
            Some((_, Read::Loose)) => {
                self.pieces(pasted::read(self.router, path, &text));
                return;
            }
            _ => {}
        }
        self.kept += text.len();
        if self.kept <= KEPT_TOTAL {
            self.documents.insert(path.to_owned(), text);
        } else {
            self.problem(
                path,
                "was left out: the files kept in memory reached their limit",
            );
        }
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
            if self.kept <= KEPT_TOTAL {
                self.documents.insert(placed.path.clone(), placed.text);
            }
            self.origins.insert(placed.path, placed.origin);
        }
        // Kernel lines of a text belong to the node that the text is about.
        for packet in &mut self.packets {
            if packet.node.is_empty() {
                packet.node.clone_from(&node);
                let path = format!("nodes/{node}/pasted/kernel");
                self.origins
                    .entry(path)
                    .or_insert_with(|| packet.place.clone());
            }
        }
    }

    fn parsed(&mut self, parsed: Parsed) {
        for fact in parsed.facts {
            self.facts.add(fact);
        }
        self.problems.extend(parsed.problems);
        for said in &parsed.said {
            self.hits.extend(self.patterns.search_said(said));
        }
    }

    fn problem(&mut self, path: &str, text: &str) {
        self.problems.push(Problem {
            place: Place {
                path: path.to_owned(),
                line: None,
            },
            text: text.to_owned(),
        });
    }

    fn finish(mut self, summary: Summary) -> Scanned {
        self.place_pasted();
        state_all(self.driver, &mut self.facts);
        state_all(self.packets, &mut self.facts);
        state_all(self.host, &mut self.facts);
        self.facts.sort();
        self.problems.sort();
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
        }
    }
}

/// A loose text as its lines are counted: without terminal codes, in UTF-8.
pub(crate) fn plain_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&clean::clean(bytes, true)).into_owned()
}

/// Runs a parser so that a bug in it costs this entry only.
fn guarded(id: &str, path: &str, parse: impl FnOnce() -> Parsed) -> Parsed {
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(parse));
    caught.unwrap_or_else(|_| {
        let place = Place {
            path: path.to_owned(),
            line: None,
        };
        Parsed::problem(
            place,
            format!("parser {id} failed on this entry; this is a bug in casefile"),
        )
    })
}

fn shift(parsed: &mut Parsed, lines: u32) {
    if lines == 0 {
        return;
    }
    for fact in &mut parsed.facts {
        fact.shift(lines);
    }
    for said in &mut parsed.said {
        shift_place(&mut said.place, lines);
    }
    for problem in &mut parsed.problems {
        shift_place(&mut problem.place, lines);
    }
}

fn shift_place(place: &mut Place, lines: u32) {
    place.line = place.line.map(|line| line.saturating_add(lines));
}

/// Leaves out what a plain line of a text said where the object around that line says it too, and knows
/// what it is about.
fn without_doubles(mut hits: Vec<Hit>) -> Vec<Hit> {
    let about: BTreeSet<(usize, Place)> = hits
        .iter()
        .filter(|hit| !hit.subject.is_empty())
        .map(|hit| (hit.pattern, hit.place.clone()))
        .collect();
    hits.retain(|hit| {
        !hit.subject.is_empty() || !about.contains(&(hit.pattern, hit.place.clone()))
    });
    hits
}

fn merge_hits(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by(|a, b| (a.key(), &a.place).cmp(&(b.key(), &b.place)));
    let mut merged: Vec<Hit> = Vec::new();
    for hit in hits {
        match merged.last_mut() {
            Some(last) if last.key() == hit.key() => last.absorb(&hit),
            _ => merged.push(hit),
        }
    }
    let mut kept: BTreeMap<usize, usize> = BTreeMap::new();
    merged.retain(|hit| {
        let count = kept.entry(hit.pattern).or_default();
        *count += 1;
        *count <= GROUPS_PER_PATTERN
    });
    merged
}

/// Takes the lines of a later piece of an entry, whose places count from the piece's beginning.
fn moved<T: Repeats>(lines: Vec<T>, before: u32, into: &mut Vec<T>) {
    for mut line in lines {
        shift_place(line.place_mut(), before);
        into.push(line);
    }
}

/// Makes facts of lines, alike ones added up.
fn state_all<T: Repeats + FactType>(lines: Vec<T>, facts: &mut Facts) {
    for line in merge_alike(lines) {
        let (text, at) = line.stated();
        facts.add(AnyFact::new(Fact {
            place: line.place().clone(),
            text: text.to_owned(),
            at,
            data: line,
        }));
    }
}

/// Adds up alike lines of one entry that stood in different pieces of it.
fn merge_alike<T: Repeats>(mut lines: Vec<T>) -> Vec<T> {
    let same = |a: &T, b: &T| {
        a.node() == b.node() && a.place().path == b.place().path && a.key() == b.key()
    };
    lines.sort_by(|a, b| {
        let order = a.node().cmp(b.node());
        let order = order.then_with(|| a.place().path.cmp(&b.place().path));
        let order = order.then_with(|| a.key().cmp(&b.key()));
        order.then_with(|| a.place().cmp(b.place()))
    });
    let mut merged: Vec<T> = Vec::new();
    for line in lines {
        match merged.last_mut() {
            Some(last) if same(last, &line) => last.absorb(&line),
            _ => merged.push(line),
        }
    }
    merged
}
