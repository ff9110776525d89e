//! The memory that the writer and the readers share. [The module](super) explains each memory ordering.

use super::sync::{Acquire, AtomicU64, Relaxed, Release, fence};
use crate::batched::{probe, tag};
use alloc::boxed::Box;
use core::array;

/// Slots of a bucket. Loom's models stay small with two, and still have full buckets.
pub(super) const SLOTS: usize = if cfg!(loom) { 2 } else { 7 };

/// Slots of a bucket that are taken on average when the table is full.
const MOST_IN_BUCKET: usize = if cfg!(loom) { 1 } else { 5 };

/// Bits of a slot's word below the tag: the ticket.
const TICKET_BITS: u32 = 48;

/// A table's words.
#[derive(Debug)]
pub(super) struct Memory<const N: usize> {
    buckets: Box<[Bucket]>,
    entries: Box<[Entry<N>]>,
}

/// One cache line.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Bucket {
    /// Tag and ticket; 0 in a free slot.
    slots: [AtomicU64; SLOTS],
    /// Entries that passed this bucket because it was full.
    passed: AtomicU64,
}

/// A place for an entry: words of whichever entry was here last, if a slot names it or not.
#[derive(Debug)]
pub(super) struct Entry<const N: usize> {
    key: [AtomicU64; N],
    value: AtomicU64,
}

/// An entry that was found.
pub(super) struct Found<'a, const N: usize> {
    pub(super) value: u64,
    /// The number of its bucket.
    bucket: usize,
    slot: &'a AtomicU64,
    /// The word of the slot.
    word: u64,
    entry: &'a Entry<N>,
}

impl<const N: usize> Memory<N> {
    pub(super) fn new(entries: usize, places: usize) -> Self {
        let buckets = entries.div_ceil(MOST_IN_BUCKET).next_power_of_two();
        Self {
            buckets: (0..buckets).map(|_| Bucket::empty()).collect(),
            entries: (0..places).map(|_| Entry::empty()).collect(),
        }
    }

    /// Number of places for entries.
    pub(super) fn places(&self) -> usize {
        self.entries.len()
    }

    /// The next ticket for the place of `ticket`.
    pub(super) fn next_ticket(&self, ticket: u64) -> u64 {
        ticket.wrapping_add(self.places().next_power_of_two() as u64) & ((1 << TICKET_BITS) - 1)
    }

    /// The place that a ticket or a slot's word names.
    #[inline(always)]
    fn entry(&self, ticket: u64) -> Option<&Entry<N>> {
        // The lowest bits, as many as the number of places needs; above them the ticket counts.
        self.entries.get(ticket as usize & (self.entries.len().next_power_of_two() - 1))
    }

    /// The place that a ticket names.
    pub(super) fn place(&self, ticket: u64) -> Option<u32> {
        let place = ticket as usize & (self.entries.len().next_power_of_two() - 1);
        (place < self.entries.len()).then_some(place as u32)
    }

    /// The key at a place. For the writer.
    pub(super) fn key_at(&self, place: u32) -> Option<[u64; N]> {
        self.entries.get(place as usize).map(|entry| entry.read().0)
    }

