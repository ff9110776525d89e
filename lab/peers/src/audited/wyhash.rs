//! wyhash, final version 4, written from its description: the crates that are kept hold earlier versions.
//!
//! Source: Wang Yi, `wyhash.h`, final version 4.2, default secrets; SMHasher3 `hashes/wyhash.cpp`. Go's and
//! Zig's tables use variants of it. The header is in the public domain (The Unlicense).

use super::part::scheme;
use super::words::{le32, le64, multiply};

/// The default secrets of the header.
const SECRETS: [u64; 4] =
    [0x2d35_8dcc_aa6c_78a5, 0x8bb8_4b93_962e_acc9, 0x4b33_a62e_d433_d4a3, 0x4d5a_2da5_1de1_aa47];

scheme! {
    /// wyhash final 4 under a 64-bit seed and the default secrets.
    WyHash(u64) {
        id: "wyhash",
        source: "wyhash.h final version 4.2 (Wang Yi), default secrets",
        width: 64,
        check: 0x83e6_dbe1_e71e_966e,
        safe: "Bytes that no adversary chooses: collisions are known that hold under every seed.",
        hash: |seed, bytes| wyhash(seed, bytes),
    }
}

/// Folds a product to one word.
#[inline(always)]
fn mix(a: u64, b: u64) -> u64 {
    let (low, high) = multiply(a, b);
    low ^ high
}

#[inline(always)]
fn wyhash(seed: u64, bytes: &[u8]) -> u64 {
    let len = bytes.len();
    let seed = seed ^ mix(seed ^ SECRETS[0], SECRETS[1]);
    let (seed, a, b) = match len {
        0 => (seed, 0, 0),
        1..4 => {
            let [first, middle, last] = [0, len / 2, len - 1].map(|at| u64::from(bytes[at]));
            (seed, first << 16 | middle << 8 | last, 0)
        }
        4..=16 => {
            // Four reads of four bytes, which overlap in short inputs.
            let step = len / 8 * 4;
            let pair =
                |at: usize, then: usize| u64::from(le32(bytes, at)) << 32 | u64::from(le32(bytes, then));
            (seed, pair(0, step), pair(len - 4, len - 4 - step))
        }
        _ => (absorb(seed, bytes), le64(bytes, len - 16), le64(bytes, len - 8)),
    };
    let (a, b) = multiply(a ^ SECRETS[1], b ^ seed);
    mix(a ^ SECRETS[0] ^ len as u64, b ^ SECRETS[1])
}

/// Takes all of more than 16 bytes into the seed but the last 1–16.
#[inline(always)]
fn absorb(seed: u64, bytes: &[u8]) -> u64 {
    let step = |lane: u64, chunk: &[u8], secret| mix(le64(chunk, 0) ^ secret, le64(chunk, 8) ^ lane);
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

#[cfg(test)]
mod tests {
    use hashlane_hash::scheme::BytesHash;

    use super::super::testing::verification_value;
    use super::*;

    /// SMHasher3 `hashes/wyhash.cpp`, wyhash v4.2, not strict.
    #[test]
    fn gives_the_verification_value_of_smhasher3() {
        assert_eq!(
            verification_value(|seed, bytes| WyHash::with(seed).hash(bytes).to_le_bytes()),
            0x9dae_7dd3
        );
    }

    /// The test vectors of the author's repository (`test_vector.cpp`), each under its number as the seed.
    #[test]
    fn gives_the_published_results() {
        let digits = b"1234567890".repeat(8);
        let vectors: [(&[u8], u64); 7] = [
            (b"", 0x9322_8a4d_e0ee_c5a2),
            (b"a", 0xc5ba_c3db_1787_13c4),
            (b"abc", 0xa97f_2f7b_1d9b_3314),
            (b"message digest", 0x786d_1f1d_f380_1df4),
            (b"abcdefghijklmnopqrstuvwxyz", 0xdca5_a813_8ad3_7c87),
            (b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", 0xb9e7_34f1_17cf_af70),
            (&digits, 0x6cc5_eab4_9a92_d617),
        ];
        for (seed, (bytes, result)) in (0..).zip(vectors) {
            assert_eq!(WyHash::with(seed).hash(bytes), result, "{}", bytes.escape_ascii());
        }
    }
}
