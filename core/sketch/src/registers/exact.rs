//! A small set of hashes, exact.

use core::hash::BuildHasher;
use std::hash::RandomState;
use std::sync::LazyLock;

/// Hashes in an open-addressing table, 0 for a free place. One hash takes 8 bytes, and none takes nothing.
#[derive(Clone, Debug)]
pub(crate) struct Hashes {
    slots: Box<[u64]>,
    len: u32,
    precision: u8,
}

/// Odd factor that places hashes, random in each process: hashes that were read may be chosen so that they
/// would meet in one place.
static FACTOR: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0_u8) | 1);

/// Hashes that `slots` places hold: 7/8 of them, or all of up to 4.
const fn room(slots: usize) -> usize {
    slots - slots / 8
}

/// Places of the largest set: as many bytes as registers of this precision take.
const fn most_slots(precision: u8) -> usize {
    1 << (precision.saturating_sub(3))
}

/// Hashes of the largest set.
pub(super) const fn most(precision: u8) -> usize {
    room(most_slots(precision))
}

impl Hashes {
    pub(super) fn new(precision: u8) -> Self {
        Self { slots: Box::default(), len: 0, precision }
    }

    pub(super) const fn precision(&self) -> u8 {
        self.precision
    }

    pub(super) const fn len(&self) -> usize {
        self.len as usize
    }

    /// Hashes of the set, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u64> {
        self.slots.iter().copied().filter(|hash| *hash > 0)
    }

    /// Adds a hash other than 0, unless it is there. Returns false, and leaves the set as it was, if there is
    /// no room for it.
    #[inline]
    pub(super) fn insert(&mut self, hash: u64) -> bool {
        match self.find(hash) {
            Some(slot) if self.slots.get(slot) == Some(&hash) => true,
            Some(slot) if self.len() < room(self.slots.len()) => {
                if let Some(free) = self.slots.get_mut(slot) {
                    *free = hash;
                    self.len += 1;
                }
                true
            }
            _ if self.slots.len() < most_slots(self.precision) => {
                self.grow();
                self.insert(hash)
            }
            _ => false,
        }
    }

    /// Place of the hash, or the free one that it may take; nothing if it is absent from a full table.
    #[inline]
    fn find(&self, hash: u64) -> Option<usize> {
        let slots = self.slots.len();
        let first = ((hash.wrapping_mul(*FACTOR) >> 32).wrapping_mul(slots as u64) >> 32) as usize;
        let at = |probe| (first + probe) & slots.wrapping_sub(1);
        (0..slots).map(at).find(|slot| self.slots.get(*slot).is_some_and(|held| *held == hash || *held == 0))
    }

    /// Doubles the number of places.
    #[cold]
    fn grow(&mut self) {
        let slots = vec![0; (2 * self.slots.len()).max(1)].into_boxed_slice();
        let smaller = core::mem::replace(&mut self.slots, slots);
        self.len = 0;
        for hash in smaller.into_iter().filter(|hash| *hash > 0) {
            self.insert(hash);
        }
    }
}
