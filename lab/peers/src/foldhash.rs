//! foldhash in its fast variant, through the crate of the same name.
//!
//! The crate promises the same results neither from one version to the next nor from one platform to another:
//! it reads words in the machine's byte order, and multiplies differently on machines with slow 128-bit
//! products. The check value is of the pinned version on little-endian machines with 64-bit words.

use core::hash::Hasher;

use ::foldhash::SharedSeed;
use ::foldhash::fast::FoldHasher;
use hashlane_hash::scheme::{BytesHash, Key, Keying, Scheme, SchemeInfo};

/// foldhash under two seeds: one of 64 bits for each hasher, and a shared one grown from 64 bits.
#[derive(Clone)]
pub struct FoldHash {
    seed: u64,
    shared: SharedSeed,
}

impl Scheme for FoldHash {
    const INFO: SchemeInfo = SchemeInfo {
        id: "foldhash",
        source: "crate foldhash 0.2.0, fast",
        width: 64,
        keying: Keying::Seed(128),
        check: 0x35fe_ddaa_99ef_2e94,
        safe: "Tables that live as long as the process, by its author's claim of minimal resistance to \
               flooding; not against an adversary who watches it for long; no analysis is published.",
    };

    /// Takes the hasher's seed from the key's first half and the shared seed from the second.
    #[inline]
    fn new(key: &Key) -> Self {
        let (seed, shared) = key.halves();
        Self { seed, shared: SharedSeed::from_u64(shared) }
    }
}

impl BytesHash for FoldHash {
    #[inline]
    fn hash(&self, bytes: &[u8]) -> u64 {
        let mut hasher = FoldHasher::with_seed(self.seed, &self.shared);
        hasher.write(bytes);
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use core::hash::BuildHasher;

    use ::foldhash::fast::FixedState;
    use hashlane_hash::scheme::CHECK_INPUT;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn check_value_holds() {
        assert_eq!(FoldHash::new(&Key::VECTOR).hash(CHECK_INPUT), FoldHash::INFO.check);
    }

    proptest! {
        /// The crate's own seeded state stirs its seed with a constant, which its default state shows.
        #[test]
        fn agrees_with_the_crate_s_fixed_state(
            seed: u64,
            bytes in proptest::collection::vec(any::<u8>(), 0..=600),
        ) {
            const ARBITRARY3: u64 = 0x082e_fa98_ec4e_6c89;
            let adapter = FoldHash { seed: seed ^ ARBITRARY3, shared: SharedSeed::global_fixed().clone() };
            let mut direct = FixedState::with_seed(seed).build_hasher();
            direct.write(&bytes);
            prop_assert_eq!(adapter.hash(&bytes), direct.finish());
        }

        #[test]
        fn both_halves_of_the_key_reach_the_result(bytes: Vec<u8>, bit in 0..128_u32) {
            let other = u128::from_le_bytes(Key::VECTOR.to_bytes()) ^ 1 << bit;
            let other = FoldHash::new(&Key::new(other.to_le_bytes()));
            prop_assert_ne!(FoldHash::new(&Key::VECTOR).hash(&bytes), other.hash(&bytes));
        }
    }
}
