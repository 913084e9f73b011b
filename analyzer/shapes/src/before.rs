//! What lines that follow one another begin with: of that the shape is known from the line before.

use smallvec::SmallVec;

use crate::shape::{OTHER, kind};
use crate::words::Words;

/// The beginning of the text before, with what is known at places of it: lines that follow one another begin alike, for
/// their time is the same up to its seconds. What is known at a place depends on the bytes up to there alone.
pub struct Before<K> {
    text: [u8; BEGINNING],
    length: usize,
    joints: SmallVec<[(usize, K); MOST_JOINTS]>,
}

/// Bytes of a beginning, which hold the time of a line.
const BEGINNING: usize = 64;
const MOST_JOINTS: usize = 8;

impl<K> Default for Before<K> {
    fn default() -> Self {
        Self {
            text: [0; BEGINNING],
            length: 0,
            joints: SmallVec::new(),
        }
    }
}

impl<K: Copy> Before<K> {
    /// Forgets the text before: the next is none of its kind.
    pub fn forget(&mut self) {
        self.length = 0;
        self.joints.clear();
    }

    /// The next byte to be looked at, and what is known there, if a text begins as the one before did.
    pub fn joint(&mut self, text: &[u8]) -> Option<(usize, K)> {
        let same = common(&self.text[..self.length], text);
        let shared = self.joints.iter().filter(|(at, _)| *at < same);
        self.joints.truncate(shared.count());
        self.joints.last().copied()
    }

    /// Takes the beginning of a text instead; joints that it shares stay.
    pub fn take(&mut self, text: &[u8]) {
        match text.first_chunk() {
            Some(begins) => self.text = *begins,
            None => self.text[..text.len()].copy_from_slice(text),
        }
        self.length = text.len().min(BEGINNING);
    }

    /// Notes a place behind digits and letters. Nothing behind the byte there is looked at for what stands before it, unless
    /// that is one behind which numbers, ids or drawn names go on.
    #[inline]
    pub fn note(&mut self, text: &[u8], (at, known): (usize, K), words: &Words) {
        let next = text.get(at).filter(|_| at < BEGINNING);
        let ends = next.is_some_and(|byte| kind(*byte) == OTHER) && !words.joins(next);
        if ends && self.joints.len() < MOST_JOINTS {
            self.joints.push((at, known));
        }
    }
}

/// How many bytes two texts begin with alike.
fn common(one: &[u8], other: &[u8]) -> usize {
    let (eights, _) = one.as_chunks::<8>();
    let (others, _) = other.as_chunks::<8>();
    let mut length = 0;
    for (one, other) in eights.iter().zip(others) {
        let differs = u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other);
        if differs != 0 {
            return length + (differs.trailing_zeros() / 8) as usize;
        }
        length += 8;
    }
    let rest = one[length..].iter().zip(&other[length..]);
    length + rest.take_while(|(one, other)| one == other).count()
}
