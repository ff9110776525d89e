//! `absl::Hash` of a string, written from its description: no crate holds it.
//!
//! Abseil promises nothing from one release to the next, and hashes otherwise in builds with AES or CRC
//! instructions. This is the function of one release in a default build for 64-bit machines. Its tables draw
//! the seed from 5 bits of addresses.
//!
//! Source: Abseil LTS 20260817.0, `absl/hash/internal/hash.h` and `hash.cc`. The library's licence
//! is Apache-2.0.

use super::part::scheme;
use super::words::{le32, le64, multiply};

scheme! {
    /// `absl::Hash` of a string under a 64-bit seed.
    AbslHash(u64) {
        id: "absl-hash",
        source: "Abseil LTS 20260817.0, default build for 64 bits",
        width: 64,
        check: 0x5627_c4e3_2335_f0b1,
        safe: "Bytes that no adversary chooses: collisions are known that hold under every seed.",
        hash: |seed, bytes| absl(seed, bytes),
    }
}

const MULTIPLIER: u64 = 0x79d5_f9e0_de1e_8cf5;

/// Digits of π.
const DIGITS: [u64; 5] = [
    0x243f_6a88_85a3_08d3,
    0x1319_8a2e_0370_7344,
    0xa409_3822_299f_31d0,
    0x082e_fa98_ec4e_6c89,
    0x4528_21e6_38d0_1377,
];

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

/// Folds a product to one word.
#[inline(always)]
fn mix(a: u64, b: u64) -> u64 {
    let (low, high) = multiply(a, b);
    low ^ high
}

#[inline(always)]
fn absl(seed: u64, bytes: &[u8]) -> u64 {
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
            let [first, middle, last] = [0, len / 2, len - 1].map(|at| u64::from(bytes[at]));
            first << 16 | middle << 8 | last
        }
        4..=8 => u64::from(le32(bytes, 0)) << 32 | u64::from(le32(bytes, len - 4)),
        9..=16 => return mix(state ^ le64(bytes, 0), MULTIPLIER ^ le64(bytes, len - 8)),
        _ => {
            let pair = |at: usize, digits| mix(le64(bytes, at) ^ digits, le64(bytes, at + 8) ^ state);
            return pair(0, DIGITS[1]) ^ pair(len - 16, DIGITS[3]);
        }
    };
    mix(state ^ word, MULTIPLIER)
}

/// Two lanes of 16 bytes each, both from `state`.
#[inline(always)]
fn mix_32(state: u64, bytes: &[u8], at: usize) -> u64 {
    let pair = |at: usize, digits| mix(le64(bytes, at) ^ digits, le64(bytes, at + 8) ^ state);
    pair(at, DIGITS[1]) ^ pair(at + 16, DIGITS[2])
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
                *lane = mix(le64(chunk, 16 * at) ^ DIGITS[at + 1], le64(chunk, 16 * at + 8) ^ *lane);
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

#[cfg(test)]
mod tests {
    use hashlane_hash::scheme::BytesHash;

    use super::*;

    fn unhex(text: &str) -> Vec<u8> {
        let digits = text.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
        digits.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
    }

    #[test]
    fn gives_the_published_results() {
        let mut count = 0;
        let file = include_str!("../../../../vectors/absl-hash.txt");
        for row in file.lines().filter(|line| !line.starts_with('#')) {
            let columns: Vec<&str> = row.split_whitespace().collect();
            let [seed, result] = [1, 2].map(|at| u64::from_str_radix(columns[at], 16).unwrap());
            assert_eq!(AbslHash::with(seed).hash(&unhex(columns[0])), result, "{row}");
            count += 1;
        }
        assert_eq!(count, 8);
    }

    /// Results of the C++ of that release, compiled by g++ 12 at -O2 without -m options, for the bytes 0, 1,
    /// 2, .. 250, 0, ..
    #[test]
    fn gives_the_results_of_the_release() {
        let bytes: Vec<u8> = (0..=250).cycle().take(2100).collect();
        let results = [
            (0, 0xdcee_2959_7715_2514),
            (1, 0x566a_ad21_82af_fa2e),
            (2, 0x99b8_2744_cbc2_23a9),
            (3, 0xc04e_3059_6a70_8f46),
            (4, 0xbe6f_b68e_973e_9481),
            (7, 0xe45f_3761_cbd6_2df8),
            (8, 0xa191_cb05_7e82_c984),
            (9, 0x4d22_a8d0_a4d5_fd9c),
            (16, 0x0196_2ab7_8587_5707),
            (17, 0x50c2_2c1f_fb57_487a),
            (32, 0xa24e_5741_074d_f70c),
            (33, 0xbcb6_d8fe_2dcc_bb73),
            (64, 0x8096_f244_3173_d68d),
            (65, 0x3379_bc67_e783_b7ca),
            (1024, 0xcf77_3c88_aa98_e42f),
            (1025, 0x3b54_6c03_9bef_3312),
            (1056, 0x5a9b_d122_31c2_86d3),
            (1057, 0x9d5d_ea0f_6c34_ae88),
            (2048, 0xa45e_0c3f_43d2_df0f),
            (2100, 0x2d68_6d34_938d_2198),
        ];
        for (len, result) in results {
            assert_eq!(AbslHash::with(0x0706_0504_0302_0100).hash(&bytes[..len]), result, "{len}");
        }
    }

    /// abseil/abseil-cpp issue 2171: every string of 9–16 bytes that ends in the multiplier hashes to 0.
    #[test]
    fn gives_the_published_collisions() {
        for (seed, len) in [(1, 9), (0x1234_5678_9abc_def0, 12), (u64::MAX, 16)] {
            let mut bytes = vec![len as u8; len - 8];
            bytes.extend(MULTIPLIER.to_le_bytes());
            assert_eq!(AbslHash::with(seed).hash(&bytes), 0);
        }
    }
}
