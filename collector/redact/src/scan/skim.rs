//! Where one of many words may begin: two pairs of letters in a row, at every second place of a text, say so for all
//! places. No step waits for memory that the step before it chose.

use std::ops::Range;

/// Letters without their case, and other bytes that may be taken for them, have six bits each; a pair has those of both.
const FIRST: u64 = 0x5f;
const SECOND: u64 = 0x2f80;
const PAIRS: usize = 0x3000;

/// Words that begin where a pair does, those whose second letter does, and those that begin with the second letter of a
/// pair. They are kept apart by their letters and lengths, so that a pair of one goes on with those of few others.
const HERE: [Range<u32>; 3] = [0..1, 1..4, 4..13];
const BEFORE: Range<u32> = 13..22;
const BEHIND: [Range<u32>; 2] = [22..25, 25..32];
/// The bits of second pairs stand behind those of first ones.
const NEXT: u32 = 32;

/// For each pair the kinds of words that it is the first pair of, and those that it is the second pair of.
pub(super) struct Skim(Box<[u64; PAIRS]>);

/// Where words may begin around a place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Near {
    /// The place.
    pub(super) at: usize,
    /// The kinds of words.
    kinds: u64,
}

impl Near {
    /// The places, front to back.
    pub(super) fn places(self) -> impl Iterator<Item = usize> {
        let of = |kinds: Range<u32>| self.kinds & ((1 << kinds.end) - (1 << kinds.start)) != 0;
        let before = of(BEFORE).then(|| self.at.checked_sub(1)).flatten();
        let here = of(HERE[0].start..HERE[2].end).then_some(self.at);
        let behind = of(BEHIND[0].start..BEHIND[1].end).then_some(self.at + 1);
        before.into_iter().chain(here).chain(behind)
    }
}

/// A letter of a word; none may be any.
type Letter = Option<u8>;

impl Skim {
    /// No word.
    pub(super) fn new() -> Self {
        Self(Box::new([0; PAIRS]))
    }

    /// Adds a word of at least two letters.
    pub(super) fn add(&mut self, word: &[u8]) {
        let Some(more) = word.len().checked_sub(2) else {
            return;
        };
        let letter = |place: usize| word.get(place).copied();
        let here = HERE[more.min(2)].clone();
        self.mark([letter(0), letter(1), letter(2), letter(3)], here);
        match BEHIND.get(more) {
            Some(behind) => self.mark([None, letter(0), letter(1), letter(2)], behind.clone()),
            None => self.mark([letter(1), letter(2), letter(3), letter(4)], BEFORE),
        }
    }

    /// Marks the pairs of some letters, as those of one of some kinds.
    fn mark(&mut self, letters: [Letter; 4], kinds: Range<u32>) {
        let sum = letters[0].map_or(0, |byte| 29 * u32::from(byte | 32))
            + letters[1].map_or(0, |byte| 26 * u32::from(byte | 32));
        let kind = kinds.start + (sum >> 3) % (kinds.end - kinds.start);
        let all = |letter: Letter| letter.map_or(b' '..=b'_', |byte| byte..=byte);
        for (pair, bit) in letters.chunks_exact(2).zip([kind, kind + NEXT]) {
            for first in all(pair[0]) {
                for second in all(pair[1]) {
                    let both = u64::from(u16::from_le_bytes([first, second]));
                    self.0[place(both)] |= 1 << bit;
                }
            }
        }
    }

    /// The next place from `from` to `end`, by twos, around which a word may begin. Behind the end of the text anything may
    /// stand.
    pub(super) fn next(&self, bytes: &[u8], from: usize, end: usize) -> Option<Near> {
        let (whole, rest) = bytes.get(from..)?.as_chunks::<8>();
        // A pair is known to begin a word where the one behind it is read.
        let count = (end + 3).saturating_sub(from).div_ceil(8);
        let (mut at, mut front) = (from, 0);
        for eight in whole.iter().take(count) {
            if let Some((step, kinds)) = self.step(&mut front, *eight) {
                let at = at + step - 2;
                return Some(Near { at, kinds });
            }
            at += 8;
        }
        let mut last = [[0; 8]; 2];
        last[0][..rest.len()].copy_from_slice(rest);
        let left = count.saturating_sub(whole.len());
        last.into_iter().take(left).find_map(|eight| {
            let found = self.step(&mut front, eight);
            at += 8;
            found.map(|(step, kinds)| Near {
                at: at + step - 10,
                kinds,
            })
        })
    }

    /// How far such a place stands behind the one two bytes in front of these eight, and the kinds of words. `front` is
    /// what is known of the pair in front of them.
    #[inline]
    fn step(&self, front: &mut u64, eight: [u8; 8]) -> Option<(usize, u64)> {
        let eight = u64::from_le_bytes(eight);
        let [one, two, three, four] = [0, 16, 32, 48].map(|shift| self.0[place(eight >> shift)]);
        let found = [
            *front & one >> NEXT,
            one & two >> NEXT,
            two & three >> NEXT,
            three & four >> NEXT,
        ];
        *front = four;
        if found[0] | found[1] | found[2] | found[3] == 0 {
            return None;
        }
        let mut kinds = found.into_iter().enumerate();
        kinds.find_map(|(at, kinds)| (kinds != 0).then_some((2 * at, kinds)))
    }
}

/// Where the pair that these bytes begin with is kept.
fn place(bytes: u64) -> usize {
    let place = (bytes & FIRST) | (bytes >> 1 & SECOND);
    usize::try_from(place).unwrap_or(0) % PAIRS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

    #[test]
    fn a_word_is_found_wherever_it_stands() {
        let words = [
            "pw",
            "7z",
            "key",
            "://",
            ":[1",
            "curl",
            "data:",
            "-----begin",
        ];
        let mut skim = Skim::new();
        words.iter().for_each(|word| skim.add(word.as_bytes()));
        let parts = ["a", " ", "\0", "\u{e4}", "@`", "Ke", "p", "7", "-----"];
        let mut draws = Draws::new();
        for _ in 0..20_000 {
            let some = |draws: &mut Draws| -> String {
                (0..draws.below(12)).map(|_| draws.of(&parts)).collect()
            };
            let (before, word) = (some(&mut draws), draws.of(&words));
            let word = match draws.below(2) {
                0 => word.to_owned(),
                _ => word.to_uppercase(),
            };
            let text = format!("{before}{word}{}", some(&mut draws));
            for from in 0..=before.len() {
                let mut at = from;
                let mut found = std::iter::from_fn(|| {
                    let found = skim.next(text.as_bytes(), at, text.len())?;
                    at = found.at + 2;
                    Some(found)
                });
                let there = |near: Near| near.places().any(|place| place == before.len());
                assert!(found.any(there), "{text:?} {from}");
            }
        }
    }
}
