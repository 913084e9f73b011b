//! The same question for a text with signs in it (`2qr_b-9=a6`, `uW;3i!G#`): what the letters between the signs cost, and
//! what each sign costs behind what stands in front of it.
//!
//! The table is made by `examples/train_signs.rs`.

use std::sync::LazyLock;

use super::{EDGE, MOST, SORT, SYMBOL, SYMBOLS, TABLE};

/// What may stand in front of a character: nothing, a small letter, a capital, a digit, or one of 32 signs.
const BEFORE: usize = 36;
/// What follows: a letter or digit, one of 32 signs, or the end.
const NEXT: usize = 34;
const END: usize = NEXT - 1;

/// The place of each sign of ASCII among the 32, and 1 more.
static SIGN: [u8; 256] = {
    let mut table = [0; 256];
    let (mut byte, mut place) = (b'!', 1);
    while byte <= b'~' {
        if byte.is_ascii_punctuation() {
            table[byte as usize] = place;
            place += 1;
        }
        byte += 1;
    }
    table
};

/// What a byte is to the search for the cost of a text.
#[derive(Clone, Copy)]
struct Read {
    /// The edge of a word, where it is a sign.
    symbol: u8,
    sign: u8,
    /// A small letter, a capital, a digit, a sign.
    sort: u8,
    /// The row of what may follow it.
    row: u8,
    /// All bits where it is no sign.
    letter: u8,
    /// The bit of a sign among the signs of a text.
    bit: u32,
}

static READ: [Read; 256] = {
    let letter = Read {
        symbol: EDGE as u8,
        sign: 0,
        sort: SIGN_SORT,
        row: 0,
        letter: 0,
        bit: 1,
    };
    let mut table = [letter; 256];
    let mut byte = 0;
    while byte < 256 {
        let (read, sign) = (&mut table[byte], SIGN[byte]);
        if sign > 0 {
            read.sign = sign;
            read.row = 3 + sign;
            read.bit = 1 << (sign - 1);
        } else {
            read.symbol = SYMBOL[byte];
            read.sort = SORT[byte];
            read.row = 1 + SORT[byte];
            read.letter = u8::MAX;
        }
        if (byte as u8).is_ascii_alphanumeric() {
            read.bit = 0;
        }
        byte += 1;
    }
    table
};
/// What a sign is among small letters, capitals and digits.
const SIGN_SORT: u8 = 3;

static SIGNS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let lines = include_bytes!("signs.txt").split(|byte| *byte == b'\n');
    let mut all: Vec<u8> = lines
        .flatten()
        .map(|byte| byte.saturating_sub(b'0'))
        .collect();
    all.resize(BEFORE * NEXT, 0);
    all
});

/// What each byte adds to the counts of small letters, capitals and digits.
static COUNTS: [[u8; 3]; 256] = {
    let mut counts = [[0; 3]; 256];
    let mut byte = 0_u8;
    while byte < u8::MAX {
        counts[byte as usize] = [
            byte.is_ascii_lowercase() as u8,
            byte.is_ascii_uppercase() as u8,
            byte.is_ascii_digit() as u8,
        ];
        byte += 1;
    }
    counts
};

/// What a text of letters, digits and signs is made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Mixture {
    /// Small letters.
    pub(crate) lower: usize,
    /// Capitals.
    pub(crate) upper: usize,
    /// Digits.
    pub(crate) digits: usize,
    /// Which signs, one bit each.
    pub(crate) signs: u32,
    /// How often capitals, small letters and digits change places between two signs.
    pub(crate) changes: usize,
}

/// The bits of some signs.
const fn bits(signs: &[u8]) -> u32 {
    let (mut all, mut at) = (0, 0);
    while at < signs.len() {
        let place = SIGN[signs[at] as usize];
        if place > 0 {
            all |= 1 << (place - 1);
        }
        at += 1;
    }
    all
}

/// What generators put between letters and digits.
const DASHES: u32 = bits(b"-_");
const BASE64: u32 = bits(b"+/=");
const BASE64_URL: u32 = bits(b"-_=");
const UNRESERVED: u32 = bits(b"-_.~");

impl Mixture {
    /// Counts what stands in a text.
    pub(crate) fn of(text: &[u8]) -> Self {
        let mut all = Self::default();
        let mut last = 0;
        for byte in text {
            let counts = COUNTS[usize::from(*byte)];
            // What is counted neither as a letter nor as a digit is a sign.
            let sort = counts[0] + 2 * counts[1] + 3 * counts[2];
            all.lower += usize::from(counts[0]);
            all.upper += usize::from(counts[1]);
            all.digits += usize::from(counts[2]);
            all.signs |= READ[usize::from(*byte)].bit;
            all.changes += usize::from((sort != last) & (sort > 0) & (last > 0));
            last = sort;
        }
        all
    }

    /// Whether all signs are among these.
    pub(crate) fn only(self, signs: &[u8]) -> bool {
        self.signs & !bits(signs) == 0
    }

    /// Quarter bits of one character drawn from these sorts.
    fn drawn(self) -> i32 {
        let signs = match () {
            () if self.signs & !DASHES == 0 => 2,
            () if self.signs & !BASE64 == 0 || self.signs & !BASE64_URL == 0 => 3,
            () if self.signs & !UNRESERVED == 0 => 4,
            () => 32,
        };
        let sorts = [(self.lower, 26), (self.upper, 26), (self.digits, 10)];
        let letters: usize = sorts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(_, size)| size)
            .sum();
        match letters + signs {
            0..=14 => 15,
            15..=32 => 19,
            33..=42 => 21,
            43..=56 => 23,
            57..=72 => 24,
            _ => 26,
        }
    }
}

/// How many bits more a text costs as a written one than as a drawn one.
pub(crate) fn surprise(text: &[u8], mixture: Mixture) -> i32 {
    let (table, signs) = (&*TABLE, &*SIGNS);
    let text = &text[..text.len().min(MOST)];
    let (mut before, mut last, mut state, mut row) = (EDGE, EDGE, 0, 0);
    let mut quarters = 0;
    for byte in text {
        let read = READ[usize::from(*byte)];
        let now = usize::from(read.symbol);
        let three = table.threes[(before * SYMBOLS + last) * SYMBOLS + now];
        quarters += i32::from(signs[row * NEXT + usize::from(read.sign)]);
        quarters += i32::from(three & read.letter) + table.cases[state][usize::from(read.sort)];
        // Behind a sign a word begins.
        let letter = usize::from(read.letter);
        before = (last & letter) | (EDGE & !letter);
        last = now;
        state = (usize::from(read.sort) + 1) % 4;
        row = usize::from(read.row);
    }
    quarters += i32::from(signs[row * NEXT + END]);
    let length = i32::try_from(text.len()).unwrap_or(0);
    (quarters - mixture.drawn() * length) / 4
}
