//! What lines that follow one another begin with: of that the shape is known from the line before.

use smallvec::SmallVec;

use super::shape::{OTHER, kind};

/// Where the shape of a text can be gone on with: what stands before is told by the bytes up to there alone.
#[derive(Clone, Copy)]
pub(super) struct Joint {
    /// The next byte of the text to be looked at.
    pub(super) at: usize,
    /// The first that is not in the shape yet.
    pub(super) copied: usize,
    /// Length of the shape up to there.
    pub(super) shape: usize,
}

/// The beginning of the text before, with the shapes that it has: lines that follow one another begin alike, for their
/// time is the same up to its seconds.
#[derive(Default)]
pub(super) struct Before {
    text: SmallVec<[u8; BEGINNING]>,
    joints: SmallVec<[Joint; MOST_JOINTS]>,
}

/// Bytes of a beginning, which hold the time of a line.
const BEGINNING: usize = 64;
const MOST_JOINTS: usize = 8;

impl Before {
    /// Forgets the text before: the next is none of its kind.
    pub(super) fn forget(&mut self) {
        self.text.clear();
        self.joints.clear();
    }

    /// Where to go on, if a text begins as the one before did.
    pub(super) fn joint(&mut self, text: &[u8]) -> Option<Joint> {
        let same = common(&self.text, text);
        let told = self.joints.iter().filter(|joint| joint.at < same);
        self.joints.truncate(told.count());
        self.joints.last().copied()
    }

    /// Takes the beginning of a text instead; joints that it shares stay.
    pub(super) fn take(&mut self, text: &[u8]) {
        self.text.clear();
        self.text
            .extend_from_slice(&text[..text.len().min(BEGINNING)]);
    }

    /// Notes a place behind digits and letters. Nothing behind the byte there is looked at for what stands before it, unless
    /// that is a hyphen: ids and drawn names go on behind one.
    #[inline]
    pub(super) fn note(&mut self, text: &[u8], joint: Joint) {
        let next = text.get(joint.at).filter(|_| joint.at < BEGINNING);
        let ends = next.is_some_and(|byte| kind(*byte) == OTHER && *byte != b'-');
        if ends && self.joints.len() < MOST_JOINTS {
            self.joints.push(joint);
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
