//! The hashes of Go's maps, written from their description: no crate holds them.
//!
//! On CPUs with AES rounds, each block of 16 bytes takes part in a separate lane: three rounds whose key is
//! the state itself. Elsewhere the function is a variant of wyhash under words that each process draws.
//!
//! Source: Go 1.26, `runtime/alg.go`, `runtime/asm_amd64.s` (aeshashbody), `runtime/hash64.go`
//! (memhashFallback). The licence is BSD-3-Clause.

use super::aes::encrypt;
use super::words::{ends, fold, le32, le64, le128};

/// Public word that enters the last product.
const LAST: u64 = 0x1d8e_4e27_c47d_124f;

/// `memhashFallback` for words of 64 bits: four words of the process, and the seed of a map.
#[inline(always)]
pub(super) fn memhash(words: [u64; 4], seed: u64, bytes: &[u8]) -> u64 {
    let len = bytes.len();
    let seed = seed ^ words[0];
    let (seed, a, b) = match len {
        0 => return seed,
        1..4 => {
            let [first, middle, last] = ends(bytes);
            (seed, first | middle << 8 | last << 16, 0)
        }
        // Two reads of four bytes, or of eight, which overlap in short inputs.
        4..8 => (seed, u64::from(le32(bytes, 0)), u64::from(le32(bytes, len - 4))),
        8..=16 => (seed, le64(bytes, 0), le64(bytes, len - 8)),
        _ => (absorb(words, seed, bytes), le64(bytes, len - 16), le64(bytes, len - 8)),
    };
    fold(LAST ^ len as u64, fold(a ^ words[1], b ^ seed))
}

/// Takes all of more than 16 bytes into the seed but the last 1–16: in three lanes while more than 48 are
/// left, then in one.
#[inline(always)]
fn absorb(words: [u64; 4], seed: u64, bytes: &[u8]) -> u64 {
    let step = |lane: u64, bytes: &[u8], word| fold(le64(bytes, 0) ^ word, le64(bytes, 8) ^ lane);
    let (wide, mut rest) = bytes.split_at((bytes.len() - 1) / 48 * 48);
    let mut lanes = [seed; 3];
    for chunk in wide.chunks_exact(48) {
        for (at, lane) in lanes.iter_mut().enumerate() {
            *lane = step(*lane, &chunk[16 * at..], words[at + 1]);
        }
    }
    let mut seed = if wide.is_empty() { seed } else { lanes[0] ^ lanes[1] ^ lanes[2] };
    while rest.len() > 16 {
        seed = step(seed, rest, words[1]);
        rest = &rest[16..];
    }
    seed
}

/// A round of AES whose key is the state.
#[inline(always)]
fn scramble(state: u128) -> u128 {
    encrypt(state, state)
}

/// The hash by AES rounds of 64-bit x86: eight words of the process, and the seed of a map.
#[inline(always)]
pub(super) fn aes_hash(schedule: &[u128; 8], seed: u64, bytes: &[u8]) -> u64 {
    // The seed, and the lowest 16 bits of the length four times.
    let length = u128::from(bytes.len() as u16) * 0x0001_0001_0001_0001;
    let start = length << 64 | u128::from(seed);
    match bytes.len() {
        0 => scramble(scramble(start ^ schedule[0])) as u64,
        1..16 => {
            let mut block = [0; 16];
            block[..bytes.len()].copy_from_slice(bytes);
            lanes::<1>(schedule, start, &block)
        }
        16 => lanes::<1>(schedule, start, bytes),
        17..=32 => lanes::<2>(schedule, start, bytes),
        33..=64 => lanes::<4>(schedule, start, bytes),
        65..=128 => lanes::<8>(schedule, start, bytes),
        _ => long(schedule, start, bytes),
    }
}

/// The exclusive or of all lanes after three rounds each.
#[inline(always)]
fn finish<const N: usize>(lanes: [u128; N]) -> u64 {
    lanes.into_iter().fold(0, |all, lane| all ^ scramble(scramble(scramble(lane)))) as u64
}

/// Up to 16 bytes for each of the lanes: half of them from the start, the others from the end.
#[inline(always)]
fn lanes<const N: usize>(schedule: &[u128; 8], start: u128, bytes: &[u8]) -> u64 {
    finish::<N>(core::array::from_fn(|lane| {
        let at = if lane < N / 2 { 16 * lane } else { bytes.len() - 16 * (N - lane) };
        scramble(start ^ schedule[lane]) ^ le128(bytes, at)
    }))
}

/// More than 128 bytes: the last 128, then all but the last 1–128.
#[inline(always)]
fn long(schedule: &[u128; 8], start: u128, bytes: &[u8]) -> u64 {
    let last = bytes.len() - 128;
    let mut lanes: [u128; 8] =
        core::array::from_fn(|lane| scramble(start ^ schedule[lane]) ^ le128(bytes, last + 16 * lane));
    for chunk in bytes[..(bytes.len() - 1) / 128 * 128].chunks_exact(128) {
        for (at, lane) in lanes.iter_mut().enumerate() {
            *lane = encrypt(scramble(*lane), le128(chunk, 16 * at));
        }
    }
    finish(lanes)
}
