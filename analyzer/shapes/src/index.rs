//! Where texts stand in a line: four bytes of each text are looked for at every place, and only where they stand is
//! the text itself compared.
//!
//! Against an automaton over all texts this is small enough for a core's first cache, and ready at once: most
//! inputs are short.

use std::sync::OnceLock;

use memchr::memmem::Finder;

use crate::open_text::OpenText;
use crate::rarity::{Counts, rarest};

/// Bits of the hash of four bytes.
pub(crate) const BITS: u32 = 17;
/// Numbers that hold one bit for each hash.
const NUMBERS: usize = 1 << (BITS - 6);
/// Four bytes with the bit set that tells letters of both cases apart.
const FOLD: u32 = 0x2020_2020;

/// A text and what asks for it.
struct Text {
    /// In lower case.
    bytes: Box<[u8]>,
    owners: Vec<u32>,
}

/// A text that holds these four bytes, and where.
#[derive(Clone, Copy)]
struct Place {
    text: u32,
    offset: usize,
}

/// Texts to look for, whatever their case.
pub struct Index {
    /// Which hashes some text has.
    bits: Box<[u64; NUMBERS]>,
    /// Hash table of folded four bytes to a range of `places`.
    slots: Vec<(u32, u32, u32)>,
    places: Vec<Place>,
    texts: Vec<Text>,
    /// Texts of three bytes: a line may end with them.
    short: Vec<u32>,
    /// Texts that may stand at open places of shapes, and what asks for them; made when first asked.
    open: OnceLock<Vec<(Open, u32)>>,
}

