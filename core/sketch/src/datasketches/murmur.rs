//! MurmurHash3 of 128 bits, the form for 64-bit processors.
//!
//! Source: Appleby, SMHasher, "MurmurHash3_x64_128" (public domain). The seed is of 64 bits and begins both
//! halves, as in Apache DataSketches.

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

/// The two halves of the hash.
pub(super) fn hash(bytes: &[u8], seed: u64) -> [u64; 2] {
    let (mut a, mut b) = (seed, seed);
    let (blocks, rest) = bytes.as_chunks::<16>();
    for block in blocks {
        let (first, second) = block.split_at(8);
        a = (a ^ first_mixed(word(first))).rotate_left(27).wrapping_add(b);
        a = a.wrapping_mul(5).wrapping_add(0x52dc_e729);
        b = (b ^ second_mixed(word(second))).rotate_left(31).wrapping_add(a);
        b = b.wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    // A word of nothing is 0, and leaves the half as it is.
    let (first, second) = rest.split_at(rest.len().min(8));
    a ^= first_mixed(word(first));
    b ^= second_mixed(word(second));
    a ^= bytes.len() as u64;
    b ^= bytes.len() as u64;
    a = a.wrapping_add(b);
    b = b.wrapping_add(a);
    (a, b) = (avalanche(a), avalanche(b));
    a = a.wrapping_add(b);
    b = b.wrapping_add(a);
    [a, b]
}

/// Up to 8 bytes as a little-endian number.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

fn first_mixed(word: u64) -> u64 {
    word.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

fn second_mixed(word: u64) -> u64 {
    word.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

fn avalanche(mut word: u64) -> u64 {
    word ^= word >> 33;
    word = word.wrapping_mul(0xff51_afd7_ed55_8ccd);
    word ^= word >> 33;
    word = word.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    word ^ word >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SMHasher's verification of a hash: hashes of keys 0, 01, 012, … under seeds 256, 255, …, hashed again.
    /// Its seeds have 32 bits, as many as these.
    #[test]
    fn has_the_verification_value_of_smhasher() {
        let key: Vec<u8> = (0..=255).collect();
        let bytes = |hash: [u64; 2]| hash.map(u64::to_le_bytes).as_flattened().to_vec();
        let all: Vec<u8> = (0..256).flat_map(|len| bytes(hash(&key[..len], 256 - len as u64))).collect();
        assert_eq!(bytes(hash(&all, 0))[..4], 0x6384_ba69_u32.to_le_bytes());
    }
}
