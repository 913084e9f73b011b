//! Ids that their place explained somewhere in this run: the same id elsewhere is explained by its value.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// So many ids are known at most; a newer one takes the place of an older one.
const CELLS: usize = 1 << 17;
/// A cell is looked for this far behind its first place.
const NEAR: usize = 4;

/// So many tables were made.
static TABLES: AtomicU64 = AtomicU64::new(0);

/// A table of fixed size without locks: what is lost in it is replaced by its placeholder, no more.
pub(super) struct Known {
    cells: Box<[AtomicU64]>,
    /// Which of all tables it is.
    table: u64,
    /// So many ids were noted.
    noted: AtomicU64,
    /// So many of them took the place of others.
    lost: AtomicU64,
}

impl Known {
    /// Nothing is known.
    pub(super) fn new() -> Self {
        Self {
            cells: (0..CELLS).map(|_| AtomicU64::new(0)).collect(),
            table: TABLES.fetch_add(1, Ordering::Relaxed),
            noted: AtomicU64::new(0),
            lost: AtomicU64::new(0),
        }
    }

    /// How many ids were noted, and how many of them were lost since: while neither number changes, the same text is judged
    /// alike.
    pub(super) fn state(&self) -> (u64, u64) {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (load(&self.noted), load(&self.lost))
    }

    /// Which table this is, and how many ids it lost: while neither changes, an id that is known stays known.
    pub(super) fn kept(&self) -> [u64; 2] {
        [self.table, self.lost.load(Ordering::Relaxed)]
    }

    /// An id that its place explains.
    pub(super) fn note(&self, id: &[u8]) {
        let hash = hash(id);
        let mut cells = (0..NEAR).map(|step| self.cell(hash, step));
        let free = cells.find(|cell| {
            let there = cell.load(Ordering::Relaxed);
            there == 0 || there == hash
        });
        let oldest = self.cell(hash, usize::from(id[id.len() / 2]) % NEAR);
        let cell = free.unwrap_or(oldest);
        let there = cell.load(Ordering::Relaxed);
        if there != hash {
            cell.store(hash, Ordering::Relaxed);
            self.noted.fetch_add(1, Ordering::Relaxed);
            self.lost
                .fetch_add(u64::from(there != 0), Ordering::Relaxed);
        }
    }

    /// Whether an id was explained before.
    pub(super) fn has(&self, id: &[u8]) -> bool {
        let hash = hash(id);
        (0..NEAR).any(|step| self.cell(hash, step).load(Ordering::Relaxed) == hash)
    }

    fn cell(&self, hash: u64, step: usize) -> &AtomicU64 {
        let at = usize::try_from(hash >> 40).unwrap_or(0) + step;
        &self.cells[at % CELLS]
    }
}

/// What is known of the ids of a text, by place: the text may be judged with other digits in them.
pub(super) struct Ids<'a> {
    pub(super) table: Table<'a>,
    /// The text as it stands.
    pub(super) text: &'a [u8],
}

/// Where ids are looked up.
#[derive(Clone, Copy)]
pub(super) enum Table<'a> {
    /// Among those of this run.
    Run(&'a Known),
    /// Among those of the text alone.
    Trial(&'a Trial),
}

/// What would be noted of a text if nothing was known.
#[derive(Default)]
pub(super) struct Trial {
    /// The places of ids that their place explains.
    pub(super) noted: RefCell<Vec<Range<usize>>>,
    /// One of them was asked for once more.
    pub(super) met: Cell<bool>,
}

impl Ids<'_> {
    /// Whether the id at a place was explained before.
    pub(super) fn has(&self, place: &Range<usize>) -> bool {
        let id = &self.text[place.clone()];
        match self.table {
            Table::Run(known) => known.has(id),
            Table::Trial(trial) => {
                let noted = trial.noted.borrow();
                let met = noted.iter().any(|other| self.text[other.clone()] == *id);
                trial.met.set(trial.met.get() || met);
                met
            }
        }
    }

    /// The id at a place, which its place explains.
    pub(super) fn note(&self, place: &Range<usize>) {
        match self.table {
            Table::Run(known) => known.note(&self.text[place.clone()]),
            Table::Trial(trial) => trial.noted.borrow_mut().push(place.clone()),
        }
    }

    /// Whether ids are those of a text alone.
    pub(super) fn is_trial(&self) -> bool {
        matches!(self.table, Table::Trial(_))
    }

    /// While it does not change, an id that is known stays known.
    pub(super) fn kept(&self) -> [u64; 2] {
        match self.table {
            Table::Run(known) => known.kept(),
            Table::Trial(_) => [u64::MAX; 2],
        }
    }
}

/// Ids are random already; their ends tell them apart.
fn hash(id: &[u8]) -> u64 {
    let part = |at: usize| {
        let mut eight = [0; 8];
        for (to, from) in eight.iter_mut().zip(&id[at..]) {
            *to = *from;
        }
        u64::from_le_bytes(eight)
    };
    let last = id.len().saturating_sub(8);
    let mixed = part(0).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ part(last).rotate_left(29);
    let mixed = (mixed ^ part(last / 2)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)) | 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_is_known_and_nothing_else_is() {
        let known = Known::new();
        let id = |n: u64| {
            casefile_bundle::hex(&n.wrapping_mul(0x94d0_49bb_1331_11eb).to_be_bytes()).repeat(4)
        };
        (0..2000).for_each(|n| known.note(id(n).as_bytes()));
        let found = |from: u64| {
            (from..from + 2000)
                .filter(|n| known.has(id(*n).as_bytes()))
                .count()
        };
        assert!(found(0) > 1990 && found(5000) == 0);
    }
}
