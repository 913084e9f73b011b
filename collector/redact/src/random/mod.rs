//! Whether a text was drawn by a machine or written: how many bits a model of what people and programs write needs
//! for it, against the bits that a drawn text of the same letters needs.
//!
//! The model is a table of three letters in a row and of upper and lower case, made by
//! `examples/train_letters.rs`.

pub(super) mod signs;

use std::cell::OnceCell;
use std::sync::LazyLock;

use super::explained::ask_digits;

/// 26 letters, any digit, and the edge of a word.
const SYMBOLS: usize = 28;
const DIGIT: usize = 26;
const EDGE: usize = 27;
/// A digit has this many quarter bits beyond being one.
const DIGIT_QUARTERS: i32 = 11;
/// Of a longer text the beginning decides.
const MOST: usize = 120;

struct Table {
    /// Quarter bits of a letter's case and of a digit beyond being one, by what stands before it; none of a sign.
    cases: [[i32; 4]; 4],
    /// Quarter bits of the third symbol of three, each of which has five bits of the place.
    threes: Box<[u8; THREES]>,
}

const THREES: usize = 1 << 15;

impl Table {
    fn three(&self, before: usize, last: usize, now: usize) -> u8 {
        self.threes[((before << 10) | (last << 5) | now) % THREES]
    }
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut lines = include_bytes!("letters.txt").split(|byte| *byte == b'\n');
    let quarters = |byte: &u8| byte.saturating_sub(b'0');
    let mut cases = [[0, 0, DIGIT_QUARTERS, 0]; 4];
    let first = lines.next().unwrap_or_default();
    let letters = cases.iter_mut().flat_map(|all| &mut all[..2]);
    for (case, byte) in letters.zip(first) {
        *case = i32::from(quarters(byte));
    }
    let mut threes = Box::new([0; THREES]);
    for (at, byte) in lines.flatten().enumerate() {
        let (two, now) = (at / SYMBOLS, at % SYMBOLS);
        let place = ((two / SYMBOLS) << 10) | ((two % SYMBOLS) << 5) | now;
        threes[place % THREES] = quarters(byte);
    }
    Table { cases, threes }
});

/// The most letters of a word that are counted.
const LONGEST: usize = 4096;

/// What each byte adds to the four counts of [`Sorts`], of 16 bits each.
static COUNTS: [u64; 256] = {
    let mut counts = [0; 256];
    let mut byte = 0_u8;
    while byte < u8::MAX {
        let sort = match byte {
            b'a'..=b'z' => 1,
            b'A'..=b'Z' => 1 << 16,
            b'0'..=b'9' => 1 << 32,
            _ => 0,
        };
        counts[byte as usize] = if sort == 0 || byte.is_ascii_hexdigit() {
            sort
        } else {
            sort | 1 << 48
        };
        byte += 1;
    }
    counts
};

/// The symbol of each byte: that of a letter where it is no digit.
static SYMBOL: [u8; 256] = {
    let mut symbols = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let letter = (byte as u8 | 32).wrapping_sub(b'a');
        symbols[byte] = if (byte as u8).is_ascii_digit() {
            DIGIT as u8
        } else if letter < DIGIT as u8 {
            letter
        } else {
            DIGIT as u8 - 1
        };
        byte += 1;
    }
    symbols
};

/// The sort of each byte: 1 for a capital, 2 for a digit.
static SORT: [u8; 256] = {
    let mut sorts = [0; 256];
    let mut byte = 0_u8;
    while byte < u8::MAX {
        sorts[byte as usize] = byte.is_ascii_uppercase() as u8 + 2 * byte.is_ascii_digit() as u8;
        byte += 1;
    }
    sorts
};

/// Which sorts of letters a word of letters and digits is made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sorts {
    /// Lower-case letters.
    pub(super) lower: usize,
    /// Upper-case letters.
    pub(super) upper: usize,
    /// Digits.
    pub(super) digits: usize,
    /// Letters that are no hexadecimal digits.
    pub(super) beyond_hex: usize,
}

impl Sorts {
    /// Counts the letters of a word, of a long one those at its beginning; marks that join words do not count.
    pub(super) fn of(word: &[u8]) -> Self {
        let word = &word[..word.len().min(LONGEST)];
        let sum: u64 = word.iter().map(|byte| COUNTS[usize::from(*byte)]).sum();
        let count = |at: u32| usize::try_from((sum >> at) & 0xffff).unwrap_or(0);
        Self {
            lower: count(0),
            upper: count(16),
            digits: count(32),
            beyond_hex: count(48),
        }
    }

    /// Hexadecimal digits of one case, with numbers among them.
    pub(super) fn hex(self) -> bool {
        self.beyond_hex == 0 && self.digits > 0 && (self.lower == 0) != (self.upper == 0)
    }

