//! Words that what stands around them makes more than a part of a name: edges, letters that are glued to it, the padding of base64.

use std::ops::Range;

use super::super::escapes::behind_letter;
use super::super::explained::{by_place, in_request, named};
use super::super::random::{Letters, MIN_DRAWN, Sorts, drawn_of, surprise};
use super::issuer::around;
use super::tokens::{MIN_TOKEN, WORD, next_of};
use super::words::{encoded_text, without_escape};

/// What stands around a word that is alone.
static EDGE: [bool; 256] = crate::table::of(b" \t\r\n\"'\\,;=()[]{}<>|&");

/// Whether a word is no part of a name or a path: a line of an escaped text, a value in an address and a part of the path
/// of a request stand alone.
pub(super) fn stands_alone(bytes: &[u8], word: &Range<usize>) -> bool {
    let edge = |byte: Option<&u8>| byte.is_none_or(|byte| EDGE[usize::from(*byte)]);
    let before = &bytes[..word.start];
    let behind = bytes.get(word.end);
    let dot = behind == Some(&b'.') && edge(bytes.get(word.end + 1));
    let first = edge(before.last()) || behind_letter(before);
    let last = dot || edge(behind);
    let parted = (first || before.last() == Some(&b'/'))
        && (last || behind.is_some_and(|byte| b"/?".contains(byte)));
    (first && last) || (parted && in_request(before))
}

/// The first word of eight to ten letters in a token that was drawn and stands alone, or alone but for its issuer.
pub(super) fn very_short(bytes: &[u8], token: &Range<usize>) -> Option<Range<usize>> {
    let mut at = token.start;
    while let Some(word) = next_of::<MIN_TOKEN>(&WORD, &bytes[..token.end], at) {
        at = word.end;
        let word = without_escape(bytes, word);
        let text = &bytes[word.clone()];
        if (MIN_TOKEN..MIN_DRAWN).contains(&text.len())
            && is_short(bytes, &word)
            && !by_place(bytes, &word)
            && !named(&bytes[..word.start])
            && !encoded_text(bytes, &word)
        {
            return Some(word);
        }
    }
    None
}

/// Whether a word is one of fewer sorts of letters behind what an issuer puts in front of it, or in front of what it puts
/// behind: `ZQk3v9x2...`, `k3v9x2...ZQRT`.
pub(super) fn glued(text: &[u8], sorts: Sorts) -> bool {
    if sorts.lower == 0 || sorts.upper == 0 || text.len() < MIN_GLUED {
        return false;
    }
    let same = |first: &u8, byte: &&u8| {
        byte.is_ascii_alphabetic() && byte.is_ascii_uppercase() == first.is_ascii_uppercase()
    };
    let front = text.iter().take_while(|byte| same(&text[0], byte)).count();
    let last = &text[text.len() - 1];
    let behind = text
        .iter()
        .rev()
        .take_while(|byte| same(last, byte))
        .count();
    let fewer = |rest: &[u8]| {
        let left = Sorts::of(rest);
        rest.len() >= MIN_GLUED - LONGEST_GLUED
            && (left.lower == 0 || left.upper == 0)
            && drawn_of(rest, left)
    };
    let letters = 1..=LONGEST_GLUED;
    (letters.contains(&front) && fewer(&text[front..]))
        || (letters.contains(&behind) && fewer(&text[..text.len() - behind]))
}

/// Whether a word of so few letters was drawn and stands alone, or alone but for its issuer's words.
fn is_short(bytes: &[u8], word: &Range<usize>) -> bool {
    let text = &bytes[word.clone()];
    let sorts = Sorts::of(text);
    // Neither kind is of hexadecimal digits alone.
    if sorts.beyond_hex == 0 {
        return false;
    }
    let cased = sorts.lower > 0 && sorts.upper > 0;
    let letters = Letters::of(text, sorts);
    if letters.very_short_drawn() && stands_alone(bytes, word) {
        return true;
    }
    cased && letters.issued_drawn(false) && around(bytes, word).is_some()
}

/// An issuer glues no more letters to a token, which has at least so many with them.
const LONGEST_GLUED: usize = 8;
const MIN_GLUED: usize = 22;

/// Whether a word ends a run of digits of base64 whose padding shows what it is: `u/n0r+9rql3qq2qxvkp==`.
pub(super) fn padded(bytes: &[u8], word: &Range<usize>) -> bool {
    let padding = bytes[word.end..]
        .iter()
        .take_while(|byte| **byte == b'=')
        .count();
    // `name="..."`, `name=$x` and `name=x` give a value.
    let open = bytes
        .get(word.end + padding)
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || b"$/([{<-_.".contains(byte));
    if !(1..=3).contains(&padding) || open {
        return false;
    }
    let digit = |byte: &&u8| WORD[usize::from(**byte)] || b"+/".contains(byte);
    let length = bytes[..word.end]
        .iter()
        .rev()
        .take(LONGEST_PADDED)
        .take_while(digit)
        .count();
    let begin = word.end - length;
    let quote = |byte: Option<&u8>| byte.is_some_and(|byte| b"\"'".contains(byte));
    let assigned = padding == 1
        && quote(bytes.get(word.end + 1))
        && !quote(begin.checked_sub(1).and_then(|at| bytes.get(at)));
    let run = &bytes[begin..word.end];
    let sorts = Sorts::of(run);
    !assigned
        && length >= MIN_PADDED
        && sorts.digits > 1
        && sorts.lower > 1
        && surprise(run, sorts) > 0
}

/// Base64 of a key has at least so many digits.
const MIN_PADDED: usize = 15;
/// And what is judged by its padding no more.
const LONGEST_PADDED: usize = 128;
