//! Shapes of what programs draw in lines: parts of names in the alphabet of Kubernetes, and UUIDs.

use crate::alphabet;
use crate::shape::{DIGIT, DRAWN, ID, LETTER, token_at};
use crate::words::Words;

/// Lengths of drawn parts of names: the end of a pod's name, the hash of a template.
pub(crate) const LENGTHS: std::ops::RangeInclusive<usize> = 5..=10;

/// The end of a pod's name is drawn as well as what stands before it, and a fifth of all such ends hold no digit; gives
/// the length of one that a text begins with.
#[inline]
pub(crate) fn behind(text: &[u8], words: &Words, shape: &mut Vec<u8>) -> usize {
    const END: usize = 5;
    let Some((b'-', rest)) = text.split_first() else {
        return 0;
    };
    let (length, kinds) = token_at(rest);
    let end = &rest[..length];
    // What holds a digit is met by itself.
    let is_end = length == END && kinds & DIGIT == 0 && alphabet::are_letters(end);
    if !is_end || !words.is_free(end) {
        return 0;
    }
    shape.extend([b'-', DRAWN]);
    END + 1
}

/// Lengths of the parts of a UUID.
const UUID: [usize; 5] = [8, 4, 4, 4, 12];

/// Whether a text begins with a UUID in lower case.
#[inline]
pub(crate) fn is_uuid(text: &[u8]) -> bool {
    if text.get(UUID[0]) != Some(&b'-') {
        return false;
    }
    let mut rest = text;
    UUID.iter().enumerate().all(|(number, part)| {
        let (length, kinds) = token_at(rest);
        rest = &rest[length..];
        let is_last = number + 1 == UUID.len();
        let is_part =
            length == *part && kinds & LETTER == 0 && (is_last || rest.first() == Some(&b'-'));
        rest = rest.get(1..).unwrap_or_default();
        is_part
    })
}

/// Appends the shape of a UUID: each part is open, so that those without a digit or a letter are of no other shape. Gives
/// its length.
pub(crate) fn uuid(text: &[u8], words: &Words, shape: &mut Vec<u8>) -> usize {
    let mut at = 0;
    for (number, length) in UUID.into_iter().enumerate() {
        if number > 0 {
            shape.push(b'-');
            at += 1;
        }
        let part = &text[at..at + length];
        at += length;
        match words.stand_in_hex(part) {
            true => shape.extend_from_slice(part),
            false => shape.push(ID),
        }
    }
    at
}
