//! The same question for a text with signs in it (`2qr_b-9=a6`, `uW;3i!G#`): what the letters between the signs cost, and
//! what each sign costs behind what stands in front of it.
//!
//! The table is made by `examples/train_signs.rs`.

use std::sync::LazyLock;

use super::{EDGE, SORT, SYMBOL, TABLE, THREES, Table};

/// What may stand in front of a character: nothing, a small letter, a capital, a digit, or one of 32 signs.
const BEFORE: usize = 36;
/// What follows: a letter or digit, one of 32 signs, or the end.
const NEXT: usize = 34;
/// The row of the first sign, behind those of nothing, a small letter, a capital and a digit.
const FIRST_SIGN: usize = 4;
/// No row is that of the end.
const END: usize = 63;

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
    /// The row of what may follow it.
    row: u8,
    /// All bits where it is no sign.
    letter: u16,
    /// Nothing that is counted, a small letter, a capital, a digit.
    class: u8,
    /// The bit of a sign among the signs of a text.
    bit: u32,
}

static READ: [Read; 256] = {
    let other = Read {
        symbol: EDGE as u8,
        row: 0,
        letter: 0,
        class: 0,
        bit: 1,
    };
    let mut table = [other; 256];
    let mut byte = 0;
    while byte < 256 {
        let (read, sign) = (&mut table[byte], SIGN[byte]);
        if sign > 0 {
            read.row = FIRST_SIGN as u8 - 1 + sign;
            read.bit = 1 << (sign - 1);
        } else {
            read.symbol = SYMBOL[byte];
            read.row = 1 + SORT[byte];
            read.letter = u16::MAX;
        }
        if (byte as u8).is_ascii_alphanumeric() {
            read.bit = 0;
            read.class = 1 + SORT[byte];
        }
        byte += 1;
    }
    table
};

/// Quarter bits of what stands behind something else: what a sign costs there and what the case of a letter does, at 64
/// times the row of what stands in front and the row of what follows, or [`END`].
static PAIRS: LazyLock<Box<[i32; 1 << 12]>> = LazyLock::new(|| {
    let mut all = Box::new([0; 1 << 12]);
    let quarters = |byte: u8| i32::from(byte.saturating_sub(b'0'));
    let lines = include_bytes!("signs.txt").split(|byte| *byte == b'\n');
    for (before, line) in lines.take(BEFORE).enumerate() {
        let sign = |at: usize| quarters(line.get(at).copied().unwrap_or(b'0'));
        // Behind a sign a word begins, as behind nothing.
        let state = if before < FIRST_SIGN { before } else { 0 };
        let row = before << 6;
        for next in 1..FIRST_SIGN {
            all[row | next] = sign(0) + TABLE.cases[state][next - 1];
        }
        for next in FIRST_SIGN..BEFORE {
            all[row | next] = sign(next - FIRST_SIGN + 1);
        }
        all[row | END] = sign(NEXT - 1);
    }
    all
});

/// So many characters are counted at once: no count takes more room than it has.
const COUNTED: usize = 1 << 15;

/// What a byte adds to four counts of 16 bits, by four times the class of what stands in front of it and its own: small
/// letters, capitals, digits, and changes between those.
static COUNTS: [u64; 16] = {
    let mut counts = [0; 16];
    let mut place = 0;
    while place < 16 {
        let (last, now) = (place / 4, place % 4);
        if now > 0 {
            counts[place] = 1 << (16 * (now - 1));
        }
        if now > 0 && last > 0 && now != last {
            counts[place] |= 1 << 48;
        }
        place += 1;
    }
    counts
};

