//! Hashes of other projects' crates, as schemes.
//!
//! Versions are pinned exactly, and check values are of that version on little-endian machines with 64-bit
//! words. XXH3 and rapidhash V3 are the same on every machine. foldhash and ahash promise the same results
//! neither across versions nor across machines; ahash chooses between two functions when it is compiled.

use core::hash::{BuildHasher, Hasher};

use ::ahash::RandomState;
use foldhash::SharedSeed;
use hashlane_hash::scheme::{BytesHash, Key, Keying::*, Scheme};
use hashlane_hash::siphash::SipHash24;
use rapidhash::v3::{RapidSecrets, rapidhash_v3_seeded};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// True if the crate ahash is compiled to its AES function, as in a build with `-C target-cpu=native` on a
/// CPU that has the instructions.
pub const AES: bool = cfg!(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "aes"));

/// Defines schemes, each one call of a function, and the macro that lists them.
///
/// A row is `Name(state = make): keying, width, check, id, source, safe, |state, bytes| hash;`, where `make`
/// makes the state from the [`Key`], and `hash` takes the state by reference.
macro_rules! schemes {
    ($dollar:tt $(#[$doc:meta])* $list:ident in $module:ident;
    $($name:ident($state:ty = $make:expr): $keying:expr, $width:literal, $check:expr,
        $id:literal, $source:expr, $safe:expr, |$held:pat_param, $bytes:ident| $hash:expr;)*) => {
        $(#[doc = concat!("The hash `", $id, "`.")]
        #[derive(Clone)]
        pub struct $name($state);

        impl hashlane_hash::scheme::Scheme for $name {
            const INFO: hashlane_hash::scheme::SchemeInfo = hashlane_hash::scheme::SchemeInfo {
                id: $id,
                source: $source,
                width: $width,
                keying: $keying,
                check: $check,
                safe: $safe,
            };

            #[inline]
            fn new(key: &hashlane_hash::scheme::Key) -> Self {
                let make: fn(&hashlane_hash::scheme::Key) -> $state = $make;
                Self(make(key))
            }
        }

        impl hashlane_hash::scheme::BytesHash for $name {
            #[inline]
            fn hash(&self, $bytes: &[u8]) -> u64 {
                let $held = &self.0;
                $hash
            }
        })*

        $(#[$doc])*
        #[macro_export]
        macro_rules! $list {
            ($dollar callback:ident) => {
                $dollar callback! { bytes: $($dollar crate::$module::$name),*; }
            };
        }
    };
}
#[cfg(feature = "audited")]
pub(crate) use schemes;

/// A sentence of safe uses for a hash that nobody who knows it should feed.
macro_rules! no_adversary {
    ($why:literal) => {
        concat!("Bytes that no adversary chooses: ", $why)
    };
}
#[cfg(feature = "audited")]
pub(crate) use no_adversary;

pub(crate) const AUTHORS_CLAIM_SPEED: &str =
    no_adversary!("the seed is not a secret key, its authors claim speed and spread.");
pub(crate) const UNDER_EVERY_SEED: &str = no_adversary!("collisions are known that hold under every seed.");

schemes! { $
    /// Calls the macro `$callback` with every hash of this crate that studies time, in the form of
    /// [`hashlane_hash::for_each_hash!`]. All of them hash bytes and nothing more.
    for_each_hash in hashes;

    Xxh3(u64 = seed64): Seed(64), 64, 0x6556_b3fc_73fe_a86a, "xxh3", "crate xxhash-rust 0.8.19",
        AUTHORS_CLAIM_SPEED,
        |&seed, bytes| xxh3_64_with_seed(bytes, seed);

    // The header's own secrets. The crate recommends secrets derived from the seed against collisions that
    // hold under every seed.
    RapidHash(RapidSecrets = seed_cpp): Seed(64), 64, 0xeb4f_c04f_bc68_353d,
        "rapidhash", "crate rapidhash 4.5.1, V3 as in rapidhash.h", UNDER_EVERY_SEED,
        |secrets, bytes| rapidhash_v3_seeded(bytes, secrets);

    FoldHash((u64, SharedSeed) = seeds_of_foldhash): Seed(128), 64, 0x35fe_ddaa_99ef_2e94,
        "foldhash", "crate foldhash 0.2.0, fast", FOLDHASH,
        |(seed, shared), bytes| finish(foldhash::fast::FoldHasher::with_seed(*seed, shared), bytes);

    // The AES function shuffles bytes by `pshufb` with `ssse3` and reverses them without.
    AHash(RandomState = keys_of_ahash): Secret(128), 64,
        match (AES, cfg!(target_feature = "ssse3")) {
            (false, _) => 0xb85f_a5a6_7f51_dd77,
            (true, true) => 0x4015_7620_b94b_d1ae,
            (true, false) => 0x6c1d_eb1f_ec6d_2624,
        },
        "ahash", if AES { "crate ahash 0.8.12, AES rounds" } else { "crate ahash 0.8.12, folded products" },
        "To be studied: its authors claim resistance in tables that live as long as the process, with \
         a few AES rounds or products; no analysis is published.",
        |keys, bytes| finish(keys.build_hasher(), bytes);
}

pub(crate) const FOLDHASH: &str = "Tables that live as long as the process, by its author's claim of \
     minimal resistance to flooding; not against an adversary who watches it for long; no analysis is published.";

/// Bytes 0–7 of a key.
#[inline]
pub(crate) fn seed64(key: &Key) -> u64 {
    key.halves().0
}

/// The seed of bytes 0–7 and the secrets of `rapidhash.h`.
#[inline]
pub(crate) fn seed_cpp(key: &Key) -> RapidSecrets {
    RapidSecrets::seed_cpp(seed64(key))
}

/// The seed of each hasher from bytes 0–7, the shared seed grown from bytes 8–15.
#[inline]
pub(crate) fn seeds_of_foldhash(key: &Key) -> (u64, SharedSeed) {
    let (seed, shared) = key.halves();
    (seed, SharedSeed::from_u64(shared))
}

/// The crate expects four keys that do not depend on one another: it cancels some of them against others, so
/// that the two halves of the key taken twice would leave a public constant in their place.
pub(crate) fn words_of_ahash(key: &Key) -> [u64; 4] {
    let draw = SipHash24::new(key);
    [0, 1, 2, 3].map(|word| draw.hash(&[word]))
}

fn keys_of_ahash(key: &Key) -> RandomState {
    let [k0, k1, k2, k3] = words_of_ahash(key);
    RandomState::with_seeds(k0, k1, k2, k3)
}

/// The result of a hasher of the standard library's trait.
#[inline(always)]
pub(crate) fn finish(mut hasher: impl Hasher, bytes: &[u8]) -> u64 {
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use foldhash::fast::FixedState;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn xxh3_gives_the_published_results() {
        // The vectors are of prefixes of these bytes (`XSUM_fillTestBuffer()`).
        let step = |state: &u64| Some(state.wrapping_mul(11_400_714_785_074_694_797));
        let states = std::iter::successors(Some(2_654_435_761), step);
        let bytes: Vec<u8> = states.map(|state| (state >> 56) as u8).take(2367).collect();
        let file = include_str!("../../../vectors/xxh3-64.txt");
        let rows: Vec<_> = file.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(rows.len(), 28);
        for row in rows {
            let columns: Vec<&str> = row.split_whitespace().collect();
            let [seed, result] = [1, 2].map(|at| u64::from_str_radix(columns[at], 16).unwrap());
            assert_eq!(Xxh3(seed).hash(&bytes[..columns[0].parse().unwrap()]), result, "{row}");
        }
    }

    proptest! {
        #[test]
        fn agree_with_other_forms_of_their_crates(
            key: [u8; 16],
            seed: u64,
            keys: [u64; 4],
            bytes in proptest::collection::vec(any::<u8>(), 0..=600),
        ) {
            let key = Key::new(key);
            let secrets = seed_cpp(&key);
            let mut stream = rapidhash::v3::RapidStreamHasherV3::new(&secrets);
            stream.write(&bytes);
            prop_assert_eq!(RapidHash::new(&key).hash(&bytes), stream.finish());

            let stream = xxhash_rust::xxh3::Xxh3::with_seed(seed64(&key));
            prop_assert_eq!(Xxh3::new(&key).hash(&bytes), finish(stream, &bytes));

            // The crate's own seeded state stirs its seed with a constant.
            let adapter = FoldHash((seed ^ 0x082e_fa98_ec4e_6c89, SharedSeed::global_fixed().clone()));
            let direct = FixedState::with_seed(seed).build_hasher();
            prop_assert_eq!(adapter.hash(&bytes), finish(direct, &bytes));

            /// Bytes that enter a hasher as they are, without the length that a slice puts before them.
            struct Raw<'a>(&'a [u8]);

            impl core::hash::Hash for Raw<'_> {
                fn hash<H: Hasher>(&self, state: &mut H) {
                    state.write(self.0);
                }
            }

            let [k0, k1, k2, k3] = keys;
            let keys = RandomState::with_seeds(k0, k1, k2, k3);
            prop_assert_eq!(AHash(keys.clone()).hash(&bytes), keys.hash_one(Raw(&bytes)));
        }
    }
}
