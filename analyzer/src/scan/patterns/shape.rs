//! The shape of a line: the line with its numbers and ids left open, so that lines which differ in nothing else share it.

use std::collections::BTreeSet;

use super::drawn::{self, is_uuid};
use crate::lines::drawn::{are_letters, is_letter};

/// An open place of digits.
pub(super) const DIGITS: u8 = 0x80;
/// An open place of a number in base 16: digits and the letters `a` to `f`.
pub(super) const HEX: u8 = 0x81;
/// An open place of digits and letters, of which no more than three stand together unless all are of base 16.
pub(super) const MIXED: u8 = 0x82;

/// Whether a byte in lower case may stand at an open place.
pub(super) fn may_stand_at(byte: u8, place: u8) -> bool {
    match place {
        DIGITS => byte.is_ascii_digit(),
        HEX => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
        DRAWN => is_letter(byte),
        _ => byte.is_ascii_alphanumeric(),
    }
}

/// An open place of a part of a name that Kubernetes draws: letters and digits of its alphabet.
pub(super) const DRAWN: u8 = 0x83;

/// Runs of so many letters or more stand in a shape as they are: they are words. Shorter ones by one letter do where
/// they are known as words.
const WORD: usize = 4;

/// Whether a byte of a shape is an open place.
pub(super) fn is_open(byte: u8) -> bool {
    byte >= DIGITS
}

/// What shapes have to show of the texts that are looked for: their words of three letters, and their words that could
/// stand in numbers and ids (`x509`, `6443`, `dead`). What holds one of these is no open place.
pub(super) struct Words {
    /// Words of three letters, as a bit each.
    short: Vec<u64>,
    /// How the others begin, as a bit for each hash of four bytes.
    begins: Vec<u64>,
    /// The others, sorted.
    others: Vec<Box<[u8]>>,
}

impl Words {
    const LETTERS: usize = 26;
    const BEGINS: usize = 1 << 16;

    /// Those of the texts that are looked for, which are in lower case.
    pub(super) fn of<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut short = vec![0; Self::LETTERS.pow(3) / 64 + 1];
        let mut begins = vec![0; Self::BEGINS / 64];
        let mut others = BTreeSet::new();
        for text in texts {
            let runs = text.as_bytes().split(|byte| !byte.is_ascii_alphabetic());
            for at in runs.filter_map(Self::place) {
                short[at / 64] |= 1u64 << (at % 64);
            }
            let tokens = text.as_bytes().split(|byte| kind(*byte) == OTHER);
            for token in tokens.filter(|token| token.len() >= SHORTEST) {
                let kinds = token.iter().fold(OTHER, |kinds, byte| kinds | kind(*byte));
                if kinds & DIGIT != 0 || kinds == HEX_LETTER || are_letters(token) {
                    let at = Self::begin([token[0], token[1], token[2], token[3]]);
                    begins[at / 64] |= 1u64 << (at % 64);
                    others.insert(Box::from(token));
                }
            }
        }
        Self {
            short,
            begins,
            others: others.into_iter().collect(),
        }
    }

    fn place(word: &[u8]) -> Option<usize> {
        let letters: &[u8; WORD - 1] = word.try_into().ok()?;
        let number = |letter: u8| usize::from(letter.to_ascii_lowercase().wrapping_sub(b'a'));
        let place = letters
            .iter()
            .fold(0, |place, letter| place * Self::LETTERS + number(*letter));
        letters.iter().all(u8::is_ascii_alphabetic).then_some(place)
    }

    /// Whether a run of these letters stands in shapes as it is, and at no open place of digits and letters.
    pub(super) fn stands_in_shapes(&self, run: [u8; WORD - 1]) -> bool {
        run.iter().any(|byte| kind(*byte) == LETTER) && self.has_short(&run)
    }

    fn has_short(&self, word: &[u8]) -> bool {
        Self::place(word).is_some_and(|at| self.short[at / 64] & (1 << (at % 64)) != 0)
    }

    #[inline]
    fn begin(bytes: [u8; SHORTEST]) -> usize {
        let folded = u32::from_le_bytes(bytes) | 0x2020_2020;
        (folded.wrapping_mul(0x9e37_79b1) >> 16) as usize
    }

    /// Whether a part of a name that was drawn holds no word.
    pub(super) fn is_free(&self, drawn: &[u8]) -> bool {
        !self.stand_in(drawn) && !drawn.windows(WORD - 1).any(|three| self.has_short(three))
    }

    /// Whether one of the other words stands in digits and letters.
    pub(super) fn stand_in(&self, token: &[u8]) -> bool {
        let mut places = token.windows(SHORTEST).enumerate();
        places.any(|(at, four)| {
            let begin = Self::begin([four[0], four[1], four[2], four[3]]);
            self.begins[begin / 64] & (1 << (begin % 64)) != 0 && self.begin_with(&token[at..])
        })
    }

    fn begin_with(&self, token: &[u8]) -> bool {
        let same = |word: &[u8]| {
            token
                .get(..word.len())
                .is_some_and(|here| here.eq_ignore_ascii_case(word))
        };
        self.others.iter().any(|word| same(word))
    }
}

