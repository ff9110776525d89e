//! GxHash 3, written from its description: the crate `gxhash` compiles only where AES instructions are
//! switched on for the whole build.
//!
//! All bytes are compressed to 128 bits without the seed, which enters in one of the last rounds.
//!
//! Source: Olivier Giniaux, crate gxhash 3.5.0; SMHasher3 `hashes/gxhash.cpp`. The crate's licence is
//! MIT.

use super::aes::{encrypt, encrypt_last};
use super::words::le128;

const KEYS: [u128; 3] = [
    0xfc3b_c28e_89c2_22e5_b09d_3e21_f278_4542,
    0x3913_2bd9_b361_dc58_cb6b_2e9b_03fc_e279,
    0xc78b_122b_5544_b1b7_689d_2b7d_d001_2e32,
];

/// Sixteen sums of bytes.
#[inline(always)]
fn add(a: u128, b: u128) -> u128 {
    let (mut a, b) = (a.to_le_bytes(), b.to_le_bytes());
    for (a, b) in a.iter_mut().zip(b) {
        *a = a.wrapping_add(b);
    }
    u128::from_le_bytes(a)
}

/// Up to 16 bytes, padded with zeros; the number of bytes is added to each.
#[inline(always)]
fn partial(bytes: &[u8]) -> u128 {
    let mut block = [0; 16];
    block[..bytes.len()].copy_from_slice(bytes);
    add(u128::from_le_bytes(block), u128::from_le_bytes([bytes.len() as u8; 16]))
}

/// GxHash with 128 bits of result, under a 64-bit seed.
#[inline(always)]
pub(super) fn gxhash(seed: u64, bytes: &[u8]) -> u128 {
    let seed = u128::from(seed) << 64 | u128::from(seed);
    let keyed = encrypt(compress(bytes), seed);
    encrypt_last(encrypt(encrypt(keyed, KEYS[0]), KEYS[1]), KEYS[2])
}

#[inline(always)]
fn compress(bytes: &[u8]) -> u128 {
    let len = bytes.len();
    match len {
        0 => return 0,
        1..=16 => return partial(bytes),
        _ => {}
    }
    // The odd bytes go first, or a whole block where there are none.
    let (odd, rest) = bytes.split_at(if len.is_multiple_of(16) { 16 } else { len % 16 });
    let mut hash = if odd.len() == 16 { le128(odd, 0) } else { partial(odd) };
    let (head, rest) = rest.split_at(rest.len().min(48));
    let (first, more) = (le128(head, 0), &head[16..]);
    let first = more.chunks_exact(16).fold(first, |first, block| encrypt(first, le128(block, 0)));
    if len > 64 {
        hash = compress_many(hash, rest, len);
    }
    encrypt_last(hash, encrypt(encrypt(first, KEYS[0]), KEYS[1]))
}

/// Takes whole blocks: one by one until a multiple of eight is left, then by eights in two lanes.
#[inline(always)]
fn compress_many(hash: u128, bytes: &[u8], len: usize) -> u128 {
    let (single, eights) = bytes.split_at(bytes.len() % 128);
    let hash = single.chunks_exact(16).fold(hash, |hash, block| encrypt(hash, le128(block, 0)));
    let mut lanes = [hash; 2];
    let mut counters = [0; 2];
    for eight in eights.chunks_exact(128) {
        for (at, (lane, counter)) in lanes.iter_mut().zip(&mut counters).enumerate() {
            let block = |pair: usize| le128(eight, 32 * pair + 16 * at);
            let mixed = encrypt(encrypt(encrypt(block(0), block(1)), block(2)), block(3));
            *counter = add(*counter, KEYS[at]);
            *lane = encrypt_last(encrypt(mixed, *counter), *lane);
        }
    }
    let len = u128::from(len as u32) * 0x0000_0001_0000_0001_0000_0001_0000_0001;
    let [first, second] = lanes.map(|lane| add(lane, len));
    encrypt(first, second)
}
