//! rapidhash V3, through the crate of the same name.
//!
//! This is the function of the C header `rapidhash.h` under a 64-bit seed and the header's own secrets, the
//! same on every machine. The crate can also derive the secrets from the seed, which the header does not do;
//! it recommends that against collisions which hold under every seed.

use ::rapidhash::v3::{RapidSecrets, rapidhash_v3_seeded};
use hashlane_hash::scheme::{BytesHash, Key, Keying, Scheme, SchemeInfo};

/// rapidhash V3 under a 64-bit seed.
#[derive(Clone)]
pub struct RapidHash {
    secrets: RapidSecrets,
}

impl Scheme for RapidHash {
    const INFO: SchemeInfo = SchemeInfo {
        id: "rapidhash",
        source: "crate rapidhash 4.5.1, V3 as in rapidhash.h",
        width: 64,
        keying: Keying::Seed(64),
        check: 0xeb4f_c04f_bc68_353d,
        safe: "Bytes that no adversary chooses: collisions are known that hold under every seed.",
    };

    /// Takes the seed from the key's first eight bytes, little-endian.
    #[inline]
    fn new(key: &Key) -> Self {
        Self { secrets: RapidSecrets::seed_cpp(key.halves().0) }
    }
}

impl BytesHash for RapidHash {
    #[inline]
    fn hash(&self, bytes: &[u8]) -> u64 {
        rapidhash_v3_seeded(bytes, &self.secrets)
    }
}

#[cfg(test)]
mod tests {
    use ::rapidhash::v3::RapidStreamHasherV3;
    use hashlane_hash::scheme::CHECK_INPUT;
    use proptest::prelude::*;

    use super::*;

    fn seeded(seed: u64) -> RapidHash {
        RapidHash { secrets: RapidSecrets::seed_cpp(seed) }
    }

    fn streamed(seed: u64, bytes: &[u8]) -> u64 {
        let secrets = RapidSecrets::seed_cpp(seed);
        let mut stream = RapidStreamHasherV3::new(&secrets);
        stream.write(bytes);
        stream.finish()
    }

    /// SMHasher3 `hashes/rapidhash.cpp`: 0x1FDC65EE for the little-endian form. The keys are 00 01 .. n−1 for
    /// n in 0..256, each under the seed 256 − n; the value is the low half of the hash under seed 0 of all
    /// the results.
    #[test]
    fn gives_the_verification_value_of_smhasher3() {
        let bytes: Vec<u8> = (0..=255).collect();
        let results: Vec<u8> =
            (0..256).flat_map(|n| seeded(256 - n).hash(&bytes[..n as usize]).to_le_bytes()).collect();
        assert_eq!(seeded(0).hash(&results) as u32, 0x1fdc_65ee);
    }

    #[test]
    fn check_value_holds_and_agrees_with_the_streamed_form() {
        assert_eq!(RapidHash::new(&Key::VECTOR).hash(CHECK_INPUT), RapidHash::INFO.check);
        assert_eq!(streamed(0x0706_0504_0302_0100, CHECK_INPUT), RapidHash::INFO.check);
    }

    proptest! {
        #[test]
        fn agrees_with_the_streamed_form(
            key: [u8; 16],
            bytes in proptest::collection::vec(any::<u8>(), 0..=600),
        ) {
            let key = Key::new(key);
            prop_assert_eq!(RapidHash::new(&key).hash(&bytes), streamed(key.halves().0, &bytes));
        }
    }
}
