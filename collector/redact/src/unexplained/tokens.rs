//! Where words, names and tokens begin and end in a text, and which of them may have been drawn at all.

use std::ops::Range;

use super::super::escapes;
use super::super::number::{HIGHEST, ONES};
use super::super::random::ONE_CASE;
use super::MIN_HEX;

/// Letters and digits, of which words are.
pub(super) static WORD: [bool; 256] = crate::table::LETTERS_AND_DIGITS;

/// Letters, digits and the marks that join them in names and tokens.
pub(super) static RUN: [bool; 256] = crate::table::with(WORD, b"-_");

/// The next run of so many such characters or more, at or behind `from`.
pub(super) fn next_of<const LEAST: usize>(
    inside: &[bool; 256],
    bytes: &[u8],
    from: usize,
) -> Option<Range<usize>> {
    let mut at = from;
    while at + LEAST <= bytes.len() {
        // A run of this length holds one of as many bytes apart; most are passed over here.
        let probe = at + LEAST - 1;
        if !inside[usize::from(bytes[probe])] {
            at = probe + 1;
            continue;
        }
        let start = bytes[at..probe]
            .iter()
            .rposition(|byte| !inside[usize::from(*byte)])
            .map_or(at, |place| at + place + 1);
        let end = bytes[probe..]
            .iter()
            .position(|byte| !inside[usize::from(*byte)])
            .map_or(bytes.len(), |length| probe + length);
        if end - start >= LEAST {
            return Some(start..end);
        }
        at = end;
    }
    None
}

/// What stands between blanks, quotes and escapes.
pub(super) static TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = b'!';
    while byte <= b'~' {
        table[byte as usize] = !matches!(byte, b'"' | b'\'' | b'`' | b'\\');
        byte += 1;
    }
    table
};

/// A shorter token is none that was drawn.
pub(super) const MIN_TOKEN: usize = 8;

/// What stands between blanks, quotes and escapes, with what it is made of.
pub(super) struct Token {
    pub(super) place: Range<usize>,
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) digits: usize,
    pub(super) signs: usize,
}

/// What each byte of a token adds to four counts of 16 bits: small letters, capitals, digits, signs. Nothing of what
/// stands between tokens.
static SORTS: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0_u8;
    while byte < u8::MAX {
        table[byte as usize] = match byte {
            b'a'..=b'z' => 1,
            b'A'..=b'Z' => 1 << 16,
            b'0'..=b'9' => 1 << 32,
            _ if TOKEN[byte as usize] => 1 << 48,
            _ => 0,
        };
        byte += 1;
    }
    table
};

/// So many letters of a token are counted.
const COUNTED: usize = 1 << 15;

/// The next token at or behind `from` that may have been drawn.
pub(super) fn next_token(bytes: &[u8], from: usize) -> Option<Token> {
    let mut at = from;
    while let Some(eight) = bytes.get(at..)?.first_chunk::<MIN_TOKEN>() {
        // A token of this length holds one of as many bytes apart; most are passed over here.
        if !TOKEN[usize::from(eight[MIN_TOKEN - 1])] {
            at += MIN_TOKEN;
            continue;
        }
        // It begins behind the last of them that is none of it.
        let apart = apart(u64::from_le_bytes(*eight));
        if apart != 0 {
            at += MIN_TOKEN - usize::try_from(apart.leading_zeros() / 8).unwrap_or(0);
            continue;
        }
        // The letter of `\n` is none of the token's: it would count as one of its letters, and go with it.
        let token = counted(bytes, at + escapes::letters(bytes, at));
        at = token.place.end;
        if token.worth() {
            return Some(token);
        }
    }
    None
}

/// The highest bit of each of eight bytes that is no part of a token.
fn apart(eight: u64) -> u64 {
    let low = eight & !HIGHEST;
    // Seven bits and what is added to them have room in eight.
    let other = |byte: u8| (low ^ (ONES * u64::from(byte))) + 0x7f * ONES;
    let printed = (low + (0x80 - u64::from(b'!')) * ONES) & !(low + ONES) & !eight;
    let marks = other(b'"') & other(b'\'') & other(b'`') & other(b'\\');
    !(printed & marks) & HIGHEST
}

/// The token that begins at a place.
fn counted(bytes: &[u8], start: usize) -> Token {
    let mut sum = 0_u64;
    let text = &bytes[start..bytes.len().min(start + COUNTED)];
    let ends = |byte: &u8| {
        let sort = SORTS[usize::from(*byte)];
        sum += sort;
        sort == 0
    };
    let length = text.iter().position(ends).unwrap_or(text.len());
    let mut end = start + length;
    if length == COUNTED {
        let rest = bytes[end..].iter();
        end += rest.take_while(|byte| TOKEN[usize::from(**byte)]).count();
    }
    let count = |at: u32| usize::try_from((sum >> at) & 0xffff).unwrap_or(0);
    Token {
        place: start..end,
        lower: count(0),
        upper: count(16),
        digits: count(32),
        signs: count(48),
    }
}

impl Token {
    /// Whether all letters are of one case.
    pub(super) fn one_case(&self) -> bool {
        self.lower == 0 || self.upper == 0
    }

    /// Whether it may have been drawn: most are words of one case without a number, numbers and times.
    fn worth(&self) -> bool {
        let length = self.place.len();
        let word = self.digits == 0 && self.one_case() && length < ONE_CASE;
        let number = self.lower + self.upper <= 2 && (self.digits < MIN_HEX || self.signs > 2);
        length >= MIN_TOKEN && !word && !number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

    #[test]
    fn eight_bytes_at_once_are_told_apart_as_one_by_one() {
        for byte in 0..=u8::MAX {
            for place in 0..8 {
                for beside in [b'a', b'~', b'!', b' ', 0, 0x7f, 0xff] {
                    let mut eight = [beside; 8];
                    eight[place] = byte;
                    let expected = eight.map(|byte| u8::from(!TOKEN[usize::from(byte)]) << 7);
                    let found = apart(u64::from_le_bytes(eight));
                    assert_eq!(found.to_le_bytes(), expected);
                }
            }
        }
    }

    #[test]
    fn tokens_are_those_that_are_found_byte_by_byte() {
        let letters = b"aaabbcXYZ019019-_:.= \"\\n\xc3\xa4";
        let mut draws = Draws::new();
        for _ in 0..2000 {
            let text: Vec<u8> = (0..80).map(|_| letters[draws.below(26)]).collect();
            let (mut found, mut at) = (Vec::new(), 0);
            while let Some(token) = next_token(&text, at) {
                at = token.place.end;
                found.push(token.place);
            }
            let mut expected = Vec::new();
            let mut start = 0;
            while start < text.len() {
                let rest = text[start..].iter();
                let length = rest.take_while(|byte| TOKEN[usize::from(**byte)]).count();
                if length >= MIN_TOKEN {
                    let token = counted(&text, start + escapes::letters(&text, start));
                    expected.extend(Some(token.place.clone()).filter(|_| token.worth()));
                }
                start += length + 1;
            }
            assert_eq!(found, expected);
        }
    }
}
