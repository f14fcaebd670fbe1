//! [`Random`]: numbers that are the same for the same seed.

/// A xorshift generator.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    pub(super) const fn new(seed: u64) -> Random {
        // Any odd number does: it must not begin with zero.
        Random(seed | 1)
    }

    /// A number below `bound`; zero counts as one.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound.max(1) as u64).unwrap_or(0)
    }
}
