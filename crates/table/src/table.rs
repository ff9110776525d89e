//! What all tables can do.

/// An exact-match table from keys to values, whose caller hashes the keys.
///
/// The hash of a key must be the same each time. Tables take bits from both ends of it, so that all 64 should be good;
/// of a hash of 32 bits the caller copies the lower half over the upper half.
///
/// An entry stands in a *slot*, a number below [`slots`](Self::slots). Whether it stays there while it lives is stated by
/// [`SLOTS_STAY`](Self::SLOTS_STAY).
pub trait Table<K, V> {
    /// Whether an entry stays in its slot until it is removed; otherwise only until an insertion that says
    /// [`Inserted::moved`].
    const SLOTS_STAY: bool;

    /// An empty table with room for `entries`. It takes no more memory until it has had more than that at
    /// once, however many come and go; then it grows where its shape can.
    fn with_capacity(entries: usize) -> Self;

    /// How many entries there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory that the table takes, free places included, except what keys and values own besides.
    /// It does not shrink.
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

    /// Brings into the cache what tells where the entry with this hash stands, if the CPU has time for it.
    fn prefetch(&self, hash: u64);

    /// Brings into the cache the entry that [`find`](Self::find) would compare first, if there is one.
    fn prefetch_entry(&self, hash: u64);

    /// How many entries [`find`](Self::find) compares with a key before it answers: what an attacker wants to be high.
    fn compared(&self, hash: u64, key: &K) -> usize;

    /// All entries with their slots, in no order that means anything.
    fn iter<'a>(&'a self) -> impl Iterator<Item = (u32, &'a K, &'a V)>
    where
        K: 'a,
        V: 'a;
}

/// Where an entry was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inserted {
    /// The slot.
    pub slot: u32,
    /// Whether other entries were moved to other slots; never where [`Table::SLOTS_STAY`].
    pub moved: bool,
}
