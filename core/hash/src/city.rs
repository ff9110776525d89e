//! CityHash64, version 1.1: the hash that NFD's name tree takes of each component.
//!
//! It is not incremental: the end of the bytes is read first, and the length decides how. NFD hashes each
//! component's whole TLV and combines the results by exclusive or (`daemon/table/name-tree-hashtable.cpp`).
//!
//! Source: Pike and Alakuijala, CityHash 1.1 (`city.cc`).

use crate::load::{le32, le64};
use crate::scheme::{BytesHash, Key, Keying, Scheme, SchemeInfo};

/// CityHash64 without a seed.
#[derive(Clone)]
pub struct CityHash64;

impl Scheme for CityHash64 {
    const INFO: SchemeInfo = SchemeInfo {
        id: "cityhash64",
        source: "CityHash 1.1 (city.cc), as in NFD",
        width: 64,
        keying: Keying::None,
        check: 0x6290_b5b9_9f49_dc6a,
        safe: "Bytes that no adversary chooses: collisions are computed beforehand and hold everywhere.",
    };

    #[inline]
    fn new(_: &Key) -> Self {
        Self
    }
}

impl BytesHash for CityHash64 {
    #[inline]
    fn hash(&self, bytes: &[u8]) -> u64 {
        match bytes.len() {
            0..=16 => to_16(bytes),
            17..=32 => from_17_to_32(bytes),
            33..=64 => from_33_to_64(bytes),
            _ => from_65(bytes),
        }
    }
}

// Odd constants between 2^63 and 2^64; K2 is also the hash of no bytes.
const K0: u64 = 0xc3a5_c85c_97cb_3127;
const K1: u64 = 0xb492_b66f_be98_f273;
const K2: u64 = 0x9ae1_6a3b_2f90_404f;

/// The multiplier of lengths that have none of their own.
const MULTIPLIER: u64 = 0x9ddf_ea08_eb38_2d69;

/// Folds the high bits into the low ones.
#[inline(always)]
fn shift_mix(word: u64) -> u64 {
    word ^ (word >> 47)
}

/// Mixes two words into one.
#[inline(always)]
fn mix(u: u64, v: u64, multiplier: u64) -> u64 {
    let a = shift_mix((u ^ v).wrapping_mul(multiplier));
    let b = shift_mix((v ^ a).wrapping_mul(multiplier));
    b.wrapping_mul(multiplier)
}

/// The multiplier for up to 64 bytes, which carries the length.
#[inline(always)]
fn multiplier(length: usize) -> u64 {
    K2.wrapping_add(2 * length as u64)
}

#[inline]
fn to_16(bytes: &[u8]) -> u64 {
    let length = bytes.len();
    if length >= 8 {
        let multiplier = multiplier(length);
        let a = le64(bytes, 0).wrapping_add(K2);
        let b = le64(bytes, length - 8);
        let c = b.rotate_right(37).wrapping_mul(multiplier).wrapping_add(a);
        let d = a.rotate_right(25).wrapping_add(b).wrapping_mul(multiplier);
        mix(c, d, multiplier)
    } else if length >= 4 {
        let first = u64::from(le32(bytes, 0));
        let last = u64::from(le32(bytes, length - 4));
        mix((first << 3).wrapping_add(length as u64), last, multiplier(length))
    } else if let (Some(first), Some(middle), Some(last)) =
        (bytes.first(), bytes.get(length / 2), bytes.last())
    {
        let y = u64::from(*first) | u64::from(*middle) << 8;
        let z = length as u64 + (u64::from(*last) << 2);
        shift_mix(y.wrapping_mul(K2) ^ z.wrapping_mul(K0)).wrapping_mul(K2)
    } else {
        K2
    }
}

#[inline]
fn from_17_to_32(bytes: &[u8]) -> u64 {
    let length = bytes.len();
    let multiplier = multiplier(length);
    let a = le64(bytes, 0).wrapping_mul(K1);
    let b = le64(bytes, 8);
    let c = le64(bytes, length - 8).wrapping_mul(multiplier);
    let d = le64(bytes, length - 16).wrapping_mul(K2);
    let u = a.wrapping_add(b).rotate_right(43).wrapping_add(c.rotate_right(30)).wrapping_add(d);
    let v = b.wrapping_add(K2).rotate_right(18).wrapping_add(a).wrapping_add(c);
    mix(u, v, multiplier)
}