/// The shortest word that is told apart in numbers and ids: a good part of all ids holds some shorter one.
const SHORTEST: usize = 4;

/// Whether digits and letters of a text that is looked for may stand at an open place, which holds none of its words.
pub(super) fn may_be_open(token: &[u8]) -> bool {
    let kinds = token.iter().fold(OTHER, |kinds, byte| kinds | kind(*byte));
    let is_short_word = token.len() + 1 == WORD && kinds & LETTER != 0 && kinds & DIGIT == 0;
    token.len() < SHORTEST && !is_short_word
}

/// What a byte is: nothing that an open place holds, a digit, a letter of base 16 in lower case, another letter.
const OTHER: u8 = 0;
pub(super) const DIGIT: u8 = 1;
const HEX_LETTER: u8 = 2;
pub(super) const LETTER: u8 = 4;

static KINDS: [u8; 256] = kinds();

const fn kinds() -> [u8; 256] {
    let mut kinds = [OTHER; 256];
    let mut byte = 0u8;
    while byte < 0x80 {
        kinds[byte as usize] = match byte {
            b'0'..=b'9' => DIGIT,
            b'a'..=b'f' => HEX_LETTER,
            b'g'..=b'z' | b'A'..=b'Z' => LETTER,
            _ => OTHER,
        };
        byte += 1;
    }
    kinds
}

fn kind(byte: u8) -> u8 {
    KINDS[byte as usize]
}

/// Appends the shape of a text; false where it has none: it is not ASCII, or a record of JSON writes a character of it
/// as a number.
///
/// Only what holds a digit can be open, so the text is gone through from digit to digit.
pub(super) fn write(text: &[u8], is_escaped: bool, words: &Words, shape: &mut Vec<u8>) -> bool {
    if !text.is_ascii() || (is_escaped && !escapes_letters(text)) {
        return false;
    }
    let (mut copied, mut at) = (0, 0);
    while let Some(digit) = next_digit(text, at) {
        let start = token_start(text, digit, is_escaped);
        let (length, kinds) = token_at(&text[start..]);
        let token = &text[start..start + length];
        // The digit may be the letter of an escape.
        at = (start + length).max(digit + 1);
        if kinds & DIGIT == 0 || words.stand_in(token) {
            continue;
        }
        shape.extend_from_slice(&text[copied..start]);
        if kinds & LETTER == 0 && is_uuid(&text[start..]) {
            at = start + drawn::uuid(&text[start..], words, shape);
        } else {
            open(token, kinds, words, shape);
            at += drawn::behind(&text[at..], words, shape);
        }
        copied = at;
    }
    shape.extend_from_slice(&text[copied..]);
    true
}

/// Appends the shape of digits and letters that stand together and hold a digit.
fn open(token: &[u8], kinds: u8, words: &Words, shape: &mut Vec<u8>) {
    if kinds == DIGIT {
        shape.push(DIGITS);
    } else if kinds == DIGIT | HEX_LETTER {
        shape.push(HEX);
    } else if drawn::LENGTHS.contains(&token.len()) && are_letters(token) && words.is_free(token) {
        shape.push(DRAWN);
    } else {
        mixed(token, words, shape);
    }
}

/// Whether each escape of a text of JSON stands for one letter that is written as it is.
fn escapes_letters(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        match rest.get(at + 1) {
            None | Some(b'u') => return false,
            Some(_) => rest = &rest[at + 2..],
        }
    }
    true
}

/// Where the next digit stands in a text that is ASCII: eight bytes at a time.
#[inline]
fn next_digit(text: &[u8], mut at: usize) -> Option<usize> {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    while let Some(eight) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        // Of a digit this leaves less than ten, and of nothing else; a sum never leaves its byte.
        let values = u64::from_le_bytes(*eight) ^ 0x3030_3030_3030_3030;
        let digits = !(values + 0x7676_7676_7676_7676) & HIGH;
        if digits != 0 {
            return Some(at + (digits.trailing_zeros() / 8) as usize);
        }
        at += 8;
    }
    let rest = text.get(at..)?;
    let digit = rest.iter().position(u8::is_ascii_digit)?;
    Some(at + digit)
}

