//! aHash, through the crate `ahash`.
//!
//! The crate holds two functions with different results, and chooses when it is compiled: one built on AES
//! rounds where the target features of x86 include `aes`, one built on folded products elsewhere. It promises
//! the same results neither across versions nor across machines. [`Scheme::INFO`] names the function in use,
//! and the check value is of that function in the pinned version, on little-endian machines with 64-bit
//! words. The AES function shuffles bytes by `pshufb` with `ssse3` and reverses them without, hence three
//! values.

use core::hash::{BuildHasher, Hasher};

use ::ahash::RandomState;
use hashlane_hash::scheme::{BytesHash, Key, Keying, Scheme, SchemeInfo};
use hashlane_hash::siphash::SipHash24;

/// aHash under four 64-bit keys, which are drawn from the 128-bit key by SipHash-2-4.
#[derive(Clone)]
pub struct AHash {
    keys: RandomState,
}

/// True if the crate is compiled to its AES function, as in a build with `-C target-cpu=native` on a CPU that
/// has the instructions.
pub const AES: bool = cfg!(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "aes"));

impl Scheme for AHash {
    const INFO: SchemeInfo = SchemeInfo {
        id: "ahash",
        source: if AES { "crate ahash 0.8.12, AES rounds" } else { "crate ahash 0.8.12, folded products" },
        width: 64,
        keying: Keying::Secret(128),
        check: match (AES, cfg!(target_feature = "ssse3")) {
            (false, _) => 0xb85f_a5a6_7f51_dd77,
            (true, true) => 0x4015_7620_b94b_d1ae,
            (true, false) => 0x6c1d_eb1f_ec6d_2624,
        },
        safe: "To be studied: its authors claim resistance in tables that live as long as the process, with \
               a few AES rounds or products; no analysis is published.",
    };

    /// The crate expects four keys that do not depend on one another: it cancels some of them against others,
    /// so that the two halves of the key taken twice would leave a public constant in their place.
    fn new(key: &Key) -> Self {
        let draw = SipHash24::new(key);
        let [k0, k1, k2, k3] = [0, 1, 2, 3].map(|word| draw.hash(&[word]));
        Self { keys: RandomState::with_seeds(k0, k1, k2, k3) }
    }
}

impl BytesHash for AHash {
    #[inline]
    fn hash(&self, bytes: &[u8]) -> u64 {
        let mut hasher = self.keys.build_hasher();
        hasher.write(bytes);
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use hashlane_hash::scheme::CHECK_INPUT;
    use proptest::prelude::*;

    use super::*;

    /// Bytes that enter a hasher as they are, without the length that a slice puts before them.
    struct Raw<'a>(&'a [u8]);

    impl core::hash::Hash for Raw<'_> {
        fn hash<H: Hasher>(&self, state: &mut H) {
            state.write(self.0);
        }
    }

    #[test]
    fn check_value_holds() {
        assert_eq!(AHash::new(&Key::VECTOR).hash(CHECK_INPUT), AHash::INFO.check);
    }

    proptest! {
        #[test]
        fn agrees_with_the_crate_s_hash_of_one_value(
            keys: [u64; 4],
            bytes in proptest::collection::vec(any::<u8>(), 0..=600),
        ) {
            let [k0, k1, k2, k3] = keys;
            let keys = RandomState::with_seeds(k0, k1, k2, k3);
            prop_assert_eq!(AHash { keys: keys.clone() }.hash(&bytes), keys.hash_one(Raw(&bytes)));
        }

        #[test]
        fn both_halves_of_the_key_reach_the_result(bytes: Vec<u8>, bit in 0..128_u32) {
            let other = u128::from_le_bytes(Key::VECTOR.to_bytes()) ^ 1 << bit;
            let other = AHash::new(&Key::new(other.to_le_bytes()));
            prop_assert_ne!(AHash::new(&Key::VECTOR).hash(&bytes), other.hash(&bytes));
        }
    }
}
