//! Reads and products of the hashes and seeds that are written here.
//!
//! A hash checks the length once and then reads at offsets inside it. A read past the end returns 0 instead
//! of a panic; the tests hash inputs of every length under debug assertions.

/// The four bytes at `at` in little-endian order.
#[inline(always)]
pub(super) fn le32(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..).and_then(<[u8]>::first_chunk);
    debug_assert!(word.is_some(), "four bytes at {at} of {}", bytes.len());
    word.map_or(0, |word| u32::from_le_bytes(*word))
}

/// The eight bytes at `at` in little-endian order.
#[inline(always)]
pub(super) fn le64(bytes: &[u8], at: usize) -> u64 {
    let word = bytes.get(at..).and_then(<[u8]>::first_chunk);
    debug_assert!(word.is_some(), "eight bytes at {at} of {}", bytes.len());
    word.map_or(0, |word| u64::from_le_bytes(*word))
}

/// The sixteen bytes at `at` in little-endian order.
#[inline(always)]
pub(super) fn le128(bytes: &[u8], at: usize) -> u128 {
    let word = bytes.get(at..).and_then(<[u8]>::first_chunk);
    debug_assert!(word.is_some(), "sixteen bytes at {at} of {}", bytes.len());
    word.map_or(0, |word| u128::from_le_bytes(*word))
}

/// Up to eight bytes in little-endian order; the first eight of more.
#[inline(always)]
pub(super) fn le64_to_8(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    for (to, from) in word.iter_mut().zip(bytes) {
        *to = *from;
    }
    u64::from_le_bytes(word)
}

/// The low and the high half of a product.
#[inline(always)]
pub(super) fn multiply(a: u64, b: u64) -> (u64, u64) {
    let product = u128::from(a) * u128::from(b);
    (product as u64, (product >> 64) as u64)
}

/// Two words mixed into one, as CityHash 1.1 (`HashLen16` in `city.cc`) and FarmHash enter their seeds.
#[inline(always)]
pub(super) fn mix_pair(u: u64, v: u64) -> u64 {
    mix_pair_by(u, v, 0x9ddf_ea08_eb38_2d69)
}

/// Two words mixed into one under a multiplier.
#[inline(always)]
pub(super) fn mix_pair_by(u: u64, v: u64, by: u64) -> u64 {
    let step = |word: u64| {
        let product = word.wrapping_mul(by);
        product ^ product >> 47
    };
    step(v ^ step(u ^ v)).wrapping_mul(by)
}
