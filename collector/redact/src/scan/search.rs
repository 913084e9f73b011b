//! Many words searched for at once: no step waits for memory that the step before it chose.
//!
//! Three letters in a row at every second place say whether a word may begin there or beside it ([`Skim`]); where one may,
//! three classes of letters say which.

use std::ops::Range;
use std::sync::LazyLock;

use super::super::forms::SPECS;
use super::super::words::STEMS;
use super::names::names_secret;
use super::{
    FIRST_FORM, NAME_BIT, OTHER_BIT, OTHERS, PROGRAM_BIT, PROGRAMS, STRUCTURE, STRUCTURE_BIT,
};

/// One word that is searched for.
struct Word {
    text: &'static [u8],
    bit: u128,
    /// It counts only with so many characters of a token behind it.
    tail: usize,
}

/// Letters that mean the same to the search share a class; three classes in a row find the words that may begin there.
/// Other than in an automaton no step waits for memory that the step before it chose.
const CLASS_BITS: u32 = 5;
const TRIPLES: usize = 1 << (3 * CLASS_BITS);

const fn class(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => byte - b'a' + 1,
        b'A'..=b'Z' => byte - b'A' + 1,
        b'0'..=b'9' => 27,
        b'-' => 28,
        b' ' | b'\t' => 29,
        b':' => 30,
        b'"' => 0,
        b'!'..=b'~' => 31,
        _ => 0,
    }
}

static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    while byte < u8::MAX {
        classes[byte as usize] = class(byte);
        byte += 1;
    }
    classes
};

pub(super) struct Search {
    words: Vec<Word>,
    skim: Skim,
    /// One bit for each three classes with which a word begins.
    begins: Box<[u64; TRIPLES / 64]>,
    /// For each three classes one bit for each class that may follow them; looked at only where a word begins.
    fourths: Vec<u32>,
    /// The words that begin so.
    lists: Vec<Vec<u16>>,
}

pub(super) static SEARCH: LazyLock<Search> = LazyLock::new(|| {
    let mut search = Search {
        words: Vec::new(),
        skim: Skim::new(),
        begins: Box::new([0; TRIPLES / 64]),
        fourths: vec![0; TRIPLES],
        lists: vec![Vec::new(); TRIPLES],
    };
    for (words, bit) in [
        (&STEMS[..], NAME_BIT),
        (PROGRAMS, PROGRAM_BIT),
        (&OTHERS[..], OTHER_BIT),
        (&STRUCTURE[..], STRUCTURE_BIT),
    ] {
        words.iter().for_each(|word| search.add(word, bit, 0));
    }
    for (form, bit) in SPECS.iter().zip(FIRST_FORM..) {
        form.hints
            .iter()
            .for_each(|hint| search.add(hint, bit, form.tail));
    }
    search
});

impl Search {
    fn add(&mut self, text: &'static str, bit: u32, tail: usize) {
        let word = self.words.len();
        let text = text.as_bytes();
        self.skim.add(text);
        self.words.push(Word {
            text,
            bit: 1 << bit,
            tail,
        });
        let class = |at: usize| text.get(at).map(|byte| usize::from(class(*byte)));
        // What a word of two letters ends before may be anything.
        let thirds = class(2).map_or(0..1 << CLASS_BITS, |third| third..third + 1);
        for third in thirds {
            let triple = class(0)
                .into_iter()
                .chain(class(1))
                .chain([third])
                .fold(0, |triple, class| (triple << CLASS_BITS) | class);
            self.begins[triple / 64] |= 1 << (triple % 64);
            self.fourths[triple] |= class(3).map_or(u32::MAX, |fourth| 1 << fourth);
            self.lists[triple].extend(u16::try_from(word));
        }
    }

