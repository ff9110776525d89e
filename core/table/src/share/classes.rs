//! Accounts by size: the largest one is found without a search.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// Classes of sizes: exact below 16, then eight for each doubling. So the accounts of a class differ by at
/// most an eighth.
const CLASSES: usize = 16 + 60 * 8;
const WORDS: usize = CLASSES.div_ceil(64);

/// Number of no account.
const NONE: u32 = u32::MAX;

/// Class of a size; 0 for 0.
#[inline(always)]
fn class_of(size: u64) -> u16 {
    if size < 16 {
        return size as u16;
    }
    let bits = 64 - size.leading_zeros();
    (16 + (bits - 5) * 8 + (size >> (bits - 4) & 7) as u32) as u16
}

/// Links of an account in the list of its class.
#[derive(Clone, Copy, Debug)]
struct Link {
    prev: u32,
    next: u32,
    /// Class of the account; 0 if it stands in no list.
    class: u16,
}

/// Ends of a list.
#[derive(Clone, Copy, Debug)]
struct Ends {
    first: u32,
    last: u32,
}

impl Ends {
    const EMPTY: Self = Self { first: NONE, last: NONE };
}

impl Link {
    const OUT: Self = Self { prev: NONE, next: NONE, class: 0 };
}

/// Accounts in lists by the class of their size, 0 excepted, in the order in which they came to the class.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    links: Vec<Link>,
    /// First and last account of each class.
    ends: Box<[Ends; CLASSES]>,
    /// Bit of each class whose list is not empty.
    occupied: [u64; WORDS],
}

impl Classes {
    pub(super) fn new() -> Self {
        Self { links: Vec::new(), ends: Box::new([Ends::EMPTY; CLASSES]), occupied: [0; WORDS] }
    }

    /// Account that has been in the largest class for the longest time, and a number that grows with the
    /// class.
    #[inline]
    pub(super) fn largest(&self) -> Option<(u32, usize)> {
        let (word, bits) = self.occupied.iter().enumerate().rev().find(|(_, bits)| **bits != 0)?;
        let class = 64 * word + 63 - bits.leading_zeros() as usize;
        Some((self.ends.get(class)?.first, class))
    }

    /// Notes the size of an account.
    #[inline]
    pub(super) fn set(&mut self, account: u32, size: u64) {
        let class = class_of(size);
        if self.links.get(account as usize).is_some_and(|link| link.class == class) {
            return;
        }
        self.relink(account, class);
    }

    fn relink(&mut self, account: u32, class: u16) {
        let at = account as usize;
        if at >= self.links.len() {
            self.links.resize(at + 1, Link::OUT);
        }
        // The last one of the new list is another account: this one has another class.
        let prev = self.ends(class).last;
        let Some(link) = self.links.get_mut(at) else { return };
        let old = core::mem::replace(link, Link { prev, next: NONE, class });
        if old.class != 0 {
            let mut ends = self.ends(old.class);
            match self.links.get_mut(old.next as usize) {
                Some(after) => after.prev = old.prev,
                None => ends.last = old.prev,
            }
            match self.links.get_mut(old.prev as usize) {
                Some(before) => before.next = old.next,
                None => ends.first = old.next,
            }
            self.set_ends(old.class, ends);
        }
        if class != 0 {
            let mut ends = self.ends(class);
            match self.links.get_mut(prev as usize) {
                Some(before) => before.next = account,
                None => ends.first = account,
            }
            ends.last = account;
            self.set_ends(class, ends);
        }
    }

    /// Ends of the list of a class; the list of class 0 is empty.
    #[inline]
    fn ends(&self, class: u16) -> Ends {
        let ends = self.ends.get(usize::from(class)).copied();
        debug_assert!(ends.is_some(), "class_of returns classes below CLASSES");
        ends.unwrap_or(Ends::EMPTY)
    }

    #[inline]
    fn set_ends(&mut self, class: u16, new: Ends) {
        let class = usize::from(class);
        if let (Some(ends), Some(word)) = (self.ends.get_mut(class), self.occupied.get_mut(class / 64)) {
            *ends = new;
            let bit = 1 << (class % 64);
            *word = if new.first == NONE { *word & !bit } else { *word | bit };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[test]
    fn a_class_spans_an_eighth() {
        let mut first = 0;
        for size in 1..100_000_u64 {
            let (before, class) = (class_of(size - 1), class_of(size));
            assert!(class == before || class == before + 1, "{size}");
            if class != before {
                first = size;
            }
            assert!(size - first <= first / 8, "{first} and {size} are of one class");
        }
        assert!(usize::from(class_of(u64::MAX)) < CLASSES);
    }

    proptest! {
        #[test]
        fn the_largest_account_is_found(steps in vec((0..20_u32, prop_oneof![Just(0_u64), 0..40_u64, any::<u64>()]), 1..300)) {
            let (mut classes, mut sizes) = (Classes::new(), [0_u64; 20]);
            for (account, size) in steps {
                classes.set(account, size);
                sizes[account as usize] = size;
                let largest = sizes.iter().copied().max().filter(|size| *size > 0);
                let found = classes.largest().map(|(account, _)| sizes[account as usize]);
                prop_assert_eq!(found.map(class_of), largest.map(class_of));
            }
        }
    }
}
