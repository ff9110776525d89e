//! XXH3 with 64 bits of result, through the crate `xxhash-rust`.
//!
//! The result is fixed by the XXH3 specification and is the same on every machine; which vector instructions
//! compute it for keys over 240 bytes is chosen when the crate is compiled.

use hashlane_hash::scheme::{BytesHash, Key, Keying, Scheme, SchemeInfo};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// XXH3-64 under a 64-bit seed.
#[derive(Clone)]
pub struct Xxh3 {
    seed: u64,
}

impl Scheme for Xxh3 {
    const INFO: SchemeInfo = SchemeInfo {
        id: "xxh3",
        source: "crate xxhash-rust 0.8.19",
        width: 64,
        keying: Keying::Seed(64),
        check: 0x6556_b3fc_73fe_a86a,
        safe: "Bytes that no adversary chooses: the seed is not a secret key, its authors claim speed and spread.",
    };

    /// Takes the seed from the key's first eight bytes, little-endian.
    #[inline]
    fn new(key: &Key) -> Self {
        Self { seed: key.halves().0 }
    }
}

impl BytesHash for Xxh3 {
    #[inline]
    fn hash(&self, bytes: &[u8]) -> u64 {
        xxh3_64_with_seed(bytes, self.seed)
    }
}

#[cfg(test)]
mod tests {
    use hashlane_hash::scheme::CHECK_INPUT;
    use proptest::prelude::*;

    use super::*;

    fn streamed(seed: u64, bytes: &[u8]) -> u64 {
        let mut stream = xxhash_rust::xxh3::Xxh3::with_seed(seed);
        stream.update(bytes);
        stream.digest()
    }

    /// The bytes that the vectors are prefixes of (`XSUM_fillTestBuffer()`).
    fn test_bytes() -> Vec<u8> {
        let step = |state: &u64| Some(state.wrapping_mul(11_400_714_785_074_694_797));
        std::iter::successors(Some(2_654_435_761), step).map(|state| (state >> 56) as u8).take(2367).collect()
    }

    #[test]
    fn gives_the_published_results() {
        let bytes = test_bytes();
        let mut count = 0;
        let file = include_str!("../../../vectors/xxh3-64.txt");
        for row in file.lines().filter(|line| !line.starts_with('#')) {
            let columns: Vec<&str> = row.split_whitespace().collect();
            let length: usize = columns[0].parse().unwrap();
            let seed = u64::from_str_radix(columns[1], 16).unwrap();
            let result = u64::from_str_radix(columns[2], 16).unwrap();
            assert_eq!(Xxh3 { seed }.hash(&bytes[..length]), result, "{row}");
            count += 1;
        }
        assert_eq!(count, 28);
    }

    #[test]
    fn check_value_holds_and_agrees_with_the_streamed_form() {
        assert_eq!(Xxh3::new(&Key::VECTOR).hash(CHECK_INPUT), Xxh3::INFO.check);
        assert_eq!(streamed(0x0706_0504_0302_0100, CHECK_INPUT), Xxh3::INFO.check);
    }

    proptest! {
        #[test]
        fn agrees_with_the_streamed_form(
            key: [u8; 16],
            bytes in proptest::collection::vec(any::<u8>(), 0..=600),
        ) {
            let key = Key::new(key);
            prop_assert_eq!(Xxh3::new(&key).hash(&bytes), streamed(key.halves().0, &bytes));
        }
    }
}