    /// A word that holds a text.
    #[cfg(test)]
    pub(super) fn holds(&self, text: &str) -> Option<&'static [u8]> {
        let mut words = self.words.iter().map(|word| word.text);
        words.find(|word| memchr::memmem::find(word, text.as_bytes()).is_some())
    }

    /// Calls `hit` with the place and the bit of each find that counts, front to back, until it says stop.
    pub(super) fn run(&self, bytes: &[u8], hit: impl FnMut(usize, usize, u128) -> bool) {
        self.within(bytes, &(0..bytes.len()), hit);
    }

    /// The same for the words that begin within a part.
    pub(super) fn within(
        &self,
        bytes: &[u8],
        part: &Range<usize>,
        mut hit: impl FnMut(usize, usize, u128) -> bool,
    ) {
        let skimmed = &bytes[..bytes.len().min(part.end + TAIL)];
        let (mut next, mut at) = (part.start, part.start);
        while let Some(found) = self.skim.next(skimmed, at) {
            // The word may have begun one byte before.
            for start in next.max(found.saturating_sub(1))..part.end.min(found + 2) {
                if self.at(bytes, start, &mut hit) {
                    return;
                }
            }
            (next, at) = (found + 2, found + 2);
        }
        let end = part.end.min(bytes.len().saturating_sub(1));
        for start in next.max(skimmed.len().saturating_sub(TAIL))..end {
            if self.at(bytes, start, &mut hit) {
                return;
            }
        }
    }

    /// Tries the words that may begin at a place; whether to stop.
    fn at(
        &self,
        bytes: &[u8],
        start: usize,
        hit: &mut impl FnMut(usize, usize, u128) -> bool,
    ) -> bool {
        // A word of two letters may end the text.
        let triple = bytes[start..]
            .iter()
            .copied()
            .chain([0])
            .take(3)
            .fold(0, next);
        self.begin(triple)
            && self.goes_on(triple, bytes.get(start + 3))
            && self.candidates(bytes, start, triple, hit)
    }

    fn begin(&self, triple: usize) -> bool {
        self.begins[triple / 64] & (1 << (triple % 64)) != 0
    }

    /// Whether a word that begins so may have this byte next; at the end a word of three letters may stand.
    fn goes_on(&self, triple: usize, byte: Option<&u8>) -> bool {
        byte.is_none_or(|byte| self.fourths[triple] & (1 << CLASSES[usize::from(*byte)]) != 0)
    }

    #[inline(never)]
    fn candidates(
        &self,
        bytes: &[u8],
        start: usize,
        triple: usize,
        hit: &mut impl FnMut(usize, usize, u128) -> bool,
    ) -> bool {
        for word in &self.lists[triple] {
            let word = &self.words[usize::from(*word)];
            let end = start + word.text.len();
            let Some(there) = bytes.get(start..end) else {
                continue;
            };
            // Most words differ at their ends already.
            if word.ends_as(there)
                && there.eq_ignore_ascii_case(word.text)
                && word.counts(bytes, start, end)
                && hit(start, end, word.bit)
            {
                return true;
            }
        }
        false
    }
}

fn next(triple: usize, byte: u8) -> usize {
    ((triple << CLASS_BITS) | usize::from(CLASSES[usize::from(byte)])) % TRIPLES
}

/// The last bytes are tried one by one.
const TAIL: usize = 8;

/// Which three letters, without regard to case, begin a word or stand in it so that each second place of a text shows it:
/// one bit for each, and some that share one.
struct Skim(Box<[u64; ROWS]>);

const ROW_BITS: u32 = 10;
const ROWS: usize = 1 << ROW_BITS;

impl Skim {
    fn new() -> Self {
        Self(Box::new([0; ROWS]))
    }

    fn add(&mut self, word: &[u8]) {
        // Where the word begins at a place that is looked at, and where it begins one byte in front of or behind one.
        let [first, second, ..] = *word else { return };
        let any = 0..=u8::MAX;
        match word.get(2) {
            Some(third) => self.mark([first, second, *third]),
            None => any
                .clone()
                .for_each(|third| self.mark([first, second, third])),
        }
        match word.get(1..4) {
            Some(later) => self.mark([later[0], later[1], later[2]]),
            None => any.for_each(|before| self.mark([before, first, second])),
        }
    }

    fn mark(&mut self, three: [u8; 3]) {
        let [a, b, c] = three;
        let mixed = mixed(u64::from(u32::from_le_bytes([a, b, c, 0])));
        self.0[row(mixed)] |= 1 << column(mixed);
    }

    /// Whether three letters are among those: the lowest bit says so.
    fn has(&self, bytes: u64) -> u64 {
        let mixed = mixed(bytes);
        (self.0[row(mixed)] >> column(mixed)) & 1
    }

    /// The next place at or behind `from`, by twos, where a word may begin or have begun one byte before.
    fn next(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let mut rest = bytes.get(from..)?;
        while let Some(eight) = rest.first_chunk::<8>() {
            let eight = u64::from_le_bytes(*eight);
            let found = self.has(eight) | self.has(eight >> 16) << 1 | self.has(eight >> 32) << 2;
            if found != 0 {
                let step = 2 * usize::try_from(found.trailing_zeros()).unwrap_or(0);
                return Some(bytes.len() - rest.len() + step);
            }
            rest = &rest[6..];
        }
        None
    }
}

/// The first three of these bytes, mixed.
fn mixed(bytes: u64) -> u32 {
    const THREE: u64 = 0x00ff_ffff;
    const NO_CASE: u64 = 0x0020_2020;
    const MIX: u32 = 0x9e37_79b1;
    let three = u32::try_from((bytes | NO_CASE) & THREE).unwrap_or(0);
    three.wrapping_mul(MIX)
}

fn row(mixed: u32) -> usize {
    usize::try_from(mixed >> (32 - ROW_BITS)).unwrap_or(0) % ROWS
}

fn column(mixed: u32) -> u32 {
    (mixed >> 16) % 64
}

impl Word {
    fn ends_as(&self, there: &[u8]) -> bool {
        let last = |text: &[u8]| text.last().map(u8::to_ascii_lowercase);
        last(there) == last(self.text)
    }

    fn counts(&self, bytes: &[u8], start: usize, end: usize) -> bool {
        if self.bit == 1 << NAME_BIT {
            return names_secret(bytes, start, end);
        }
        let token = |b: &u8| b.is_ascii_alphanumeric() || b"_+/=.:~-".contains(b);
        let behind = bytes.get(end..end + self.tail);
        self.tail == 0 || behind.is_some_and(|behind| behind.iter().all(token))
    }
}
