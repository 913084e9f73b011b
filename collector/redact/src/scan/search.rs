//! Many words searched for at once: no step waits for memory that the step before it chose.
//!
//! Pairs of letters at every second place say whether a word may begin there or beside it ([`Skim`]); where one may,
//! three classes of letters say which.

use std::ops::Range;
use std::sync::LazyLock;

use super::super::forms::SPECS;
use super::super::words::STEMS;
use super::names::names_secret;
use super::skim::Skim;
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
        let (mut next, mut at) = (part.start, part.start);
        while let Some(near) = self.skim.next(bytes, at, part.end) {
            for start in near.places() {
                let inside = (next..part.end).contains(&start);
                if inside && self.at(bytes, start, &mut hit) {
                    return;
                }
                next = next.max(start + 1);
            }
            at = near.at + 2;
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
        let three = match bytes.get(start..start + 3) {
            Some(three) => [three[0], three[1], three[2]],
            None => match bytes.get(start..) {
                Some([first, second]) => [*first, *second, 0],
                _ => return false,
            },
        };
        let triple = three.into_iter().fold(0, next);
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
