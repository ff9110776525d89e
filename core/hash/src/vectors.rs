//! Helpers of the tests of several families: reading vector files, and SMHasher's verification value.

use std::vec::Vec;

/// The rows of a vector file: blanks separate columns, and lines that begin with `#` state the source.
pub(crate) fn rows(file: &str) -> impl Iterator<Item = Vec<&str>> {
    file.lines().filter(|line| !line.starts_with('#')).map(|line| line.split_whitespace().collect())
}

/// A hexadecimal column.
pub(crate) fn hex(column: &str) -> u64 {
    u64::from_str_radix(column, 16).expect("a hexadecimal number")
}

/// SMHasher's verification value of a 32-bit hash: the keys 00 01 .. n−1 for n in 0..256, each under the seed
/// 256 − n, and the hash under seed 0 of all results laid end to end (`VerificationTest` in
/// `KeysetTest.cpp`).
pub(crate) fn verification(hash: impl Fn(&[u8], u32) -> u32) -> u32 {
    let bytes: Vec<u8> = (0..=255).collect();
    let results: Vec<u8> = (0..256).flat_map(|n| hash(&bytes[..n as usize], 256 - n).to_le_bytes()).collect();
    hash(&results, 0)
}
