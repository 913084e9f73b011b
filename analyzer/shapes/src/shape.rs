//! The shape of a line: the line with its numbers and ids left open, so that lines which differ in nothing else share it.

use std::ops::Range;

use crate::alphabet::{are_letters, is_letter};
use crate::before::Before;
use crate::drawn::{self, is_uuid};
use crate::words::{self, Words};

/// An open place of digits.
pub const DIGITS: u8 = 0x80;
/// An open place of a number in base 16: digits and the letters `a` to `f`.
pub const HEX: u8 = 0x81;
/// An open place of digits and letters, of which no more than three stand together unless all are of base 16.
pub const MIXED: u8 = 0x82;

/// An open place of a part of a UUID: digits and the letters `a` to `f`, perhaps letters only.
pub const ID: u8 = 0x84;

/// Whether a byte in lower case may stand at an open place.
pub fn may_stand_at(byte: u8, place: u8) -> bool {
    match place {
        DIGITS => byte.is_ascii_digit(),
        HEX | ID => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
        DRAWN => is_letter(byte),
        _ => byte.is_ascii_alphanumeric(),
    }
}

/// An open place of a part of a name that Kubernetes draws: letters and digits of its alphabet.
pub const DRAWN: u8 = 0x83;

/// Runs of so many letters or more stand in a shape as they are: they are words. Shorter ones by one letter do where
/// they are known as words.
pub const WORD: usize = 4;

/// Whether a byte of a shape is an open place.
pub fn is_open(byte: u8) -> bool {
    byte >= DIGITS
}

/// A byte of a shape as it may stand in a line of it.
pub fn sample(byte: u8) -> u8 {
    match is_open(byte) {
        true => b'4',
        false => byte,
    }
}

/// What a byte is: nothing that an open place holds, a digit, a letter of base 16 in lower case, another letter.
pub const OTHER: u8 = 0;
pub const DIGIT: u8 = 1;
pub const HEX_LETTER: u8 = 2;
pub const LETTER: u8 = 4;

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

pub fn kind(byte: u8) -> u8 {
    KINDS[byte as usize]
}

/// The shape of a text; none where it has none: it is not ASCII, or a record of JSON writes a character of it as a number.
pub fn of(text: &[u8], is_escaped: bool, words: &Words) -> Option<Vec<u8>> {
    let has_one = text.is_ascii() && (!is_escaped || escapes_letters(text));
    has_one.then(|| {
        let mut shape = Vec::new();
        let text = (text, is_escaped);
        follow(&mut Before::default(), text, words, (0, &mut shape));
        shape
    })
}

/// How much of a text is in its shape at a place of it.
#[derive(Clone, Copy)]
pub struct Written {
    /// The first byte of the text that is not in the shape yet.
    copied: usize,
    /// Length of the shape.
    shape: usize,
}

/// Makes of what `shape` holds behind `head` bytes, which is the shape of the text before, the shape of this text, which is
/// ASCII; where it is a part of JSON, it writes no character as a number.
///
/// Only what holds a digit can be open, so the text is gone through from digit to digit.
pub fn follow(
    before: &mut Before<Written>,
    (text, is_escaped): (&[u8], bool),
    words: &Words,
    (head, shape): (usize, &mut Vec<u8>),
) {
    let nothing = Written {
        copied: 0,
        shape: 0,
    };
    let (mut at, written) = before.joint(text).unwrap_or((0, nothing));
    let mut copied = written.copied;
    shape.truncate(head + written.shape);
    before.take(text);
    while let Some((start, token)) = next_token(text, at, is_escaped) {
        shape.extend_from_slice(&text[copied..start]);
        copied = start + open_token(&text[start..], token, words, shape);
        at = copied;
        let shape = shape.len() - head;
        before.note(text, (at, Written { copied, shape }), words);
    }
    shape.extend_from_slice(&text[copied..]);
}

