//! djb2: the hash times 33 plus the next byte, from 5381.
//!
//! Source: Bernstein, comp.lang.c, 1991; GNU's symbol hash (`DT_GNU_HASH`) is this function with 32 bits.

use super::part::scheme;

scheme! {
    /// djb2 with 32 bits and no key.
    Djb2(()) {
        id: "djb2",
        source: "Bernstein, comp.lang.c, 1991; as DT_GNU_HASH",
        width: 32,
        check: 0x35cd_bb82,
        safe: "Bytes that no adversary chooses: collisions are found by hand and hold everywhere.",
        hash: |(), bytes| u64::from(djb2(5381, bytes)),
    }
}

scheme! {
    /// djb2 with 32 bits, started from a 32-bit seed instead of 5381.
    Djb2Seeded(u32) {
        id: "djb2-seeded",
        source: "djb2, started from the seed",
        width: 32,
        check: 0xd384_51dd,
        safe: "Bytes that no adversary chooses: collisions are found by hand and hold under every seed.",
        hash: |seed, bytes| u64::from(djb2(seed, bytes)),
    }
}

#[inline(always)]
fn djb2(seed: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(seed, |hash, byte| hash.wrapping_mul(33).wrapping_add(u32::from(*byte)))
}

#[cfg(test)]
mod tests {
    use hashlane_hash::scheme::BytesHash;

    use super::super::testing::verification_value;
    use super::*;

    /// Oracle: "ELF: symbol lookup via DT_HASH / DT_GNU_HASH", the names and hashes of its examples.
    #[test]
    fn gives_the_hashes_of_dt_gnu_hash() {
        let hash = |name: &[u8]| Djb2::with(()).hash(name);
        assert_eq!(hash(b""), 0x0000_1505);
        assert_eq!(hash(b"printf"), 0x156b_2bb8);
        assert_eq!(hash(b"exit"), 0x7c96_7e3f);
        assert_eq!(hash(b"syscall"), 0xbac2_12a0);
        assert_eq!(hash(b"flapenguin.me"), 0x8ae9_f18e);
    }

    /// SMHasher3 `hashes/perlhashes.cpp`, djb2, which adds the length to the seed.
    #[test]
    fn gives_the_verification_value_of_smhasher3() {
        let hash = |seed, bytes: &[u8]| {
            let start = (seed as u32).wrapping_add(bytes.len() as u32);
            (Djb2Seeded::with(start).hash(bytes) as u32).to_le_bytes()
        };
        assert_eq!(verification_value(hash), 0x4962_cbab);
    }
}
