//! What is known of a shape of lines: which patterns can match one of it.

use std::sync::atomic::AtomicU32;

use super::certain::Certain;

/// What a shape takes besides its own bytes.
const OVERHEAD: usize = 160;

/// What asks for a text, and the text in lower case, a part of which may stand at an open place of a shape.
pub(super) type Open = (u32, Box<[u8]>);

/// A shape, and what can match a line of it.
pub(super) struct Known {
    pub(super) shape: Box<[u8]>,
    pub(super) possible: Box<[u32]>,
    /// Of those the ones whose texts stand at open places, if they do, once for each text.
    pub(super) open: Box<[Open]>,
    /// Of those that can match the ones that need some other text too which may stand at an open place, in order.
    pub(super) unsure: Box<[u32]>,
    pub(super) certain: Box<[Certain]>,
    /// Whether that was proven, or only looked for in the texts that patterns need.
    pub(super) is_proven: bool,
    /// How often all threads met it.
    pub(super) times: AtomicU32,
}

/// What asks for a line of a known shape.
#[derive(Clone, Copy)]
pub(super) struct Possible<'s> {
    /// What can match it, in order.
    pub(super) numbers: &'s [u32],
    /// Of those the ones that ask only for texts which a line of it may hold or not, once for each text.
    pub(super) open: &'s [Open],
    /// And the ones that need some other text too which a line of it may hold or not, in order.
    pub(super) unsure: &'s [u32],
    /// Patterns that every line of the shape matches, in order.
    pub(super) certain: &'s [Certain],
}

impl Known {
    /// About how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        let open = self
            .open
            .iter()
            .map(|(_, text)| size_of::<Open>() + text.len());
        let unsure = size_of_val(&*self.unsure);
        self.shape.len() + OVERHEAD + unsure + open.sum::<usize>()
    }

    pub(super) fn possible(&self) -> Possible<'_> {
        Possible {
            numbers: &self.possible,
            open: &self.open,
            unsure: &self.unsure,
            certain: &self.certain,
        }
    }
}