/// Where from a place on the next digits and letters stand of which one is a digit, with their length and kinds.
#[inline]
pub fn next_token(text: &[u8], mut at: usize, is_escaped: bool) -> Option<(usize, (usize, u8))> {
    while let Some(digit) = next_digit(text, at) {
        let start = token_start(text, digit, is_escaped);
        let (length, kinds) = token_at(&text[start..]);
        if kinds & DIGIT != 0 {
            return Some((start, (length, kinds)));
        }
        // The digit is the letter of an escape.
        at = (start + length).max(digit + 1);
    }
    None
}

/// Appends the shape of digits and letters that a text begins with, of which one is a digit, and of what is drawn together
/// with them; gives the length of both.
#[inline]
pub fn open_token(
    text: &[u8],
    (length, kinds): (usize, u8),
    words: &Words,
    shape: &mut Vec<u8>,
) -> usize {
    if is_short_number(text, (length, kinds), words) {
        shape.push(DIGITS);
        return length;
    }
    open_with_rest(text, (length, kinds), words, shape).unwrap_or_else(|| {
        shape.extend_from_slice(&text[..length]);
        length
    })
}

/// Whether digits and letters that a text begins with are a number and no more, as most are: it is shorter than all words that
/// stand among digits, and nothing behind it matters.
#[inline]
fn is_short_number(text: &[u8], (length, kinds): (usize, u8), words: &Words) -> bool {
    kinds == DIGIT && length < words::SHORTEST && !words.joins(text.get(length))
}

/// Appends the shape of digits and letters that a text begins with, and of what is drawn together with them; gives the
/// length of both. None where they stand as they are.
#[inline]
fn open_with_rest(
    text: &[u8],
    (length, kinds): (usize, u8),
    words: &Words,
    shape: &mut Vec<u8>,
) -> Option<usize> {
    let token = &text[..length];
    if kinds == DIGIT && length < words::SHORTEST && words.begin_with_number(text) {
        return None;
    }
    if let Some(word) = words.first_in(token, kinds) {
        return beside(token, word, words, shape).then_some(length);
    }
    let named = before_id(token, kinds);
    shape.extend_from_slice(&token[..named]);
    if (named > 0 || kinds & LETTER == 0) && is_uuid(&text[named..]) {
        return Some(named + drawn::uuid(&text[named..], words, shape));
    }
    match named {
        0 => open(token, kinds, words, shape),
        _ => shape.push(HEX),
    }
    Some(length + drawn::behind(&text[length..], words, shape))
}

/// Appends a word with the shape of the digits and letters on both sides of it: long ids and numbers hold some word by
/// chance. False where another word may stand there as well.
fn beside(token: &[u8], word: Range<usize>, words: &Words, shape: &mut Vec<u8>) -> bool {
    if word.len() == token.len() || words.stand_in(&token[word.start + 1..]) {
        return false;
    }
    let side = |part: &[u8], shape: &mut Vec<u8>| {
        let (_, kinds) = token_at(part);
        match kinds & DIGIT {
            0 => shape.extend_from_slice(part),
            _ => open(part, kinds, words, shape),
        }
    };
    side(&token[..word.start], shape);
    shape.extend_from_slice(&token[word.clone()]);
    side(&token[word.end..], shape);
    true
}

/// Length of what names an id of base 16 that is glued to it (`veth1a2b3c4d`, `pod` before a UUID): up to the last letter
/// of the first run that no such number holds. 0 where there is no such id.
fn before_id(token: &[u8], kinds: u8) -> usize {
    const SHORTEST_ID: usize = 6;
    if kinds & LETTER == 0 || kind(token[0]) == DIGIT {
        return 0;
    }
    let run = token.iter().take_while(|byte| kind(**byte) != DIGIT);
    let last = run
        .zip(1..)
        .filter(|(byte, _)| kind(**byte) == LETTER)
        .last();
    let named = last.map_or(0, |(_, length)| length);
    let id = &token[named..];
    let is_id = id.len() >= SHORTEST_ID && id.iter().all(|byte| kind(*byte) != LETTER);
    if is_id { named } else { 0 }
}

