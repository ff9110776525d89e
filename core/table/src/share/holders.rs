//! Numbers of the owners that are present.

use super::owner::Owner;
use crate::batched::Batched;
use crate::table::Table as _;
use alloc::vec::Vec;
use hashlane_hash::scheme::{Key, Scheme as _};
use hashlane_hash::siphash::SipHash13;

/// Number of an owner that is present, for the accounts of [`Ledger`](super::Ledger)s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Holder {
    pub(super) index: u32,
    pub(super) remote: bool,
}

impl Holder {
    /// Holder with a number of the caller's choice, for a caller that has few holders and no [`Holders`].
    pub const fn new(index: u32, remote: bool) -> Self {
        Self { index, remote }
    }

    /// The number.
    #[inline]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// True if the owner is not a user of this host.
    #[inline]
    pub const fn is_remote(self) -> bool {
        self.remote
    }
}

/// The owners that are present, by number. An owner stays for as long as it is referred to, or holds
/// something.
#[derive(Clone)]
pub struct Holders {
    /// Numbers of the owners, hashed under a secret key: remote parties choose their addresses.
    numbers: Batched<Owner, u32>,
    hasher: SipHash13,
    places: Vec<Holding>,
    free: Vec<u32>,
    /// Numbers of the owners that nothing referred to at one time.
    leaving: Vec<u32>,
}

/// Keeps the key out of logs.
impl core::fmt::Debug for Holders {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Holders").field("len", &self.len()).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug)]
struct Holding {
    owner: Owner,
    references: u32,
    /// True while the number stands in the list of those that leave.
    leaves: bool,
}

impl Holders {
    /// No owners. Their table is hashed under `key`, which should be random.
    pub fn new(key: &Key) -> Self {
        Self {
            numbers: Batched::with_capacity(0),
            hasher: SipHash13::new(key),
            places: Vec::new(),
            free: Vec::new(),
            leaving: Vec::new(),
        }
    }

    /// Number of owners.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// True if there are no owners.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Refers to an owner, and returns its number.
    pub fn acquire(&mut self, owner: Owner) -> Holder {
        let hash = owner.hash(&self.hasher);
        let index = match self.numbers.find(hash, &owner) {
            Some(index) => *index,
            None => {
                let place = Holding { owner, references: 0, leaves: false };
                let index = match self.free.pop() {
                    Some(index) => {
                        if let Some(free) = self.places.get_mut(index as usize) {
                            *free = place;
                        }
                        index
                    }
                    None => {
                        self.places.push(place);
                        (self.places.len() - 1) as u32
                    }
                };
                let hasher = &self.hasher;
                self.numbers.insert(hash, owner, index, |owner| owner.hash(hasher));
                index
            }
        };
        if let Some(place) = self.places.get_mut(index as usize) {
            place.references += 1;
        }
        Holder { index, remote: owner.is_remote() }
    }

    /// Drops a reference. The number stays valid until [`collect`](Self::collect) finds that the owner holds
    /// nothing.
    pub fn release(&mut self, holder: Holder) {
        let Some(place) = self.places.get_mut(holder.index as usize) else {
            debug_assert!(false, "holders are numbered here");
            return;
        };
        debug_assert!(place.references > 0, "a reference is dropped once");
        place.references = place.references.saturating_sub(1);
        if place.references == 0 && !core::mem::replace(&mut place.leaves, true) {
            self.leaving.push(holder.index);
        }
    }

    /// Removes the owners that nothing refers to, and for which `is_idle` is true: they hold nothing. Visits
    /// only those that were released since, or were not idle at the last call.
    pub fn collect(&mut self, mut is_idle: impl FnMut(Holder) -> bool) {
        let Self { numbers, hasher, places, free, leaving } = self;
        leaving.retain(|&index| {
            let Some(place) = places.get_mut(index as usize) else { return false };
            let holder = Holder { index, remote: place.owner.is_remote() };
            if place.references == 0 && !is_idle(holder) {
                return true;
            }
            place.leaves = false;
            if place.references == 0 {
                let removed = numbers.remove(place.owner.hash(&*hasher), &place.owner);
                debug_assert!(removed.is_some(), "an owner with a number is in the table");
                free.push(index);
            }
            false
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_keeps_its_number_until_nothing_refers_to_it_and_it_holds_nothing() {
        let mut holders = Holders::new(&Key::VECTOR);
        let [a, b] = [Owner::Ipv4(1), Owner::User(1)].map(|owner| holders.acquire(owner));
        assert_eq!((holders.acquire(Owner::Ipv4(1)), a.is_remote(), b.is_remote()), (a, true, false));
        holders.release(a);
        holders.collect(|_| true);
        assert_eq!(holders.len(), 2, "a second reference");
        holders.release(a);
        holders.collect(|_| false);
        assert_eq!((holders.len(), holders.acquire(Owner::Ipv4(1))), (2, a), "it still holds something");
        holders.collect(|_| true);
        assert_eq!(holders.len(), 2, "it is back");
        holders.release(a);
        holders.collect(|_| true);
        assert_eq!(holders.len(), 1);
        assert_eq!(holders.acquire(Owner::Ipv4(2)), a, "the number is free again");
        assert_eq!(holders.acquire(Owner::User(1)), b);
    }

    #[test]
    fn owners_that_come_and_go_leave_nothing_behind() {
        let mut holders = Holders::new(&Key::VECTOR);
        for address in 0..10_000 {
            let holder = holders.acquire(Owner::Ipv4(address));
            holders.release(holder);
            if address % 100 == 0 {
                holders.collect(|_| true);
            }
        }
        assert!(holders.places.len() <= 101 && holders.leaving.len() <= 101 && holders.len() <= 101);
    }
}
