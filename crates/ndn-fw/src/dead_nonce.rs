//! Dead nonce list: names and Nonces of Interests that left the PIT, to detect loops that outlast a PIT
//! entry.
//!
//! The list holds 64-bit hashes under the forwarder's key, in two generations. Insertions go to the newer one
//! and lookups search both. When the newer one is half the lifetime old, the older one is emptied and becomes
//! the newer. So an entry stays for between half the lifetime and the lifetime.
//!
//! Source: NFD Developer's Guide, Dead Nonce List.

use hashlane_ndn::time::Time;
use hashlane_table::Table as _;
use hashlane_table::swiss::Swiss;

/// Dead nonce list.
#[derive(Clone, Debug)]
pub struct DeadNonces {
    generations: [Swiss<u64, ()>; 2],
    /// Half the lifetime, in milliseconds.
    half: u64,
    /// Time at which the newer generation began.
    since: Time,
    /// Most entries of a generation.
    capacity: usize,
}

/// Longest time that a Nonce is kept, in milliseconds.
pub const LIFETIME: u64 = 12_000;

/// Most entries of a generation, by default.
const CAPACITY: usize = 1 << 20;

impl Default for DeadNonces {
    fn default() -> Self {
        Self {
            generations: [Swiss::with_capacity(0), Swiss::with_capacity(0)],
            half: LIFETIME / 2,
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
        let [new, _] = &mut self.generations;
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

    /// Drops the older generation when its time is up.
    #[inline]
    pub fn handle_timeout(&mut self, now: Time) {
        let age = now.millis().saturating_sub(self.since.millis());
        if age < self.half {
            return;
        }
        self.since = now;
        if self.is_empty() {
            return;
        }
        let [new, old] = &mut self.generations;
        *old = if age < 2 * self.half {
            core::mem::replace(new, Swiss::with_capacity(0))
        } else {
            *new = Swiss::with_capacity(0);
            Swiss::with_capacity(0)
        };
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
    fn keeps_a_nonce_for_half_the_lifetime_and_no_longer_than_all_of_it() {
        for inserted in (0..12_000).step_by(700) {
            let mut list = DeadNonces::default();
            list.insert(1, 1, Time::from_millis(1));
            list.insert(2, 2, Time::from_millis(inserted));
            assert!(list.contains(2, 2, Time::from_millis(inserted + LIFETIME / 2 - 1)), "{inserted}");
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