/// Whether the letters beside the digits say what these are: a unit, a time, a version (`5m0s`, `16GiB`, `30T00`, `v1`).
fn is_measure(token: &[u8]) -> bool {
    const SHORT: usize = 4;
    if token.len() <= SHORT {
        return true;
    }
    let is_letter = |byte: &&u8| kind(**byte) != DIGIT;
    let digits = token.iter().take_while(|byte| !is_letter(byte)).count();
    let unit = token[digits..].iter().take_while(is_letter).count();
    digits > 0 && unit < WORD && !token[digits + unit..].iter().any(|byte| is_letter(&byte))
}

/// Appends the shape of digits and letters that stand together and hold a digit.
fn open(token: &[u8], kinds: u8, words: &Words, shape: &mut Vec<u8>) {
    if kinds == DIGIT {
        return shape.push(DIGITS);
    }
    if kinds == DIGIT | HEX_LETTER {
        return shape.push(HEX);
    }
    let may_be_drawn = drawn::LENGTHS.contains(&token.len()) && are_letters(token);
    if !may_be_drawn && is_measure(token) {
        for run in token.chunk_by(|a, b| (kind(*a) == DIGIT) == (kind(*b) == DIGIT)) {
            match kind(run[0]) {
                DIGIT => shape.push(DIGITS),
                _ => shape.extend_from_slice(run),
            }
        }
    } else if may_be_drawn && words.is_free(token) {
        shape.push(DRAWN);
    } else {
        mixed(token, words, shape);
    }
}

