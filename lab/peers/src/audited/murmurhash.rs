//! MurmurHash2 through the crate `murmur2`, MurmurHash3 through the crate `mur3`.
//!
//! All are the same on every machine: the first crate's functions for reads in little-endian order are taken.

use ::mur3::{murmurhash3_x64_128, murmurhash3_x86_32};
use ::murmur2::{murmur2, murmur64a};

use super::part::scheme;

scheme! {
    /// MurmurHash2 with 32 bits under a 32-bit seed.
    Murmur2(u32) {
        id: "murmurhash2-32",
        source: "crate murmur2 0.1.0",
        width: 32,
        check: 0x5c08_c2b8,
        safe: "Bytes that no adversary chooses: collisions are computed beforehand that hold under every \
               seed.",
        hash: |seed, bytes| u64::from(murmur2(bytes, seed)),
    }
}

scheme! {
    /// MurmurHash64A, the form of MurmurHash2 for 64-bit machines, under a 64-bit seed.
    Murmur64A(u64) {
        id: "murmurhash2-64a",
        source: "crate murmur2 0.1.0",
        width: 64,
        check: 0x6fdf_bb6a_b328_445e,
        safe: "Bytes that no adversary chooses: collisions are computed beforehand that hold under every \
               seed.",
        hash: |seed, bytes| murmur64a(bytes, seed),
    }
}

scheme! {
    /// MurmurHash3 x86_32 under a 32-bit seed.
    Murmur3X86(u32) {
        id: "murmurhash3-x86-32",
        source: "crate mur3 0.1.0",
        width: 32,
        check: 0x4978_d608,
        safe: "Bytes that no adversary chooses: collisions are computed beforehand that hold under every \
               seed.",
        hash: |seed, bytes| u64::from(murmurhash3_x86_32(bytes, seed)),
    }
}

scheme! {
    /// The first word of MurmurHash3 x64_128 under a 32-bit seed.
    Murmur3X64(u32) {
        id: "murmurhash3-x64-128-low",
        source: "crate mur3 0.1.0, first word",
        width: 64,
        check: 0xbb1b_f83c_8f91_9303,
        safe: "Bytes that no adversary chooses: collisions are computed beforehand that hold under every \
               seed.",
        hash: |seed, bytes| murmurhash3_x64_128(bytes, seed).0,
    }
}

#[cfg(test)]
mod tests {
    use core::hash::Hasher;

    use hashlane_hash::scheme::BytesHash;
    use proptest::prelude::*;

    use super::super::testing::verification_value;
    use super::*;

    /// SMHasher3 `hashes/murmurhash2.cpp` and `hashes/murmurhash3.cpp`.
    #[test]
    fn gives_the_verification_values_of_smhasher3() {
        let hash = |seed, bytes: &[u8]| (Murmur2::with(seed as u32).hash(bytes) as u32).to_le_bytes();
        assert_eq!(verification_value(hash), 0x2786_4c1e);
        let hash = |seed, bytes: &[u8]| Murmur64A::with(seed).hash(bytes).to_le_bytes();
        assert_eq!(verification_value(hash), 0x1f0d_3804);
        let hash = |seed, bytes: &[u8]| (Murmur3X86::with(seed as u32).hash(bytes) as u32).to_le_bytes();
        assert_eq!(verification_value(hash), 0xb0f5_7ee3);
        let hash = |seed, bytes: &[u8]| -> [u8; 16] {
            let (first, second) = murmurhash3_x64_128(bytes, seed as u32);
            assert_eq!(Murmur3X64::with(seed as u32).hash(bytes), first);
            (u128::from(second) << 64 | u128::from(first)).to_le_bytes()
        };
        assert_eq!(verification_value(hash), 0x6384_ba69);
    }

    proptest! {
        #[test]
        fn agrees_with_the_streamed_forms(
            seed: u32,
            bytes in proptest::collection::vec(any::<u8>(), 0..=600),
            cut: prop::sample::Index,
        ) {
            let (head, tail) = bytes.split_at(cut.index(bytes.len() + 1));
            let mut stream = mur3::Hasher32::with_seed(seed);
            stream.write(head);
            stream.write(tail);
            prop_assert_eq!(Murmur3X86::with(seed).hash(&bytes), stream.finish());

            let mut stream = mur3::Hasher128::with_seed(seed);
            stream.write(head);
            stream.write(tail);
            prop_assert_eq!(Murmur3X64::with(seed).hash(&bytes), stream.finish());
        }
    }
}
