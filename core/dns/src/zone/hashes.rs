//! Hashes of names while a tree grows.

use super::room::reserve;
use alloc::vec::Vec;

/// The bits of hashes that an index of less than 2³² buckets uses, in 6 bytes each.
#[derive(Default)]
pub(super) struct Hashes {
    low: Vec<u32>,
    high: Vec<u16>,
}

impl Hashes {
    pub(super) fn push(&mut self, hash: u64) {
        reserve(&mut self.low, 1);
        self.low.push(hash as u32);
        reserve(&mut self.high, 1);
        self.high.push((hash >> 48) as u16);
    }

    /// The lower halves of the hashes.
    pub(super) fn low(&self) -> impl Iterator<Item = u32> {
        self.low.iter().copied()
    }

    /// The hashes, without the bits that no index uses.
    pub(super) fn iter(&self) -> impl Iterator<Item = u64> + Clone {
        self.low.iter().zip(&self.high).map(|(low, high)| u64::from(*low) | u64::from(*high) << 48)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_table::index::Index;

    #[test]
    fn an_index_finds_by_the_whole_hash_what_was_entered_by_the_bits_that_stay() {
        let whole = |number: u32| u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut hashes = Hashes::default();
        (0..1000).for_each(|number| hashes.push(whole(number)));
        assert_eq!(hashes.iter().count(), 1000);
        let mut index: Index = Index::with_capacity(1000);
        hashes.iter().zip(0..).for_each(|(hash, number)| index.enter(hash, number));
        for number in 0..1000 {
            assert!(index.find(whole(number), |place| place == number).is_some(), "{number}");
        }
    }
}
