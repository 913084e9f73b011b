//! The search of a stretch of lines: which patterns a line meets, and what comes of it.

use std::borrow::Cow;
use std::sync::PoisonError;

use smallvec::SmallVec;

use super::asking::Asking;
use super::caught::{self, Caught, kept};
use super::certain::Certain;
use super::hit::{Captures, Counter, Found, add_alike};
use super::known::Possible;
use super::repeats::Repeats;
use super::shapes::{Shape, Shapes, Text};
use super::{Patterns, boots, is_log};
use crate::dress::{Nature, Voice};
use crate::lines::{LogLine, Origin, Reader, Record, Said};
use crate::parsers::{self, Channel, EXTRACTORS, Extracted};
use crate::scan::manual;

/// So few patterns are tried at once; of more the texts that they need are looked for before.
pub(super) const FEW: usize = 6;

/// What a search of one stretch has found so far, and what it remembers.
#[derive(Default)]
struct Search<'l> {
    found: Found,
    counts: Counter,
    repeats: Repeats<'l>,
    asking: Asking,
    heard: Heard,
    /// Where the message begins, in a log that is named as one of records.
    message: Option<MessageField>,
}

impl Patterns {
    /// Searches a stretch of whole lines.
    pub fn search(&self, origin: &Origin<'_>, bytes: &[u8]) -> Found {
        let mut shapes = self.lock_learners().pop().unwrap_or_default();
        let is_of_records = is_log(origin.channel) && origin.path.ends_with(".json");
        let mut search = Search {
            message: is_of_records.then(MessageField::default),
            ..Search::default()
        };
        let mut reader = Reader::default();
        let (mut start, mut number) = (0, 0u32);
        let mut names_boot = false;
        search.found.is_records = true;
        while start < bytes.len() {
            let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |at| start + at);
            let raw = &bytes[start..end];
            // The shape of a record's message is looked for while the record is read.
            let mut looked_for = None;
            let said = origin.said(raw, &mut reader, &mut |text| {
                let found = shapes.message(self, origin.channel, text);
                looked_for = Some(found.map(|(shape, _)| shape));
                found.map(|(_, length)| length)
            });
            match &said {
                Said::Record(record) => names_boot |= record.names_boot(),
                _ => search.found.is_records &= raw.is_empty(),
            }
            if !search.repeats.count(looked_for.flatten(), &said, number) {
                let line = (raw, said, number);
                self.search_line(origin, line, (looked_for, &mut shapes), &mut search);
            }
            number = number.saturating_add(1);
            search.found.newlines += u32::from(end < bytes.len());
            start = end + 1;
        }
        self.lock_learners().push(shapes);
        let mut found = search.found;
        search.repeats.settle(&mut found.hits);
        let may_name_boot = names_boot || !found.is_records;
        boots::mark(origin, bytes, may_name_boot, &mut found);
        found
    }

    /// Searches one line; `looked_for` is the shape that its message was looked for among the proven ones, if it was.
    fn search_line<'l>(
        &self,
        origin: &'l Origin<'_>,
        (raw, said, number): (&'l [u8], Said<'l>, u32),
        (looked_for, shapes): (Option<Option<Shape>>, &mut Shapes),
        search: &mut Search<'l>,
    ) {
        let text = text_of(origin, &said);
        let possible = text.as_ref().and_then(|text| match looked_for {
            Some(Some(shape)) => shapes.at(shape),
            _ => {
                let text = (text, looked_for.is_some());
                shapes.possible(self, origin.channel, text)
            }
        });
        let certain = possible.map_or(&[][..], |possible| possible.certain);
        // In a journal half of each line is fields that no pattern is matched against. A text that stands there must not make
        // one tried: a line of a known shape is not searched for it.
        let message = &mut search.message;
        let mut shown = || match text {
            Some(Text::Record(text, _)) => text,
            _ => &raw[message.as_mut().map_or(0, |field| field.find(raw))..],
        };
        let asking = &mut search.asking;
        asking.take_or_search(self, origin.channel, possible, (&mut shown, raw));
        if search.asking.numbers.is_empty() || manual::explains(raw) {
            return;
        }
        let record = match said {
            Said::Record(record) => Some(record),
            Said::Plain(_) | Said::Unclear => None,
        };
        let repeated =
            record.and_then(|record| self.repeated(origin, (record, number), certain, search));
        match (repeated, record) {
            (Some(hits), Some(record)) => {
                let is_always =
                    possible.is_some_and(|one| one.open.is_empty() && one.unsure.is_empty());
                let shape = looked_for.flatten().filter(|_| is_always);
                let longest = certain.iter().map(Certain::longest).min();
                if let (Some(shape), Some(longest)) = (shape, longest) {
                    let noted = (shape, longest, hits);
                    search.repeats.note(noted, &record, &mut search.found.hits);
                }
            }
            _ => self.line(origin, (raw, record, number), certain, search),
        }
    }

    /// The patterns that a text matches which was found inside an object, with what they capture.
    pub(in crate::scan) fn matching(&self, said: &parsers::Said) -> Vec<(usize, Captures)> {
        let text = said.text.as_bytes();
        let mut shapes = self.lock_learners().pop().unwrap_or_default();
        let possible = shapes.possible(self, said.channel, (&Text::Message(text), false));
        let certain = possible.map_or(&[][..], |possible| possible.certain);
        let mut asking = Asking::default();
        asking.take_or_search(self, said.channel, possible, (&mut || text, text));
        let matching = asking.numbers.iter().filter_map(|number| {
            let index = *number as usize;
            let pattern = self.patterns.get(index)?;
            if !pattern.applies(said.channel, "") {
                return None;
            }
            let caught = self.caught(index, certain, &said.text)?;
            Some((index, kept(&caught)))
        });
        let matching = matching.collect();
        self.lock_learners().push(shapes);
        matching
    }

    /// What a pattern captures in a text, which its shape may tell; none where it does not match.
    fn caught<'t>(
        &'t self,
        index: usize,
        certain: &'t [Certain],
        text: &'t str,
    ) -> Option<Caught<'t>> {
        let known = certain.iter().find(|one| one.number as usize == index);
        let known = known.and_then(|one| one.caught(text));
        let regex = &self.patterns[index].regex;
        known.or_else(|| regex.captures(&self.tries, text).map(caught::sorted))
    }

    /// Whether what asks is patterns of which so few are to be tried that nothing has to be looked for before.
    pub(super) fn are_few(&self, possible: Possible<'_>) -> bool {
        possible.numbers.len() - possible.certain.len() <= FEW
            && possible.numbers.iter().all(|one| self.is_pattern(*one))
    }

    /// Whether what asks is a pattern, and no extractor.
    fn is_pattern(&self, number: u32) -> bool {
        number < self.extractors_from()
    }

    /// Gives back the room that only reading needs.
    pub(in crate::scan) fn rest(&self) {
        self.tries.rest();
    }

    fn lock_learners(&self) -> std::sync::MutexGuard<'_, Vec<Shapes>> {
        self.learners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a record to the hits that it repeats, if its shape tells all that it matches, and gives them; none where it has to
    /// be decoded.
    fn repeated<'l>(
        &self,
        origin: &'l Origin<'_>,
        (record, number): (Record<'l>, u32),
        certain: &[Certain],
        search: &mut Search<'l>,
    ) -> Option<SmallVec<[usize; FEW]>> {
        let numbers = search.asking.numbers.iter();
        let (message, _) = record.message()?;
        let is_certain = certain.iter().all(|one| one.is_so_for(message.len()));
        if !is_certain || !numbers.eq(certain.iter().map(|one| &one.number)) {
            return None;
        }
        let mut line = origin.heard(record, number);
        let hits = &mut search.found.hits;
        let mut repeated: SmallVec<[usize; FEW]> = SmallVec::new();
        let mut is_routine = false;
        for one in certain {
            let pattern = one.number as usize;
            if !search.heard.applies(self, pattern, &line) {
                continue;
            }
            is_routine |= self.is_note(pattern);
            let speaker = (pattern, line.speaker.as_ref());
            repeated.push(search.counts.known(speaker, &one.captured(), hits)?);
        }
        let is_quoted = |hit: &usize| hits[*hit].is_quoted_before(is_routine);
        if !repeated.iter().all(is_quoted) {
            return None;
        }
        if is_routine {
            line.voice = line.voice.max(Voice::Routine);
        }
        for hit in &repeated {
            let regex = &self.patterns[hits[*hit].pattern].regex;
            hits[*hit].repeat(&line, regex);
        }
        Some(repeated)
    }

    /// Whether a line that a pattern matches is a mere note.
    fn is_note(&self, pattern: usize) -> bool {
        self.patterns[pattern].nature.is_some_and(Nature::is_note)
    }

    fn line<'l>(
        &self,
        origin: &'l Origin<'_>,
        (raw, record, number): (&'l [u8], Option<Record<'l>>, u32),
        certain: &[Certain],
        search: &mut Search<'l>,
    ) {
        let mut line = origin.decode_said(raw, record, number);
        let text = std::mem::take(&mut line.text);
        line.text = Cow::Borrowed(&text);
        // What came of the expressions that the line met, and the patterns that match by their places there.
        let mut tried: SmallVec<[(usize, Option<Caught<'_>>); FEW]> = SmallVec::new();
        let mut matched: SmallVec<[(usize, usize); FEW]> = SmallVec::new();
        for index in search.asking.numbers.iter().map(|index| *index as usize) {
            if index >= self.patterns.len() {
                extract(index - self.patterns.len(), &line, &mut search.found);
                continue;
            }
            if !search.heard.applies(self, index, &line) {
                continue;
            }
            let same = self.same[index];
            let known = tried.iter().position(|(one, _)| *one == same);
            let at = known.unwrap_or_else(|| {
                tried.push((same, self.caught(index, certain, &text)));
                tried.len() - 1
            });
            if tried[at].1.is_some() {
                matched.push((index, at));
            }
        }
        let is_routine = matched.iter().any(|(index, _)| self.is_note(*index));
        for (index, at) in matched {
            let regex = &self.patterns[index].regex;
            if let Some(caught) = &tried[at].1 {
                let line = (&mut line, is_routine);
                let hits = &mut search.found.hits;
                search.counts.add(index, regex, caught, line, hits);
            }
        }
    }
}

/// The text of a line of which the shape tells what can match; none where only decoding shows it.
fn text_of<'l>(origin: &Origin<'_>, said: &Said<'l>) -> Option<Text<'l>> {
    match said {
        Said::Record(record) => {
            let (message, is_escaped) = record.message()?;
            Some(Text::Record(message, is_escaped))
        }
        // A line with fields that is no record is looked at in part only.
        Said::Plain(_) if is_log(origin.channel) && origin.path.ends_with(".json") => None,
        Said::Plain(text) => Some(Text::Part(text)),
        Said::Unclear => None,
    }
}

/// Runs an extractor on a line.
fn extract(number: usize, line: &LogLine<'_>, found: &mut Found) {
    let one = EXTRACTORS.get(number);
    match one.and_then(|one| (one.extract)(line)) {
        Some(Extracted::Packet(packet)) => add_alike(packet, &mut found.packets),
        Some(Extracted::Driver(said)) => add_alike(said, &mut found.driver),
        Some(Extracted::Host(said)) => add_alike(said, &mut found.host),
        Some(Extracted::Mark(mark)) => found.marks.note(mark),
        None => {}
    }
}

/// Which patterns are for lines of the speaker that was last heard: the next line is most often of the same.
#[derive(Default)]
struct Heard {
    speaker: String,
    channel: Option<Channel>,
    applies: Vec<Option<bool>>,
}

impl Heard {
    fn applies(&mut self, patterns: &Patterns, index: usize, line: &LogLine<'_>) -> bool {
        if self.channel != Some(line.heard) || self.speaker != line.speaker {
            self.channel = Some(line.heard);
            line.speaker.as_ref().clone_into(&mut self.speaker);
            self.applies.clear();
            self.applies.resize(patterns.patterns.len(), None);
        }
        let applies = || patterns.patterns[index].applies(line.heard, &line.speaker);
        *self.applies[index].get_or_insert_with(applies)
    }
}

/// Where the message begins in lines of a journal: at the same place as in the line before, as a rule.
#[derive(Default)]
struct MessageField {
    last: usize,
}

impl MessageField {
    /// Where the message of a line begins; a line that is no journal record is searched whole.
    fn find(&mut self, line: &[u8]) -> usize {
        const NAME: &[u8] = b"\"MESSAGE\":";
        let here = |line: &[u8], at: usize| line.get(at..at + NAME.len()) == Some(NAME);
        // Nothing before the message holds its name: what a field says has its quotes escaped.
        if !here(line, self.last) {
            self.last = memchr::memmem::find(line, NAME).unwrap_or(0);
        }
        self.last
    }
}
