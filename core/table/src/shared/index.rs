//! Buckets of slots: from a hash to the tickets of entries. [The module](super) explains each memory
//! ordering.

use super::sync::{Acquire, AtomicU64, Relaxed, Release, fence, zeros};
use crate::index::{probe, tag};
use alloc::boxed::Box;

/// Slots of a bucket. Loom's models stay small with two, and still have full buckets.
const SLOTS: usize = if cfg!(loom) { 2 } else { 7 };

/// Slots of a bucket that are taken on average when the index is full.
const MOST_IN_BUCKET: usize = if cfg!(loom) { 1 } else { 5 };

/// Bits of a slot's word below the tag: the ticket.
pub(super) const TICKET_BITS: u32 = 48;

/// Words of a cache line.
const LINE: usize = 8;

/// Buckets, a power of two.
#[derive(Debug)]
pub(super) struct Index {
    words: Box<[AtomicU64]>,
    /// Words before the first bucket, which begins a cache line.
    before: usize,
    buckets: usize,
}

/// One cache line: the slots, each tag and ticket or 0 if it is free, and the number of entries that passed
/// this bucket because it was full.
pub(super) type Bucket = [AtomicU64; SLOTS + 1];

/// The word of a slot.
fn word_of(hash: u64, ticket: u64) -> u64 {
    u64::from(tag(hash)) << TICKET_BITS | ticket
}

/// The ticket in a slot's word.
fn ticket_in(word: u64) -> u64 {
    word & ((1 << TICKET_BITS) - 1)
}

impl Index {
    /// An index of empty buckets for `entries`.
    pub(super) fn new(entries: usize) -> Self {
        let buckets = entries.div_ceil(MOST_IN_BUCKET).next_power_of_two();
        let words = zeros(buckets.saturating_mul(SLOTS + 1).saturating_add(LINE - 1));
        let before = words.as_ptr().addr() / size_of::<u64>() % LINE;
        Self { words, before: (LINE - before) % LINE, buckets }
    }

    /// Number of buckets.
    pub(super) fn len(&self) -> usize {
        self.buckets
    }

    /// Entries that it holds before it should grow.
    pub(super) fn capacity(&self) -> usize {
        self.buckets * MOST_IN_BUCKET
    }

    #[inline(always)]
    fn bucket(&self, at: usize) -> Option<&Bucket> {
        self.words.get(self.before..)?.as_chunks().0.get(at)
    }

    /// The first bucket of a find.
    #[inline(always)]
    pub(super) fn first_bucket(&self, hash: u64) -> Option<&Bucket> {
        self.bucket(hash as usize & (self.buckets - 1))
    }

    /// The ticket in the first slot of the first bucket that has the tag of a hash.
    #[inline(always)]
    pub(super) fn first_ticket(&self, hash: u64) -> Option<u64> {
        matching(self.first_bucket(hash)?, hash).next().map(|(_, word)| ticket_in(word))
    }

    /// The first ticket of this hash for which `read` returns a value, and that value. `read` may meet words
    /// of several entries; its result counts only if the slot has kept its word meanwhile.
    ///
    /// With `REPLACED`, a word may be replaced by another of the same key, which is then read instead.
    #[inline(always)]
    pub(super) fn find<V, const REPLACED: bool>(
        &self,
        hash: u64,
        read: impl Fn(u64) -> Option<V>,
    ) -> Option<(u64, V)> {
        for at in probe(self.buckets, hash) {
            let bucket = self.bucket(at)?;
            for (slot, mut word) in matching(bucket, hash) {
                loop {
                    let ticket = ticket_in(word);
                    let value = read(ticket);
                    fence(Acquire);
                    let now = slot.load(Acquire);
                    if now == word {
                        match value {
                            Some(value) => return Some((ticket, value)),
                            None => break,
                        }
                    }
                    if !REPLACED || word_of(hash, ticket_in(now)) != now {
                        break;
                    }
                    word = now;
                }
            }
            if passed(bucket).load(Acquire) == 0 {
                return None;
            }
        }
        None
    }

