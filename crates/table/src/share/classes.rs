//! Accounts by size: the largest one is found without a search.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// Classes of sizes: exact below 16, then eight for each doubling. So the accounts of a class differ by at
/// most an eighth.
const CLASSES: usize = 16 + 60 * 8;
const WORDS: usize = CLASSES.div_ceil(64);

/// End of a list.
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

impl Link {
    const OUT: Self = Self { prev: NONE, next: NONE, class: 0 };
}

/// Accounts in lists by the class of their size, 0 excepted.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    links: Vec<Link>,
    /// First account of each class.
    heads: Box<[u32; CLASSES]>,
    /// Bit of each class whose list is not empty.
    occupied: [u64; WORDS],
}

impl Classes {
    pub(super) fn new() -> Self {
        Self { links: Vec::new(), heads: Box::new([NONE; CLASSES]), occupied: [0; WORDS] }
    }

    /// First account of the largest class, and a number that grows with the class.
    #[inline]
    pub(super) fn largest(&self) -> Option<(u32, usize)> {
        let (word, bits) = self.occupied.iter().enumerate().rev().find(|(_, bits)| **bits != 0)?;
        let class = 64 * word + 63 - bits.leading_zeros() as usize;
        Some((*self.heads.get(class)?, class))
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
        let next = if class == 0 { NONE } else { self.head(class) };
        let Some(link) = self.links.get_mut(at) else { return };
        // The head of the new list is another account: this one has another class.
        let old = core::mem::replace(link, Link { prev: NONE, next, class });
        if old.class != 0 {
            if let Some(after) = self.links.get_mut(old.next as usize) {
                after.prev = old.prev;
            }
            match self.links.get_mut(old.prev as usize) {
                Some(before) => before.next = old.next,
                None => self.set_head(old.class, old.next),
            }
        }
        if class != 0 {
            if let Some(after) = self.links.get_mut(next as usize) {
                after.prev = account;
            }
            self.set_head(class, account);
        }
    }

    #[inline]
    fn head(&self, class: u16) -> u32 {
        let head = self.heads.get(usize::from(class)).copied();
        debug_assert!(head.is_some(), "class_of returns classes below CLASSES");
        head.unwrap_or(NONE)
    }

    #[inline]
    fn set_head(&mut self, class: u16, account: u32) {
        let class = usize::from(class);
        if let (Some(head), Some(word)) = (self.heads.get_mut(class), self.occupied.get_mut(class / 64)) {
            *head = account;
            let bit = 1 << (class % 64);
            *word = if account == NONE { *word & !bit } else { *word | bit };
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
