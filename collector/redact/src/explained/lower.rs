//! Words without regard to case, as numbers: sets of them are looked into without memory of their own.

/// No word in a set is longer.
const ROOM: usize = 16;
/// A set has room for so many words, four times as many as stand in the largest.
const CELLS: usize = 1 << 9;

/// A word in lower case as one number.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Lower(u128);

impl Lower {
    /// None of a word that stands in no set: an empty one, a longer one, one that a zero ends.
    fn of(word: &[u8]) -> Option<Self> {
        word.last().filter(|last| **last != 0)?;
        let mut bytes = [0; ROOM];
        bytes.get_mut(..word.len())?.copy_from_slice(word);
        bytes.make_ascii_lowercase();
        Some(Self(u128::from_le_bytes(bytes)))
    }

    /// Where a set keeps it, or what stands in its way.
    fn cell(self) -> usize {
        const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
        let half = |number: u128| u64::try_from(number & u128::from(u64::MAX)).unwrap_or(0);
        let mixed = (half(self.0) ^ half(self.0 >> 64).rotate_left(29)).wrapping_mul(MIX);
        usize::try_from(mixed >> 48).unwrap_or(0) % CELLS
    }
}

/// A set of words in lower case.
pub(super) struct Words {
    cells: Box<[u128; CELLS]>,
    /// The lengths of those that begin with a byte, one bit each: most words are told apart by them.
    lengths: Box<[u32; 256]>,
    /// Those with a digit.
    numbered: Vec<&'static str>,
}

impl Words {
    /// The words of a text, between blanks.
    pub(super) fn of(text: &'static str) -> Self {
        let mut all = Self {
            cells: Box::new([0; CELLS]),
            lengths: Box::new([0; 256]),
            numbered: Vec::new(),
        };
        for word in text.split_ascii_whitespace() {
            let lower = Lower::of(word.as_bytes());
            debug_assert!(lower.is_some(), "{word} has no room");
            let (Some(lower), Some(first)) = (lower, word.as_bytes().first()) else {
                continue;
            };
            let mut cell = lower.cell();
            while all.cells[cell] != 0 && all.cells[cell] != lower.0 {
                cell = (cell + 1) % CELLS;
            }
            all.cells[cell] = lower.0;
            all.lengths[usize::from(*first)] |= 1 << word.len();
            if word.bytes().any(|byte| byte.is_ascii_digit()) {
                all.numbered.push(word);
            }
        }
        all
    }

    /// Those with a digit.
    pub(super) fn numbered(&self) -> impl Iterator<Item = &'static str> {
        self.numbered.iter().copied()
    }

    /// Whether it is one of them, in any case.
    pub(super) fn has(&self, word: &[u8]) -> bool {
        let Some(first) = word.first().filter(|_| word.len() <= ROOM) else {
            return false;
        };
        let lengths = self.lengths[usize::from(first.to_ascii_lowercase())];
        if (lengths >> word.len()) & 1 == 0 {
            return false;
        }
        let Some(word) = Lower::of(word) else {
            return false;
        };
        let mut cell = word.cell();
        loop {
            match self.cells[cell] {
                0 => return false,
                there if there == word.0 => return true,
                _ => cell = (cell + 1) % CELLS,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_its_words_in_any_case_and_no_others() {
        let all: Vec<String> = (0..300).map(|n| format!("word{}", n * 7)).collect();
        let words = Words::of(all.join(" ").leak());
        for word in &all {
            assert!(words.has(word.as_bytes()) && words.has(word.to_uppercase().as_bytes()));
            for other in [format!("{word}0"), format!("x{word}"), "words".repeat(4)] {
                assert_eq!(words.has(other.as_bytes()), all.contains(&other), "{other}");
            }
        }
        let odd: [&[u8]; 4] = [b"", b"word7\0", b"word\xef", b"wor"];
        assert!(!odd.iter().any(|word| words.has(word)));
    }
}
