//! Tokens whose signs leave no part long enough to be judged by itself: `u/n0r+9rql3qq2`, `2qr_b-9=a6`, `uW;3i!G#`.

use std::ops::Range;

use super::super::explained::{by_place, in_request, named};
use super::super::random::signs::{Mixture, surprise};
use super::parts::is_pod_name;
use super::{TOKEN, WORD, encoded_text};

/// Shorter ones are a chance of punctuation, longer ones a line of code.
const LENGTHS: std::ops::RangeInclusive<usize> = 9..=100;
/// What expressions, formats and addresses are made of.
const CODE: [&[u8]; 16] = [
    b"A-Z",
    b"a-z",
    b"0-9",
    b"://",
    b"${",
    b"$(",
    b"&&",
    b"||",
    b"[^",
    b"%%",
    b"%2",
    b"%3",
    b"redacted:",
    b"==",
    b"</",
    b".*",
];
/// Signs that stand around a token in prose, and are rather none of it.
const AROUND: &[u8] = b"()[]{}<>,;:.";
/// Signs between names, values and addresses.
const BETWEEN: &[u8] = b",;=&?|:()[]{}<>";

/// The part of a token that was drawn, signs and all.
pub(super) fn scattered(bytes: &[u8], token: &Range<usize>) -> Option<Range<usize>> {
    let whole = trimmed(bytes, token);
    if token.start > 0 && TOKEN[usize::from(bytes[token.start - 1])] {
        return None;
    }
    let text = &bytes[whole.clone()];
    let address = memchr::memmem::find(text, b"://").is_some();
    let path = address || text.starts_with(b"/");
    if !path {
        let value = name_of(text).map(|length| whole.start + length..whole.end);
        let parts = [value.clone(), Some(whole.clone())].into_iter().flatten();
        // With a name in front a whole says less.
        let doubt = |place: &Range<usize>| match &value {
            Some(value) if value != place => NAMED,
            _ => 0,
        };
        let mut drawn = parts.filter(|place| drawn(bytes, place, doubt(place)));
        if let Some(place) = drawn.next() {
            return Some(place);
        }
    }
    let file = path && !in_request(&bytes[..whole.end]);
    let between = |byte: u8| BETWEEN.contains(&byte) || (path && byte == b'/');
    let mut at = whole.start;
    while at < whole.end {
        let length = bytes[at..whole.end]
            .iter()
            .take_while(|byte| !between(**byte))
            .count();
        let piece = at..at + length;
        if piece != whole && (!file || length >= IN_PATH) && drawn(bytes, &piece, 0) {
            return Some(piece);
        }
        at += length + 1;
    }
    None
}

/// Parts of paths are made unique by fewer letters.
const IN_PATH: usize = 24;

/// Whether a text is made as expressions are, or the same sign stands between names or values again and again: `a|b|c`,
/// `x=1,y=2,z=3`.
fn structured(text: &[u8]) -> bool {
    // What is written in percent signs is judged when it is decoded.
    let encoded =
        |at: &[u8]| at[0] == b'%' && at[1].is_ascii_hexdigit() && at[2].is_ascii_hexdigit();
    text.windows(3).any(encoded)
        || CODE
            .iter()
            .any(|mark| memchr::memmem::find(text, mark).is_some())
        || BETWEEN
            .iter()
            .any(|sign| memchr::memchr_iter(*sign, text).count() > 2)
}

/// A token without the signs around it and without the name that it is the value of.
fn trimmed(bytes: &[u8], token: &Range<usize>) -> Range<usize> {
    let text = &bytes[token.clone()];
    let around = |byte: &&u8| AROUND.contains(byte);
    let front = |text: &[u8]| {
        text.iter()
            .take_while(|byte| around(byte) || b"#=".contains(byte))
            .count()
    };
    let start = token.start + front(text);
    let end = token.end - text.iter().rev().take_while(around).count();
    start..end.max(start)
}

/// The length of a name in front of a value, with the sign between them.
fn name_of(text: &[u8]) -> Option<usize> {
    let part = |byte: &u8| byte.is_ascii_alphabetic() || b"_.-".contains(byte);
    let length = memchr::memchr(b'=', text)?;
    let name = &text[..length];
    (length > 1 && name.iter().all(part)).then_some(length + 1)
}

/// So many bits a name in front of a value is worth.
const NAMED: i32 = 10;

/// Whether letters, digits and signs stand there as nobody writes them; `doubt` is how many bits more that takes.
fn drawn(bytes: &[u8], place: &Range<usize>, doubt: i32) -> bool {
    let text = &bytes[place.clone()];
    if !LENGTHS.contains(&text.len()) {
        return false;
    }
    let sorts = Mixture::of(text);
    if sorts.signs == 0 || sorts.digits == 0 || sorts.lower + sorts.upper < 4 {
        return false;
    }
    let versions = memchr::memchr(b'.', text).is_some();
    let name = sorts.only(if versions { b"-./:,_~+" } else { b"-./:,_" });
    let least = doubt
        + match (sorts.lower > 1, sorts.upper > 1) {
            (true, true) => 14,
            (true, false) if name => 28,
            (true, false) => 20,
            _ => 34,
        };
    if name && (sorts.changes < 3 || is_pod_name(text)) {
        return false;
    }
    let bits = surprise(text, sorts);
    bits > least
        && (bits > least + STRUCTURE || !structured(text))
        && !encoded_text(bytes, place)
        && !explained(bytes, place)
}

/// So many bits more has what only looks like code.
const STRUCTURE: i32 = 40;

/// Whether the place of a token, the name in front of it, or what stands in front of the last part of it, says what it
/// is: `KUBE-SVC-NPX46M4PTMTKRN6Y`.
fn explained(bytes: &[u8], place: &Range<usize>) -> bool {
    let last = bytes[place.clone()]
        .iter()
        .rposition(|byte| !WORD[usize::from(*byte)])
        .map_or(place.start, |at| place.start + at + 1);
    by_place(bytes, place) || by_place(bytes, &(last..place.end)) || named(&bytes[..place.start])
}
