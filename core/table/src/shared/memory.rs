//! The memory that the writer and the readers share. [The module](super) explains each memory ordering.

use super::entries::Entries;
use super::index::Index;
use super::sync::{Acquire, AtomicU64, Relaxed, Release, fence};
use alloc::boxed::Box;
use bytemuck::Pod;
use core::array;
use once_cell::race::OnceBox;

/// Indexes of a table's life, each twice as large as the one before.
const INDEXES: usize = 32;

/// A table's words.
#[derive(Debug)]
pub(super) struct Memory<const N: usize, V> {
    /// Twice the number of the index in use; one more while its tickets are copied to the next.
    state: AtomicU64,
    indexes: [OnceBox<Index>; INDEXES],
    pub(super) entries: Entries<N, V>,
    /// The bits of a ticket that are its place.
    mask: u64,
}

/// An entry that was found.
pub(super) struct Found<V> {
    pub(super) value: V,
    pub(super) ticket: u64,
}

impl<const N: usize, V: Pod> Memory<N, V> {
    /// Memory for `room` entries at `room_places` places of `places`.
    pub(super) fn new(room: usize, room_places: usize, places: usize) -> Self {
        let indexes: [OnceBox<Index>; INDEXES] = array::from_fn(|_| OnceBox::new());
        if let Some(first) = indexes.first() {
            first.get_or_init(|| Box::new(Index::new(room)));
        }
        let mask = places.next_power_of_two() as u64 - 1;
        Self { state: AtomicU64::new(0), indexes, entries: Entries::new(room_places, places), mask }
    }

    /// The place that a ticket names.
    #[inline(always)]
    pub(super) fn place(&self, ticket: u64) -> usize {
        // The lowest bits, as many as the number of places needs; above them the ticket counts.
        (ticket & self.mask) as usize
    }

    #[inline(always)]
    fn index(&self, number: u64) -> Option<&Index> {
        self.indexes.get(number as usize)?.get()
    }

    /// The index in use and, while tickets are copied to it, the one before.
    #[inline(always)]
    fn indexes(&self, state: u64) -> (Option<&Index>, Option<&Index>) {
        let old = if state.is_multiple_of(2) { None } else { self.index(state / 2) };
        (self.index(state.div_ceil(2)), old)
    }

    /// The entry of `key`, for readers and for the writer.
    #[inline(always)]
    pub(super) fn find(&self, hash: u64, key: &[u64; N]) -> Option<Found<V>> {
        loop {
            let state = self.state.load(Acquire);
            let found = self.find_in(self.indexes(state), hash, key);
            if self.state.load(Acquire) == state {
                return found;
            }
        }
    }

    #[inline(always)]
    fn find_in(
        &self,
        (index, old): (Option<&Index>, Option<&Index>),
        hash: u64,
        key: &[u64; N],
    ) -> Option<Found<V>> {
        let read = |ticket| self.entries.value_of(self.place(ticket), key);
        let find = |index: &Index| {
            if Entries::<N, V>::WIDE {
                index.find::<V, true>(hash, read)
            } else {
                index.find::<V, false>(hash, read)
            }
        };
        let found = index.and_then(find).or_else(|| old.and_then(find));
        found.map(|(ticket, value)| Found { value, ticket })
    }

    /// The index in which a find begins.
    #[inline(always)]
    pub(super) fn first_index(&self) -> Option<&Index> {
        self.indexes(self.state.load(Acquire)).0
    }

    /// Writes an entry to the place of `ticket`, which no slot names, and then enters the ticket. For the
    /// writer.
    pub(super) fn add(&self, hash: u64, ticket: u64, key: &[u64; N], value: &V) {
        self.write(ticket, key, value);
        if let (Some(index), _) = self.current() {
            index.enter(hash, ticket);
        }
    }

    /// Writes an entry to the place of another ticket, and then replaces its ticket by that. For the writer.
    pub(super) fn replace(&self, hash: u64, ticket: u64, by: u64, key: &[u64; N], value: &V) {
        self.write(by, key, value);
        let (index, old) = self.current();
        index.into_iter().chain(old).for_each(|index| index.replace(hash, ticket, by));
    }

    fn write(&self, ticket: u64, key: &[u64; N], value: &V) {
        let place = self.place(ticket);
        self.entries.reserve(place);
        // Whoever reads one of the words below sees, after its own fence, that the place was taken from its
        // last entry.
        fence(Release);
        self.entries.write(place, key, value);
    }

    /// Takes a ticket out. For the writer.
    pub(super) fn take(&self, hash: u64, ticket: u64) {
        let (index, old) = self.current();
        index.into_iter().chain(old).for_each(|index| index.take(hash, ticket));
    }

    /// The index in use, and the one before while tickets are copied. For the writer.
    pub(super) fn current(&self) -> (Option<&Index>, Option<&Index>) {
        self.indexes(self.state.load(Relaxed))
    }

    /// Makes an index of twice the size, which is in use from now on beside the old one. For the writer.
    pub(super) fn begin_growth(&self) {
        let state = self.state.load(Relaxed);
        let (Some(index), Some(next)) = (self.index(state / 2), self.indexes.get(state as usize / 2 + 1))
        else {
            debug_assert!(false, "an index beyond the limit");
            return;
        };
        next.get_or_init(|| Box::new(Index::new(2 * index.capacity())));
        self.state.store(state + 1, Release);
    }

    /// Retires the old index, all of whose tickets were copied. For the writer.
    pub(super) fn end_growth(&self) {
        self.state.store(self.state.load(Relaxed) + 1, Release);
    }
}
