//! Where ids of hexadecimal digits stand in a text.

use std::ops::Range;

use smallvec::SmallVec;

use super::super::encoded;
use super::super::number::ONES;
use super::super::scan::Edges;
use super::super::table::{LETTERS_AND_DIGITS, of};
use super::super::unexplained::holds_text;

/// Fewer digits are judged by what they are.
const SHORTEST: usize = 16;
/// And more of them are no id.
pub(super) const LONGEST: usize = 128;
/// The length of a UUID, and where its dashes stand.
pub(crate) const UUID: usize = 36;
const DASHES: [usize; 4] = [8, 13, 18, 23];
/// An id has so many digits and so many letters at least, and they change places so often: a number has fewer, and so has a
/// word.
const FEWEST: usize = 3;
const CHANGES: u32 = 4;

/// What ids are written with.
static OF_IDS: [bool; 256] = of(b"0123456789abcdef-");
static WORD: [bool; 256] = LETTERS_AND_DIGITS;

/// Most texts have no more ids.
pub(super) type All = SmallVec<[Range<usize>; 4]>;

/// The ids in a text from such a run on.
pub(super) fn ids(text: &[u8], first: Range<usize>, all: &mut All) {
    let mut next = Some(first);
    while let Some(run) = next {
        next = next_run(text, run.end);
        let mut end = run.end;
        if let Some(start) = run
            .end
            .checked_sub(UUID)
            .filter(|start| *start >= run.start)
            && is_uuid(text, start..run.end)
        {
            end = start;
            parts(text, run.start..end, all);
            all.push(start..run.end);
        }
        if end == run.end {
            parts(text, run, all);
        }
    }
}

/// The ids between the dashes of a run.
fn parts(text: &[u8], run: Range<usize>, all: &mut All) {
    let mut at = run.start;
    while at + SHORTEST <= run.end {
        let length = memchr::memchr(b'-', &text[at..run.end]).unwrap_or(run.end - at);
        if is_id(text, at..at + length) {
            all.push(at..at + length);
        }
        at += length + 1;
    }
}

/// The next run of what ids are written with that is long enough for one, at or behind a place.
pub(super) fn next_run(text: &[u8], from: usize) -> Option<Range<usize>> {
    // A run of this length holds three bytes in a row of those that stand so far apart.
    const APART: usize = 5;
    const { assert!(3 * APART < SHORTEST) };
    let mut at = from + APART - 1;
    let mut last = [false; 2];
    while let Some(byte) = text.get(at) {
        let here = OF_IDS[usize::from(*byte)];
        if here && last[0] && last[1] {
            let other = |byte: &u8| !OF_IDS[usize::from(*byte)];
            let front = text[from..at].iter().rposition(other);
            let start = front.map_or(from, |at| from + at + 1);
            let length = text[at..].iter().position(other);
            let end = length.map_or(text.len(), |length| at + length);
            if end - start >= SHORTEST {
                return Some(start..end);
            }
        }
        last = [last[1], here];
        at += APART;
    }
    None
}

/// Whether hexadecimal digits are an id: a word of their own with the digits and letters of one, and no text, number, address
/// or time.
fn is_id(text: &[u8], place: Range<usize>) -> bool {
    let digits = &text[place.clone()];
    if !(SHORTEST..=LONGEST).contains(&digits.len()) || !stands_apart(text, &place) {
        return false;
    }
    let time = digits.len() == SHORTEST && matches!(digits[..2], [b'1', b'6'..=b'9']);
    mixes(digits)
        && !time
        && !digits.starts_with(b"0000")
        && !digits.starts_with(b"ffff")
        && !holds_text(digits)
        && says_nothing(text, &place)
}

/// Whether hexadecimal digits are as many letters and numbers as those of an id, and they change places as often within
/// eight of them.
fn mixes(digits: &[u8]) -> bool {
    // Letters have this bit, and numbers do not.
    let letters = |eight: u64| eight & (0x40 * ONES);
    let (parts, rest) = digits.as_chunks::<8>();
    let (mut count, mut changes) = (0, 0);
    for eight in parts {
        let letters = letters(u64::from_le_bytes(*eight));
        count += letters.count_ones();
        changes += ((letters ^ (letters >> 8)) & ((0x40 * ONES) >> 8)).count_ones();
    }
    let count = count as usize + rest.iter().filter(|byte| byte.is_ascii_lowercase()).count();
    count >= FEWEST && digits.len() - count >= FEWEST && changes >= CHANGES
}