impl Index {
    /// Texts of at least three bytes in lower case, each with what asks for it.
    pub fn new<'t>(texts: impl Iterator<Item = (&'t str, u32)>) -> Self {
        let mut asked: Vec<(&str, u32)> = texts.filter(|(text, _)| text.len() > 2).collect();
        asked.sort_unstable();
        asked.dedup();
        let alike = asked.chunk_by(|(one, _), (other, _)| one == other);
        let texts = alike.filter_map(|alike| {
            let (text, _) = alike.first()?;
            Some(Text {
                bytes: text.as_bytes().into(),
                owners: alike.iter().map(|(_, owner)| *owner).collect(),
            })
        });
        Self::of(texts.collect())
    }

    fn of(texts: Vec<Text>) -> Self {
        let counts = Counts::of(texts.iter().map(|text| &*text.bytes));
        let mut grams: Vec<(u32, Place)> = Vec::with_capacity(texts.len());
        let mut short = Vec::new();
        for (Text { bytes, .. }, text) in texts.iter().zip(0u32..) {
            if let [first, second, third] = **bytes {
                short.push(text);
                let gram = of_three(gram([first, second, third, 0]));
                grams.push((gram, Place { text, offset: 0 }));
                continue;
            }
            let offset = counts.rarest(bytes);
            if let Some(four) = four(&bytes[offset..]) {
                grams.push((gram(four), Place { text, offset }));
            }
        }
        grams.sort_unstable_by_key(|(gram, place)| (*gram, place.text));
        let alike = || grams.chunk_by(|(one, _), (other, _)| one == other);
        let mut index = Self {
            bits: Box::new([0; NUMBERS]),
            slots: vec![(0, 0, 0); (alike().count() * 2 + 1).next_power_of_two()],
            places: Vec::with_capacity(grams.len()),
            texts: Vec::new(),
            short,
            open: OnceLock::new(),
        };
        for alike in alike() {
            index.insert(alike);
        }
        index.texts = texts;
        index
    }

    /// Takes the places of one gram.
    fn insert(&mut self, alike: &[(u32, Place)]) {
        let Some((gram, _)) = alike.first() else {
            return;
        };
        for gram in in_lines(*gram) {
            let hash = hash(gram);
            self.bits[hash / 64] |= 1 << (hash % 64);
        }
        let mask = self.slots.len() - 1;
        let mut at = hash(*gram) & mask;
        while self.slots[at].2 > 0 {
            at = (at + 1) & mask;
        }
        let number = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        self.slots[at] = (*gram, number(self.places.len()), number(alike.len()));
        self.places.extend(alike.iter().map(|(_, place)| *place));
    }

    /// Calls a function with what asks for each text that stands in the line, perhaps several times.
    pub fn search(&self, line: &[u8], found: &mut dyn FnMut(&[u32])) {
        let mut at = 0;
        // Four places at once, of which most often none has a text.
        while let Some(eight) = line.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let eight = u64::from_le_bytes(*eight);
            let (first, second) = (low(eight), low(eight >> 8));
            let (third, fourth) = (low(eight >> 16), low(eight >> 24));
            let any =
                self.marked(first) | self.marked(second) | self.marked(third) | self.marked(fourth);
            if any & 1 != 0 {
                for (place, gram) in [first, second, third, fourth].into_iter().enumerate() {
                    self.look(line, at + place, gram, found);
                }
            }
            at += 4;
        }
        let rest = line.get(at..).unwrap_or_default();
        for (place, four) in rest.windows(4).filter_map(four).enumerate() {
            self.look(line, at + place, gram(four), found);
        }
        for text in &self.short {
            let text = &self.texts[*text as usize];
            let end = &line[line.len().saturating_sub(3)..];
            if end.eq_ignore_ascii_case(&text.bytes) {
                found(&text.owners);
            }
        }
    }

    /// Calls a function with each text, in lower case, of which a part may stand at an open place of a shape, and with what
    /// asks for it.
    pub fn search_open(&self, shape: &Held, found: &mut dyn FnMut(&[u8], &[u32])) {
        let open = self.open.get_or_init(|| {
            let texts = self.texts.iter().zip(0u32..);
            let open = |text: &Text| Open::new(str::from_utf8(&text.bytes).ok()?);
            texts
                .filter_map(|(text, number)| Some((open(text)?, number)))
                .collect()
        });
        for (text, number) in open {
            if shape.may_hold_open(text) {
                let text = &self.texts[*number as usize];
                found(&text.bytes, &text.owners);
            }
        }
    }

    /// Whether some text may have these four bytes, in the lowest bit.
    #[inline]
    fn marked(&self, gram: u32) -> u64 {
        let hash = hash(gram);
        self.bits[hash / 64] >> (hash % 64)
    }

    #[inline]
    fn look(&self, line: &[u8], at: usize, gram: u32, found: &mut dyn FnMut(&[u32])) {
        if self.marked(gram) & 1 != 0 {
            self.compare(line, at, gram, found);
        }
    }

    fn compare(&self, line: &[u8], at: usize, gram: u32, found: &mut dyn FnMut(&[u32])) {
        for gram in [gram, of_three(gram)] {
            for place in self.places_of(gram) {
                let text = &self.texts[place.text as usize];
                let begin = at.checked_sub(place.offset);
                let here = begin.and_then(|begin| line.get(begin..begin + text.bytes.len()));
                if here.is_some_and(|here| is_same(here, &text.bytes)) {
                    found(&text.owners);
                }
            }
        }
    }

    fn places_of(&self, gram: u32) -> &[Place] {
        let mask = self.slots.len() - 1;
        let mut slot = hash(gram) & mask;
        loop {
            let (known, first, count) = self.slots[slot];
            if count == 0 {
                return &[];
            }
            if known == gram {
                return &self.places[first as usize..][..count as usize];
            }
            slot = (slot + 1) & mask;
        }
    }
}

/// The gram of a text of three bytes, which no four bytes of a line have: those are folded.
#[inline]
fn of_three(gram: u32) -> u32 {
    gram & 0x00ff_ffff
}

/// The grams by which a gram is found in lines: three bytes stand there with any fourth one behind them.
fn in_lines(gram: u32) -> impl Iterator<Item = u32> {
    let is_whole = gram != of_three(gram);
    let fourths = if is_whole { 0..=0 } else { 0..=u8::MAX };
    fourths.map(move |fourth| match is_whole {
        true => gram,
        false => gram | u32::from(fourth) << 24 | FOLD,
    })
}

/// The first four bytes of eight, folded.
#[inline]
fn low(eight: u64) -> u32 {
    eight as u32 | FOLD
}

/// Whether a stretch of a line is a text in lower case, whatever the case there.
fn is_same(here: &[u8], text: &[u8]) -> bool {
    let mut pairs = here.iter().zip(text);
    pairs.all(|(here, text)| here.to_ascii_lowercase() == *text)
}

#[inline]
pub(crate) fn four(bytes: &[u8]) -> Option<[u8; 4]> {
    bytes.get(..4)?.try_into().ok()
}

