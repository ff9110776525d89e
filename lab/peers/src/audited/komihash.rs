//! komihash 5, through the crate of the same name.
//!
//! The result is the same in every release 5 of the C header and on every machine.

use super::part::scheme;

scheme! {
    /// komihash 5 under a 64-bit seed.
    KomiHash(u64) {
        id: "komihash",
        source: "crate komihash 0.5.0, v5",
        width: 64,
        check: 0x6a97_c6b7_6d70_49e2,
        safe: "Bytes that no adversary chooses: a pair of 64 bytes is published that collides under 91 % of \
               all seeds.",
        hash: |seed, bytes| ::komihash::v5::komihash(bytes, seed),
    }
}

#[cfg(test)]
mod tests {
    use hashlane_hash::scheme::BytesHash;
    use proptest::prelude::*;

    use super::super::testing::verification_value;
    use super::*;

    /// SMHasher3 `hashes/komihash.cpp`, komihash v5.27.
    #[test]
    fn gives_the_verification_value_of_smhasher3() {
        let hash = |seed, bytes: &[u8]| KomiHash::with(seed).hash(bytes).to_le_bytes();
        assert_eq!(verification_value(hash), 0x8157_ff6d);
    }

    proptest! {
        #[test]
        fn agrees_with_the_streamed_form(
            seed: u64,
            bytes in proptest::collection::vec(any::<u8>(), 0..=600),
            cut: prop::sample::Index,
        ) {
            let (head, tail) = bytes.split_at(cut.index(bytes.len() + 1));
            let mut stream = ::komihash::v5::StreamedKomihash::new_with_seed(seed);
            stream.write(head);
            stream.write(tail);
            prop_assert_eq!(KomiHash::with(seed).hash(&bytes), stream.finish());
        }
    }
}
