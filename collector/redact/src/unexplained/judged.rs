//! Tokens that were judged and that no place makes secret: names, paths and words stand in line after line, so the last
//! few thousand are kept and not judged again.

use std::cell::Cell;
use std::ops::Range;

use super::tokens::TOKEN;

const CELLS: usize = 2048;
/// Each is kept in one of two cells, so that two tokens of one line do not take each other's place again and again.
const WAYS: usize = 2;
/// A longer token is judged anew.
const LONGEST: usize = 96;

thread_local! {
    static JUDGED: [[Cell<u64>; WAYS]; CELLS] =
        const { [const { [const { Cell::new(0) }; WAYS] }; CELLS] };
}

/// The number that a token is kept by, with the bytes beside it, which are part of its judgement; none where more than
/// that is.
pub(super) fn number(bytes: &[u8], place: &Range<usize>) -> Option<u64> {
    let before = place.start.checked_sub(1).map_or(b' ', |at| bytes[at]);
    let behind = bytes.get(place.end).copied().unwrap_or(b' ');
    // Behind a backslash the first letters may be those of an escape; so many backslashes count as stand there. What
    // begins behind a letter is the rest of a token, or stands behind the letter of an escape.
    if place.len() > LONGEST || matches!(before, b'\\' | b'\x1b') || TOKEN[usize::from(before)] {
        return None;
    }
    let beside = u64::from(before) << 8 | u64::from(behind);
    let mut number = mixed(beside, place.len() as u64);
    let mut parts = bytes[place.clone()].chunks_exact(8);
    for part in &mut parts {
        number = mixed(number, u64::from_le_bytes(part.try_into().ok()?));
    }
    let mut last = [0; 8];
    last[..parts.remainder().len()].copy_from_slice(parts.remainder());
    Some(mixed(number, u64::from_le_bytes(last)) | 1)
}

/// Whether a token of this number was judged and is none that was drawn, wherever it stands.
pub(super) fn written(number: u64) -> bool {
    JUDGED.with(|judged| {
        let [newer, older] = &judged[cell(number)];
        if older.get() == number {
            newer.swap(older);
        }
        newer.get() == number
    })
}

/// Keeps what was judged without a question about its place.
pub(super) fn note(number: u64) {
    JUDGED.with(|judged| {
        let [newer, older] = &judged[cell(number)];
        older.set(newer.replace(number));
    });
}

fn cell(number: u64) -> usize {
    usize::try_from(number >> 32).unwrap_or(0) % CELLS
}

/// Both halves of a product, so that each bit changes all others: two tokens share a number once in 2^63.
fn mixed(number: u64, part: u64) -> u64 {
    const ONE: u64 = 0x9e37_79b9_7f4a_7c15;
    const TWO: u64 = 0xe703_7ed1_a0b4_28db;
    let product = u128::from(number ^ ONE) * u128::from(part ^ TWO);
    let half = |part: u128| u64::try_from(part & u128::from(u64::MAX)).unwrap_or(0);
    half(product) ^ half(product >> 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_again_beside_the_same_bytes_only() {
        let text = b"a gpu-operator-7x gpu-operator-7x \"gpu-operator-7x\"";
        let at = |start: usize| number(text, &(start..start + 15)).unwrap();
        note(at(2));
        assert!(written(at(18)) && !written(at(35)));
        for place in [1..10, 2..10] {
            assert_eq!(number(b"\\nabcdefgh", &place), None);
        }
    }
}
