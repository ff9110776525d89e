//! MuseAir v2, through the crate `museair`.
//!
//! Version 2 of the function is in release 0.6.0 of the crate. Releases of earlier versions are withdrawn.

use super::part::scheme;

scheme! {
    /// MuseAir v2 with 64 bits under a 64-bit seed.
    MuseAir(u64) {
        id: "museair",
        source: "crate museair 0.6.0, algorithm v2",
        width: 64,
        check: 0x019e_143d_55af_1bfe,
        safe: "Bytes that no adversary chooses: pairs are published that collide far more often than by \
               chance.",
        hash: |seed, bytes| ::museair::hash(bytes, seed),
    }
}

scheme! {
    /// The faster variant of MuseAir v2 with 64 bits under a 64-bit seed.
    MuseAirFast(u64) {
        id: "museair-bfast",
        source: "crate museair 0.6.0, algorithm v2, BFast",
        width: 64,
        check: 0xd5b9_b319_2080_9c95,
        safe: "Bytes that no adversary chooses: for some prefixes of 8 bytes, it ignores the bytes after \
               them.",
        hash: |seed, bytes| ::museair::bfast::hash(bytes, seed),
    }
}

scheme! {
    /// The low half of MuseAir v2 with 128 bits under two 64-bit seeds.
    MuseAir128((u64, u64)) {
        id: "museair-128-low",
        source: "crate museair 0.6.0, algorithm v2, low half of 128 bits",
        width: 64,
        check: 0xf7a7_1850_4588_5b73,
        safe: "Bytes that no adversary chooses: its authors claim no resistance to attackers.",
        hash: |(a, b), bytes| ::museair::hash128(bytes, a, b) as u64,
    }
}

#[cfg(test)]
mod tests {
    use hashlane_hash::scheme::BytesHash;
    use proptest::prelude::*;

    use super::super::testing::verification_value;
    use super::*;

    /// The values of algorithm v2 by its authors (crate `museair` 0.6.0, test `stability_v2`), computed as
    /// SMHasher3 does.
    #[test]
    fn gives_the_published_verification_values() {
        let hash = |seed, bytes: &[u8]| MuseAir::with(seed).hash(bytes).to_le_bytes();
        assert_eq!(verification_value(hash), 0x7140_cabc);
        let hash = |seed, bytes: &[u8]| MuseAirFast::with(seed).hash(bytes).to_le_bytes();
        assert_eq!(verification_value(hash), 0xa4bf_d093);
        let hash = |seed, bytes: &[u8]| {
            let whole = ::museair::hash128(bytes, seed, seed);
            assert_eq!(MuseAir128::with((seed, seed)).hash(bytes), whole as u64);
            whole.to_le_bytes()
        };
        assert_eq!(verification_value(hash), 0x3802_8c88);
    }

    proptest! {
        #[test]
        fn agrees_with_the_streamed_forms(
            seeds: (u64, u64),
            bytes in proptest::collection::vec(any::<u8>(), 0..=600),
            cut: prop::sample::Index,
        ) {
            let (head, tail) = bytes.split_at(cut.index(bytes.len() + 1));
            let mut stream = ::museair::Hasher::with_seed(seeds.0);
            stream.write(head);
            stream.write(tail);
            prop_assert_eq!(MuseAir::with(seeds.0).hash(&bytes), stream.finish());

            let mut stream = ::museair::bfast::Hasher::with_seed(seeds.0);
            stream.write(head);
            stream.write(tail);
            prop_assert_eq!(MuseAirFast::with(seeds.0).hash(&bytes), stream.finish());

            let mut stream = ::museair::Hasher128::with_seed(seeds.0, seeds.1);
            stream.write(head);
            stream.write(tail);
            prop_assert_eq!(MuseAir128::with(seeds).hash(&bytes), stream.finish128() as u64);
        }
    }
}
