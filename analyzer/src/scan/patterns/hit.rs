//! Lines that matched, alike ones added up.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use chrono::{DateTime, Utc};

use super::Expression;
use super::caught::{Caught, kept, shown};
use super::repeats::Counted;
use crate::dress::Voice;
use crate::lines::LogLine;
use crate::model::Place;
use crate::parsers::marks::Marks;
use crate::parsers::{Channel, DriverLine, HostLine, PacketLine, Repeated, Statement};
use crate::shared::Shared;

/// Different groups of one pattern that are kept from one stretch of log; more are counted only.
const GROUPS_PER_PIECE: usize = 40;

/// Entries that are kept of those that hold alike lines. A heap of texts is divided by them: of one more of them matter.
const MOST_ENTRIES: usize = 16;
const MOST_SCATTERED: usize = 48;

/// Named captures, sorted. Hundreds of thousands of lines may match, and a map for each would take half a kilobyte.
pub type Captures = Vec<(Shared, Shared)>;

/// Lines that matched a pattern and are alike in subject and captures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Index of the pattern.
    pub pattern: usize,
    /// What the line is about.
    pub subject: Shared,
    /// Who said it: a unit or a pod; empty for messages inside objects.
    pub speaker: Shared,
    /// Named captures, in the order of their names.
    pub captures: Captures,
    /// Where the first one stands.
    pub place: Place,
    /// Text of the first one.
    pub text: Shared,
    /// Time of the first one.
    pub at: Option<DateTime<Utc>>,
    /// Time of the last one.
    pub last: Option<DateTime<Utc>>,
    /// How many.
    pub count: u64,
    /// How much weight the loudest of them carries.
    pub voice: Voice,
    /// Where the last one stands.
    pub last_place: Place,
    /// Host that the last one names; empty where it names none.
    pub host: Shared,
    /// Clock of the last one, without a year; orders lines of one host.
    pub clock: Option<u32>,
    /// klog's own clock of the last one; orders lines of one program.
    pub klog: Option<u32>,
    /// Boot of the last one, as the journal calls it; empty where nothing says.
    pub boot: Shared,
    /// All of them were said before the machine's last start.
    pub earlier_boot: bool,
    /// It stands in a text of unknown origin that is more than what a person pastes.
    pub scattered: bool,
    /// Other entries that hold alike ones: the first by their paths, at most [`MOST_ENTRIES`].
    pub also: BTreeSet<Shared>,
}

impl Hit {
    /// A line that a pattern matched.
    fn of(pattern: usize, regex: &Expression, captures: Captures, line: &LogLine<'_>) -> Self {
        Self {
            pattern,
            subject: line.subject().into(),
            speaker: line.speaker.as_ref().into(),
            captures,
            place: line.place(),
            text: shown(regex, line.shown()),
            at: line.at,
            last: line.at,
            count: 1,
            voice: line.voice,
            last_place: line.place(),
            host: line.host.as_ref().into(),
            clock: line.clock,
            klog: line.klog,
            boot: line.boot.as_ref().into(),
            earlier_boot: false,
            scattered: line.channel == Channel::Text,
            also: BTreeSet::new(),
        }
    }

    /// Whether a later line that is alike is not quoted, whatever it says.
    pub(super) fn is_quoted_before(&self, is_routine: bool) -> bool {
        match self.voice {
            Voice::Spoken => true,
            // What the vocabulary knows carries no more.
            voice => is_routine && voice <= Voice::Routine,
        }
    }

    /// Adds a later line of the same entry that is alike, without taking copies of what it says.
    pub(super) fn repeat(&mut self, line: &LogLine<'_>, regex: &Expression) {
        if line.voice < self.voice {
            // The one that carries most is quoted.
            let later = Hit::of(self.pattern, regex, Captures::new(), line);
            return self.absorb(later);
        }
        self.count = self.count.saturating_add(1);
        self.at = crate::lines::earliest(self.at, line.at);
        if line.at >= self.last {
            self.last_place.line = line.place_line();
            name(&line.host, &mut self.host);
            name(&line.boot, &mut self.boot);
            self.clock = line.clock;
            self.klog = line.klog;
        }
        self.last = self.last.max(line.at);
    }

    /// Adds later records of the same entry that are alike and carry no more.
    pub(super) fn repeat_counted(&mut self, counted: &Counted<'_>) {
        self.count = self.count.saturating_add(counted.count);
        self.at = crate::lines::earliest(self.at, counted.first());
        let (last, line, record) = counted.last();
        if (last, line) >= (self.last, self.last_place.line) {
            self.last_place.line = line;
            name(record.host(), &mut self.host);
            name(record.boot(), &mut self.boot);
            (self.clock, self.klog) = (None, None);
        }
        self.last = self.last.max(last);
    }

    /// What makes two hits alike.
    pub fn key(&self) -> (usize, &str, &str, &Captures) {
        (self.pattern, &self.subject, &self.speaker, &self.captures)
    }

    /// Entries besides its own that are named at most.
    fn most_entries(&self) -> usize {
        match self.scattered {
            true => MOST_SCATTERED,
            false => MOST_ENTRIES,
        }
    }

    /// Whether it may stand in more entries than those that are named.
    pub fn is_wide(&self) -> bool {
        self.also.len() >= self.most_entries()
    }

