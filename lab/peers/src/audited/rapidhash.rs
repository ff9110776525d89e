//! The variants of rapidhash, through the crate of the same name.
//!
//! Micro, nano and the protected form are functions of the C header `rapidhash.h` under its own secrets, the
//! same on every machine (the protected one under other seeds than in the header). The other three derive the
//! secrets from the seed, as the crate recommends: the header does not. `fast` and `quality` are the crate's
//! hashers for tables in memory, which promise nothing from one release to the next.

use core::hash::{BuildHasher, Hasher};

use ::rapidhash::v3::{RapidSecrets, rapidhash_v3_inline, rapidhash_v3_seeded};
use ::rapidhash::v3::{rapidhash_v3_micro_inline, rapidhash_v3_nano_inline};
use ::rapidhash::{fast, quality};

use super::part::scheme;

scheme! {
    /// rapidhash V3 micro under a 64-bit seed and the header's secrets.
    Micro(u64 => RapidSecrets, RapidSecrets::seed_cpp) {
        id: "rapidhash-micro",
        source: "crate rapidhash 4.5.1, V3 micro as in rapidhash.h",
        width: 64,
        check: 0xeb4f_c04f_bc68_353d,
        safe: "Bytes that no adversary chooses: collisions are known that hold under every seed.",
        hash: |secrets, bytes| rapidhash_v3_micro_inline::<true, false>(bytes, secrets),
    }
}

scheme! {
    /// rapidhash V3 nano under a 64-bit seed and the header's secrets.
    Nano(u64 => RapidSecrets, RapidSecrets::seed_cpp) {
        id: "rapidhash-nano",
        source: "crate rapidhash 4.5.1, V3 nano as in rapidhash.h",
        width: 64,
        check: 0xeb4f_c04f_bc68_353d,
        safe: "Bytes that no adversary chooses: collisions are known that hold under every seed.",
        hash: |secrets, bytes| rapidhash_v3_nano_inline::<true, false>(bytes, secrets),
    }
}

scheme! {
    /// rapidhash V3 in the protected form: each product is combined with its factors, so that a factor of
    /// zero does not erase the other.
    Protected(u64 => RapidSecrets, RapidSecrets::seed_cpp) {
        id: "rapidhash-protected",
        source: "crate rapidhash 4.5.1, V3 protected; the seed is stirred as in the unprotected form",
        width: 64,
        check: 0x5800_2a1c_1b24_6f34,
        safe: "Bytes that no adversary chooses: the secrets are public.",
        hash: |secrets, bytes| rapidhash_v3_inline::<true, false, true>(bytes, secrets),
    }
}

scheme! {
    /// rapidhash V3 under a seed and seven secrets that the crate derives from a 64-bit seed.
    Secrets(u64 => RapidSecrets, RapidSecrets::seed) {
        id: "rapidhash-secrets",
        source: "crate rapidhash 4.5.1, V3 with secrets derived from the seed",
        width: 64,
        check: 0xaeb3_2deb_09f4_8dea,
        safe: "Tables that live as long as the process, by its author's claim of minimal resistance to \
               flooding; no analysis is published.",
        hash: |secrets, bytes| rapidhash_v3_seeded(bytes, secrets),
    }
}

scheme! {
    /// The crate's fast hasher of tables in memory, under a seed and secrets derived from a 64-bit seed.
    Fast(u64 => RapidSecrets, RapidSecrets::seed) {
        id: "rapidhash-fast",
        source: "crate rapidhash 4.5.1, fast hasher with secrets derived from the seed",
        width: 64,
        check: 0x9f16_da8d_da7b_1112,
        safe: "Tables that live as long as the process, by its author's claim of minimal resistance to \
               flooding; no analysis is published.",
        hash: |secrets, bytes| {
            let mut hasher = fast::SeedableState::custom(secrets.seed, &secrets.secrets).build_hasher();
            hasher.write(bytes);
            hasher.finish()
        },
    }
}

scheme! {
    /// The crate's hasher of tables in memory that mixes once more, under a seed and secrets derived from a
    /// 64-bit seed.
    Quality(u64 => RapidSecrets, RapidSecrets::seed) {
        id: "rapidhash-quality",
        source: "crate rapidhash 4.5.1, quality hasher with secrets derived from the seed",
        width: 64,
        check: 0xd07d_4306_0408_e3ca,
        safe: "Tables that live as long as the process, by its author's claim of minimal resistance to \
               flooding; no analysis is published.",
        hash: |secrets, bytes| {
            let mut hasher = quality::SeedableState::custom(secrets.seed, &secrets.secrets).build_hasher();
            hasher.write(bytes);
            hasher.finish()
        },
    }
}

#[cfg(test)]
mod tests {
    use hashlane_hash::scheme::BytesHash;
    use proptest::prelude::*;

    use super::super::testing::verification_value;
    use super::*;

    /// SMHasher3 `hashes/rapidhash.cpp`. The header's protected form also protects the product that stirs the
    /// seed, which the crate does not: there the crate gives the header's results under other seeds.
    #[test]
    fn gives_the_verification_values_of_smhasher3() {
        assert_eq!(
            verification_value(|seed, bytes| Micro::with(seed).hash(bytes).to_le_bytes()),
            0x6f18_3d61
        );
        assert_eq!(verification_value(|seed, bytes| Nano::with(seed).hash(bytes).to_le_bytes()), 0x2c20_0dc7);
        let protected = |seed: u64, bytes: &[u8]| {
            let mut secrets = RapidSecrets::seed_cpp(seed);
            let [a, b] = [seed ^ secrets.secrets[2], secrets.secrets[1]];
            // The crate's stirred seed is the seed and both halves of the product.
            secrets.seed ^= a ^ b;
            Protected(secrets).hash(bytes).to_le_bytes()
        };
        assert_eq!(verification_value(protected), 0x72c9_270a);
    }

    /// SMHasher3 `hashes/rust-rapidhash.cpp`: the hashers of tables in memory, under the header's secrets.
    #[test]
    fn gives_the_verification_values_of_smhasher3_for_tables_in_memory() {
        let header = RapidSecrets::seed_cpp;
        let fast = |seed, bytes: &[u8]| Fast(header(seed)).hash(bytes).to_le_bytes();
        assert_eq!(verification_value(fast), 0xb891_f260);
        let quality = |seed, bytes: &[u8]| Quality(header(seed)).hash(bytes).to_le_bytes();
        assert_eq!(verification_value(quality), 0x562e_f848);
    }

    proptest! {
        #[test]
        fn agrees_with_the_streamed_form(
            seed: u64,
            bytes in proptest::collection::vec(any::<u8>(), 0..=600),
            cut: prop::sample::Index,
        ) {
            use ::rapidhash::v3::RapidStreamHasherV3;

            let (head, tail) = bytes.split_at(cut.index(bytes.len() + 1));
            let secrets = RapidSecrets::seed(seed);
            let mut stream = RapidStreamHasherV3::new(&secrets);
            stream.write(head);
            stream.write(tail);
            prop_assert_eq!(Secrets::with(seed).hash(&bytes), stream.finish());
        }
    }
}
