//! HighwayHash with 64 bits of result, through the crate `highway`.
//!
//! The crate chooses AVX2 or SSE4.1 when the program runs; the result is the same on every machine.

use ::highway::{HighwayHash as _, HighwayHasher};
use hashlane_hash::scheme::{BytesHash, Key, Keying, Scheme, SchemeInfo};

use super::part::Part;

/// HighwayHash-64 under a 256-bit key, which is drawn from the 128-bit key.
#[derive(Clone)]
pub struct HighwayHash(::highway::Key);

impl Scheme for HighwayHash {
    const INFO: SchemeInfo = SchemeInfo {
        id: "highwayhash64",
        source: "crate highway 1.3.0, four words drawn from the key",
        width: 64,
        keying: Keying::Secret(128),
        check: 0x5b84_150b_d92e_80d1,
        safe: "Tables and short messages against adversaries, by its authors' claim of a pseudorandom \
               function.",
    };

    fn new(key: &Key) -> Self {
        Self(::highway::Key(Part::of(key)))
    }
}

impl BytesHash for HighwayHash {
    #[inline]
    fn hash(&self, bytes: &[u8]) -> u64 {
        HighwayHasher::new(self.0).hash64(bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `kExpected64` of the authors' repository (google/highwayhash, `c/highwayhash_test.c`).
    #[test]
    fn gives_the_published_results() {
        let key =
            [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908, 0x1716_1514_1312_1110, 0x1f1e_1d1c_1b1a_1918];
        let hash = HighwayHash(::highway::Key(key));
        let bytes: Vec<u8> = (0..64).collect();
        let results = [
            0x907a_56de_22c2_6e53,
            0x7eab_43aa_c7cd_dd78,
            0xb8d0_569a_b0b5_3d62,
            0x5c6b_efab_8a46_3d80,
            0xf205_a468_9300_7eda,
            0x2b8a_1668_e4a9_4541,
            0xbd4c_cc32_5bef_ca6f,
            0x4d02_ae17_38f5_9482,
            0xe120_5108_e55f_3171,
            0x32d2_644e_c77a_1584,
        ];
        for (len, result) in results.into_iter().enumerate() {
            assert_eq!(hash.hash(&bytes[..len]), result, "{len}");
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_streamed_and_the_portable_form(
            key: [u8; 16],
            bytes in proptest::collection::vec(any::<u8>(), 0..=600),
            cut: prop::sample::Index,
        ) {
            let (head, tail) = bytes.split_at(cut.index(bytes.len() + 1));
            let hash = HighwayHash::new(&Key::new(key));
            let mut stream = HighwayHasher::new(hash.0);
            stream.append(head);
            stream.append(tail);
            prop_assert_eq!(hash.hash(&bytes), stream.finalize64());
            prop_assert_eq!(hash.hash(&bytes), ::highway::PortableHash::new(hash.0).hash64(&bytes));
        }
    }
}