    /// Quarter bits of one letter drawn from these sorts.
    fn drawn(self) -> i32 {
        match (self.lower > 0, self.upper > 0, self.digits > 0) {
            _ if self.hex() => 16,
            (true, true, true) => 24,
            (true, true, false) => 23,
            (true, false, true) | (false, true, true) => 21,
            (false, false, true) => 13,
            _ => 19,
        }
    }
}

/// How many bits more a word of letters and digits costs as a written one than as a drawn one: above 0 it was rather
/// drawn.
pub(super) fn surprise(word: &[u8], sorts: Sorts) -> i32 {
    let table = &*TABLE;
    let word = &word[..word.len().min(MOST)];
    let (mut before, mut last, mut state) = (EDGE, EDGE, 0);
    let mut quarters = 0;
    for byte in word {
        let now = usize::from(SYMBOL[usize::from(*byte)]);
        let sort = usize::from(SORT[usize::from(*byte)]);
        quarters += i32::from(table.three(before, last, now)) + table.cases[state % 4][sort % 4];
        (before, last, state) = (last, now, sort + 1);
    }
    let length = i32::try_from(word.len()).unwrap_or(0);
    (quarters - sorts.drawn() * length) / 4
}

/// From so many letters on, letters and digits may not change places at every third.
const RESTLESS: usize = 22;
/// And no name of any length does so often.
const MOST_CHANGES: usize = 7;
/// No name of so many letters holds many of each sort.
const LONG: usize = 32;
/// Fewer letters are a chance of spelling.
pub(super) const MIN_DRAWN: usize = 11;

/// Whether a word of letters and digits, of these sorts, was drawn by a machine. Hexadecimal digits are judged by where
/// they stand.
pub(super) fn drawn_of(word: &[u8], sorts: Sorts) -> bool {
    Letters::of(word, sorts).drawn()
}

/// A word of letters and digits that is judged in more than one way.
pub(super) struct Letters<'a> {
    word: &'a [u8],
    sorts: Sorts,
    bits: OnceCell<i32>,
    varied: OnceCell<bool>,
}

impl<'a> Letters<'a> {
    /// A word, of these sorts.
    pub(super) fn of(word: &'a [u8], sorts: Sorts) -> Self {
        Self {
            word,
            sorts,
            bits: OnceCell::new(),
            varied: OnceCell::new(),
        }
    }

    fn surprise(&self) -> i32 {
        *self.bits.get_or_init(|| surprise(self.word, self.sorts))
    }

    fn varied(&self) -> bool {
        *self.varied.get_or_init(|| varied(self.word))
    }

    /// Whether it was drawn.
    pub(super) fn drawn(&self) -> bool {
        let (word, sorts) = (self.word, self.sorts);
        let (least, surprise_from) = match (sorts.lower > 0, sorts.upper > 0, sorts.digits > 0) {
            _ if sorts.beyond_hex == 0 => return false,
            (true, true, true) if word.len() < 14 => (MIN_DRAWN, 4),
            (true, true, true) => (14, 0),
            (true, true, false) if word.len() >= 14 && changes_case(word) => (14, 10),
            (true, true, false) => (MIN_DRAWN, LETTERS),
            (true, false, true) => (15, 2),
            (false, true, true) => (20, 6),
            (true, false, false) | (false, true, false) if word.len() >= 20 => (20, 12),
            (true, false, false) | (false, true, false) => (ONE_CASE, NO_WORD),
            _ => return false,
        };
        if word.len() >= LONG && sorts.lower > 5 && sorts.upper > 3 && sorts.digits > 5 {
            return self.varied();
        }
        word.len() >= least
            && (self.surprise() > surprise_from || (sorts.digits > 0 && restless(word)))
            && self.varied()
    }

    /// Whether it was drawn, where it is short and stands alone.
    pub(super) fn short_drawn(&self) -> bool {
        let (word, sorts) = (self.word, self.sorts);
        let least = match (sorts.lower > 0, sorts.upper > 0, sorts.digits) {
            (true, true, 0) => CASED,
            (true, true, 2..) => 4,
            (_, _, 2..) if word.len() > 14 => 0,
            (_, _, 2..) => 4,
            (_, _, 1) => STRANGE,
            _ => return false,
        };
        if sorts.beyond_hex == 0 {
            return false;
        }
        let bits = self.surprise();
        (bits >= STRANGE || (bits >= least && (sorts.digits == 0 || mixes(word)))) && self.varied()
    }