    /// Adds a hit that is alike. In whatever order hits are added, the same comes of them.
    pub fn absorb(&mut self, other: Hit) {
        self.count = self.count.saturating_add(other.count);
        self.at = crate::lines::earliest(self.at, other.at);
        // Of two entries without times the later in their order counts.
        if (other.last, &other.last_place) >= (self.last, &self.last_place) {
            self.last = other.last;
            self.last_place = other.last_place;
            self.host = other.host;
            self.boot = other.boot;
            self.clock = other.clock;
            self.klog = other.klog;
        }
        self.earlier_boot &= other.earlier_boot;
        self.scattered |= other.scattered;
        self.also.extend(other.also);
        // The first of those that carry most is quoted.
        let (quoted, left) = match (other.voice, &other.place) < (self.voice, &self.place) {
            true => {
                self.voice = other.voice;
                self.text = other.text;
                let left = std::mem::replace(&mut self.place, other.place);
                (&self.place.path, left.path)
            }
            false => (&self.place.path, other.place.path),
        };
        self.also.insert(left);
        self.also.remove(quoted);
        while self.also.len() > self.most_entries() {
            self.also.pop_last();
        }
    }
}

/// Writes down a name that is most often known.
fn name(name: &str, into: &mut Shared) {
    if *into != *name {
        *into = name.into();
    }
}

/// What a stretch of lines held.
#[derive(Default)]
pub struct Found {
    /// Pattern hits, in order of appearance.
    pub hits: Vec<Hit>,
    /// How many lines end in it.
    pub newlines: u32,
    /// Every line is a record of the journal that was read where it stands, or empty: there is no fault in any.
    pub is_records: bool,
    /// Texts that it is read for by itself.
    pub marks: Marks,
    /// Line in which the kernel last came up, counted from 0, and when.
    pub came_up: Option<(u32, Option<DateTime<Utc>>)>,
    /// The boot of the last line, as the journal calls it, and when that line was said.
    pub boot: Option<(String, Option<DateTime<Utc>>)>,
    /// Packets, alike ones added up.
    pub packets: Vec<PacketLine>,
    /// Messages of the NVIDIA driver, alike ones added up.
    pub driver: Vec<DriverLine>,
    /// What happened to the node, alike lines added up.
    pub host: Vec<HostLine>,
}

pub(super) fn add_alike<S: Statement>(line: Repeated<S>, lines: &mut Vec<Repeated<S>>) {
    let key = line.key();
    if let Some(known) = lines.iter_mut().find(|known| known.key() == key) {
        known.absorb(&line);
    } else if lines.len() < GROUPS_PER_PIECE {
        lines.push(line);
    }
}

/// Adds alike hits up and bounds how many different ones are kept.
#[derive(Default)]
pub(super) struct Counter {
    /// Hits of one piece by a hash of what makes them alike.
    groups: HashMap<u64, Vec<usize>>,
    kept: BTreeMap<usize, usize>,
    /// For each pattern the hit that was last met, which the next line most often repeats; one more than its place.
    last: Vec<usize>,
}

impl Counter {
    /// The hit that a line of a speaker repeats.
    pub(super) fn known(
        &mut self,
        (pattern, speaker): (usize, &str),
        caught: &Caught<'_>,
        hits: &[Hit],
    ) -> Option<usize> {
        // One piece is of one entry, so that the subject follows from the speaker.
        let is_alike = |at: &usize| {
            let hit = &hits[*at];
            let mut pairs = hit.captures.iter().zip(caught);
            hit.pattern == pattern
                && *hit.speaker == *speaker
                && hit.captures.len() == caught.len()
                && pairs.all(|((name, value), caught)| *name == caught.0 && **value == *caught.1)
        };
        let last = self.last.get(pattern).and_then(|last| last.checked_sub(1));
        last.filter(is_alike).or_else(|| {
            let group = self.groups.get(&hash(pattern, speaker, caught))?;
            let found = group.iter().copied().find(is_alike)?;
            self.note_last(pattern, found);
            Some(found)
        })
    }

    pub(super) fn add(
        &mut self,
        pattern: usize,
        regex: &Expression,
        caught: &Caught<'_>,
        (line, is_routine): (&mut LogLine<'_>, bool),
        hits: &mut Vec<Hit>,
    ) {
        if let Some(at) = self.known((pattern, &line.speaker), caught, hits) {
            // What is spoken already is quoted, however loud the others are.
            if hits[at].voice != Voice::Spoken {
                line.weigh(is_routine);
            }
            hits[at].repeat(line, regex);
            return;
        }
        let groups = self.kept.entry(pattern).or_default();
        if *groups < GROUPS_PER_PIECE {
            *groups += 1;
            line.weigh(is_routine);
            let hash = hash(pattern, &line.speaker, caught);
            self.groups.entry(hash).or_default().push(hits.len());
            self.note_last(pattern, hits.len());
            hits.push(Hit::of(pattern, regex, kept(caught), line));
        }
    }

    fn note_last(&mut self, pattern: usize, hit: usize) {
        if self.last.len() <= pattern {
            self.last.resize(pattern + 1, 0);
        }
        self.last[pattern] = hit + 1;
    }
}

/// A hash of what makes hits of a piece alike.
fn hash(pattern: usize, speaker: &str, caught: &Caught<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (pattern, speaker, caught).hash(&mut hasher);
    hasher.finish()
}
