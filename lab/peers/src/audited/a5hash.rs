//! a5hash and a5hash128, written from their description: no crate holds them.
//!
//! Both start from digits of π and the length, and mix by whole products of two words. The 128-bit form gives
//! its low half here, which is also its own form for 64 bits of result.
//!
//! Source: Aleksey Vaneev, `a5hash.h` 5.21 (github.com/avaneev/a5hash); SMHasher3 `hashes/a5hash.cpp`.
//! The library's licence is MIT.

use super::part::scheme;
use super::words::{le32, le64, le64_to_8, multiply};

scheme! {
    /// a5hash under a 64-bit seed.
    A5Hash(u64) {
        id: "a5hash",
        source: "a5hash.h 5.21 (Vaneev)",
        width: 64,
        check: 0x325b_f517_0fa6_7da0,
        safe: "Bytes that no adversary chooses: pairs are published that collide under a class of weak \
               seeds.",
        hash: |seed, bytes| a5hash(seed, bytes),
    }
}

scheme! {
    /// The low half of a5hash128 under a 64-bit seed.
    A5Hash128(u64) {
        id: "a5hash128-low",
        source: "a5hash.h 5.21 (Vaneev), low half of the 128-bit form",
        width: 64,
        check: 0x3667_e674_4489_1419,
        safe: "Bytes that no adversary chooses: collisions are known that hold under every seed.",
        hash: |seed, bytes| a5hash128_low(seed, bytes),
    }
}

/// Every second bit, the even ones.
const EVEN: u64 = 0x5555_5555_5555_5555;
/// Every second bit, the odd ones.
const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;

/// The state of eight words before seed and length are mixed in: digits of π.
const PI: [u64; 8] = [
    0x243f_6a88_85a3_08d3,
    0x4528_21e6_38d0_1377,
    0xa409_3822_299f_31d0,
    0xc0ac_29b7_c97c_50dd,
    0x082e_fa98_ec4e_6c89,
    0x3f84_d5b5_b547_0917,
    0x1319_8a2e_0370_7344,
    0xbe54_66cf_34e9_0c6c,
];

/// The first two words of the state.
#[inline(always)]
fn start(seed: u64, len: usize) -> (u64, u64) {
    let len = len as u64;
    multiply(PI[1] ^ len ^ (seed & ODD), PI[0] ^ len ^ (seed & EVEN))
}

/// Two words at `at` and `then`, the first four bytes in the high half.
#[inline(always)]
fn pair(bytes: &[u8], at: usize, then: usize) -> u64 {
    u64::from(le32(bytes, at)) << 32 | u64::from(le32(bytes, then))
}

/// Up to 16 bytes as two words: reads of four bytes that overlap, or fewer than four bytes in the first word.
#[inline(always)]
fn to_16(bytes: &[u8]) -> (u64, u64) {
    if bytes.len() < 4 {
        return (le64_to_8(bytes), 0);
    }
    let (step, last) = (bytes.len() / 8 * 4, bytes.len() - 4);
    (pair(bytes, 0, last), pair(bytes, step, last - step))
}

#[inline(always)]
fn a5hash(seed: u64, mut bytes: &[u8]) -> u64 {
    let (mut low, mut high) = start(seed, bytes.len());
    let (mut even, mut odd) = (EVEN, ODD);
    if bytes.len() > 16 {
        (even, odd) = (even ^ low, odd ^ high);
        while bytes.len() > 16 {
            (low, high) = multiply(pair(bytes, 0, 4) ^ low, pair(bytes, 8, 12) ^ high);
            (low, high) = (low.wrapping_add(even), high.wrapping_add(odd));
            bytes = &bytes[16..];
        }
    }
    let (a, b) = to_16(bytes);
    let (low, high) = multiply(low ^ a, high ^ b);
    let (low, high) = multiply(low ^ even, high);
    low ^ high
}

