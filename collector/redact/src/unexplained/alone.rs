//! Words that what stands around them makes more than a part of a name: edges, an issuer's prefix, the padding of base64.

use std::ops::Range;

use super::super::explained::by_place;
use super::super::random::{Sorts, surprise};
use super::WORD;

/// Whether a word is no part of a name, a path or an address.
pub(super) fn stands_alone(bytes: &[u8], word: &Range<usize>) -> bool {
    let edge =
        |byte: Option<&u8>| byte.is_none_or(|byte| b" \t\r\n\"'\\,;=()[]{}<>|".contains(byte));
    let dot = bytes.get(word.end) == Some(&b'.') && edge(bytes.get(word.end + 1));
    edge(word.start.checked_sub(1).and_then(|at| bytes.get(at)))
        && (dot || edge(bytes.get(word.end)))
}

/// Whether a word stands alone but for what an issuer puts in front of it: `zq_`, `ZQKT-`, `71234:`.
pub(super) fn is_issued(bytes: &[u8], word: &Range<usize>) -> bool {
    let before = &bytes[..word.start];
    if !before.last().is_some_and(|byte| b"_-.:~".contains(byte)) {
        return false;
    }
    let before = &before[..before.len() - 1];
    let part = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let length = before
        .iter()
        .rev()
        .take(LONGEST_ISSUER + 1)
        .take_while(part)
        .count();
    let start = before.len() - length;
    (2..=LONGEST_ISSUER).contains(&length)
        && stands_alone(bytes, &(start..word.end))
        && !by_place(bytes, &(start..word.end))
}

/// No issuer's prefix is longer.
const LONGEST_ISSUER: usize = 12;

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
