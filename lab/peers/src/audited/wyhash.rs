//! wyhash, final version 4, written from its description: the crates that are kept hold earlier versions.
//!
//! Source: Wang Yi, `wyhash.h`, final version 4.3, default secrets, whose hash equals 4.2's; SMHasher3
//! `hashes/wyhash.cpp`. Go's and Zig's tables use variants of it. The header is in the public domain (The
//! Unlicense).

use super::words::{ends, fold, le64, multiply, pair};

/// The default secrets of the header.
const SECRETS: [u64; 4] =
    [0x2d35_8dcc_aa6c_78a5, 0x8bb8_4b93_962e_acc9, 0x4b33_a62e_d433_d4a3, 0x4d5a_2da5_1de1_aa47];

/// wyhash under a 64-bit seed and the default secrets.
#[inline(always)]
pub(super) fn wyhash(seed: u64, bytes: &[u8]) -> u64 {
    let len = bytes.len();
    let seed = seed ^ fold(seed ^ SECRETS[0], SECRETS[1]);
    let (seed, a, b) = match len {
        0 => (seed, 0, 0),
        1..4 => {
            let [first, middle, last] = ends(bytes);
            (seed, first << 16 | middle << 8 | last, 0)
        }
        4..=16 => {
            // Four reads of four bytes, which overlap in short inputs.
            let step = len / 8 * 4;
            (seed, pair(bytes, 0, step), pair(bytes, len - 4, len - 4 - step))
        }
        _ => (absorb(seed, bytes), le64(bytes, len - 16), le64(bytes, len - 8)),
    };
    let (a, b) = multiply(a ^ SECRETS[1], b ^ seed);
    fold(a ^ SECRETS[0] ^ len as u64, b ^ SECRETS[1])
}

/// Takes all of more than 16 bytes into the seed but the last 1–16.
#[inline(always)]
fn absorb(seed: u64, bytes: &[u8]) -> u64 {
    let step = |lane: u64, chunk: &[u8], secret| fold(le64(chunk, 0) ^ secret, le64(chunk, 8) ^ lane);
    let mut lanes = [seed; 3];
    let (wide, mut rest) = bytes.split_at(bytes.len() / 48 * 48);
    for chunk in wide.chunks_exact(48) {
        for (at, lane) in lanes.iter_mut().enumerate() {
            *lane = step(*lane, &chunk[16 * at..], SECRETS[at + 1]);
        }
    }
    let mut seed = if wide.is_empty() { seed } else { lanes[0] ^ lanes[1] ^ lanes[2] };
    while rest.len() > 16 {
        seed = step(seed, rest, SECRETS[1]);
        rest = &rest[16..];
    }
    seed
}
