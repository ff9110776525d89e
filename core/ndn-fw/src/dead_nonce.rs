//! Dead nonce list: names and Nonces of Interests that left the PIT, to detect loops that outlast a PIT
//! entry.
//!
//! The list holds 64-bit hashes under the forwarder's key, in three generations. Insertions go to the newest
//! one and lookups search all. When the newest one is a third of the lifetime old, the oldest one is emptied
//! and becomes the newest. So an entry stays for between two thirds of the lifetime and the lifetime.
//!
//! Source: NFD Developer's Guide, Dead Nonce List.

use hashlane_ndn::time::Time;
use hashlane_table::Table as _;
use hashlane_table::swiss::Swiss;

/// Dead nonce list.
#[derive(Clone, Debug)]
pub struct DeadNonces {
    /// Generations, the newest first.
    generations: [Swiss<u64, ()>; 3],
    /// A third of the lifetime, in milliseconds.
    third: u64,
    /// Time at which the newest generation began.
    since: Time,
    /// Most entries of a generation.
    capacity: usize,
}

/// Longest time that a Nonce is kept, in milliseconds.
pub const LIFETIME: u64 = 9000;

/// Most entries of a generation, by default: as many as a table of 2²⁰ places holds.
const CAPACITY: usize = (1 << 20) / 8 * 7;

impl Default for DeadNonces {
    fn default() -> Self {
        Self {
            generations: core::array::from_fn(|_| Swiss::with_capacity(0)),
            third: LIFETIME / 3,
            since: Time::default(),
            capacity: CAPACITY,
        }
    }
}

impl DeadNonces {
    /// Hash of a Nonce and the keyed hash of a name.
    #[inline(always)]
    fn key(name: u64, nonce: u32) -> u64 {
        let mixed = name ^ u64::from(nonce).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        mixed ^ mixed >> 32
    }

    /// Inserts a Nonce. A full list ignores it; the PIT or the hop limit then ends its loops.
    pub fn insert(&mut self, name: u64, nonce: u32, now: Time) {
        self.handle_timeout(now);
        let key = Self::key(name, nonce);
        let [new, ..] = &mut self.generations;
        if new.len() < self.capacity && new.find(key, &key).is_none() {
            new.insert(key, key, (), |key| *key);
        }
    }

    /// Returns true if the list holds the Nonce of this name.
    #[inline]
    pub fn contains(&mut self, name: u64, nonce: u32, now: Time) -> bool {
        self.handle_timeout(now);
        if self.is_empty() {
            return false;
        }
        let key = Self::key(name, nonce);
        self.generations.iter().any(|generation| generation.find(key, &key).is_some())
    }

    /// Prefetches the buckets that [`contains`](Self::contains) reads.
    #[inline(always)]
    pub(crate) fn prefetch(&self, name: u64, nonce: u32) {
        let key = Self::key(name, nonce);
        self.generations
            .iter()
            .filter(|generation| !generation.is_empty())
            .for_each(|generation| generation.prefetch(key));
    }

    /// Drops the oldest generation when its time is up.
    #[inline]
    pub fn handle_timeout(&mut self, now: Time) {
        let age = now.millis().saturating_sub(self.since.millis());
        if age < self.third {
            return;
        }
        // More than one third may have passed.
        let thirds = age / self.third;
        self.since = self.since.after_millis(thirds * self.third);
        if self.is_empty() {
            return;
        }
        for _ in 0..thirds.min(self.generations.len() as u64) {
            self.generations.rotate_right(1);
            let [new, ..] = &mut self.generations;
            *new = Swiss::with_capacity(0);
        }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.generations.iter().map(|generation| generation.len()).sum()
    }

    /// True if the list has no entries.
    pub fn is_empty(&self) -> bool {
        self.generations.iter().all(|generation| generation.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_a_nonce_for_two_thirds_of_the_lifetime_and_no_longer_than_all_of_it() {
        for inserted in (0..LIFETIME).step_by(700) {
            let mut list = DeadNonces::default();
            list.insert(1, 1, Time::from_millis(1));
            list.insert(2, 2, Time::from_millis(inserted));
            assert!(list.contains(2, 2, Time::from_millis(inserted + LIFETIME / 3 * 2 - 1)), "{inserted}");
            assert!(!list.contains(2, 3, Time::from_millis(inserted)));
            assert!(!list.contains(2, 2, Time::from_millis(inserted + LIFETIME + 1)), "{inserted}");
        }
    }

    #[test]
    fn is_bounded() {
        let mut list = DeadNonces { capacity: 100, ..DeadNonces::default() };
        (0..1000).for_each(|nonce| list.insert(7, nonce, Time::default()));
        assert_eq!(list.len(), 100);
    }
}
