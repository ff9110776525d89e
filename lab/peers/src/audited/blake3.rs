//! BLAKE3 in its keyed mode, through the crate of the same name.
//!
//! The result is the first eight of 32 bytes in little-endian order. The crate chooses the instructions when
//! the program runs.

use hashlane_hash::scheme::{BytesHash, Key, Keying, Scheme, SchemeInfo};

/// BLAKE3 under a 256-bit key, which is drawn from the 128-bit key.
#[derive(Clone)]
pub struct Blake3Keyed {
    key: [u8; ::blake3::KEY_LEN],
}

impl Scheme for Blake3Keyed {
    const INFO: SchemeInfo = SchemeInfo {
        id: "blake3-keyed",
        source: "crate blake3 1.8.7, keyed mode, first 8 bytes; key drawn from the 128-bit key",
        width: 64,
        keying: Keying::Secret(128),
        check: 0xe597_0fb4_5a85_206e,
        safe: "Everything that 64 bits suffice for: a cryptographic hash, claimed to be a pseudorandom \
               function.",
    };

    fn new(key: &Key) -> Self {
        let (low, high) = (key.derive(b"32 bytes", 0).to_bytes(), key.derive(b"32 bytes", 1).to_bytes());
        let mut key = [0; ::blake3::KEY_LEN];
        key[..16].copy_from_slice(&low);
        key[16..].copy_from_slice(&high);
        Self { key }
    }
}

impl BytesHash for Blake3Keyed {
    #[inline]
    fn hash(&self, bytes: &[u8]) -> u64 {
        first_word(&::blake3::keyed_hash(&self.key, bytes))
    }
}

/// The first eight bytes of a result in little-endian order.
#[inline]
fn first_word(hash: &::blake3::Hash) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = *hash.as_bytes();
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `test_vectors.json` of the authors' repository: the bytes are 0, 1, .. 250, 0, 1, ..; these are the
    /// first eight bytes of `keyed_hash`.
    #[test]
    fn gives_the_published_results() {
        let hash = Blake3Keyed { key: *b"whats the Elvish word for friend" };
        let bytes: Vec<u8> = (0..=250).cycle().take(1024).collect();
        let results = [
            (0, 0x92b2_b756_04ed_3c76_u64),
            (1, 0x6d78_78df_ff2f_4856),
            (2, 0x5392_ddae_0e0a_69d5),
            (3, 0x39e6_7b76_b5a0_07d4),
            (64, 0xba8c_ed36_f327_700d),
            (1024, 0x75c4_6f6f_3d9e_b4f5),
        ];
        for (len, result) in results {
            assert_eq!(hash.hash(&bytes[..len]), result.swap_bytes(), "{len}");
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_streamed_form(
            key: [u8; 16],
            bytes in proptest::collection::vec(any::<u8>(), 0..=600),
            cut: prop::sample::Index,
        ) {
            let (head, tail) = bytes.split_at(cut.index(bytes.len() + 1));
            let hash = Blake3Keyed::new(&Key::new(key));
            let mut stream = ::blake3::Hasher::new_keyed(&hash.key);
            stream.update(head);
            stream.update(tail);
            prop_assert_eq!(hash.hash(&bytes), first_word(&stream.finalize()));
        }
    }
}
