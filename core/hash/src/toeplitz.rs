//! The Toeplitz hash, by which network cards choose a receive queue (RSS).
//!
//! Every set bit of the input adds, by exclusive or, the 32 bits of the key that start at that bit's place;
//! so an input of `n` bits needs a key of `n` + 32. Under a random key any two inputs of one length collide
//! with a probability of 2⁻³². So do two of different lengths, unless the longer one only adds zeros, which
//! hash alike under every key. But the hash is linear: a difference that collides once collides for all
//! inputs, and a few results reveal the key.
//!
//! Source: Microsoft, "RSS Hashing Functions" (Windows network drivers); Krawczyk, "LFSR-based hashing and
//! authentication" (CRYPTO '94), for the properties of the family.

use crate::expand::key_word;
use crate::scheme::{BytesHash, Key, Keying, Scheme, SchemeInfo};

/// The Toeplitz hash under a key of 40 bytes, as network cards have it, by one table for each byte of the
/// input: 36 KiB.
///
/// For RSS the input is the source address, the destination address, the source port and the destination port
/// of the packet that arrives, in network order.
#[derive(Clone)]
pub struct Rss {
    /// The hash of each byte at each place.
    tables: [[u32; 256]; Self::MAX_LEN],
}

impl Rss {
    /// Bytes of the longest input: two IPv6 addresses and two ports.
    pub const MAX_LEN: usize = 36;

    /// The tables of `key`.
    pub fn new(key: &[u8; Self::MAX_LEN + 4]) -> Self {
        let mut tables = [[0; 256]; Self::MAX_LEN];
        for (table, bytes) in tables.iter_mut().zip(key.windows(5)) {
            let window = bytes.iter().fold(0, |window, byte| window << 8 | u64::from(*byte));
            for byte in 1..256_usize {
                table[byte] = table[byte & (byte - 1)] ^ bits_at(window, byte.trailing_zeros());
            }
        }
        Self { tables }
    }

    /// The hash of up to [`MAX_LEN`](Self::MAX_LEN) bytes; those beyond do not count, as the key does not
    /// reach there.
    #[inline]
    pub fn hash(&self, input: &[u8]) -> u32 {
        let bytes = self.tables.iter().zip(input);
        bytes.fold(0, |hash, (table, byte)| hash ^ table[usize::from(*byte)])
    }
}

/// The 32 bits of the key for bit `bit` of a byte (0 is the lowest). `window` is the 40 bits of key that
/// start with the byte.
#[inline(always)]
fn bits_at(window: u64, bit: u32) -> u32 {
    (window >> (1 + bit)) as u32
}

/// The Toeplitz hash of any bytes, its key expanded from 128 bits.
///
/// Word `i` of the key, big-endian, is SipHash-2-4 of the bytes `toeplitz` and `i`, little-endian. The first
/// 36 bytes of the input go through tables; for bytes beyond, the key is expanded as they come, which takes
/// many times as long.
#[derive(Clone)]
pub struct Toeplitz {
    rss: Rss,
    key: Key,
}

impl Toeplitz {
    /// Word `i` of the expanded key.
    fn key_word(key: &Key, i: usize) -> u64 {
        key_word(key, b"toeplitz", i)
    }

    /// The part of the hash from bytes beyond the tables.
    #[cold]
    fn beyond(&self, input: &[u8]) -> u32 {
        let word = |i| u128::from(Self::key_word(&self.key, i));
        let first = Rss::MAX_LEN / 8;
        // The 128 bits of key that begin with the word of the byte.
        let mut bits = word(first) << 64 | word(first + 1);
        let mut hash = 0;
        for (i, byte) in input.iter().enumerate().skip(Rss::MAX_LEN) {
            if i % 8 == 0 {
                bits = bits << 64 | word(i / 8 + 1);
            }
            let window = (bits >> (88 - 8 * (i % 8))) as u64;
            for bit in 0..8 {
                hash ^= bits_at(window, bit) * u32::from(byte >> bit & 1);
            }
        }
        hash
    }
}