    /// Whether it was drawn, where an issuer's words stand in front of it: there few bits tell, and more of them where an
    /// object of a cluster may have such a name.
    pub(super) fn issued_drawn(&self, object: bool) -> bool {
        let (word, sorts) = (self.word, self.sorts);
        let least = match (sorts.lower > 0, sorts.upper > 0, sorts.digits > 0) {
            _ if sorts.beyond_hex == 0 => return false,
            (true, true, true) => MIXED,
            (true, true, false) => MIXED_LETTERS,
            (_, _, true) if sorts.beyond_hex > 1 && mixes(word) => 0,
            (_, _, true) => SHORT,
            _ if word.len() >= ONE_CASE => LETTERS,
            _ => return false,
        };
        let drawn = self.surprise() >= least + if object { OBJECT } else { 0 }
            || (!object && sorts.digits > 0 && alternates(word));
        drawn && self.varied()
    }

    /// Whether it was drawn, where it is shorter still: letters of both cases, with digits or in an order that no language
    /// has, or digits among letters that form no name.
    pub(super) fn very_short_drawn(&self) -> bool {
        let (word, sorts) = (self.word, self.sorts);
        let least = match (sorts.lower > 0 && sorts.upper > 0, sorts.digits) {
            _ if sorts.beyond_hex == 0 => return false,
            (true, 0) => VERY_SHORT_LETTERS,
            (true, _) => VERY_SHORT,
            (false, 2..) if changes(word) > 1 => STRANGE,
            _ => return false,
        };
        self.surprise() > least && self.varied()
    }
}

/// Bits from which letters of both cases are those of no name, however they change.
const LETTERS: i32 = 16;
/// So many letters of one case may be no word, and from so many bits they are none.
pub(super) const ONE_CASE: usize = 14;
const NO_WORD: i32 = 22;

/// Bits from which letters of both cases and digits were drawn behind an issuer's words.
const MIXED: i32 = 2;
/// And letters of both cases.
const MIXED_LETTERS: i32 = 8;
/// So many bits more where an object may be called so.
const OBJECT: i32 = 10;

/// Bits of surprise from which a word of eight letters is no name.
const VERY_SHORT: i32 = 8;
const VERY_SHORT_LETTERS: i32 = 18;

/// Bits of surprise from which letters of both cases that stand alone were drawn.
const CASED: i32 = 12;
/// Bits of surprise from which no order of letters and digits is a name.
const STRANGE: i32 = 16;
/// Bits of surprise from which a short word was drawn.
const SHORT: i32 = 6;

/// Whether letters and digits change places more than twice, so that no number ends or begins the word alone.
fn mixes(word: &[u8]) -> bool {
    changes(word) > 2
}

/// Whether they do so often that a word of more than a few letters is no name behind what an issuer puts in front of it.
fn alternates(word: &[u8]) -> bool {
    changes(word) > 4
}

/// How often letters and digits change places.
fn changes(word: &[u8]) -> usize {
    word.windows(2)
        .filter(|two| two[0].is_ascii_digit() != two[1].is_ascii_digit())
        .count()
}

/// Whether a word has more than a few letters: banners and patterns do not.
pub(super) fn varied(word: &[u8]) -> bool {
    ask_digits();
    let seen = word
        .iter()
        .fold(0_u64, |seen, byte| seen | 1 << (byte & 63));
    seen.count_ones() >= 6
}

/// Whether upper and lower case change places as often as in no `camelCase`, or never.
fn changes_case(word: &[u8]) -> bool {
    let changes = word
        .windows(2)
        .filter(|two| (two[0] ^ two[1]) & 32 != 0)
        .count();
    changes == 0 || changes * 10 >= word.len() * 3
}

/// Whether letters and digits change places so often that no name does.
fn restless(word: &[u8]) -> bool {
    let changes = changes(word);
    word.len() >= RESTLESS && (changes * 3 >= word.len() || changes >= MOST_CHANGES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

    fn drawn(word: &[u8]) -> bool {
        drawn_of(word, Sorts::of(word))
    }

    #[test]
    fn names_that_programs_use_are_written() {
        for word in [
            "FailedCreatePodSandBox",
            "nvidiaDriverDaemonset2",
            "NVLink5ErrorCounter0",
            "ContainerdConfigV2Toml",
            "CapEffAmbientBounding",
            "kubernetes",
            "getMaxPersistingL2CacheSize",
            "ErrImageNeverPull",
            "preferredDuringSchedulingIgnoredDuringExecution",
            "DCGMFIDEVXIDERRORS",
            "enp65s0f0np0",
            "20261120T101500Z",
        ] {
            assert!(!drawn(word.as_bytes()), "{word}");
        }
    }

    #[test]
    fn texts_that_a_generator_gives_are_drawn() {
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        let mut draws = Draws::new();
        let mut missed = 0;
        for _ in 0..500 {
            let word: Vec<u8> = (0..16).map(|_| letters[draws.below(62)]).collect();
            missed += usize::from(!drawn(&word));
        }
        assert!(missed < 25, "{missed} of 500");
    }
}
