//! A Bloom filter of one word a key: tells most names that match nothing by one read.

use alloc::vec;
use alloc::vec::Vec;

/// Bits for each key.
const BITS: usize = 12;

/// Bits that a key sets in its word, of 64.
const SET: u32 = 4;

/// A set of hashes that may contain others, too: of hashes drawn at random, fewer than 1 in 30.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter(pub(crate) Vec<u64>);

impl Filter {
    /// A filter of hashes.
    pub(crate) fn new(hashes: impl ExactSizeIterator<Item = u64>) -> Self {
        let mut filter = Self(vec![0; (hashes.len() * BITS).div_ceil(64)]);
        hashes.for_each(|hash| filter.add(hash));
        filter
    }

    #[inline(always)]
    fn word(&self, hash: u64) -> usize {
        (((hash >> 32) * self.0.len() as u64) >> 32) as usize
    }

    #[inline(always)]
    fn bits(hash: u64) -> u64 {
        (0..SET).fold(0, |bits, number| bits | 1 << (hash >> (6 * number) & 63))
    }

    fn add(&mut self, hash: u64) {
        let word = self.word(hash);
        if let Some(word) = self.0.get_mut(word) {
            *word |= Self::bits(hash);
        }
    }

    /// `false` if the hash was not added.
    #[inline(always)]
    pub(crate) fn may_have(&self, hash: u64) -> bool {
        let bits = Self::bits(hash);
        self.0.get(self.word(hash)).is_some_and(|word| word & bits == bits)
    }

    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) {
        if let Some(word) = self.0.get(self.word(hash)) {
            hashlane_table::prefetch(word);
        }
    }

    /// Bytes of memory on the heap.
    pub(crate) fn memory(&self) -> usize {
        size_of::<u64>() * self.0.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_what_was_added_and_little_else() {
        let mix = |number: u64| {
            number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
        };
        let filter = Filter::new((0..10_000_u32).map(|number| mix(number.into())));
        assert!((0..10_000).all(|number| filter.may_have(mix(number))));
        let wrong = (10_000..110_000).filter(|number| filter.may_have(mix(*number))).count();
        assert!(wrong < 100_000 / 30, "{wrong}");
    }
}
