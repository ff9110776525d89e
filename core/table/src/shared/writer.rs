//! The end that inserts and removes.

use super::entries::Entries;
use super::free::Free;
use super::memory::Memory;
use alloc::sync::Arc;
use bytemuck::Pod;

/// Inserts and removes entries while [`Reader`](super::Reader)s find them. There is one for each table; it
/// may go from thread to thread.
#[derive(Debug)]
pub struct Writer<const N: usize, V = u64> {
    memory: Arc<Memory<N, V>>,
    free: Free,
    len: usize,
    limit: usize,
    /// Buckets of the old index whose tickets were copied.
    copied: usize,
}

impl<const N: usize, V: Pod> Writer<N, V> {
    pub(super) fn new(memory: Arc<Memory<N, V>>, limit: usize, room_places: usize) -> Self {
        let free = Free::new(room_places, memory.entries.places());
        Self { memory, free, len: 0, limit, copied: 0 }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if the table has no entries.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Maximum number of entries.
    pub fn capacity(&self) -> usize {
        self.limit
    }

    /// The value of `key`.
    #[inline]
    pub fn find(&self, hash: u64, key: &[u64; N]) -> Option<V> {
        self.memory.find(hash, key).map(|found| found.value)
    }

    /// Inserts `key` or replaces its value; returns the old value. `rehash` gives the hash of any key in the
    /// table, for when it grows: each insertion then moves the tickets of one bucket, at most seven.
    ///
    /// A value is replaced in one step: readers find the old one or the new one.
    ///
    /// # Errors
    /// [`InsertError::Full`] if `key` is not in the table and the table is full.
    pub fn insert(
        &mut self,
        hash: u64,
        key: &[u64; N],
        value: V,
        rehash: impl Fn(&[u64; N]) -> u64,
    ) -> Result<Option<V>, InsertError> {
        if let Some(found) = self.memory.find(hash, key) {
            if Entries::<N, V>::WIDE {
                let ticket = self.free.pop().ok_or(InsertError::Full)?;
                self.memory.replace(hash, found.ticket, ticket, key, &value);
                self.free.push(found.ticket);
            } else {
                self.memory.entries.change(self.memory.place(found.ticket), &value);
            }
            return Ok(Some(found.value));
        }
        if self.len >= self.limit {
            return Err(InsertError::Full);
        }
        let ticket = self.free.pop().ok_or(InsertError::Full)?;
        self.grow(rehash);
        self.memory.add(hash, ticket, key, &value);
        self.len += 1;
        Ok(None)
    }

    /// A step of a growth, if one is under way or has to begin.
    ///
    /// An index of B buckets is full with 5 B entries, and copied within B insertions: long before the next,
    /// of 2 B buckets, is full.
    #[inline]
    fn grow(&mut self, rehash: impl Fn(&[u64; N]) -> u64) {
        match self.memory.current() {
            (_, Some(_)) => self.copy(rehash),
            (Some(index), None) if self.len >= index.capacity() => {
                self.memory.begin_growth();
                self.copied = 0;
                self.copy(rehash);
            }
            _ => {}
        }
    }

    /// Copies the tickets of one bucket from the old index.
    #[cold]
    fn copy(&mut self, rehash: impl Fn(&[u64; N]) -> u64) {
        let (Some(index), Some(old)) = self.memory.current() else { return };
        for ticket in old.tickets(self.copied) {
            if let Some(key) = self.memory.entries.key(self.memory.place(ticket)) {
                index.enter(rehash(&key), ticket);
            }
        }
        self.copied += 1;
        if self.copied == old.len() {
            self.memory.end_growth();
        }
    }

    /// Number of the place of `key`'s entry, below [`places`](Self::places). An entry keeps its place until a
    /// value of more than 8 bytes is replaced.
    pub fn place(&self, hash: u64, key: &[u64; N]) -> Option<u32> {
        let found = self.memory.find(hash, key)?;
        Some(self.memory.place(found.ticket) as u32)
    }

    /// The bound of the places' numbers: the capacity and an eighth. The lowest are taken first.
    pub fn places(&self) -> usize {
        self.memory.entries.places()
    }

    /// The words of the key that had a place last. A removal leaves them.
    pub fn last_key(&self, place: u32) -> Option<[u64; N]> {
        self.memory.entries.key(place as usize)
    }

    /// Takes out the entry of `key`; the value that it had.
    pub fn remove(&mut self, hash: u64, key: &[u64; N]) -> Option<V> {
        let found = self.memory.find(hash, key)?;
        self.memory.take(hash, found.ticket);
        self.free.push(found.ticket);
        self.len -= 1;
        Some(found.value)
    }

    /// All entries, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = ([u64; N], V)> {
        let (index, old) = self.memory.current();
        let places = index.into_iter().flat_map(|index| index.tickets_from(0));
        let places = places.chain(old.into_iter().flat_map(|old| old.tickets_from(self.copied)));
        let entries = &self.memory.entries;
        let places = places.map(|ticket| self.memory.place(ticket));
        places.filter_map(|place| Some((entries.key(place)?, entries.value(place)?)))
    }
}

/// The reason that a key was not inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InsertError {
    /// The table holds as many entries as it was made for.
    #[error("the table is full")]
    Full,
}