/// What a byte adds behind one of some class, which becomes its own.
fn counted(last: &mut usize, byte: u8) -> u64 {
    let now = usize::from(READ[usize::from(byte)].class);
    let more = COUNTS[(*last * 4 + now) % 16];
    *last = now;
    more
}

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
pub(crate) const fn bits(signs: &[u8]) -> u32 {
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

/// Whether a byte is among some signs.
pub(crate) fn among(byte: u8, signs: u32) -> bool {
    (1_u64 << SIGN[usize::from(byte)] >> 1) & u64::from(signs) != 0
}

/// What generators put between letters and digits.
const DASHES: u32 = bits(b"-_");
const BASE64: u32 = bits(b"+/=");
const BASE64_URL: u32 = bits(b"-_=");
const UNRESERVED: u32 = bits(b"-_.~");

impl Mixture {
    /// Counts what stands in a text.
    pub(crate) fn of(text: &[u8]) -> Self {
        let (mut all, mut last) = (Self::default(), 0);
        for part in text.chunks(COUNTED) {
            let (mut sum, mut signs) = (0, all.signs);
            for byte in part {
                sum += counted(&mut last, *byte);
                signs |= READ[usize::from(*byte)].bit;
            }
            let part = Self::with(sum, signs);
            all = Self {
                lower: all.lower + part.lower,
                upper: all.upper + part.upper,
                digits: all.digits + part.digits,
                signs,
                changes: all.changes + part.changes,
            };
        }
        all
    }

    fn with(sum: u64, signs: u32) -> Self {
        let count = |at: u32| usize::try_from((sum >> at) & 0xffff).unwrap_or(0);
        Self {
            lower: count(0),
            upper: count(16),
            digits: count(32),
            signs,
            changes: count(48),
        }
    }

    /// Whether all signs are among those of these bits.
    pub(crate) fn only(self, signs: u32) -> bool {
        self.signs & !signs == 0
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
    Cost::of(text).surprise(mixture)
}

/// What a text costs as a written one, so that nothing is added up twice where parts of it are judged that end as it does.
pub(crate) struct Cost<'a> {
    text: &'a [u8],
    /// Quarter bits without what stands behind it.
    quarters: i32,
}

impl<'a> Cost<'a> {
    /// Reads a text of letters, digits and signs.
    pub(crate) fn of(text: &'a [u8]) -> Self {
        Self {
            text,
            quarters: written(text),
        }
    }

    /// How many bits more it costs as a written one than as a drawn one.
    pub(crate) fn surprise(&self, mixture: Mixture) -> i32 {
        self.more(self.quarters, self.text.len(), mixture)
    }

    /// The same of what stands behind a front that ends in a sign.
    pub(crate) fn behind(&self, front: usize, mixture: Mixture) -> i32 {
        let row = |at: usize| self.text.get(at).map_or(0, |byte| row(*byte));
        let first = row(front);
        // It costs what it does behind that sign, but that it begins behind nothing.
        let begin = pair(0, first) - pair(row(front.saturating_sub(1)), first);
        let quarters = self.quarters - written(&self.text[..front]) + begin;
        self.more(quarters, self.text.len() - front, mixture)
    }

    fn more(&self, quarters: i32, length: usize, mixture: Mixture) -> i32 {
        let end = pair(self.text.last().map_or(0, |byte| row(*byte)), END);
        let length = i32::try_from(length).unwrap_or(0);
        (quarters + end - mixture.drawn() * length) / 4
    }
}

/// The quarter bits of a text, without what stands behind it.
fn written(text: &[u8]) -> i32 {
    let mut at = Behind::nothing();
    text.iter().map(|byte| at.next(*byte)).sum()
}

fn row(byte: u8) -> usize {
    usize::from(READ[usize::from(byte)].row)
}

fn pair(row: usize, next: usize) -> i32 {
    PAIRS[((row << 6) | next) % PAIRS.len()]
}

/// What stands in front of a character.
struct Behind<'a> {
    table: &'a Table,
    pairs: &'a [i32; 1 << 12],
    /// The symbols of the two characters in front, of five bits each.
    two: usize,
    row: usize,
}

/// Two edges of words.
const EDGES: usize = (EDGE << 5) | EDGE;

impl Behind<'_> {
    fn nothing() -> Self {
        Self {
            table: &TABLE,
            pairs: &PAIRS,
            two: EDGES,
            row: 0,
        }
    }

    /// Quarter bits of the next character, and on to what follows it.
    #[inline]
    fn next(&mut self, byte: u8) -> i32 {
        let read = READ[usize::from(byte)];
        let (row, letter) = (usize::from(read.row), usize::from(read.letter));
        let three = (self.two << 5) | usize::from(read.symbol);
        let cost = usize::from(self.table.threes[three % THREES]) & letter;
        let pair = self.pairs[((self.row << 6) | row) % self.pairs.len()];
        // Behind a sign a word begins.
        self.two = (three & 0x3ff & letter) | (EDGES & !letter);
        self.row = row;
        i32::try_from(cost).unwrap_or(0) + pair
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

    #[test]
    fn a_part_of_a_token_costs_what_it_does_alone() {
        let letters = b"abcxyzABCXYZ0123456789-_.:/=+~%#,;$@!(){}";
        let mut draws = Draws::new();
        for _ in 0..2000 {
            let token: Vec<u8> = (0..40).map(|_| letters[draws.below(40)]).collect();
            let cost = Cost::of(&token);
            for front in (1..40).filter(|at| SIGN[usize::from(token[at - 1])] > 0) {
                let rest = &token[front..];
                let mixture = Mixture::of(rest);
                assert_eq!(cost.behind(front, mixture), surprise(rest, mixture));
            }
        }
    }
}
