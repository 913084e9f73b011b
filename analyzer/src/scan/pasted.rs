//! Pieces of loose texts on their way into the facts: objects at once, entries of a node when it is known
//! what the node is called.
//!
//! An entry gets the path that it would have in a bundle, so that parsers and derivers need not know that
//! it was pasted. [`Origins`] leads every place back to the text that a person gave.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Range, RangeInclusive};

use casefile_bundle::Entry;

use crate::facts::{AnyFact, Fact, FactType, Facts};
use crate::loose::{self, What};
use crate::model::{Place, Problem};
use crate::parsers::{Channel, Parsed, Said};
use crate::shared::Shared;

use super::dated::Timed;
use super::patterns::Hit;

pub use crate::lines::UNNAMED_NODE;
/// Below `nodes/<node>/`: containerd configurations of which it is not known whose they are.
pub const CONFIGS: &str = "pasted/containerd/";
/// Values of the GPU Operator's chart.
pub const OPERATOR_VALUES: Entry<'static> = Entry::Helm("pasted", "operator", "values.yaml");

/// Where pasted entries really stand: the text and the line of their first line.
pub type Origins = BTreeMap<String, Place>;

/// Leads a place in a pasted entry back to the text it was pasted in.
pub fn original(origins: &Origins, place: &Place) -> Option<Place> {
    let origin = origins.get(place.path.as_str())?;
    let before = place.line.unwrap_or(1).saturating_sub(1);
    Some(Place {
        path: origin.path.clone(),
        line: origin.line.map(|line| line.saturating_add(before)),
    })
}

/// A piece that belongs to a node.
pub(super) struct PastedEntry {
    pub(super) what: What,
    pub(super) host: Option<String>,
    pub(super) text: String,
    pub(super) origin: Place,
}

impl PastedEntry {
    /// The lines of the text that it stands in.
    pub(super) fn lines(&self) -> RangeInclusive<u32> {
        let first = self.origin.line.unwrap_or(1);
        let more = self.text.lines().count().saturating_sub(1);
        first..=first.saturating_add(u32::try_from(more).unwrap_or(u32::MAX))
    }
}

/// What a text gave.
#[derive(Default)]
pub(super) struct Pieces {
    /// From its Kubernetes objects and folded messages.
    pub(super) parsed: Vec<Parsed>,
    /// Its pieces of nodes.
    pub(super) entries: Vec<PastedEntry>,
    /// Lists of a bundle that its objects are a part of, and where the first of them stands.
    pub(super) lists: Origins,
    /// Its lines that tell a time, as long as it is not known which of them are needed.
    pub(super) timed: Vec<Timed>,
}

impl Pieces {
    pub(super) fn is_empty(&self) -> bool {
        self.parsed.is_empty() && self.entries.is_empty() && self.lists.is_empty()
    }

    /// About how many bytes they take.
    pub(super) fn weight(&self) -> usize {
        let facts = self.parsed.iter().flat_map(|parsed| &parsed.facts);
        let facts: usize = facts.map(AnyFact::weight).sum();
        let texts: usize = self.entries.iter().map(|entry| entry.text.len()).sum();
        size_of_val(self.parsed.as_slice()) + size_of_val(self.entries.as_slice()) + facts + texts
    }

    /// Takes those of a later stretch.
    pub(super) fn append(&mut self, mut later: Pieces) {
        self.parsed.append(&mut later.parsed);
        self.entries.append(&mut later.entries);
        self.timed.append(&mut later.timed);
        for (list, place) in later.lists {
            self.lists.entry(list).or_insert(place);
        }
    }
}

/// Recognises the pieces of a text.
pub(super) fn read(path: &str, text: &str) -> Pieces {
    let mut pieces = Pieces::default();
    let found = std::panic::AssertUnwindSafe(|| loose::pieces(text));
    let Ok(found) = std::panic::catch_unwind(found) else {
        let place = Place {
            path: path.into(),
            line: None,
        };
        let text = "was searched for lines only; recognising its pieces failed, which is a bug in casefile";
        pieces.parsed.push(Parsed::problem(place, text));
        return pieces;
    };
    let marks = loose::marks(text, &found).into_iter();
    let marks = marks.map(|(data, line)| marked(path, data, line));
    let machines = loose::machines(text).into_iter();
    let machines = machines.map(|(data, line)| marked(path, data, line));
    let composed = loose::composed(text).map(|(data, line)| marked(path, data, line));
    let openshift = loose::openshift(text).map(|(data, line)| marked(path, data, line));
    let printed = loose::printed(text).into_iter();
    let printed = printed.map(|(data, line)| marked(path, data, line));
    let newest = loose::newest(text).map(|(data, line)| marked(path, data, line));
    if loose::is_container_log(path, text) {
        let place = Place {
            path: path.into(),
            line: Some(1),
        };
        let list = Entry::PodLog("pasted/pasted/pasted.log").path();
        pieces.lists.insert(list, place);
    }
    let of_text = machines
        .chain(composed)
        .chain(newest)
        .chain(openshift)
        .chain(printed);
    let facts: Vec<AnyFact> = marks.chain(of_text).collect();
    // An archive may hold very many texts that say nothing.
    if !facts.is_empty() {
        pieces.parsed.push(Parsed {
            facts,
            ..Parsed::default()
        });
    }
    let lines: Vec<&str> = text.lines().collect();
    for piece in found {
        let origin = Place {
            path: path.into(),
            line: Some(piece.line),
        };
        let extent = piece.extent;
        if let Some(list) = list_of(&piece.what) {
            pieces
                .lists
                .entry(list.path())
                .or_insert_with(|| origin.clone());
        }
        let mut parsed = match &piece.what {
            What::Object(object) => loose::read_object(object, origin).into_iter().collect(),
            What::Json => loose::read_json(&piece.text, path, piece.line),
            What::Message => vec![message(&piece.text, origin)],
            _ => {
                pieces.entries.push(PastedEntry {
                    what: piece.what,
                    host: piece.host,
                    text: piece.text,
                    origin,
                });
                continue;
            }
        };
        let starts = starts(&mut parsed);
        let end = first_line(piece.line).saturating_add(extent);
        for mut one in parsed {
            point(&mut one, &lines, &starts, end);
            pieces.parsed.push(one);
        }
    }
    pieces
}

