//! Hashes of the keys of flow tables.

use crate::ehash::{TupleHash, Words};
use crate::key::FlowKey;
use crate::tuple::Tuple;
use hashlane_hash::scheme::{Key, Scheme, SchemeInfo};
use hashlane_hash::words::WordsHash;

/// A hash of keys of type `K`, made from a 128-bit key: each [`TupleHash`] is one of tuples, and SipHash and
/// jhash2 ([`Words`]) are ones of every [`FlowKey`].
pub trait KeyHash<K>: Clone {
    /// Facts about the scheme.
    const SCHEME: SchemeInfo;

    /// The scheme under `key`.
    fn keyed(key: &Key) -> Self;

    /// The hash of one key, as wide as tables want it: the upper half of a narrow one is a copy of the lower
    /// half.
    fn hash_key(&self, key: &K) -> u64;

    /// Writes the hash of each of `keys` to its place in `out`, equal to [`hash_key`](Self::hash_key) of it.
    /// Keys beyond the length of `out` are ignored, and places beyond the number of keys unchanged.
    fn hash_keys(&self, keys: &[K], out: &mut [u64]);
}

#[inline(always)]
const fn widened(scheme: &SchemeInfo, hash: u64) -> u64 {
    if scheme.width <= 32 { hash << 32 | hash } else { hash }
}

impl<H: TupleHash> KeyHash<Tuple> for H {
    const SCHEME: SchemeInfo = H::INFO;

    fn keyed(key: &Key) -> Self {
        H::new(key)
    }

    #[inline(always)]
    fn hash_key(&self, key: &Tuple) -> u64 {
        widened(&H::INFO, self.hash(key))
    }

    #[inline(always)]
    fn hash_keys(&self, keys: &[Tuple], out: &mut [u64]) {
        self.hash_burst(keys, out);
        for hash in out.iter_mut().take(keys.len()) {
            *hash = widened(&H::INFO, *hash);
        }
    }
}

/// A hash of arrays of words, all bytes of them.
pub trait ArrayHash<W> {
    /// The hash of one array, equal to the hash of its bytes.
    fn hash_array(&self, words: &W) -> u64;

    /// Writes the hash of each array to its place in `out`.
    fn hash_arrays(&self, arrays: &[W], out: &mut [u64]);
}

macro_rules! array_hash {
    ($($words:literal)*) => { $(
        impl<H: WordsHash<$words, { 8 * $words }>> ArrayHash<[u64; $words]> for H {
            #[inline(always)]
            fn hash_array(&self, words: &[u64; $words]) -> u64 {
                self.hash_words(words)
            }

            #[inline(always)]
            fn hash_arrays(&self, arrays: &[[u64; $words]], out: &mut [u64]) {
                self.hash_burst(arrays, out);
            }
        }
    )* };
}

array_hash!(1 2 3 4 5 6 7 8);

impl<H: Scheme + ArrayHash<K::Words>, K: FlowKey> KeyHash<K> for Words<H> {
    const SCHEME: SchemeInfo = H::INFO;

    fn keyed(key: &Key) -> Self {
        Self::from_words(H::new(key))
    }

    #[inline(always)]
    fn hash_key(&self, key: &K) -> u64 {
        widened(&H::INFO, self.words().hash_array(key.as_words()))
    }

    #[inline(always)]
    fn hash_keys(&self, keys: &[K], out: &mut [u64]) {
        self.words().hash_arrays(K::memories(keys), out);
        for hash in out.iter_mut().take(keys.len()) {
            *hash = widened(&H::INFO, *hash);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ehash::{Jhash2, SipHash13};
    use crate::key::{MeterKey, Scope, Tuple4};
    use proptest::prelude::*;
    use std::vec::Vec;

    fn agrees<K: FlowKey, H: KeyHash<K>, B: Scheme>(keys: &[K], bytes: impl Fn(&K) -> Vec<u8>) {
        let (hash, of_bytes) = (H::keyed(&Key::VECTOR), B::new(&Key::VECTOR));
        let mut hashes = std::vec![0; keys.len()];
        hash.hash_keys(keys, &mut hashes);
        for (key, found) in keys.iter().zip(hashes) {
            let expected = widened(&B::INFO, of_bytes.hash(&bytes(key)));
            assert_eq!((found, hash.hash_key(key)), (expected, expected));
        }
    }

    fn bytes(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    proptest! {
        #[test]
        fn a_key_is_hashed_as_its_bytes(ends in prop::collection::vec(any::<(u32, u32, u16, u16)>(), 0..40)) {
            use hashlane_hash::{jhash, siphash};
            let four: Vec<Tuple4> = ends.iter().map(|(a, b, p, q)| {
                Tuple4::new(((*a).into(), *p), ((*b).into(), *q), 6, 7)
            }).collect();
            agrees::<_, SipHash13, siphash::SipHash13>(&four, |key| bytes(key.as_words()));
            agrees::<_, Jhash2, jhash::Jhash>(&four, |key| bytes(key.as_words()));
            let scope = Scope { protocol: 17, version: 4, ..Scope::default() };
            let meter: Vec<MeterKey> = four.iter().map(|key| {
                let (local, foreign) = (key.local(), key.foreign());
                let ends = [local, foreign].map(|(address, port)| (address.to_ipv6_mapped(), port));
                MeterKey::new(ends[0], ends[1], scope).0
            }).collect();
            agrees::<_, SipHash13, siphash::SipHash13>(&meter, |key| bytes(key.as_words()));
        }
    }
}
