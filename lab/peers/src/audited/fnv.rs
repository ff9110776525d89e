//! FNV-1a with 64 bits, through the crate `fnv`.
//!
//! The function has no seed. Tables that want one start it from another offset basis, which is the second
//! scheme.

use core::hash::Hasher;

use ::fnv::FnvHasher;

use super::part::scheme;

/// The offset basis of 64 bits.
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;

scheme! {
    /// FNV-1a with 64 bits and no key.
    Fnv1a(()) {
        id: "fnv-1a",
        source: "crate fnv 1.0.7",
        width: 64,
        check: 0x06d5_5739_23c6_cdfc,
        safe: "Bytes that no adversary chooses: collisions are computed beforehand and hold everywhere.",
        hash: |(), bytes| fnv1a(BASIS, bytes),
    }
}

scheme! {
    /// FNV-1a with 64 bits, its offset basis combined with a 64-bit seed by exclusive or.
    Fnv1aOffset(u64) {
        id: "fnv-1a-offset",
        source: "crate fnv 1.0.7, seed xor offset basis",
        width: 64,
        check: 0xe65a_9004_d5aa_bafc,
        safe: "Bytes that no adversary chooses: one who learns results computes the seed from them.",
        hash: |seed, bytes| fnv1a(seed ^ BASIS, bytes),
    }
}

#[inline(always)]
fn fnv1a(offset: u64, bytes: &[u8]) -> u64 {
    let mut hasher = FnvHasher::with_key(offset);
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use hashlane_hash::scheme::BytesHash;
    use proptest::prelude::*;

    use super::super::testing::verification_value;
    use super::*;

    /// RFC 9923, appendix C, and the FNV page of Landon Curt Noll (`test_fnv.c`).
    #[test]
    fn gives_the_published_results() {
        let hash = |bytes: &[u8]| Fnv1a::with(()).hash(bytes);
        assert_eq!(hash(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash(b"foobar"), 0x8594_4171_f739_67e8);
    }

    /// SMHasher3 `hashes/fnv.cpp`, whose seed is combined as in the second scheme.
    #[test]
    fn gives_the_verification_value_of_smhasher3() {
        let hash = |seed, bytes: &[u8]| Fnv1aOffset::with(seed).hash(bytes).to_le_bytes();
        assert_eq!(verification_value(hash), 0x1034_55fc);
    }

    proptest! {
        #[test]
        fn agrees_with_the_streamed_form(
            seed: u64,
            bytes in proptest::collection::vec(any::<u8>(), 0..=600),
            cut: prop::sample::Index,
        ) {
            let (head, tail) = bytes.split_at(cut.index(bytes.len() + 1));
            let mut stream = FnvHasher::with_key(seed ^ BASIS);
            stream.write(head);
            stream.write(tail);
            prop_assert_eq!(Fnv1aOffset::with(seed).hash(&bytes), stream.finish());
        }
    }
}
