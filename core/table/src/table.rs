//! The operations of all tables.

/// An exact-match table from keys to values, whose caller hashes the keys.
///
/// The hash of a key must be the same each time. Tables take bits from both ends of it, so that all 64 should
/// be good; the caller copies the lower half of a hash of 32 bits to the upper half.
///
/// An entry has a *slot*, a number below [`slots`](Self::slots). [`SLOTS_STAY`](Self::SLOTS_STAY) states if
/// it keeps that slot.
pub trait Table<K, V> {
    /// True if an entry keeps its slot until it is removed; otherwise it does so only until an insertion that
    /// returns [`Inserted::moved`].
    const SLOTS_STAY: bool;

    /// An empty table with room for `entries`. Its memory grows only when it has more entries than that at
    /// once, however many come and go, and only if its shape can grow.
    fn with_capacity(entries: usize) -> Self;

    /// Number of entries.
    fn len(&self) -> usize;

    /// Returns true if the table has no entries.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory of the table, free places included, without the heap memory of keys and values. It
    /// does not shrink.
    fn memory(&self) -> usize;

    /// The bound of the slots' numbers.
    fn slots(&self) -> usize;

    /// The value of `key`.
    fn find(&self, hash: u64, key: &K) -> Option<&V>;

    /// The value of `key`, to change it.
    fn find_mut(&mut self, hash: u64, key: &K) -> Option<&mut V>;

    /// The entry in a slot, if there is one.
    fn entry(&self, slot: u32) -> Option<(&K, &V)>;

    /// Adds an entry whose key is not in the table. If `key` is present, both entries stay; which one
    /// [`find`](Self::find) returns is unspecified.
    ///
    /// `rehash` gives the hash of any key in the table, for when it grows.
    fn insert(&mut self, hash: u64, key: K, value: V, rehash: impl Fn(&K) -> u64) -> Inserted;

    /// Takes out the entry of `key` and returns its value.
    fn remove(&mut self, hash: u64, key: &K) -> Option<V>;

    /// Prefetches the bucket of this hash; a hint.
    fn prefetch(&self, hash: u64);

    /// The slot that an insertion after `ahead` others takes, if it was in use before, for prefetching.
    #[inline(always)]
    fn free_slot(&self, ahead: usize) -> Option<u32> {
        let _ = ahead;
        None
    }

    /// Prefetches the entry in a slot; a hint.
    #[inline(always)]
    fn prefetch_slot(&self, slot: u32) {
        let _ = slot;
    }

    /// Brings into the cache the entry that [`find`](Self::find) would compare first, if there is one.
    fn prefetch_entry(&self, hash: u64);

    /// Number of entries that [`find`](Self::find) compares with the key. An attacker wants it high.
    fn comparisons(&self, hash: u64, key: &K) -> usize;

    /// All entries with their slots, in no order that means anything.
    fn iter<'a>(&'a self) -> impl Iterator<Item = (u32, &'a K, &'a V)>
    where
        K: 'a,
        V: 'a;
}

/// The place of a new entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inserted {
    /// The slot.
    pub slot: u32,
    /// True if other entries moved to other slots; never with [`Table::SLOTS_STAY`].
    pub moved: bool,
}
