//! The shapes that one thread knows, found by their hash without asking the others.

use std::sync::Arc;

use super::known::Known;

/// A shape as one thread knows it.
pub(super) struct Met {
    pub(super) hash: u64,
    pub(super) known: Arc<Known>,
}

/// The shapes that one thread knows, found by their hash.
#[derive(Default)]
pub(super) struct Table {
    /// For each, one more than its place in `met`; 0 where there is none.
    slots: Vec<u32>,
    pub(super) met: Vec<Met>,
}

impl Table {
    /// Where in `met` the shape stands, if it is known.
    pub(super) fn find(&self, hash: u64, shape: &[u8]) -> Option<usize> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut slot = slot(hash, mask);
        loop {
            let at = (self.slots[slot] as usize).checked_sub(1)?;
            let met = &self.met[at];
            if met.hash == hash && *met.known.shape == *shape {
                return Some(at);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Adds a shape; gives its place.
    pub(super) fn insert(&mut self, met: Met) -> usize {
        if self.met.len() * 2 >= self.slots.len() {
            self.slots = vec![0; (self.slots.len() * 2).max(256)];
            for (met, number) in self.met.iter().zip(1u32..) {
                place_in(&mut self.slots, met.hash, number);
            }
        }
        let number = u32::try_from(self.met.len() + 1).unwrap_or(u32::MAX);
        place_in(&mut self.slots, met.hash, number);
        self.met.push(met);
        self.met.len() - 1
    }

    pub(super) fn clear(&mut self) {
        self.slots.clear();
        self.met.clear();
    }
}

fn slot(hash: u64, mask: usize) -> usize {
    (hash >> 24) as usize & mask
}

fn place_in(slots: &mut [u32], hash: u64, number: u32) {
    let mask = slots.len() - 1;
    let mut slot = slot(hash, mask);
    while slots[slot] != 0 {
        slot = (slot + 1) & mask;
    }
    slots[slot] = number;
}
