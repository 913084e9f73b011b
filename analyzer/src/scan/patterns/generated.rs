//! Parts of names that no person chose: what Kubernetes draws at random, and UUIDs.

use super::shape::{DIGIT, HEX_LETTER, OTHER, Words, kind};

/// What Kubernetes draws the ends of generated names from (`alphanums` in k8s.io/apimachinery/pkg/util/rand), and how
/// many of them.
pub(super) const DRAWN: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
pub(super) const DRAWN_LENGTH: usize = 5;

static IS_DRAWN: [bool; 256] = is_drawn_table();

const fn is_drawn_table() -> [bool; 256] {
    let mut table = [false; 256];
    let mut at = 0;
    while at < DRAWN.len() {
        table[DRAWN[at] as usize] = true;
        at += 1;
    }
    table
}

pub(super) fn is_drawn(byte: u8) -> bool {
    IS_DRAWN[byte as usize]
}

/// Whether the end of a generated name stands here, behind a hyphen, and hides no word.
pub(super) fn is_drawn_end(text: &[u8], start: usize, words: &Words) -> bool {
    let end = start + DRAWN_LENGTH;
    let is_end = text.get(end).is_none_or(|byte| kind(*byte) == OTHER);
    let is_behind = start > 0 && text[start - 1] == b'-';
    let drawn = text.get(start..end);
    drawn.is_some_and(|drawn| {
        is_end && is_behind && drawn.iter().all(|byte| is_drawn(*byte)) && !words.hide_in(drawn)
    })
}

/// Lengths of the first number of a UUID, and of what follows it.
pub(super) const UUID_HEAD: usize = 8;
pub(super) const UUID_TAIL: [usize; 4] = [4, 4, 4, 12];

/// The length of the rest of a UUID of which the first number ends here; 0 where there is none, or a word stands in it.
pub(super) fn uuid_tail(text: &[u8], words: &Words) -> usize {
    const LENGTH: usize = 4 + 4 + 4 + 12 + 4;
    let is_hex = |byte: &u8| kind(*byte) & (DIGIT | HEX_LETTER) != 0;
    let Some(tail) = text.get(..LENGTH) else {
        return 0;
    };
    let mut at = 0;
    for length in UUID_TAIL {
        let number = &tail[at + 1..at + 1 + length];
        // systemd writes the hyphens of a slice in another way.
        let follows = matches!(tail[at], b'-' | b'_') && number.iter().all(is_hex);
        if !follows || words.stand_in(number) {
            return 0;
        }
        at += 1 + length;
    }
    match text.get(LENGTH) {
        Some(byte) if kind(*byte) != OTHER => 0,
        _ => LENGTH,
    }
}