#[inline]
fn from_33_to_64(bytes: &[u8]) -> u64 {
    let length = bytes.len();
    let multiplier = multiplier(length);
    // Four words from the start and four up to the end; fewer than eight overlap.
    let a = le64(bytes, 0).wrapping_mul(K2);
    let b = le64(bytes, 8);
    let e = le64(bytes, 16).wrapping_mul(K2);
    let f = le64(bytes, 24).wrapping_mul(9);
    let d = le64(bytes, length - 32);
    let c = le64(bytes, length - 24);
    let h = le64(bytes, length - 16).wrapping_mul(multiplier);
    let g = le64(bytes, length - 8);

    let u =
        a.wrapping_add(g).rotate_right(43).wrapping_add(b.rotate_right(30).wrapping_add(c).wrapping_mul(9));
    let v = (a.wrapping_add(g) ^ d).wrapping_add(f).wrapping_add(1);
    let w = u.wrapping_add(v).wrapping_mul(multiplier).swap_bytes().wrapping_add(h);
    let x = e.wrapping_add(f).rotate_right(42).wrapping_add(c);
    let y = v.wrapping_add(w).wrapping_mul(multiplier).swap_bytes().wrapping_add(g).wrapping_mul(multiplier);
    let z = e.wrapping_add(f).wrapping_add(c);
    let s = x.wrapping_add(z).wrapping_mul(multiplier).wrapping_add(y).swap_bytes().wrapping_add(b);
    let t = z.wrapping_add(s).wrapping_mul(multiplier).wrapping_add(d).wrapping_add(h);
    shift_mix(t).wrapping_mul(multiplier).wrapping_add(x)
}

/// The last 64 bytes seed seven words of state, then every block of 64 passes through it; the last block ends
/// at or before the last byte, so that a length of whole blocks leaves the last of them out.
fn from_65(bytes: &[u8]) -> u64 {
    let length = bytes.len();
    let mut x = le64(bytes, length - 40);
    let mut y = le64(bytes, length - 16).wrapping_add(le64(bytes, length - 56));
    let mut z =
        mix(le64(bytes, length - 48).wrapping_add(length as u64), le64(bytes, length - 24), MULTIPLIER);
    let mut v = absorb(bytes, length - 64, length as u64, z);
    let mut w = absorb(bytes, length - 32, y.wrapping_add(K1), x);
    x = x.wrapping_mul(K1).wrapping_add(le64(bytes, 0));

    for block in bytes.as_chunks::<64>().0.iter().take((length - 1) / 64) {
        x = x
            .wrapping_add(y)
            .wrapping_add(v.0)
            .wrapping_add(le64(block, 8))
            .rotate_right(37)
            .wrapping_mul(K1);
        y = y.wrapping_add(v.1).wrapping_add(le64(block, 48)).rotate_right(42).wrapping_mul(K1);
        x ^= w.1;
        y = y.wrapping_add(v.0).wrapping_add(le64(block, 40));
        z = z.wrapping_add(w.0).rotate_right(33).wrapping_mul(K1);
        v = absorb(block, 0, v.1.wrapping_mul(K1), x.wrapping_add(w.0));
        w = absorb(block, 32, z.wrapping_add(w.1), y.wrapping_add(le64(block, 16)));
        (x, z) = (z, x);
    }
    let high = mix(v.0, w.0, MULTIPLIER).wrapping_add(shift_mix(y).wrapping_mul(K1)).wrapping_add(z);
    let low = mix(v.1, w.1, MULTIPLIER).wrapping_add(x);
    mix(high, low, MULTIPLIER)
}

/// The 32 bytes at `at` mixed weakly with two words.
#[inline(always)]
fn absorb(bytes: &[u8], at: usize, a: u64, b: u64) -> (u64, u64) {
    let [p, q, r, s] = [0, 8, 16, 24].map(|word| le64(bytes, at + word));
    let a = a.wrapping_add(p);
    let b = b.wrapping_add(a).wrapping_add(s).rotate_right(21);
    let sum = a.wrapping_add(q).wrapping_add(r);
    (sum.wrapping_add(s), b.wrapping_add(sum.rotate_right(44)).wrapping_add(a))
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::scheme::CHECK_INPUT;
    use crate::vectors::{hex, rows};

    /// The pseudorandom bytes that the vectors are slices of (`setup()` in city-test.cc).
    fn test_bytes() -> Vec<u8> {
        let (mut a, mut b) = (9_u64, 777_u64);
        (0..1 << 20)
            .map(|i| {
                a = a.wrapping_add(b);
                b = b.wrapping_add(a);
                a = (a ^ (a >> 41)).wrapping_mul(K0);
                b = (b ^ (b >> 41)).wrapping_mul(K0).wrapping_add(i);
                (b >> 37) as u8
            })
            .collect()
    }

    #[test]
    fn gives_the_published_results() {
        let bytes = test_bytes();
        let mut count = 0;
        for row in rows(include_str!("../../../vectors/cityhash64.txt")) {
            let (offset, length): (usize, usize) = (row[0].parse().unwrap(), row[1].parse().unwrap());
            assert_eq!(CityHash64.hash(&bytes[offset..offset + length]), hex(row[2]), "{length} bytes");
            count += 1;
        }
        assert_eq!(count, 300);
    }

    #[test]
    fn check_value_holds_and_agrees_with_the_oracle() {
        assert_eq!(CityHash64::new(&Key::VECTOR).hash(CHECK_INPUT), CityHash64::INFO.check);
        assert_eq!(cityhasher::hash::<u64>(CHECK_INPUT), CityHash64::INFO.check);
    }

    proptest! {
        #[test]
        fn agrees_with_the_oracle(bytes in proptest::collection::vec(any::<u8>(), 0..=300)) {
            prop_assert_eq!(CityHash64.hash(&bytes), cityhasher::hash::<u64>(&bytes));
        }
    }
}
