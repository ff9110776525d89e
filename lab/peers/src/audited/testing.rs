//! The published value that one number of 32 bits verifies a whole hash with.

/// The verification value of SMHasher3 (`lib/Hashinfo.cpp`): the keys are 00 01 .. n−1 for n in 0..256, each
/// under the seed 256 − n; the value is the low half of the hash under seed 0 of all the results.
pub(super) fn verification_value<const N: usize>(hash: impl Fn(u64, &[u8]) -> [u8; N]) -> u32 {
    let bytes: Vec<u8> = (0..=255).collect();
    let results: Vec<u8> = (0..256).flat_map(|n| hash(256 - n, &bytes[..n as usize])).collect();
    let last = hash(0, &results);
    u32::from_le_bytes(*last.first_chunk().unwrap())
}
