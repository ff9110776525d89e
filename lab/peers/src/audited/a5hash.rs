//! a5hash and a5hash128, written from their description: no crate holds them.
//!
//! Both start from digits of π and the length, and mix by whole products of two words. The 128-bit form gives
//! its low half here, which is also its own form for 64 bits of result.
//!
//! Source: Aleksey Vaneev, `a5hash.h` 5.21 (github.com/avaneev/a5hash); SMHasher3 `hashes/a5hash.cpp`.
//! The library's licence is MIT.

use super::words::{PI, fold, le64, le64_to_8, multiply, pair};

/// Every second bit, the even ones.
const EVEN: u64 = 0x5555_5555_5555_5555;
/// Every second bit, the odd ones.
const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;

/// The first two words of the state.
#[inline(always)]
fn start(seed: u64, len: usize) -> (u64, u64) {
    let len = len as u64;
    multiply(PI[1] ^ len ^ (seed & ODD), PI[0] ^ len ^ (seed & EVEN))
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

/// a5hash under a 64-bit seed.
#[inline(always)]
pub(super) fn a5hash(seed: u64, mut bytes: &[u8]) -> u64 {
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
    fold(low ^ even, high)
}

/// The product of two words, each added to a word of the state.
#[inline(always)]
fn mix(a: u64, b: u64, state: (u64, u64)) -> (u64, u64) {
    multiply(a.wrapping_add(state.0), b.wrapping_add(state.1))
}

/// The low half of a5hash128 under a 64-bit seed.
#[inline(always)]
pub(super) fn a5hash128_low(seed: u64, bytes: &[u8]) -> u64 {
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
    fold(even ^ low, high)
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
