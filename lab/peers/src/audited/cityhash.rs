//! CityHash 1.1 under seeds and with 32 bits, through the crate `cityhasher`.
//!
//! The seeds enter after the bytes are hashed, so that a collision of
//! [`CityHash64`](hashlane_hash::city::CityHash64) is one under every seed.

use super::part::scheme;
use super::words::mix_pair;

scheme! {
    /// CityHash32, which has no seed.
    City32(()) {
        id: "cityhash32",
        source: "crate cityhasher 0.1.0, CityHash32",
        width: 32,
        check: 0xf88e_ca50,
        safe: "Bytes that no adversary chooses: collisions are computed beforehand and hold everywhere.",
        hash: |(), bytes| u64::from(::cityhasher::hash::<u32>(bytes)),
    }
}

scheme! {
    /// CityHash64WithSeed under a 64-bit seed.
    City64(u64) {
        id: "cityhash64-seed",
        source: "crate cityhasher 0.1.0, CityHash64WithSeed",
        width: 64,
        check: 0xd3c7_e92e_471b_99fa,
        safe: "Bytes that no adversary chooses: collisions of the unseeded function hold under every seed.",
        hash: |seed, bytes| ::cityhasher::hash_with_seed::<u64>(bytes, seed),
    }
}

scheme! {
    /// CityHash64WithSeeds under two 64-bit seeds.
    City64Seeds((u64, u64)) {
        id: "cityhash64-seeds",
        source: "crate cityhasher 0.1.0; the seeds enter as in CityHash64WithSeeds (city.cc 1.1)",
        width: 64,
        check: 0xe30a_eadd_e266_5a1c,
        safe: "Bytes that no adversary chooses: collisions of the unseeded function hold under every seed.",
        hash: |(seed0, seed1), bytes| mix_pair(::cityhasher::hash::<u64>(bytes).wrapping_sub(seed0), seed1),
    }
}

#[cfg(test)]
mod tests {
    use hashlane_hash::scheme::BytesHash;

    use super::super::testing::verification_value;
    use super::*;

    /// SMHasher3 `hashes/cityhash.cpp`.
    #[test]
    fn gives_the_verification_value_of_smhasher3() {
        let hash = |seed, bytes: &[u8]| City64::with(seed).hash(bytes).to_le_bytes();
        assert_eq!(verification_value(hash), 0x5fab_c5c5);
        // One seed is two seeds with a public first one.
        const K2: u64 = 0x9ae1_6a3b_2f90_404f;
        let hash = |seed, bytes: &[u8]| City64Seeds::with((K2, seed)).hash(bytes).to_le_bytes();
        assert_eq!(verification_value(hash), 0x5fab_c5c5);
    }

    /// The examples of the crate.
    #[test]
    fn gives_the_published_result_of_32_bits() {
        assert_eq!(City32::with(()).hash(b"hello"), 2_039_911_270);
    }
}