/// Where the digits and letters begin that a digit stands in. The letter of an escape is none of them.
#[inline]
fn token_start(text: &[u8], digit: usize, is_escaped: bool) -> usize {
    let before = text[..digit].iter().rposition(|byte| kind(*byte) == OTHER);
    let start = before.map_or(0, |at| at + 1);
    let backslashes = || {
        let before = text[..start].iter().rev();
        before.take_while(|byte| **byte == b'\\').count()
    };
    start + usize::from(is_escaped && backslashes() % 2 == 1)
}

/// Length of the digits and letters that a text begins with, and their kinds together.
#[inline]
pub(super) fn token_at(text: &[u8]) -> (usize, u8) {
    let mut kinds = OTHER;
    let mut length = 0;
    for byte in text {
        let kind = kind(*byte);
        if kind == OTHER {
            break;
        }
        kinds |= kind;
        length += 1;
    }
    (length, kinds)
}

/// Appends the shape of digits and letters that stand together: words as they are, the rest open.
fn mixed(token: &[u8], words: &Words, shape: &mut Vec<u8>) {
    let mut open = OTHER;
    let close = |open: &mut u8, shape: &mut Vec<u8>| match std::mem::take(open) {
        OTHER => {}
        DIGIT => shape.push(DIGITS),
        kinds if kinds & LETTER == 0 => shape.push(HEX),
        _ => shape.push(MIXED),
    };
    let mut at = 0;
    while at < token.len() {
        let rest = &token[at..];
        let is_digit = kind(rest[0]) == DIGIT;
        let run = rest
            .iter()
            .take_while(|byte| (kind(**byte) == DIGIT) == is_digit);
        let length = run.count();
        let kinds = rest[..length]
            .iter()
            .fold(OTHER, |kinds, byte| kinds | kind(*byte));
        let is_word = length >= WORD || (length + 1 == WORD && words.has_short(&rest[..length]));
        if kinds & LETTER != 0 && is_word {
            close(&mut open, shape);
            shape.extend_from_slice(&rest[..length]);
        } else {
            open |= kinds;
        }
        at += length;
    }
    close(&mut open, shape);
}

/// Appends the shape of what a shape of a JSON text says; false where it holds an escape that it cannot.
pub(super) fn unescape(shape: &[u8], said: &mut Vec<u8>) -> bool {
    let mut bytes = shape.iter();
    while let Some(byte) = bytes.next() {
        if *byte != b'\\' {
            said.push(*byte);
            continue;
        }
        said.push(match bytes.next() {
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(b'r') => b'\r',
            Some(byte @ (b'"' | b'\\')) => *byte,
            _ => return false,
        });
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same byte by byte.
    fn plainly(text: &[u8], is_escaped: bool, words: &Words) -> Option<Vec<u8>> {
        let mut shape = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let (length, kinds) = token_at(&text[at..]);
            let token = &text[at..at + length];
            match kinds {
                OTHER => {
                    shape.push(text[at]);
                    if is_escaped && text[at] == b'\\' {
                        at += 1;
                        shape.push(*text.get(at).filter(|letter| **letter != b'u')?);
                    }
                    at += 1;
                }
                _ if kinds & DIGIT == 0 || words.stand_in(token) => shape.extend_from_slice(token),
                kinds if kinds & LETTER == 0 && is_uuid(&text[at..]) => {
                    at += drawn::uuid(&text[at..], words, &mut shape) - length;
                }
                kinds => {
                    open(token, kinds, words, &mut shape);
                    at += drawn::behind(&text[at + length..], words, &mut shape);
                }
            }
            at += length;
        }
        Some(shape)
    }

    proptest::proptest! {
        #[test]
        fn from_digit_to_digit_gives_the_shape_byte_by_byte(
            text in "([ -~]{0,9}|[0-9a-f]{1,9}|\\\\[nt\"0-9]|x509|xid| 12|\\\\|[0-9a-f]{8}-[0-9a-f]{4}-[0-9]{4}-[a-f]{4}-[0-9a-f]{12}|-[bcdf2-9]{5}){0,9}",
            is_escaped: bool,
        ) {
            let words = Words::of(["xid", "x509", "6443"].into_iter());
            let mut shape = Vec::new();
            let has = write(text.as_bytes(), is_escaped, &words, &mut shape);
            let plainly = plainly(text.as_bytes(), is_escaped, &words);
            proptest::prop_assert_eq!(has.then_some(shape), plainly, "{}", text);
        }
    }
}
