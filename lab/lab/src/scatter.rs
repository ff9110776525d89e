//! Numbers that look drawn at random and never repeat.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The 32 bits of `number`, scattered: a bijection, so that different numbers give different results, and 0
/// gives 0.
///
/// Source: the last step of MurmurHash3_x86_32 (Appleby, 2011).
pub const fn scatter(number: u32) -> u32 {
    let mut x = number;
    x = (x ^ x >> 16).wrapping_mul(0x85eb_ca6b);
    x = (x ^ x >> 13).wrapping_mul(0xc2b2_ae35);
    x ^ x >> 16
}

/// A 64-bit number for each call, all different for 2⁶⁴ calls: SplitMix64 goes through all its states, and
/// its output is a bijection of the state.
#[derive(Clone)]
pub struct Distinct(SplitMix64);

impl Distinct {
    /// The numbers that belong to `seed`.
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0.next_u64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn scattering_can_be_undone(number: u32) {
            // The inverses of the multipliers modulo 2³²; a shift by half the width or less is undone by
            // repeating it.
            let mut x = scatter(number);
            x = (x ^ x >> 16).wrapping_mul(0x7ed1_b41d);
            x = (x ^ x >> 13 ^ x >> 26).wrapping_mul(0xa5cb_9243);
            prop_assert_eq!(x ^ x >> 16, number);
        }
    }
}
