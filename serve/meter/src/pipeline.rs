//! Batches of packets on their way to the table of flows.

use crate::biflow::Observed;
use crate::packet::Packet;
use hashlane_flow::burst::{BURST, Hashes, Keys};
use hashlane_flow::key::MeterKey;

/// Three batches, each one step behind the next: one is filled, hashed and its buckets are prefetched; one
/// waits for its entries; one is counted. They are on the stack of the caller.
pub(crate) struct Pipeline {
    batches: [Batch; 3],
    newest: usize,
}

impl Pipeline {
    pub(crate) const fn new() -> Self {
        Self { batches: [Batch::EMPTY; 3], newest: 0 }
    }

    /// Adds a packet to the newest batch. Returns true if that is full.
    #[inline(always)]
    pub(crate) fn push(&mut self, packet: &Packet) -> bool {
        let batch = self.newest();
        let places = batch.keys.get_mut(batch.len).zip(batch.observed.get_mut(batch.len));
        debug_assert!(places.is_some(), "a full batch was not turned");
        if let Some((key, observed)) = places {
            (*key, *observed) = (packet.dissected.key, Observed::new(&packet.dissected, packet.time));
            batch.len += 1;
        }
        batch.len == BURST
    }

    #[inline(always)]
    pub(crate) fn newest(&mut self) -> &mut Batch {
        &mut self.batches[self.newest]
    }

    #[inline(always)]
    pub(crate) fn middle(&self) -> &Batch {
        &self.batches[(self.newest + 2) % 3]
    }

    #[inline(always)]
    pub(crate) fn oldest(&mut self) -> &mut Batch {
        &mut self.batches[(self.newest + 1) % 3]
    }

    /// Empties the oldest batch, which becomes the newest.
    #[inline(always)]
    pub(crate) fn turn(&mut self) {
        self.newest = (self.newest + 1) % 3;
        self.newest().len = 0;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.batches.iter().all(|batch| batch.len == 0)
    }
}

/// Packets with the keys and hashes of their flows, at most [`BURST`].
pub(crate) struct Batch {
    keys: [MeterKey; BURST],
    observed: [Observed; BURST],
    hashes: Hashes,
    len: usize,
    /// Tick of the table at which it became full.
    pub(crate) tick: u32,
}

impl Batch {
    const EMPTY: Self = Self {
        keys: [MeterKey::EMPTY; BURST],
        observed: [Observed::NONE; BURST],
        hashes: [0; BURST],
        len: 0,
        tick: 0,
    };

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    pub(crate) fn keys(&mut self) -> Keys<'_, MeterKey> {
        self.parts().0
    }

    #[inline(always)]
    pub(crate) fn hashes(&self) -> &[u64] {
        first(&self.hashes, self.len)
    }

    #[inline(always)]
    pub(crate) fn parts(&mut self) -> (Keys<'_, MeterKey>, &[Observed]) {
        (Keys::new(first(&self.keys, self.len), &mut self.hashes), &self.observed)
    }
}

/// The first `len` of the places of a burst.
#[inline(always)]
pub(crate) fn first<T>(places: &[T; BURST], len: usize) -> &[T] {
    debug_assert!(len <= BURST, "{len} places of {BURST}");
    places.get(..len).unwrap_or(places)
}
