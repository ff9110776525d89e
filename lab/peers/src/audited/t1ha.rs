//! t1ha1 and t1ha2, the "fast positive hash", written from their description: the crate `t1ha` 0.1.2 reads
//! beyond the end of its input.
//!
//! Blocks of 32 bytes enter four lanes; what is left of them, or all of 32 bytes and fewer, enters two.
//!
//! Source: Leonid Yuriev, `t1ha1.c` and `t1ha2.c` (github.com/erthink/t1ha); SMHasher3 `hashes/t1ha.cpp`.
//! The library's licence is zlib's.

use super::words::{fold, le64, le64_to_8, multiply};

const P0: u64 = 0xec99_bf0d_8372_caab;
const P1: u64 = 0x8243_4fe9_0edc_ef39;
const P5: u64 = 0xc060_724a_8424_f345;
const P6: u64 = 0xcb5a_f53a_e3aa_ac31;

/// The multipliers of the last four words. Fewer words take the last of these.
const LAST: [u64; 4] = [0x9c06_faf4_d023_e3ab, 0xbd9c_acc2_2c6e_9571, 0xd4f0_6db9_9d67_be4b, P1];

/// The whole blocks of more than 32 bytes, and the up to 32 bytes after them.
#[inline(always)]
fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    bytes.split_at(if bytes.len() > 32 { bytes.len() / 32 * 32 } else { 0 })
}

/// Up to 32 bytes as words, each with the place of its multiplier.
#[inline(always)]
fn last_words(bytes: &[u8]) -> impl Iterator<Item = (usize, u64)> {
    let first = LAST.len() - bytes.len().div_ceil(8);
    (first..).zip(bytes.chunks(8).map(le64_to_8))
}

/// The four words of a block.
#[inline(always)]
fn block(bytes: &[u8]) -> [u64; 4] {
    [0, 8, 16, 24].map(|at| le64(bytes, at))
}

/// t1ha1 for words in little-endian order, under a 64-bit seed.
#[inline(always)]
pub(super) fn t1ha1(seed: u64, bytes: &[u8]) -> u64 {
    let len = bytes.len() as u64;
    let (mut a, mut b) = (seed, len);
    let (blocks, rest) = split(bytes);
    if !blocks.is_empty() {
        let (mut c, mut d) = (len.rotate_right(17).wrapping_add(seed), len ^ seed.rotate_right(17));
        for [w0, w1, w2, w3] in blocks.chunks_exact(32).map(block) {
            let even = w0 ^ w2.wrapping_add(d).rotate_right(17);
            let odd = w1 ^ w3.wrapping_add(c).rotate_right(17);
            d = d.wrapping_sub(b ^ w1.rotate_right(31));
            c = c.wrapping_add(a ^ w0.rotate_right(41));
            b ^= P0.wrapping_mul(odd.wrapping_add(w2));
            a ^= P1.wrapping_mul(even.wrapping_add(w3));
        }
        a ^= P6.wrapping_mul(c.rotate_right(17).wrapping_add(d));
        b ^= P5.wrapping_mul(c.wrapping_add(d.rotate_right(17)));
    }
    for (place, word) in last_words(rest) {
        let lane = if place % 2 == 0 { &mut b } else { &mut a };
        *lane = lane.wrapping_add(fold(word, LAST[place]));
    }
    let product = P0.wrapping_mul(a ^ b);
    fold(a.wrapping_add(b).rotate_right(17), LAST[0]).wrapping_add(product ^ product.rotate_right(41))
}

/// t1ha2 in one call, under a 64-bit seed.
#[inline(always)]
pub(super) fn t1ha2(seed: u64, bytes: &[u8]) -> u64 {
    let len = bytes.len() as u64;
    let (mut a, mut b) = (seed, len);
    let (blocks, rest) = split(bytes);
    if !blocks.is_empty() {
        let mut c = len.rotate_right(23).wrapping_add(!seed);
        let mut d = (!len).wrapping_add(seed.rotate_right(19));
        for [w0, w1, w2, w3] in blocks.chunks_exact(32).map(block) {
            let even = w0.wrapping_add(w2.wrapping_add(d).rotate_right(56));
            let odd = w1.wrapping_add(w3.wrapping_add(c).rotate_right(19));
            d ^= b.wrapping_add(w1.rotate_right(38));
            c ^= a.wrapping_add(w0.rotate_right(57));
            b ^= P6.wrapping_mul(odd.wrapping_add(w2));
            a ^= P5.wrapping_mul(even.wrapping_add(w3));
        }
        a ^= P6.wrapping_mul(c.wrapping_add(d.rotate_right(23)));
        b ^= P5.wrapping_mul(c.rotate_right(19).wrapping_add(d));
    }
    for (place, word) in last_words(rest) {
        let (low_to, high_to) = if place % 2 == 0 { (&mut a, &mut b) } else { (&mut b, &mut a) };
        let (low, high) = multiply(high_to.wrapping_add(word), LAST[place]);
        *low_to ^= low;
        *high_to = high_to.wrapping_add(high);
    }
    let x = P0.wrapping_mul(a.wrapping_add(b.rotate_right(41)));
    let y = P6.wrapping_mul(a.rotate_right(23).wrapping_add(b));
    fold(x ^ y, P5)
}
