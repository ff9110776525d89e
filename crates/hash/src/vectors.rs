//! What the tests of several families share: SMHasher's verification value.

use std::vec::Vec;

/// SMHasher's verification value of a 32-bit hash: the keys 00 01 .. n−1 for n in 0..256, each under the seed
/// 256 − n, and the hash under seed 0 of all results laid end to end (`VerificationTest` in `KeysetTest.cpp`).
pub(crate) fn verification(hash: impl Fn(&[u8], u32) -> u32) -> u32 {
    let octets: Vec<u8> = (0..=255).collect();
    let results: Vec<u8> =
        (0..256).flat_map(|n| hash(&octets[..n as usize], 256 - n).to_le_bytes()).collect();
    hash(&results, 0)
}
