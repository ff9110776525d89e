//! FxHash, through two releases of the crate `rustc-hash`: the function of rustc and Firefox, and its
//! successor.
//!
//! Both are for a `usize` of 64 bits and words in little-endian order. The first has no seed in its crate.

use core::hash::Hasher;

use super::part::scheme;

scheme! {
    /// The first FxHash: rotate, exclusive or, multiply for each word, and no key.
    FxHash(()) {
        id: "fxhash",
        source: "crate rustc-hash 1.1.0",
        width: 64,
        check: 0x8980_204c_4b0a_c4d4,
        safe: "Bytes that no adversary chooses: each step is undone by hand, so collisions hold everywhere.",
        hash: |(), bytes| {
            let mut hasher = rustc_hash_1::FxHasher::default();
            hasher.write(bytes);
            hasher.finish()
        },
    }
}

scheme! {
    /// The second FxHash under a 64-bit seed: bytes folded to one word without the seed, which is then added.
    RustcHash(u64) {
        id: "rustc-hash",
        source: "crate rustc-hash 2.1.3",
        width: 64,
        check: 0xfe02_090c_4624_d5ad,
        safe: "Bytes that no adversary chooses: the seed does not enter the folding, so collisions hold \
               under every seed.",
        hash: |seed, bytes| {
            let mut hasher = rustc_hash::FxHasher::with_seed(seed as usize);
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

    /// SMHasher3 `hashes/rust-fxhash.cpp`, version 2.1.1 with 64 bits and whole products.
    #[test]
    fn gives_the_verification_value_of_smhasher3() {
        let hash = |seed, bytes: &[u8]| RustcHash::with(seed).hash(bytes).to_le_bytes();
        assert_eq!(verification_value(hash), 0x8f17_7350);
    }

    proptest! {
        /// The first FxHash of whole words is a fold that anyone can write down.
        #[test]
        fn the_first_is_a_fold_over_words(words in proptest::collection::vec(any::<u64>(), 0..=75)) {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            const K: u64 = 0x517c_c1b7_2722_0a95;
            let step = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(K);
            prop_assert_eq!(FxHash::with(()).hash(&bytes), words.into_iter().fold(0, step));
        }
    }
}