    /// Enters a ticket into the first free slot. For the writer.
    pub(super) fn enter(&self, hash: u64, ticket: u64) {
        for bucket in probe(self.buckets, hash).filter_map(|at| self.bucket(at)) {
            if let Some(slot) = slots(bucket).iter().find(|slot| slot.load(Relaxed) == 0) {
                slot.store(word_of(hash, ticket), Release);
                return;
            }
            let passed = passed(bucket);
            passed.store(passed.load(Relaxed).saturating_add(1), Relaxed);
        }
        debug_assert!(false, "an index holds more entries than slots");
    }

    /// Replaces a ticket by another, in its slot. Does nothing without it. For the writer.
    pub(super) fn replace(&self, hash: u64, ticket: u64, by: u64) {
        if let Some((_, slot)) = self.slot_of(hash, ticket) {
            slot.store(word_of(hash, by), Release);
        }
    }

    /// Takes a ticket out. Does nothing without it. For the writer.
    pub(super) fn take(&self, hash: u64, ticket: u64) {
        let Some((last, slot)) = self.slot_of(hash, ticket) else { return };
        slot.store(0, Release);
        let before = probe(self.buckets, hash).take_while(|at| *at != last);
        for passed in before.filter_map(|at| self.bucket(at)).map(passed) {
            passed.store(passed.load(Relaxed).saturating_sub(1), Release);
        }
    }

    /// The bucket and the slot of a ticket. For the writer.
    fn slot_of(&self, hash: u64, ticket: u64) -> Option<(usize, &AtomicU64)> {
        let word = word_of(hash, ticket);
        for at in probe(self.buckets, hash) {
            let bucket = self.bucket(at)?;
            if let Some(slot) = slots(bucket).iter().find(|slot| slot.load(Relaxed) == word) {
                return Some((at, slot));
            }
            if passed(bucket).load(Relaxed) == 0 {
                return None;
            }
        }
        None
    }

    /// The tickets in the buckets from this one on. For the writer, as [`tickets`](Self::tickets).
    pub(super) fn tickets_from(&self, bucket: usize) -> impl Iterator<Item = u64> {
        (bucket..self.buckets).flat_map(|bucket| self.tickets(bucket))
    }

    /// The tickets in a bucket. For the writer: another would see them at different moments.
    pub(super) fn tickets(&self, bucket: usize) -> impl Iterator<Item = u64> {
        let words = self.bucket(bucket).into_iter().flat_map(slots).map(|slot| slot.load(Relaxed));
        words.filter(|word| *word != 0).map(ticket_in)
    }
}

#[inline(always)]
fn slots(bucket: &Bucket) -> &[AtomicU64] {
    let [slots @ .., _] = bucket;
    slots
}

#[inline(always)]
fn passed(bucket: &Bucket) -> &AtomicU64 {
    let [.., passed] = bucket;
    passed
}

/// The slots with the tag of a hash, and their words, all read at the beginning.
#[inline(always)]
fn matching(bucket: &Bucket, hash: u64) -> impl Iterator<Item = (&AtomicU64, u64)> {
    let [slots @ .., _] = bucket;
    let slots: &[AtomicU64; SLOTS] = slots;
    let words = slots.each_ref().map(|slot| slot.load(Acquire));
    let tag = u64::from(tag(hash));
    // Compared without branches: which slot it is, the CPU could not predict.
    let bit = |(at, word): (usize, &u64)| u32::from(word >> TICKET_BITS == tag) << at;
    let mut positions = words.iter().enumerate().map(bit).fold(0, |bits, bit| bits | bit);
    core::iter::from_fn(move || {
        let position = positions.trailing_zeros() as usize;
        positions &= positions.wrapping_sub(1);
        Some((slots.get(position)?, *words.get(position)?))
    })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_one_cache_line() {
        assert_eq!(size_of::<Bucket>(), 64);
        for entries in [1, 40, 5000] {
            let index = Index::new(entries);
            assert_eq!(index.bucket(0).unwrap().as_ptr().addr() % 64, 0);
            assert!(index.bucket(index.len() - 1).is_some());
        }
    }
}
