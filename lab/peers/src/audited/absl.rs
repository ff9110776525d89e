//! `absl::Hash` of a string, written from its description: no crate holds it.
//!
//! Abseil promises nothing from one release to the next, and hashes otherwise in builds with AES or CRC
//! instructions. This is the function of one release in a default build for 64-bit machines. Its tables draw
//! the seed from 5 bits of addresses.
//!
//! Source: Abseil LTS 20260817.0, `absl/hash/internal/hash.h` and `hash.cc`. The library's licence
//! is Apache-2.0.

use super::words::{PI, ends, fold, le64, pair};

const MULTIPLIER: u64 = 0x79d5_f9e0_de1e_8cf5;

const DIGITS: [u64; 5] = [PI[0], PI[6], PI[2], PI[4], PI[1]];

/// The digits as bytes; a short input's length is the place of the word that it takes.
const DIGIT_BYTES: [u8; 40] = {
    let mut bytes = [0; 40];
    let mut at = 0;
    while at < 40 {
        bytes[at] = (DIGITS[at / 8] >> (8 * (at % 8))) as u8;
        at += 1;
    }
    bytes
};

/// Longer inputs are hashed in pieces of this many bytes, each under the hash of the one before.
const PIECE: usize = 1024;

/// `absl::Hash` of a string under a 64-bit seed.
#[inline(always)]
pub(super) fn absl(seed: u64, bytes: &[u8]) -> u64 {
    let pieces = bytes.chunks_exact(PIECE);
    let rest = pieces.remainder();
    let state = pieces.fold(seed, from_33);
    match rest.len() {
        0 if !bytes.is_empty() => state,
        0..=32 => to_32(state, rest),
        _ => from_33(state, rest),
    }
}

/// Up to 32 bytes.
#[inline(always)]
fn to_32(state: u64, bytes: &[u8]) -> u64 {
    let len = bytes.len();
    let state = state ^ le64(&DIGIT_BYTES, len);
    let word = match len {
        0 => 0x57,
        1..4 => {
            let [first, middle, last] = ends(bytes);
            first << 16 | middle << 8 | last
        }
        4..=8 => pair(bytes, 0, len - 4),
        9..=16 => return fold(state ^ le64(bytes, 0), MULTIPLIER ^ le64(bytes, len - 8)),
        _ => {
            let lane = |at: usize, digits| fold(le64(bytes, at) ^ digits, le64(bytes, at + 8) ^ state);
            return lane(0, DIGITS[1]) ^ lane(len - 16, DIGITS[3]);
        }
    };
    fold(state ^ word, MULTIPLIER)
}

/// Two lanes of 16 bytes each, both from `state`.
#[inline(always)]
fn mix_32(state: u64, bytes: &[u8], at: usize) -> u64 {
    let lane = |at: usize, digits| fold(le64(bytes, at) ^ digits, le64(bytes, at + 8) ^ state);
    lane(at, DIGITS[1]) ^ lane(at + 16, DIGITS[2])
}

/// More than 32 bytes: four lanes for all but the last 1–64, then the first and the last 32 of what is left,
/// which overlap.
#[inline(always)]
fn from_33(state: u64, bytes: &[u8]) -> u64 {
    let len = bytes.len();
    let mut state = state ^ DIGITS[0] ^ len as u64;
    let wide = (len - 1) / 64 * 64;
    if wide > 0 {
        let mut lanes = [state; 4];
        for chunk in bytes[..wide].chunks_exact(64) {
            for (at, lane) in lanes.iter_mut().enumerate() {
                *lane = fold(le64(chunk, 16 * at) ^ DIGITS[at + 1], le64(chunk, 16 * at + 8) ^ *lane);
            }
        }
        let [a, b, c, d] = lanes;
        state = a ^ b ^ c.wrapping_add(d);
    }
    if len - wide > 32 {
        state = mix_32(state, bytes, wide);
    }
    mix_32(state, bytes, len - 32)
}
