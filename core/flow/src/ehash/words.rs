//! Hashes of the whole tuple as five words, several at once in bursts.

use super::TupleHash;
use crate::tuple::Tuple;
use hashlane_hash::jhash::Jhash;
use hashlane_hash::scheme::{Key, Scheme, SchemeInfo};
use hashlane_hash::siphash;
use hashlane_hash::words::WordsHash;

/// A hash of words over the 36 bytes of the tuple. The hash of the bytes is the same, and so is the check
/// value.
#[derive(Clone)]
pub struct Words<H>(H);

/// SipHash-2-4 of the tuple: the authors' proposal, under a 128-bit key.
pub type SipHash24 = Words<siphash::SipHash24>;

/// SipHash-1-3 of the tuple: the rounds that hash tables commonly take, under a 128-bit key.
pub type SipHash13 = Words<siphash::SipHash13>;

/// jhash2 of the tuple's nine words, under 32 bits of the key.
pub type Jhash2 = Words<Jhash>;

impl<const C: usize, const D: usize> Words<siphash::SipHash<C, D>> {
    /// The same hash in registers of at most 256 bits, as on a CPU without AVX-512; for measurements.
    #[must_use]
    pub fn in_256_bits(self) -> Self {
        Self(self.0.in_256_bits())
    }
}

impl<H> Words<H> {
    pub(crate) const fn from_words(hash: H) -> Self {
        Self(hash)
    }

    /// The hash of words.
    #[inline(always)]
    pub(crate) const fn words(&self) -> &H {
        &self.0
    }
}

impl<H: Scheme + WordsHash<5, { Tuple::LEN }>> TupleHash for Words<H> {
    const INFO: SchemeInfo = H::INFO;

    fn new(key: &Key) -> Self {
        Self(H::new(key))
    }

    #[inline(always)]
    fn hash(&self, tuple: &Tuple) -> u64 {
        self.0.hash_words(tuple.as_ref())
    }

    #[inline]
    fn hash_burst(&self, tuples: &[Tuple], out: &mut [u64]) {
        self.0.hash_burst(Tuple::memories(tuples), out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ehash::TupleBytes;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn agrees<W: TupleHash, O: TupleHash>(key: &Key, tuples: &[Tuple]) {
        let (words, bytes) = (W::new(key), O::new(key));
        let expected: Vec<u64> = tuples.iter().map(|tuple| bytes.hash(tuple)).collect();
        assert_eq!(tuples.iter().map(|tuple| words.hash(tuple)).collect::<Vec<_>>(), expected);
        let mut out = std::vec![0; tuples.len()];
        words.hash_burst(tuples, &mut out);
        assert_eq!(out, expected);
    }

    proptest! {
        #[test]
        fn hashes_a_tuple_as_its_bytes(key: [u8; 16], ends in vec(any::<([u8; 16], [u8; 16], u16, u16)>(), 0..40)) {
            let tuple = |(local, foreign, a, b): &([u8; 16], [u8; 16], _, _)| {
                Tuple::new((*local).into(), *a, (*foreign).into(), *b)
            };
            let (key, tuples) = (Key::new(key), ends.iter().map(tuple).collect::<Vec<_>>());
            agrees::<SipHash24, TupleBytes<siphash::SipHash24>>(&key, &tuples);
            agrees::<SipHash13, TupleBytes<siphash::SipHash13>>(&key, &tuples);
            agrees::<Jhash2, TupleBytes<Jhash>>(&key, &tuples);
        }
    }
}
