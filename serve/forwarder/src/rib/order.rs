//! Sequence of numbers in an order of the caller: four to eight bytes a number.
//!
//! The numbers stand in blocks of at most 128. A search compares with the first number of some blocks, then
//! with numbers of one block.

use std::cmp::Ordering;

/// Most numbers of a block.
const BLOCK: usize = 128;

/// Numbers of two neighbouring blocks that become one.
const FEW: usize = BLOCK / 2;

/// Numbers in order. The functions that are given compare a number with what is searched for.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// Blocks, none of them empty.
    blocks: Vec<Vec<u32>>,
    len: usize,
}

impl Order {
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The block in which a number is or would be, and its place there.
    fn search(&self, compare: impl Fn(u32) -> Ordering) -> (usize, Result<usize, usize>) {
        let starts_before = |block: &Vec<u32>| block.first().is_some_and(|first| compare(*first).is_le());
        let block = self.blocks.partition_point(starts_before).saturating_sub(1);
        let numbers = self.blocks.get(block).map_or(&[][..], Vec::as_slice);
        (block, numbers.binary_search_by(|number| compare(*number)))
    }

    /// Finds a number.
    pub(super) fn find(&self, compare: impl Fn(u32) -> Ordering) -> Option<u32> {
        let (block, at) = self.search(compare);
        self.blocks.get(block)?.get(at.ok()?).copied()
    }

    /// Inserts a number. Returns false if one that is equal is there.
    pub(super) fn insert(&mut self, number: u32, compare: impl Fn(u32) -> Ordering) -> bool {
        let (at, place) = self.search(compare);
        let Err(mut place) = place else { return false };
        self.len += 1;
        let is_last = at + 1 >= self.blocks.len();
        let Some(block) = self.blocks.get_mut(at) else {
            self.blocks.push(vec![number]);
            return true;
        };
        if block.len() < BLOCK {
            block.insert(place, number);
            return true;
        }
        // Numbers that come in order fill their blocks.
        let split = if is_last && place == BLOCK { BLOCK } else { BLOCK / 2 };
        let mut upper = block.split_off(split);
        block.shrink_to_fit();
        if place > split || split == BLOCK {
            place -= split;
            upper.insert(place, number);
        } else {
            block.insert(place, number);
        }
        self.blocks.insert(at + 1, upper);
        true
    }

    /// Removes a number. Returns false if it is not there.
    pub(super) fn remove(&mut self, compare: impl Fn(u32) -> Ordering) -> bool {
        let (at, place) = self.search(compare);
        let (Some(block), Ok(place)) = (self.blocks.get_mut(at), place) else { return false };
        block.remove(place);
        self.len -= 1;
        if block.is_empty() {
            self.blocks.remove(at);
            return true;
        }
        self.merge(at);
        if let Some(before) = at.checked_sub(1) {
            self.merge(before);
        }
        true
    }

    /// Makes a block and the next one a single block, if they have few numbers.
    fn merge(&mut self, at: usize) {
        let len = |at: usize| self.blocks.get(at).map_or(BLOCK, Vec::len);
        if len(at) + len(at + 1) <= FEW {
            let next = self.blocks.remove(at + 1);
            if let Some(block) = self.blocks.get_mut(at) {
                block.extend(next);
            }
        }
    }

    /// The first number.
    pub(super) fn first(&self) -> Option<u32> {
        self.blocks.first()?.first().copied()
    }

    /// All numbers, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        self.blocks.iter().flatten().copied()
    }

    /// Numbers after one that is searched for, in order.
    pub(super) fn after(&self, compare: impl Fn(u32) -> Ordering) -> impl Iterator<Item = u32> {
        let (block, at) = self.search(compare);
        let at = at.map_or_else(|at| at, |at| at + 1);
        let first = self.blocks.get(block).and_then(|block| block.get(at..)).unwrap_or_default();
        let more = self.blocks.get(block + 1..).unwrap_or_default();
        first.iter().chain(more.iter().flatten()).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn numbers_stay_in_order(
            steps in prop::collection::vec((0..600_u32, prop::bool::weighted(0.6)), 0..3000),
            from in 0..600_u32,
        ) {
            let (mut order, mut plain) = (Order::default(), BTreeSet::new());
            for (number, adds) in steps {
                let compare = |other: u32| other.cmp(&number);
                if adds {
                    prop_assert_eq!(order.insert(number, compare), plain.insert(number));
                } else {
                    prop_assert_eq!(order.remove(compare), plain.remove(&number));
                }
                prop_assert_eq!(order.find(compare).is_some(), plain.contains(&number));
            }
            prop_assert!(order.iter().eq(plain.iter().copied()));
            prop_assert_eq!((order.first(), order.is_empty()), (plain.first().copied(), plain.is_empty()));
            prop_assert!(order.after(|other| other.cmp(&from)).eq(plain.range(from + 1..).copied()));
            prop_assert!(order.blocks.iter().all(|block| (1..=BLOCK).contains(&block.len())));
        }
    }

    #[test]
    fn numbers_in_order_fill_their_blocks_and_few_share_one() {
        let mut order = Order::default();
        (0..10_000).for_each(|number| assert!(order.insert(number, |other| other.cmp(&number))));
        assert_eq!(order.blocks.len(), 10_000_usize.div_ceil(BLOCK));
        (0..10_000).filter(|number| number % 100 > 0).for_each(|number| {
            assert!(order.remove(|other| other.cmp(&number)));
        });
        assert!(order.blocks.len() <= 4, "{}", order.blocks.len());
        assert!(order.iter().eq((0..10_000).step_by(100)));
    }
}