/// Whether a text has the length and the dashes of a UUID, and its first part a digit: one without may be an issuer's word.
pub(crate) fn has_form_of_uuid(id: &[u8]) -> bool {
    id.len() == UUID
        && DASHES.iter().all(|at| id[*at] == b'-')
        && id[..DASHES[0]].iter().any(u8::is_ascii_digit)
}

/// Whether a part of a text is a UUID that may be written alike.
fn is_uuid(text: &[u8], place: Range<usize>) -> bool {
    let id = &text[place.clone()];
    let dashes = id.iter().filter(|byte| **byte == b'-').count();
    dashes == DASHES.len()
        && has_form_of_uuid(id)
        && stands_apart(text, &place)
        && id.iter().any(u8::is_ascii_lowercase)
        && says_nothing(text, &place)
}

/// Whether no letter or digit stands beside an id, and no escape in front of it.
fn stands_apart(text: &[u8], place: &Range<usize>) -> bool {
    let before = &text[..place.start];
    // As slices and cgroups call a pod.
    let pod = before.strip_suffix(b"pod").filter(|_| place.len() == UUID);
    let before = pod.unwrap_or(before);
    let word = |byte: &u8| WORD[usize::from(*byte)];
    let tied = |byte: &u8| word(byte) || matches!(byte, b'\\' | b'%' | b'#' | b'\x1b');
    !before.last().is_some_and(tied)
        && !before.ends_with(b"\x1b[")
        && !text.get(place.end).is_some_and(word)
}

/// Whether neither a word that is searched for stands in an id, nor an encoded text begins with it.
fn says_nothing(text: &[u8], place: &Range<usize>) -> bool {
    !Edges::touch(text, place) && !encoded::begins_with(text, place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

    fn found(text: &str) -> Vec<&str> {
        let mut all = All::new();
        if let Some(first) = next_run(text.as_bytes(), 0) {
            ids(text.as_bytes(), first, &mut all);
        }
        all.into_iter().map(|id| &text[id]).collect()
    }

    #[test]
    fn ids_are_found_wherever_they_stand() {
        let digits = "9b1f3c7a5e2d8046".repeat(8);
        let uuid = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";
        let mut draws = Draws::new();
        for front in 0..40 {
            for mark in ["", " ", "/", "\"", "=", "web-", "x_", "abc-", "pod "] {
                let length = 16 + draws.below(113);
                let before = "x ".repeat(front) + mark;
                for id in [&digits[..length], uuid] {
                    assert_eq!(found(&format!("{before}{id}, y")), [id], "{before}{id}");
                    assert_eq!(found(&format!("{before}{id}")), [id]);
                }
            }
        }
        assert_eq!(found(&format!("pod{uuid}.slice {uuid}-x")), [uuid]);
        assert_eq!(
            found(&format!("{uuid} {}", &digits[..64])),
            [uuid, &digits[..64]]
        );
    }

    #[test]
    fn what_says_something_is_no_id() {
        for text in [
            "deadbeefdeadbeefdeadbeef",
            "20261120101500123456789",
            "6c6f6e6a6b6d6e636c6f6e6a6b6d6e63",
            "x:aa1f3c7a5e2d8046",
            "9b1f3c7a5e2d80a3-x",
            "9b1feaaa5e2d8046",
            "00001f3c7a5e2d8046",
            "17f3a1c2d4e5f607",
            "\\x9b1f3c7a5e2d8046",
            "%9b1f3c7a5e2d8046",
            "9b1f3c7a5e2d8046z",
            "abcdefab-cdef-abcd-8293-a4b5c6d7e8f9",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
        assert!(found(&"9b1f3c7a5e2d8046".repeat(9)).is_empty());
    }
}