#[inline]
pub(crate) fn gram(four: [u8; 4]) -> u32 {
    u32::from_le_bytes(four) | FOLD
}

#[inline]
pub(crate) fn hash(gram: u32) -> usize {
    (gram.wrapping_mul(0x9e37_79b1) >> (32 - BITS)) as usize
}

/// A line that several texts are looked for in: in lower case, with marks for which four bytes it holds.
#[derive(Default)]
pub struct Held {
    lower: Vec<u8>,
    marks: [u64; 32],
}

impl Held {
    /// Takes the next line.
    pub fn take(&mut self, line: &[u8]) {
        self.take_unmarked(line);
        self.marks = [0; 32];
        self.marks[0] = 1;
        for four in self.lower.windows(4).filter_map(four) {
            let mark = mark(gram(four));
            self.marks[mark / 64] |= 1 << (mark % 64);
        }
    }

    /// The same for a line in which so few texts are looked for that marks would cost more than they save.
    pub fn take_unmarked(&mut self, line: &[u8]) {
        self.lower.clear();
        self.lower.extend_from_slice(line);
        self.lower.make_ascii_lowercase();
        self.marks = [u64::MAX; 32];
    }

    /// Whether a text in lower case stands in the line, whatever the case there.
    pub fn holds(&self, text: &Needle) -> bool {
        self.is_marked(text.mark) && text.finder.find(&self.lower).is_some()
    }

    fn is_marked(&self, mark: u16) -> bool {
        self.marks[usize::from(mark / 64)] & (1 << (mark % 64)) != 0
    }

    /// Whether a text may stand in some line of the shape that was taken.
    pub fn may_hold(&self, text: &Needle) -> bool {
        let open = text.open.as_ref();
        self.holds(text) || open.is_some_and(|open| self.may_hold_open(open))
    }

    fn may_hold_open(&self, open: &Open) -> bool {
        self.is_marked(open.mark) && open.text.may_stand(&self.lower)
    }

    /// The line in lower case.
    pub fn lower(&self) -> &[u8] {
        &self.lower
    }
}

/// A text that is looked for in single lines.
pub struct Needle {
    /// The mark of its rarest four bytes; of a shorter text one that every line has.
    mark: u16,
    finder: Finder<'static>,
    open: Option<Open>,
}

impl Needle {
    pub fn new(text: &str) -> Self {
        Self {
            mark: rarest_mark(text.as_bytes()),
            finder: Finder::new(text.as_bytes()).into_owned(),
            open: Open::new(text),
        }
    }
}

/// A text of which a part may stand at an open place of a shape, with the mark of the part that may not.
struct Open {
    mark: u16,
    text: OpenText,
}

impl Open {
    fn new(text: &str) -> Option<Self> {
        let text = OpenText::new(text)?;
        let mark = rarest_mark(text.middle());
        Some(Self { mark, text })
    }
}

/// The mark of the rarest four bytes of a text; of a shorter one that which every line has.
fn rarest_mark(text: &[u8]) -> u16 {
    let four = four(&text[rarest(text)..]);
    let mark = four.map_or(0, |four| mark(gram(four)));
    u16::try_from(mark).unwrap_or(0)
}

/// One of 2048 marks; the first is on every line.
#[inline]
fn mark(gram: u32) -> usize {
    (hash(gram) >> (BITS - 11)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn every_text_is_found_where_a_plain_search_finds_it(
            texts in proptest::collection::btree_set("[a-d 1:]{3,7}", 1..12),
            line in "[a-dA-D 1:\u{e9}\n]{0,60}",
        ) {
            let all = texts.iter().map(String::as_str).zip(0u32..);
            let index = Index::new(all);
            let mut found = std::collections::BTreeSet::new();
            index.search(line.as_bytes(), &mut |owners| found.extend(owners.iter().copied()));
            let lower = line.to_ascii_lowercase();
            for (text, number) in texts.iter().zip(0u32..) {
                let there = lower.contains(text.as_str());
                proptest::prop_assert_eq!(found.contains(&number), there, "{}", text);
                let mut held = Held::default();
                held.take(line.as_bytes());
                proptest::prop_assert_eq!(held.holds(&Needle::new(text)), there, "{}", text);
                held.take_unmarked(line.as_bytes());
                proptest::prop_assert_eq!(held.holds(&Needle::new(text)), there, "{}", text);
            }
        }
    }
}
