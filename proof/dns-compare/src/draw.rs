//! Random choices that are the same in every run.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A generator of random choices.
pub(crate) struct Draw(SplitMix64);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.bits() >> 33) as usize % end
    }

    /// True in `part` of `whole` draws.
    pub(crate) fn chance(&mut self, part: usize, whole: usize) -> bool {
        self.below(whole) < part
    }

    /// One of several, which are not none.
    pub(crate) fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// A label of 1 to 12 letters and digits.
    pub(crate) fn label(&mut self) -> String {
        let len = 1 + self.below(12);
        (0..len).map(|_| char::from(*self.pick(b"abcdefghijklmnopqrstuvwxyz0123456789-_"))).collect()
    }
}
