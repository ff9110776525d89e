//! XXH32, XXH64 and XXH3 with 128 bits of result, through the crate `xxhash-rust`.
//!
//! A table takes 64 bits or fewer, so XXH3-128 is two schemes, one for each half of its result. Its halves
//! are different functions of the bytes: a collision of both is one of the whole.

use xxhash_rust::xxh3::xxh3_128_with_seed;
use xxhash_rust::xxh32::xxh32;
use xxhash_rust::xxh64::xxh64;

use super::part::scheme;

scheme! {
    /// XXH32 under a 32-bit seed.
    Xxh32(u32) {
        id: "xxh32",
        source: "crate xxhash-rust 0.8.19",
        width: 32,
        check: 0x0b58_a5b0,
        safe: "Bytes that no adversary chooses: collisions are known that hold under nearly every seed.",
        hash: |seed, bytes| u64::from(xxh32(bytes, seed)),
    }
}

scheme! {
    /// XXH64 under a 64-bit seed.
    Xxh64(u64) {
        id: "xxh64",
        source: "crate xxhash-rust 0.8.19",
        width: 64,
        check: 0xc651_9e2b_b348_97a0,
        safe: "Bytes that no adversary chooses: the seed is not a secret key, its authors claim speed and \
               spread.",
        hash: |seed, bytes| xxh64(bytes, seed),
    }
}

scheme! {
    /// The low half of XXH3-128 under a 64-bit seed, bytes 8–15 of the canonical form.
    Xxh3Low(u64) {
        id: "xxh3-128-low",
        source: "crate xxhash-rust 0.8.19, low half",
        width: 64,
        check: 0xcb4d_7bd1_9a60_957a,
        safe: "Bytes that no adversary chooses: the seed is not a secret key, its authors claim speed and \
               spread.",
        hash: |seed, bytes| xxh3_128_with_seed(bytes, seed) as u64,
    }
}

scheme! {
    /// The high half of XXH3-128 under a 64-bit seed, bytes 0–7 of the canonical form.
    Xxh3High(u64) {
        id: "xxh3-128-high",
        source: "crate xxhash-rust 0.8.19, high half",
        width: 64,
        check: 0xd18e_168a_b840_b09a,
        safe: "Bytes that no adversary chooses: the seed is not a secret key, its authors claim speed and \
               spread.",
        hash: |seed, bytes| (xxh3_128_with_seed(bytes, seed) >> 64) as u64,
    }
}

#[cfg(test)]
mod tests {
    use hashlane_hash::scheme::BytesHash;
    use proptest::prelude::*;

    use super::super::testing::verification_value;
    use super::*;

    fn whole(seed: u64, bytes: &[u8]) -> u128 {
        u128::from(Xxh3High::with(seed).hash(bytes)) << 64 | u128::from(Xxh3Low::with(seed).hash(bytes))
    }

    /// SMHasher3 `hashes/xxhash.cpp`, whose results are in the canonical form, which is big-endian.
    #[test]
    fn gives_the_verification_values_of_smhasher3() {
        let xxh32 = |seed, bytes: &[u8]| (Xxh32::with(seed as u32).hash(bytes) as u32).to_be_bytes();
        assert_eq!(verification_value(xxh32), 0x6fd7_8385);
        assert_eq!(
            verification_value(|seed, bytes| Xxh64::with(seed).hash(bytes).to_be_bytes()),
            0x8f82_24c4
        );
        assert_eq!(verification_value(|seed, bytes| whole(seed, bytes).to_be_bytes()), 0x288d_aa94);
    }

    proptest! {
        #[test]
        fn agrees_with_the_streamed_forms(
            seed: u64,
            bytes in proptest::collection::vec(any::<u8>(), 0..=600),
            cut: prop::sample::Index,
        ) {
            let (head, tail) = bytes.split_at(cut.index(bytes.len() + 1));
            let mut stream = xxhash_rust::xxh32::Xxh32::new(seed as u32);
            stream.update(head);
            stream.update(tail);
            prop_assert_eq!(Xxh32::with(seed as u32).hash(&bytes), u64::from(stream.digest()));

            let mut stream = xxhash_rust::xxh64::Xxh64::new(seed);
            stream.update(head);
            stream.update(tail);
            prop_assert_eq!(Xxh64::with(seed).hash(&bytes), stream.digest());

            let mut stream = xxhash_rust::xxh3::Xxh3::with_seed(seed);
            stream.update(head);
            stream.update(tail);
            prop_assert_eq!(whole(seed, &bytes), stream.digest128());
        }
    }
}
