//! Which four bytes of a text are the rarest in logs: those are looked for.

use crate::index::{self, BITS, gram, hash};

/// How often four bytes stand in the texts that are looked for: what many say, logs say often too.
pub(crate) struct Counts(Vec<u8>);

impl Counts {
    /// Bits of a hash: few of the texts' grams share one.
    const BITS: u32 = 15;

    pub(crate) fn of<'t>(texts: impl Iterator<Item = &'t [u8]>) -> Self {
        let mut counts = vec![0; 1 << Self::BITS];
        for four in texts
            .flat_map(|text| text.windows(4))
            .filter_map(index::four)
        {
            let count: &mut u8 = &mut counts[Self::place(four)];
            *count = count.saturating_add(1);
        }
        Self(counts)
    }

    fn place(four: [u8; 4]) -> usize {
        hash(gram(four)) >> (BITS - Self::BITS)
    }

    /// Where the four bytes begin that are the rarest.
    pub(crate) fn rarest(&self, text: &[u8]) -> usize {
        let cost = |at: &usize| {
            let four = &text[*at..*at + 4];
            let letters = four.iter().map(|byte| commonness(*byte)).sum::<u32>();
            let count = index::four(four).map_or(0, |four| self.0[Self::place(four)]);
            letters + 4 * u32::from(count).min(16)
        };
        (0..text.len().saturating_sub(3))
            .min_by_key(cost)
            .unwrap_or(0)
    }
}

/// Where the four bytes begin that are the rarest in logs.
pub(crate) fn rarest(text: &[u8]) -> usize {
    let cost = |at: &usize| {
        text[*at..*at + 4]
            .iter()
            .map(|byte| commonness(*byte))
            .sum::<u32>()
    };
    (0..text.len().saturating_sub(3))
        .min_by_key(cost)
        .unwrap_or(0)
}

/// How often a byte stands in logs, by order of magnitude only: digits and the letters of numbers in base 16 the most.
fn commonness(byte: u8) -> u32 {
    const OF: [u8; 256] = {
        let mut of = [1; 256];
        let mut byte = u8::MAX;
        while byte > 0 {
            of[byte as usize] = commonness_of(byte);
            byte -= 1;
        }
        of
    };
    u32::from(OF[usize::from(byte)])
}

const fn commonness_of(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' | b'e' => 9,
        b' ' | b'a' | b't' | b'o' | b'n' => 8,
        b'c' | b'd' | b'i' | b'r' | b's' => 7,
        b'b' | b'f' | b'l' | b':' | b'-' | b'.' | b'=' | b'/' => 6,
        b'p' | b'm' | b'u' | b'_' | b',' => 5,
        b'g' | b'h' | b'v' | b'k' | b'y' => 4,
        b'w' => 3,
        b'x' => 2,
        _ => 1,
    }
}