/// Whether each escape of a text of JSON stands for one letter.
fn escapes_letters(text: &[u8]) -> bool {
    let mut rest = text.iter();
    let mut is_letter = true;
    while rest.by_ref().any(|byte| *byte == b'\\') {
        is_letter &= !matches!(rest.next(), None | Some(b'u'));
    }
    is_letter
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
pub fn token_at(text: &[u8]) -> (usize, u8) {
    let mut kinds = OTHER;
    let mut length = 0;
    // Most are shorter than eight bytes: to look at as many at once is faster than to guess where they end.
    while let Some(eight) = text.get(length..).and_then(|rest| rest.first_chunk::<8>()) {
        let (here, of_here) = token_in(u64::from_le_bytes(*eight));
        kinds |= of_here;
        length += here;
        if here < 8 {
            return (length, kinds);
        }
    }
    for byte in &text[length..] {
        let kind = kind(*byte);
        if kind == OTHER {
            break;
        }
        kinds |= kind;
        length += 1;
    }
    (length, kinds)
}

/// The same of eight bytes.
#[inline]
fn token_in(eight: u64) -> (usize, u8) {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = ONES << 7;
    let seven = eight & !HIGH;
    // The high bit of each byte from one to another; no sum leaves its byte.
    let between = |bytes: u64, first: u8, last: u8| {
        let from = bytes + u64::from(0x80 - first) * ONES;
        let behind = bytes + u64::from(0x7f - last) * ONES;
        from & !behind & !eight & HIGH
    };
    let digits = between(seven, b'0', b'9');
    let letters = between(seven | 0x2020_2020_2020_2020, b'a', b'z');
    let hexes = between(seven, b'a', b'f');
    let others = !(digits | letters) & HIGH;
    let length = (others.trailing_zeros() / 8) as usize;
    // The bits below the first other byte, all where there is none.
    let here = (others & others.wrapping_neg()).wrapping_sub(1);
    let of = |bytes: u64, kind: u8| u8::from(bytes & here != 0) * kind;
    let kinds = of(digits, DIGIT) | of(hexes, HEX_LETTER) | of(letters & !hexes, LETTER);
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
pub fn unescape(shape: &[u8], said: &mut Vec<u8>) -> bool {
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

    #[test]
    fn a_number_that_a_text_names_with_the_word_behind_it_stands_as_it_is() {
        let words = Words::of(["status code 401 unauthorized", "4040 not"].into_iter());
        for (line, expected) in [
            ("code 401 Unauthorized", "code 401 Unauthorized"),
            ("code 403 Unauthorized", "code # Unauthorized"),
            ("code 401 Forbidden", "code # Forbidden"),
            ("code 1401 Unauthorized", "code # Unauthorized"),
            ("code 401, Unauthorized", "code #, Unauthorized"),
            ("code 401 Un", "code # Un"),
            ("7 nodes", "# nodes"),
        ] {
            let shape = of(line.as_bytes(), false, &words).unwrap();
            let open = |byte: &u8| {
                if is_open(*byte) {
                    '#'
                } else {
                    char::from(*byte)
                }
            };
            assert_eq!(shape.iter().map(open).collect::<String>(), expected);
        }
    }

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
                _ if kinds & DIGIT == 0 => shape.extend_from_slice(token),
                kinds => match open_with_rest(&text[at..], (length, kinds), words, &mut shape) {
                    Some(open) => at += open - length,
                    None => shape.extend_from_slice(token),
                },
            }
            at += length;
        }
        Some(shape)
    }

    proptest::proptest! {
        #[test]
        fn digits_and_letters_end_where_they_do_byte_by_byte(text in proptest::collection::vec(0u8..=255, 0..40), word in "[0-9a-zA-Z]{0,20}") {
            for text in [text.clone(), [word.as_bytes(), &text].concat()] {
                let token = text.iter().map(|byte| kind(*byte)).take_while(|kind| *kind != OTHER);
                let (length, kinds) = (token.clone().count(), token.fold(OTHER, |all, kind| all | kind));
                proptest::prop_assert_eq!(token_at(&text), (length, kinds), "{:?}", text);
            }
        }

        #[test]
        fn from_digit_to_digit_gives_the_shape_byte_by_byte(
            text in "([ -~]{0,9}|[0-9a-f]{1,9}|\\\\[nt\"0-9]|x509|xid| 12|401| Unauth|\\\\|(pod)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9]{4}-[a-f]{4}-[0-9a-f]{12}|-[bcdf2-9]{5}|[0-9]{3}6443[0-9a-f]{3}|veth[0-9a-f]{8}|5m0s){0,9}",
            is_escaped: bool,
        ) {
            let words = Words::of(["xid", "x509", "6443", "401 unauthorized"].into_iter());
            let shape = of(text.as_bytes(), is_escaped, &words);
            let plainly = plainly(text.as_bytes(), is_escaped, &words);
            proptest::prop_assert_eq!(shape, plainly, "{}", text);
        }

        #[test]
        fn a_text_that_begins_as_the_one_before_has_the_shape_that_it_has_alone(
            begins in "([ -~]{0,9}|401| unau|[0-9a-f]{1,9}|2026-11-29T1[0-9]:|x509|\\\\[nt]|[0-9a-f]{8}-[0-9a-f]{4}-|-[bcdf2-9]{5}|5m0s){0,6}",
            ends in proptest::collection::vec("([ -~]{0,3}|401| unauthor|thorized|[0-9a-f]{1,9}|[0-9]{4}-[a-f]{4}-[0-9a-f]{12}|-[bcdf2-9]{5}|x509){0,4}", 1..6),
            is_escaped: bool,
        ) {
            let words = Words::of(["xid", "x509", "6443", "401 unauthorized"].into_iter());
            let (mut before, mut shape) = (Before::default(), vec![7]);
            for end in ends {
                let text = format!("{begins}{end}");
                let Some(plainly) = plainly(text.as_bytes(), is_escaped, &words) else { continue };
                follow(&mut before, (text.as_bytes(), is_escaped), &words, (1, &mut shape));
                proptest::prop_assert_eq!(&shape[1..], &plainly[..], "{}", text);
            }
        }
    }
}
