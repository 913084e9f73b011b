//! What tests draw: much of it, and the same in each run.

/// Numbers of a linear congruential generator (Knuth's MMIX).
pub(crate) struct Draws(u64);

impl Draws {
    /// From the beginning.
    pub(crate) fn new() -> Self {
        Self(7)
    }

    /// A number below this one.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap_or(0) % end
    }

    /// One of these.
    pub(crate) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}
