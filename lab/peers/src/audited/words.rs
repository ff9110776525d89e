//! Reads and products of the hashes and seeds that are written here.
//!
//! A hash checks the length once and then reads at offsets inside it. A read past the end returns 0 instead
//! of a panic; the tests hash inputs of every length under debug assertions.

/// Digits of π.
pub(super) const PI: [u64; 8] = [
    0x243f_6a88_85a3_08d3,
    0x4528_21e6_38d0_1377,
    0xa409_3822_299f_31d0,
    0xc0ac_29b7_c97c_50dd,
    0x082e_fa98_ec4e_6c89,
    0x3f84_d5b5_b547_0917,
    0x1319_8a2e_0370_7344,
    0xbe54_66cf_34e9_0c6c,
];

#[inline(always)]
fn chunk<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let chunk = bytes.get(at..).and_then(<[u8]>::first_chunk);
    debug_assert!(chunk.is_some(), "{N} bytes at {at} of {}", bytes.len());
    chunk.copied().unwrap_or([0; N])
}

/// The four bytes at `at` in little-endian order.
#[inline(always)]
pub(super) fn le32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(chunk(bytes, at))
}

/// The eight bytes at `at` in little-endian order.
#[inline(always)]
pub(super) fn le64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(chunk(bytes, at))
}

/// The sixteen bytes at `at` in little-endian order.
#[inline(always)]
pub(super) fn le128(bytes: &[u8], at: usize) -> u128 {
    u128::from_le_bytes(chunk(bytes, at))
}

/// Four bytes at `at` in the high half, four bytes at `then` in the low half.
#[inline(always)]
pub(super) fn pair(bytes: &[u8], at: usize, then: usize) -> u64 {
    u64::from(le32(bytes, at)) << 32 | u64::from(le32(bytes, then))
}

/// The first, the middle and the last byte of some.
#[inline(always)]
pub(super) fn ends(bytes: &[u8]) -> [u64; 3] {
    [0, bytes.len() / 2, bytes.len() - 1].map(|at| u64::from(bytes[at]))
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

/// Folds a product to one word.
#[inline(always)]
pub(super) fn fold(a: u64, b: u64) -> u64 {
    let (low, high) = multiply(a, b);
    low ^ high
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
