//! Numbers that look random, by position.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// Mixes a number: the first one of SplitMix64 with it as the seed.
pub(crate) fn mix(number: u64) -> u64 {
    SplitMix64::seed_from_u64(number).next_u64()
}

/// A permutation of the numbers of 32 bits: odd multiplications and shifts, which can all be undone.
pub(crate) fn permute(number: u32) -> u32 {
    let mut x = number.wrapping_mul(0x9e37_79b1);
    x ^= x >> 15;
    x = x.wrapping_mul(0x85eb_ca6b);
    x ^ (x >> 13)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_permutation_repeats_no_number() {
        let numbers: HashSet<u32> = (0..200_000).map(permute).collect();
        assert_eq!(numbers.len(), 200_000);
        // Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, 2014.
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
    }
}
