//! Numbers that look random, by position.

/// Mixes a number (the output function of SplitMix64: Steele, Lea and Flood, Fast Splittable Pseudorandom
/// Number Generators, 2014).
pub(crate) fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A permutation of the numbers of 32 bits: odd multiplications and shifts, each of which can be undone.
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
        assert_ne!(mix(1), mix(2));
    }
}