/// A fact about a text as a whole, with the line that says it.
fn marked<T: FactType>(path: &str, data: T, line: u32) -> AnyFact {
    AnyFact::new(Fact {
        place: Place {
            path: path.into(),
            line: Some(line),
        },
        text: Shared::default(),
        at: None,
        data,
    })
}

/// The list that a bundle would hold an object in, as far as coverage tells lists apart.
fn list_of(what: &What) -> Option<Entry<'static>> {
    match what {
        What::Object(object) if object.get("kind").is_some_and(|kind| kind == "Event") => {
            Some(Entry::ListIn("events", "pasted"))
        }
        What::Object(_) | What::Json => Some(Entry::ListIn("pods", "pasted")),
        _ => None,
    }
}

/// A message that goes over several lines, as one.
fn message(text: &str, place: Place) -> Parsed {
    let joined: Vec<&str> = text.lines().map(str::trim).collect();
    Parsed {
        said: vec![Said {
            channel: Channel::Text,
            subject: Shared::default(),
            text: joined.join(" ").into(),
            place,
            at: None,
            count: 1,
        }],
        ..Parsed::default()
    }
}

/// A line as an index.
fn first_line(number: u32) -> usize {
    usize::try_from(number.saturating_sub(1)).unwrap_or(0)
}

/// The lines at which the objects start that were read.
fn starts(parsed: &mut [Parsed]) -> BTreeSet<usize> {
    let mut starts = BTreeSet::new();
    let mut note = |place: &Place| {
        starts.insert(first_line(place.line.unwrap_or(1)));
    };
    for one in parsed {
        for fact in &mut one.facts {
            fact.rewrite(&mut |place, _| note(place));
        }
        one.said.iter().for_each(|said| note(&said.place));
    }
    starts
}

/// Moves each statement about an object to the line of the text that shows it, and quotes that line. An object goes to
/// where the next one starts.
fn point(parsed: &mut Parsed, lines: &[&str], starts: &BTreeSet<usize>, end: usize) {
    let object = |place: &Place| {
        let start = first_line(place.line.unwrap_or(1));
        start..starts.range(start + 1..).next().map_or(end, |next| *next)
    };
    for fact in &mut parsed.facts {
        fact.rewrite(&mut |place, text| {
            // The parser quotes what it found as `"field":"value"`.
            let value = text.rsplit('"').nth(1).unwrap_or("").to_owned();
            let at = line_with(lines, object(place), &value);
            place.line = u32::try_from(at + 1).ok();
            *text = quote(lines, at).into();
        });
    }
    for said in &mut parsed.said {
        let head: String = said
            .text
            .split(": ")
            .last()
            .unwrap_or("")
            .chars()
            .take(24)
            .collect();
        let at = line_with(lines, object(&said.place), &head);
        said.place.line = u32::try_from(at + 1).ok();
        said.subject = said.subject.replace("//", "/").into();
    }
}

fn line_with(lines: &[&str], object: Range<usize>, value: &str) -> usize {
    let start = object.start;
    let end = object.end.min(lines.len());
    let range = lines.get(start..end).unwrap_or(&[]);
    let at = range.iter().position(|line| line.contains(value));
    start + at.filter(|_| value.len() > 1).unwrap_or(0)
}

fn quote(lines: &[&str], at: usize) -> String {
    const LONGEST: usize = 400;
    crate::facts::excerpt(lines.get(at).map_or("", |line| line.trim()), LONGEST)
}

/// Leads lines that matched in pasted entries back to the texts.
pub(crate) fn lead_hits_back(origins: &Origins, hits: &mut [Hit]) {
    for hit in hits {
        if let Some(found) = original(origins, &hit.place) {
            hit.place = found;
        }
        let also = std::mem::take(&mut hit.also).into_iter().map(|path| {
            let origin = origins.get(path.as_str());
            origin.map_or(path, |place| place.path.clone())
        });
        hit.also = also.collect();
    }
}

/// The same for facts and problems.
pub(crate) fn lead_back(origins: &Origins, facts: &mut Facts, problems: &mut [Problem]) {
    if origins.is_empty() {
        return;
    }
    facts.rewrite(&mut |place, _| {
        if let Some(found) = original(origins, place) {
            *place = found;
        }
    });
    for problem in problems {
        if let Some(found) = original(origins, &problem.place) {
            problem.place = found;
        }
    }
}
