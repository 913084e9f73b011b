//! Shapes of lines that were seen before, each with the patterns that can match a line of it. Most lines of a log are of
//! few shapes, and for those no expression has to be tried that cannot match.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::Patterns;
use super::abstract_match::Follower;
use super::shape;
use crate::lines::Said;

/// Bytes of shapes that are remembered on one thread.
const REMEMBERED: usize = 4 << 20;
/// A longer text is none of many.
const LONGEST: usize = 4096;
/// Different shapes of one hash that are told apart.
const SAME_HASH: usize = 4;
/// Places that remember the hash of a shape that was seen once: what is said once only is not worth a proof.
const ONCE: usize = 1 << 14;

/// What is known of the shapes that one thread has met.
pub(super) struct Shapes {
    known: HashMap<u64, Vec<Known>, BuildHasherDefault<AsIs>>,
    bytes: usize,
    once: Vec<u64>,
    /// Shape of the present line, behind what asks for it.
    shape: Vec<u8>,
    follower: Follower,
}

/// A shape, and what can match a line of it.
struct Known {
    shape: Box<[u8]>,
    possible: Box<[u32]>,
}

impl Default for Shapes {
    fn default() -> Self {
        Self {
            known: HashMap::default(),
            bytes: 0,
            once: vec![0; ONCE],
            shape: Vec::new(),
            follower: Follower::default(),
        }
    }
}

impl Shapes {
    /// Of what asks for a line, what can match it; none where the shape of the line is not known yet.
    pub(super) fn possible(
        &mut self,
        patterns: &Patterns,
        asking: &[u32],
        said: &Said<'_>,
    ) -> Option<&[u32]> {
        let (text, is_escaped) = match said {
            Said::Record(text) => (*text, true),
            Said::Plain(text) => (*text, false),
            Said::Unclear => return None,
        };
        self.shape.clear();
        for number in asking {
            self.shape.extend_from_slice(&number.to_ne_bytes());
        }
        self.shape.push(u8::from(is_escaped));
        let begin = self.shape.len();
        if text.len() > LONGEST || !shape::write(text, is_escaped, &mut self.shape) {
            return None;
        }
        let hash = hash(&self.shape);
        let alike = self.known.get(&hash).map_or(&[][..], Vec::as_slice);
        let at = alike.iter().position(|one| *one.shape == *self.shape);
        let at = match at {
            Some(at) => at,
            None if alike.len() >= SAME_HASH => return None,
            None => self.learn(patterns, asking, hash, (begin, is_escaped))?,
        };
        Some(&self.known.get(&hash)?.get(at)?.possible)
    }

    /// Finds out what can match the present shape, where it is seen for the second time.
    fn learn(
        &mut self,
        patterns: &Patterns,
        asking: &[u32],
        hash: u64,
        (begin, is_escaped): (usize, bool),
    ) -> Option<usize> {
        let once = &mut self.once[(hash >> 32) as usize % ONCE];
        if *once != hash {
            *once = hash;
            return None;
        }
        let mut said = Vec::new();
        let shape = &self.shape[begin..];
        let shape = if !is_escaped {
            shape
        } else if shape::unescape(shape, &mut said) {
            said.as_slice()
        } else {
            return None;
        };
        let follower = &mut self.follower;
        let may = |number: &&u32| match patterns.automaton(**number) {
            Some(automaton) => follower.may_match(automaton, shape),
            None => true,
        };
        let possible: Box<[u32]> = asking.iter().filter(may).copied().collect();
        if self.bytes > REMEMBERED {
            self.known.clear();
            self.bytes = 0;
        }
        self.bytes += self.shape.len() + 128;
        let alike = self.known.entry(hash).or_default();
        alike.push(Known {
            shape: self.shape.as_slice().into(),
            possible,
        });
        Some(alike.len() - 1)
    }
}

/// Eight bytes at a time; what has the same hash is compared.
fn hash(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x517c_c1b7_2722_0a95;
    let (eights, rest) = bytes.as_chunks::<8>();
    let mix = |hash: u64, number: u64| (hash.rotate_left(5) ^ number).wrapping_mul(FACTOR);
    let all = eights.iter().map(|eight| u64::from_le_bytes(*eight));
    let hash = all.fold(bytes.len() as u64, mix);
    let hash = rest.iter().map(|byte| u64::from(*byte)).fold(hash, mix);
    hash ^ (hash >> 29)
}

/// A hash that is one already.
#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash(bytes);
    }
    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}