    /// The entry of `key`, for readers and for the writer.
    #[inline(always)]
    pub(super) fn find(&self, hash: u64, key: &[u64; N]) -> Option<Found<'_, N>> {
        for at in probe(self.buckets.len(), hash) {
            let bucket = self.buckets.get(at)?;
            for (slot, word) in bucket.matching(hash) {
                let Some(entry) = self.entry(word) else { continue };
                let value = entry.value_of(key);
                fence(Acquire);
                if let Some(value) = value
                    && slot.load(Acquire) == word
                {
                    return Some(Found { value, bucket: at, slot, word, entry });
                }
            }
            if bucket.passed.load(Acquire) == 0 {
                return None;
            }
        }
        None
    }

    /// The first bucket of a find.
    #[inline(always)]
    pub(super) fn first_bucket(&self, hash: u64) -> Option<&Bucket> {
        self.buckets.get(hash as usize & (self.buckets.len() - 1))
    }

    /// The place that a find would look at first.
    #[inline(always)]
    pub(super) fn first_entry(&self, hash: u64) -> Option<&Entry<N>> {
        let (_, word) = self.first_bucket(hash)?.matching(hash).next()?;
        self.entry(word)
    }

    /// Writes an entry to the place of `ticket`, which no slot names, and then its word to a slot. For the
    /// writer.
    pub(super) fn add(&self, hash: u64, ticket: u64, key: &[u64; N], value: u64) {
        // Whoever reads one of the words below sees, after its own fence, that the place was taken from its
        // last entry.
        fence(Release);
        if let Some(entry) = self.entry(ticket) {
            entry.key.iter().zip(key).for_each(|(to, word)| to.store(*word, Relaxed));
            entry.value.store(value, Relaxed);
        }
        for bucket in probe(self.buckets.len(), hash).filter_map(|at| self.buckets.get(at)) {
            if let Some(slot) = bucket.slots.iter().find(|slot| slot.load(Relaxed) == 0) {
                slot.store(u64::from(tag(hash)) << TICKET_BITS | ticket, Release);
                return;
            }
            bucket.passed.store(bucket.passed.load(Relaxed).saturating_add(1), Relaxed);
        }
    }

    /// Takes an entry out; its ticket. For the writer.
    pub(super) fn take(&self, hash: u64, found: &Found<'_, N>) -> u64 {
        found.slot.store(0, Release);
        let passed = probe(self.buckets.len(), hash).take_while(|at| *at != found.bucket);
        for bucket in passed.filter_map(|at| self.buckets.get(at)) {
            bucket.passed.store(bucket.passed.load(Relaxed).saturating_sub(1), Release);
        }
        found.ticket()
    }

    /// All entries. For the writer: another would see them at different moments.
    pub(super) fn iter(&self) -> impl Iterator<Item = ([u64; N], u64)> {
        let words = self.buckets.iter().flat_map(|bucket| &bucket.slots).map(|slot| slot.load(Relaxed));
        words.filter(|word| *word != 0).filter_map(|word| self.entry(word)).map(Entry::read)
    }
}

impl Bucket {
    fn empty() -> Self {
        Self { slots: array::from_fn(|_| AtomicU64::new(0)), passed: AtomicU64::new(0) }
    }

    /// The slots with the tag of a hash, and their words, all read at the beginning.
    #[inline(always)]
    fn matching(&self, hash: u64) -> impl Iterator<Item = (&AtomicU64, u64)> {
        let words = self.slots.each_ref().map(|slot| slot.load(Acquire));
        let tag = u64::from(tag(hash));
        // Compared without branches: which slot it is, the CPU could not predict.
        let bit = |(at, word): (usize, &u64)| u32::from(word >> TICKET_BITS == tag) << at;
        let mut positions = words.iter().enumerate().map(bit).fold(0, |bits, bit| bits | bit);
        core::iter::from_fn(move || {
            let position = positions.trailing_zeros() as usize;
            positions &= positions.wrapping_sub(1);
            Some((self.slots.get(position)?, *words.get(position)?))
        })
    }
}

impl<const N: usize> Entry<N> {
    fn empty() -> Self {
        Self { key: array::from_fn(|_| AtomicU64::new(0)), value: AtomicU64::new(0) }
    }

    /// The value, if the key is `key`. Words of several entries may be among those read.
    #[inline(always)]
    fn value_of(&self, key: &[u64; N]) -> Option<u64> {
        let same = self.key.iter().zip(key).all(|(word, other)| word.load(Relaxed) == *other);
        same.then(|| self.value.load(Relaxed))
    }

    fn read(&self) -> ([u64; N], u64) {
        (self.key.each_ref().map(|word| word.load(Relaxed)), self.value.load(Relaxed))
    }
}

impl<const N: usize> Found<'_, N> {
    /// The ticket of the entry.
    pub(super) fn ticket(&self) -> u64 {
        self.word & ((1 << TICKET_BITS) - 1)
    }

    /// Changes the value. For the writer.
    pub(super) fn change(&self, value: u64) {
        self.entry.value.store(value, Release);
    }
}
