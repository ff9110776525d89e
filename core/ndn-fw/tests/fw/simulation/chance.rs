//! Numbers of a seed, and what is drawn with them.

use hashlane_ndn_fw::strategy::Rng;

pub struct Chance(Rng);

impl Chance {
    pub fn new(seed: u64) -> Self {
        // Seeds that follow one another are to have nothing in common.
        let mut rng = Rng::new(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for _ in 0..8 {
            rng.next_u64();
        }
        Self(rng)
    }

    pub fn number(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// From `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.0.below(high - low + 1)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    /// Returns true in this many of a thousand cases.
    pub fn happens(&mut self, permille: usize) -> bool {
        self.0.below(1000) < permille
    }

    pub fn one_of<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.0.below(of.len())]
    }
}
