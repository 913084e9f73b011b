//! What is kept of things that a large input holds very many of: the first of them by a rank, up to so many bytes.

use std::collections::BTreeMap;

/// Things by their rank; the smallest ranks are kept.
///
/// Once one had to go, none behind it comes in any more. So what is kept at last is all that comes before the first thing with
/// which the room is full, and depends on no order in which things were met.
pub(super) struct Ranked<R, T> {
    kept: BTreeMap<R, (usize, T)>,
    bytes: usize,
    room: usize,
    /// The first that had to go, and how many did.
    end: Option<R>,
    left_out: u64,
}

impl<R: Ord, T> Ranked<R, T> {
    pub(super) fn new(room: usize) -> Self {
        Self {
            kept: BTreeMap::new(),
            bytes: 0,
            room,
            end: None,
            left_out: 0,
        }
    }

    /// Whether something of this rank may stay.
    pub(super) fn admits(&self, rank: &R) -> bool {
        self.end.as_ref().is_none_or(|end| rank < end)
    }

    /// Keeps a thing that takes so many bytes, if there is room for all up to it. Of one rank the last stays.
    pub(super) fn add(&mut self, rank: R, bytes: usize, thing: T) {
        if !self.admits(&rank) {
            self.left_out += 1;
            return;
        }
        self.bytes += bytes;
        if let Some((before, _)) = self.kept.insert(rank, (bytes, thing)) {
            self.bytes -= before;
        }
        while self.bytes > self.room {
            let Some((rank, (bytes, _))) = self.kept.pop_last() else {
                break;
            };
            self.bytes -= bytes;
            self.left_out += 1;
            self.end = Some(rank);
        }
    }

    /// Takes a thing that was kept out again.
    pub(super) fn take(&mut self, rank: &R) -> Option<T> {
        let (bytes, thing) = self.kept.remove(rank)?;
        self.bytes -= bytes;
        Some(thing)
    }

    /// How many were left out.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// What was kept, in the order of ranks.
    pub(super) fn finish(self) -> impl Iterator<Item = T> {
        self.kept.into_values().map(|(_, thing)| thing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_does_not_depend_on_the_order_in_which_things_come() {
        let things: Vec<(u32, usize)> = (0..40)
            .map(|at| (at, 1 + (at as usize * 37) % 11))
            .collect();
        let kept = |order: &[(u32, usize)]| {
            let mut ranked = Ranked::new(60);
            order
                .iter()
                .for_each(|(rank, bytes)| ranked.add(*rank, *bytes, *rank));
            (ranked.left_out(), ranked.finish().collect::<Vec<_>>())
        };
        let mut first = Vec::new();
        let mut bytes = 0;
        for (rank, size) in &things {
            bytes += size;
            if bytes > 60 {
                break;
            }
            first.push(*rank);
        }
        let left = things.len() as u64 - first.len() as u64;
        for step in [1, 3, 7, 11, 39] {
            let order: Vec<_> = (0..40).map(|at| things[(at * step + 5) % 40]).collect();
            assert_eq!(kept(&order), (left, first.clone()), "{step}");
        }
    }
}
