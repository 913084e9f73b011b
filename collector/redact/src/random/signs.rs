//! The same question for a text with signs in it (`2qr_b-9=a6`, `uW;3i!G#`): what the letters between the signs cost, and
//! what each sign costs behind what stands in front of it.
//!
//! The table is made by `examples/train_signs.rs`.

use std::sync::LazyLock;

use super::{DIGIT, DIGIT_QUARTERS, EDGE, MOST, SYMBOLS, TABLE};

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

static SIGNS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let lines = include_bytes!("signs.txt").split(|byte| *byte == b'\n');
    let mut all: Vec<u8> = lines
        .flatten()
        .map(|byte| byte.saturating_sub(b'0'))
        .collect();
    all.resize(BEFORE * NEXT, 0);
    all
});

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

impl Mixture {
    /// Counts what stands in a text.
    pub(crate) fn of(text: &[u8]) -> Self {
        let mut all = Self::default();
        let mut last = 0;
        for byte in text {
            let sort = match byte {
                b'a'..=b'z' => {
                    all.lower += 1;
                    1
                }
                b'A'..=b'Z' => {
                    all.upper += 1;
                    2
                }
                b'0'..=b'9' => {
                    all.digits += 1;
                    3
                }
                _ => {
                    let place = u32::from(SIGN[usize::from(*byte)]);
                    all.signs |= 1 << (place.max(1) - 1);
                    0
                }
            };
            all.changes += usize::from(sort != last && sort > 0 && last > 0);
            last = sort;
        }
        all
    }

    /// Whether all signs are among these.
    pub(crate) fn only(self, signs: &[u8]) -> bool {
        let known = signs
            .iter()
            .map(|sign| u32::from(SIGN[usize::from(*sign)]))
            .filter(|place| *place > 0)
            .fold(0_u32, |all, place| all | 1 << (place - 1));
        self.signs & !known == 0
    }

    /// Quarter bits of one character drawn from these sorts.
    fn drawn(self) -> i32 {
        let signs = match () {
            () if self.only(b"-_") => 2,
            () if self.only(b"+/=") || self.only(b"-_=") => 3,
            () if self.only(b"-_.~") => 4,
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
    let (mut before, mut last, mut state) = (EDGE, EDGE, 0_usize);
    let mut row = 0_usize;
    let mut quarters = 0;
    for byte in text {
        let sign = usize::from(SIGN[usize::from(*byte)]);
        quarters += i32::from(signs[row * NEXT + sign]);
        if sign > 0 {
            (before, last, state) = (EDGE, EDGE, 0);
            row = 3 + sign;
            continue;
        }
        let digit = byte.is_ascii_digit();
        let now = if digit {
            DIGIT
        } else {
            usize::from((byte | 32).wrapping_sub(b'a')).min(DIGIT - 1)
        };
        quarters += i32::from(table.threes[(before * SYMBOLS + last) * SYMBOLS + now]);
        (before, last) = (last, now);
        if digit {
            quarters += DIGIT_QUARTERS;
            (state, row) = (3, 3);
        } else {
            let upper = usize::from(byte.is_ascii_uppercase());
            quarters += table.cases[state][upper];
            state = 1 + upper;
            row = state;
        }
    }
    quarters += i32::from(signs[row * NEXT + END]);
    let length = i32::try_from(text.len()).unwrap_or(0);
    (quarters - mixture.drawn() * length) / 4
}
