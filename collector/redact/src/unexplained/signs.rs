//! Passwords of letters, digits and signs in no order: `sk_~8ElK98zT#l,ZkOK!o=`.

use std::ops::Range;

use super::super::random::{Sorts, surprise};

/// Shorter ones are a chance of punctuation, longer ones a line of code.
const LENGTHS: std::ops::RangeInclusive<usize> = 11..=80;
/// What expressions, formats and addresses are made of.
const CODE: [&str; 12] = [
    "A-Z",
    "a-z",
    "0-9",
    "://",
    "${",
    "$(",
    "&&",
    "||",
    "[^",
    "%%",
    "<redacted",
    "==",
];

/// The next such text at or behind `from` that begins in front of `end`; one that begins a little later may be found too.
pub(super) fn next(bytes: &[u8], from: usize, end: usize) -> Option<Range<usize>> {
    let mut at = from;
    let limit = bytes.len().min(end + LENGTHS.end() + 1);
    loop {
        let rest = bytes.get(at..limit)?;
        // One of these stands in most of them, and in few lines of a log.
        let rare = memchr::memchr3(b'!', b'^', b'~', rest);
        let other = memchr::memchr3(b'#', b'$', b'&', &rest[..rare.unwrap_or(rest.len())]);
        let hit = at + other.or(rare)?;
        let token = token(bytes, hit, from);
        if scrambled(&bytes[token.clone()]) {
            return Some(token);
        }
        at = token.end.max(hit + 1);
    }
}

/// What stands around a sign between blanks and quotes.
fn token(bytes: &[u8], hit: usize, from: usize) -> Range<usize> {
    let part = |byte: &&u8| byte.is_ascii_graphic() && !b"\"'`\\".contains(byte);
    let limit = LENGTHS.end() + 1;
    let before = bytes[from..hit]
        .iter()
        .rev()
        .take(limit)
        .take_while(part)
        .count();
    let behind = bytes[hit..].iter().take(limit).take_while(part).count();
    hit - before..hit + behind
}

/// Whether capitals, small letters, digits and signs change places as nothing does that was written.
fn scrambled(text: &[u8]) -> bool {
    if !LENGTHS.contains(&text.len()) {
        return false;
    }
    let sort = |byte: u8| match byte {
        b'A'..=b'Z' => 0,
        b'a'..=b'z' => 1,
        b'0'..=b'9' => 2,
        b'-' | b'_' | b'.' | b'/' | b',' | b':' | b'=' => 3,
        _ => 4,
    };
    let mut counts = [0_usize; 5];
    text.iter().for_each(|byte| counts[sort(*byte)] += 1);
    let mut signs: Vec<u8> = text
        .iter()
        .copied()
        .filter(|byte| sort(*byte) == 4)
        .collect();
    signs.sort_unstable();
    signs.dedup();
    let changes = text
        .windows(2)
        .filter(|two| sort(two[0]) != sort(two[1]))
        .count();
    let sorts = counts[..3].iter().filter(|count| **count > 0).count();
    let code = |mark: &&str| memchr::memmem::find(text, mark.as_bytes()).is_some();
    let restless = changes * 10 >= text.len() * 6;
    // A generator that takes two sorts of letters takes many signs: `ai$oy@v8w9-$rcawnt^87rv3-9k0t&srbc8v`.
    let small = || {
        sorts == 2
            && counts[2] > 2
            && signs.len() > 3
            && text.len() >= MIN_SMALL
            && changes * 10 >= text.len() * 4
            && bits(text) > SMALL
    };
    // Few signs, but letters that no word has: `uWVR3ilV!G#`.
    let few = || {
        sorts == 3
            && signs.len() > 1
            && text.len() <= MAX_FEW
            && changes * 2 >= text.len()
            && bits(text) > FEW
    };
    let many = signs.len() > 2
        && sorts == 3
        && counts[2] > 1
        && (restless || (changes * 2 >= text.len() && bits(text) > 0));
    (many || small() || few()) && !CODE.iter().any(code)
}

/// Passwords without capitals are judged from this length on, and from so many bits of surprise.
const MIN_SMALL: usize = 20;
const SMALL: i32 = 8;
/// Those with few signs up to this length, and from so many bits.
const MAX_FEW: usize = 24;
const FEW: i32 = 8;

/// The bits of surprise in the letters between the signs: above 0 they are those of no words.
fn bits(text: &[u8]) -> i32 {
    let letters: Vec<u8> = text
        .iter()
        .copied()
        .filter(u8::is_ascii_alphanumeric)
        .collect();
    surprise(&letters, Sorts::of(&letters))
}