impl Scheme for Toeplitz {
    const INFO: SchemeInfo = SchemeInfo {
        id: "toeplitz",
        source: "Microsoft, RSS Hashing Functions; key expanded by SipHash-2-4",
        width: 32,
        keying: Keying::Seed(128),
        check: 0x4f44_b0c7,
        safe: "Inputs of one length that no adversary chooses, or one who learns nothing of the results: the hash is \
               linear.",
    };

    fn new(key: &Key) -> Self {
        let mut bytes = [0; Rss::MAX_LEN + 4];
        for (i, word) in bytes.as_chunks_mut().0.iter_mut().enumerate() {
            *word = Self::key_word(key, i).to_be_bytes();
        }
        Self { rss: Rss::new(&bytes), key: *key }
    }
}

impl BytesHash for Toeplitz {
    #[inline]
    fn hash(&self, bytes: &[u8]) -> u64 {
        let mut hash = self.rss.hash(bytes);
        if bytes.len() > Rss::MAX_LEN {
            hash ^= self.beyond(bytes);
        }
        u64::from(hash)
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::vec::Vec;

    use proptest::prelude::*;
    use siphasher::sip::SipHasher24;

    use super::*;
    use crate::scheme::CHECK_INPUT;
    use crate::vectors::{hex, rows};

    /// Bit by bit, as the definition shifts the key.
    fn naive(key: &[u8], input: &[u8]) -> u32 {
        let key_bit = |i: usize| u32::from(key[i / 8] >> (7 - i % 8) & 1);
        let mut hash = 0;
        for i in 0..8 * input.len() {
            if input[i / 8] >> (7 - i % 8) & 1 == 1 {
                hash ^= (i..i + 32).fold(0, |left, i| left << 1 | key_bit(i));
            }
        }
        hash
    }

    /// The key of `length` bytes that the documentation of [`Toeplitz`] states.
    fn expanded(key: &Key, length: usize) -> Vec<u8> {
        let sip = SipHasher24::new_with_key(&key.to_bytes());
        let word = |i: u64| sip.hash([*b"toeplitz", i.to_le_bytes()].as_flattened()).to_be_bytes();
        (0..).flat_map(word).take(length).collect()
    }

    #[test]
    fn gives_the_results_of_the_verification_suite() {
        let key = b"\x6d\x5a\x56\xda\x25\x5b\x0e\xc2\x41\x67\x25\x3d\x43\xa3\x8f\xb0\xd0\xca\x2b\xcb\
                    \xae\x7b\x30\xb4\x77\xcb\x2d\xa3\x80\x30\xf2\x0c\x6a\x42\xb7\x3b\xbe\xac\x01\xfa";
        let rss = Rss::new(key);
        let mut seen = 0;
        for row in rows(include_str!("../../../vectors/toeplitz-rss.txt")) {
            let mut input = Vec::new();
            for address in [row[2], row[0]] {
                match address.parse().expect("an address") {
                    IpAddr::V4(v4) => input.extend(v4.octets()),
                    IpAddr::V6(v6) => input.extend(v6.octets()),
                }
            }
            assert_eq!(u64::from(rss.hash(&input)), hex(row[4]), "{row:?}");
            for port in [row[3], row[1]] {
                input.extend(port.parse::<u16>().expect("a port").to_be_bytes());
            }
            assert_eq!(u64::from(rss.hash(&input)), hex(row[5]), "{row:?}");
            assert_eq!(rss.hash(&input), naive(key, &input));
            seen += 1;
        }
        assert_eq!(seen, 8);
    }

    #[test]
    fn check_value_holds_and_agrees_with_the_naive_form() {
        assert_eq!(Toeplitz::new(&Key::VECTOR).hash(CHECK_INPUT), Toeplitz::INFO.check);
        let key = expanded(&Key::VECTOR, CHECK_INPUT.len() + 4);
        assert_eq!(u64::from(naive(&key, CHECK_INPUT)), Toeplitz::INFO.check);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn agrees_with_the_naive_form_at_every_length(
            key: [u8; 16],
            input in proptest::collection::vec(any::<u8>(), 0..=120),
        ) {
            let key = Key::new(key);
            let hash = Toeplitz::new(&key).hash(&input);
            prop_assert_eq!(hash, u64::from(naive(&expanded(&key, input.len() + 4), &input)));
        }
    }
}
