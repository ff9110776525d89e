//! MuseAir v0.3, written from its description: its releases are withdrawn, as collisions under every seed are
//! known. It is here because the audit must find them.
//!
//! Source: `museair.h` v0.3 (github.com/eternal-io/museair), standard variant with 64 bits; SMHasher3
//! `hashes/museair.cpp`. The algorithm is in the public domain (CC0).

use super::words::{ends, le64, multiply, pair};

/// Digits of the Airy function at 0.
const DIGITS: [u64; 7] = [
    0x5ae3_1e58_9c56_e17a,
    0x96d7_bb04_e64f_6da9,
    0x7ab1_006b_26f9_eb64,
    0x2123_3394_220b_8457,
    0x047c_b955_7c9f_3b43,
    0xd24f_2590_c0bc_ee28,
    0x33ea_8f71_bb60_16d8,
];

/// Up to 16 bytes as two words: reads of four bytes that overlap, or fewer than four bytes in the first word.
#[inline(always)]
fn to_16(bytes: &[u8]) -> (u64, u64) {
    let len = bytes.len();
    match len {
        0 => (0, 0),
        1..4 => {
            let [first, middle, last] = ends(bytes);
            (first << 48 | middle << 24 | last, 0)
        }
        _ => {
            let step = if len >= 8 { 4 } else { 0 };
            (pair(bytes, 0, len - 4), pair(bytes, step, len - 4 - step))
        }
    }
}

/// MuseAir v0.3 with 64 bits under a 64-bit seed.
#[inline(always)]
pub(super) fn museair_v03(seed: u64, bytes: &[u8]) -> u64 {
    if bytes.len() <= 32 { short(seed, bytes) } else { long(seed, bytes) }
}

/// Up to 32 bytes.
#[inline(always)]
fn short(seed: u64, bytes: &[u8]) -> u64 {
    let len = bytes.len() as u64;
    let (head, tail) = bytes.split_at(bytes.len().min(16));
    let (low, high) = multiply(seed ^ DIGITS[0], len ^ DIGITS[1]);
    let (first, second) = to_16(head);
    let mut state = [first ^ len ^ low, second ^ seed ^ high];
    if !tail.is_empty() {
        let (first, second) = to_16(tail);
        let products = [multiply(DIGITS[2], DIGITS[3] ^ first), multiply(DIGITS[4], DIGITS[5] ^ second)];
        state = [0, 1].map(|at| state[at] ^ products[at].0 ^ products[1 - at].1);
    }
    for at in [2, 4] {
        let (low, high) = multiply(state[0] ^ DIGITS[at], state[1] ^ DIGITS[at + 1]);
        state = [state[0] ^ low, state[1] ^ high];
    }
    state[0] ^ state[1]
}

/// More than 32 bytes: chunks of 96 around a ring of six words, then what is left in pairs of words, and the
/// last 16 bytes, which overlap with the others.
#[inline(always)]
fn long(seed: u64, bytes: &[u8]) -> u64 {
    let mut state = [
        DIGITS[0].wrapping_add(seed),
        DIGITS[1].wrapping_sub(seed),
        DIGITS[2] ^ seed,
        DIGITS[3].wrapping_add(seed),
        DIGITS[4].wrapping_sub(seed),
        DIGITS[5] ^ seed,
    ];
    let chunks = bytes.chunks_exact(96);
    let mut rest = chunks.remainder();
    if bytes.len() >= 96 {
        let mut before = DIGITS[6];
        for chunk in chunks {
            for at in 0..6 {
                let next = (at + 1) % 6;
                state[at] ^= le64(chunk, 16 * at);
                state[next] ^= le64(chunk, 16 * at + 8);
                let (low, high) = multiply(state[at], state[next]);
                state[at] = state[at].wrapping_add(before ^ high);
                before = low;
            }
        }
        state[0] ^= before;
    }

    let mut take = |p: usize, q: usize, bytes: &[u8], at: usize| {
        state[p] ^= le64(bytes, at);
        state[q] ^= le64(bytes, at + 8);
        let (low, high) = multiply(state[p], state[q]);
        state[p] ^= low;
        state[q] ^= high;
    };
    if rest.len() >= 48 {
        [0, 2, 4].into_iter().for_each(|p| take(p, p + 1, rest, 8 * p));
        rest = &rest[48..];
    }
    if rest.len() >= 16 {
        take(0, 3, rest, 0);
    }
    if rest.len() >= 32 {
        take(1, 4, rest, 16);
    }
    take(2, 5, bytes, bytes.len() - 16);

    let len = bytes.len();
    let turn = (len % 64) as u32;
    let sides = [0, 2, 4].map(|at| state[at].wrapping_sub(state[at + 1]));
    let turned = [sides[0].rotate_left(turn), sides[1].rotate_right(turn), sides[2] ^ len as u64];
    mix(mix(turned)).into_iter().fold(0, u64::wrapping_add)
}

/// Multiplies each word by the next around a ring. A word takes the low half of its product and the high half
/// of the previous one.
#[inline(always)]
fn mix(words: [u64; 3]) -> [u64; 3] {
    let products = [0, 1, 2].map(|at| multiply(words[at], words[(at + 1) % 3]));
    [0, 1, 2].map(|at| products[at].0 ^ products[(at + 2) % 3].1)
}
