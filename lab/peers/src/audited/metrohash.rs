//! MetroHash with 64 and 128 bits of result, through the crate `metrohash`.
//!
//! Both are the base variant of the first release, without CRC instructions.

use core::hash::Hasher;

use ::metrohash::{MetroHash64, MetroHash128};

use super::part::scheme;

scheme! {
    /// MetroHash64 under a 64-bit seed.
    Metro64(u64) {
        id: "metrohash64",
        source: "crate metrohash 1.0.7",
        width: 64,
        check: 0x3de2_a5a5_4ea7_68d5,
        safe: "Bytes that no adversary chooses: the seed is not a secret key, its author claims speed and \
               spread.",
        hash: |seed, bytes| {
            let mut hasher = MetroHash64::with_seed(seed);
            hasher.write(bytes);
            hasher.finish()
        },
    }
}

scheme! {
    /// The first word of MetroHash128 under a 64-bit seed.
    Metro128(u64) {
        id: "metrohash128-low",
        source: "crate metrohash 1.0.7, first word",
        width: 64,
        check: 0x852e_3865_6eeb_aec6,
        safe: "Bytes that no adversary chooses: the seed is not a secret key, its author claims speed and \
               spread.",
        hash: |seed, bytes| {
            let mut hasher = MetroHash128::with_seed(seed);
            hasher.write(bytes);
            hasher.finish128().0
        },
    }
}

#[cfg(test)]
mod tests {
    use hashlane_hash::scheme::BytesHash;
    use proptest::prelude::*;

    use super::super::testing::verification_value;
    use super::*;

    /// SMHasher3 `hashes/metrohash.cpp`, the base variant of release 1.
    #[test]
    fn gives_the_verification_values_of_smhasher3() {
        let hash = |seed, bytes: &[u8]| Metro64::with(seed).hash(bytes).to_le_bytes();
        assert_eq!(verification_value(hash), 0x6fa8_28c9);
        let hash = |seed, bytes: &[u8]| -> [u8; 16] {
            let mut hasher = MetroHash128::with_seed(seed);
            hasher.write(bytes);
            let (first, second) = hasher.finish128();
            assert_eq!(Metro128::with(seed).hash(bytes), first);
            (u128::from(second) << 64 | u128::from(first)).to_le_bytes()
        };
        assert_eq!(verification_value(hash), 0x4a66_73e7);
    }

    proptest! {
        #[test]
        fn agrees_with_the_streamed_form(
            seed: u64,
            bytes in proptest::collection::vec(any::<u8>(), 0..=600),
            cut: prop::sample::Index,
        ) {
            let (head, tail) = bytes.split_at(cut.index(bytes.len() + 1));
            let mut stream = MetroHash64::with_seed(seed);
            stream.write(head);
            stream.write(tail);
            prop_assert_eq!(Metro64::with(seed).hash(&bytes), stream.finish());

            let mut stream = MetroHash128::with_seed(seed);
            stream.write(head);
            stream.write(tail);
            prop_assert_eq!(Metro128::with(seed).hash(&bytes), stream.finish128().0);
        }
    }
}