/// The product of two words, each added to a word of the state.
#[inline(always)]
fn mix(a: u64, b: u64, state: (u64, u64)) -> (u64, u64) {
    multiply(a.wrapping_add(state.0), b.wrapping_add(state.1))
}

#[inline(always)]
fn a5hash128_low(seed: u64, bytes: &[u8]) -> u64 {
    let len = bytes.len();
    let mut first = start(seed, len);
    let mut second = (PI[2], PI[3]);
    let mut even = EVEN;
    let (a, b) = match len {
        0..=16 => to_16(bytes),
        17..=32 => {
            let last = pair(bytes, len - 16, len - 12);
            second = mix(last, pair(bytes, len - 8, len - 4), second);
            first = (first.0 ^ second.0, first.1 ^ second.1);
            (pair(bytes, 0, 4), pair(bytes, 8, 12))
        }
        _ => {
            even ^= first.0;
            let rest;
            (first, second, rest) = absorb(first, second, bytes);
            if rest > 16 {
                second = mix(le64(bytes, len - 32), le64(bytes, len - 24), second);
            }
            first = (first.0 ^ second.0, first.1 ^ second.1);
            (le64(bytes, len - 16), le64(bytes, len - 8))
        }
    };
    let (low, high) = mix(a, b, first);
    let (low, high) = multiply(even ^ low, high);
    low ^ high
}

/// Takes all of more than 32 bytes but the last 1–32 into the state, and returns the number of those left.
#[inline(always)]
fn absorb(first: (u64, u64), second: (u64, u64), mut bytes: &[u8]) -> ((u64, u64), (u64, u64), usize) {
    let (even, odd) = (EVEN ^ first.0, ODD ^ first.1);
    let mut lanes = [first, second, (PI[4], PI[5]), (PI[6], PI[7])];
    if bytes.len() > 64 {
        while bytes.len() > 64 {
            let old = lanes;
            for (at, lane) in lanes.iter_mut().enumerate() {
                *lane = mix(le64(bytes, 8 * at), le64(bytes, 32 + 8 * at), *lane);
            }
            // Each lane takes a word that was there before this round.
            let first = [even, old[0].0, old[1].0, old[2].0];
            let second = [old[3].1, odd, odd, odd];
            for (lane, (first, second)) in lanes.iter_mut().zip(first.into_iter().zip(second)) {
                *lane = (lane.0.wrapping_add(first), lane.1.wrapping_add(second));
            }
            bytes = &bytes[64..];
        }
        lanes[0] = (lanes[0].0 ^ lanes[2].0, lanes[0].1 ^ lanes[2].1);
        lanes[1] = (lanes[1].0 ^ lanes[3].0, lanes[1].1 ^ lanes[3].1);
    }
    if bytes.len() > 32 {
        let old = lanes;
        lanes[0] = mix(le64(bytes, 0), le64(bytes, 8), old[0]);
        lanes[0] = (lanes[0].0.wrapping_add(even), lanes[0].1.wrapping_add(old[1].1));
        lanes[1] = mix(le64(bytes, 16), le64(bytes, 24), old[1]);
        lanes[1] = (lanes[1].0.wrapping_add(old[0].0), lanes[1].1.wrapping_add(odd));
        bytes = &bytes[32..];
    }
    (lanes[0], lanes[1], bytes.len())
}

#[cfg(test)]
mod tests {
    use hashlane_hash::scheme::BytesHash;

    use super::super::testing::verification_value;
    use super::*;

    /// SMHasher3 `hashes/a5hash.cpp`, a5hash v5.21; of the 128-bit form the value of its truncated results.
    #[test]
    fn gives_the_verification_values_of_smhasher3() {
        assert_eq!(
            verification_value(|seed, bytes| A5Hash::with(seed).hash(bytes).to_le_bytes()),
            0xadde_79b3
        );
        let low = |seed, bytes: &[u8]| A5Hash128::with(seed).hash(bytes).to_le_bytes();
        assert_eq!(verification_value(low), 0x14ad_402c);
    }
}
