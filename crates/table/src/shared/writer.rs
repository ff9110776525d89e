//! The end that inserts and removes.

use super::memory::Memory;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use core::fmt;

/// Inserts and removes entries while [`Reader`](super::Reader)s find them. There is one for each table; it
/// may go from thread to thread.
#[derive(Debug)]
pub struct Writer<const N: usize> {
    memory: Arc<Memory<N>>,
    /// The tickets of the free places. First in, first out: a place is reused only after all others.
    free: VecDeque<u64>,
    capacity: usize,
}

impl<const N: usize> Writer<N> {
    pub(super) fn new(memory: Arc<Memory<N>>, capacity: usize) -> Self {
        let free = (0..memory.places() as u64).collect();
        Self { memory, free, capacity }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.memory.places() - self.free.len()
    }

    /// Returns true if the table has no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Maximum number of entries.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The value of `key`.
    #[inline]
    pub fn find(&self, hash: u64, key: &[u64; N]) -> Option<u64> {
        self.memory.find(hash, key).map(|found| found.value)
    }

    /// Inserts `key` or changes its value; returns the old value.
    ///
    /// A value is replaced in one step: readers find the old one or the new one.
    ///
    /// # Errors
    /// [`InsertError::Full`] if `key` is not in the table and the table is full.
    pub fn insert(&mut self, hash: u64, key: &[u64; N], value: u64) -> Result<Option<u64>, InsertError> {
        if let Some(found) = self.memory.find(hash, key) {
            found.change(value);
            return Ok(Some(found.value));
        }
        if self.len() >= self.capacity {
            return Err(InsertError::Full);
        }
        let ticket = self.free.pop_front().ok_or(InsertError::Full)?;
        self.memory.add(hash, ticket, key, value);
        Ok(None)
    }

    /// Number of the place of `key`'s entry, below [`places`](Self::places). An entry keeps its place.
    pub fn place(&self, hash: u64, key: &[u64; N]) -> Option<u32> {
        let found = self.memory.find(hash, key)?;
        self.memory.place(found.ticket())
    }

    /// The bound of the places' numbers: the capacity and an eighth.
    pub fn places(&self) -> usize {
        self.memory.places()
    }

    /// The words of the key that had a place last. A removal leaves them.
    pub fn last_key(&self, place: u32) -> Option<[u64; N]> {
        self.memory.key_at(place)
    }

    /// Takes out the entry of `key`; the value that it had.
    pub fn remove(&mut self, hash: u64, key: &[u64; N]) -> Option<u64> {
        let found = self.memory.find(hash, key)?;
        let ticket = self.memory.take(hash, &found);
        self.free.push_back(self.memory.next_ticket(ticket));
        Some(found.value)
    }

    /// All entries, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = ([u64; N], u64)> {
        self.memory.iter()
    }
}

/// The reason that a key was not inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InsertError {
    /// The table holds as many entries as it was made for.
    Full,
}

impl fmt::Display for InsertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("the table is full"),
        }
    }
}

impl core::error::Error for InsertError {}
