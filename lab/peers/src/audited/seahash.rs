//! SeaHash, through the crate of the same name.
//!
//! The function starts from four public words; the crate also takes four words of one's own.

use super::part::scheme;

scheme! {
    /// SeaHash with its own four words and no key.
    SeaHash(()) {
        id: "seahash",
        source: "crate seahash 4.1.0",
        width: 64,
        check: 0xb902_0583_efde_7ff9,
        safe: "Bytes that no adversary chooses: collisions are computed beforehand and hold everywhere.",
        hash: |(), bytes| ::seahash::hash(bytes),
    }
}

scheme! {
    /// SeaHash under four words drawn from the 128-bit key.
    SeaHashSeeded([u64; 4]) {
        id: "seahash-seeded",
        source: "crate seahash 4.1.0, four words drawn from the key",
        width: 64,
        check: 0xadad_6fd1_b34b_982f,
        safe: "Bytes that no adversary chooses: its author warns that the words are computed from results.",
        hash: |[a, b, c, d], bytes| ::seahash::hash_seeded(bytes, a, b, c, d),
    }
}

#[cfg(test)]
mod tests {
    use core::hash::Hasher;

    use hashlane_hash::scheme::BytesHash;
    use proptest::prelude::*;

    use super::super::testing::verification_value;
    use super::*;

    /// The example of the crate's reference (`reference.rs`).
    #[test]
    fn gives_the_published_result() {
        assert_eq!(SeaHash::with(()).hash(b"to be or not to be"), 1_988_685_042_348_123_509);
    }

    /// SMHasher3 `hashes/seahash.cpp` combines its seed with the first word, and writes results in big-endian
    /// order.
    #[test]
    fn gives_the_verification_value_of_smhasher3() {
        let hash = |seed: u64, bytes: &[u8]| {
            let words = [
                seed ^ 0x16f1_1fe8_9b0d_677c,
                0xb480_a793_d8e6_c86c,
                0x6fe2_e5aa_f078_ebc9,
                0x14f9_94a4_c525_9381,
            ];
            SeaHashSeeded::with(words).hash(bytes).to_be_bytes()
        };
        assert_eq!(verification_value(hash), 0xf037_4078);
    }

    proptest! {
        #[test]
        fn agrees_with_the_streamed_form(
            words: [u64; 4],
            bytes in proptest::collection::vec(any::<u8>(), 0..=600),
            cut: prop::sample::Index,
        ) {
            let (head, tail) = bytes.split_at(cut.index(bytes.len() + 1));
            let [a, b, c, d] = words;
            let mut stream = ::seahash::SeaHasher::with_seeds(a, b, c, d);
            stream.write(head);
            stream.write(tail);
            prop_assert_eq!(SeaHashSeeded::with(words).hash(&bytes), stream.finish());
        }
    }
}
