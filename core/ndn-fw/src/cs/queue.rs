//! Eviction queue: a linked list through the packets of the store.

use super::cached::{Cached, Link, NONE};

/// Eviction queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    first: u32,
    last: u32,
}

impl Default for Queue {
    fn default() -> Self {
        Self { first: NONE, last: NONE }
    }
}

/// Changes the link of a packet; returns false if the slot has none.
#[inline(always)]
fn relink(packets: &mut [Option<Cached>], slot: u32, change: impl FnOnce(&mut Link)) -> bool {
    let cached = packets.get_mut(slot as usize).and_then(Option::as_mut);
    cached.map(|cached| change(&mut cached.link)).is_some()
}

impl Queue {
    /// Oldest packet of the queue.
    pub(super) fn first(&self) -> Option<u32> {
        (self.first != NONE).then_some(self.first)
    }

    /// Appends a packet, which is in no queue.
    #[inline(always)]
    pub(super) fn push(&mut self, packets: &mut [Option<Cached>], slot: u32) {
        let prev = core::mem::replace(&mut self.last, slot);
        let linked = relink(packets, slot, |link| *link = Link { next: NONE, prev });
        debug_assert!(linked, "a queued packet exists");
        if !relink(packets, prev, |link| link.next = slot) {
            self.first = slot;
        }
    }

    /// Removes a packet from this queue.
    #[inline(always)]
    pub(super) fn remove(&mut self, packets: &mut [Option<Cached>], slot: u32) {
        let mut old = Link::default();
        let linked = relink(packets, slot, |link| old = core::mem::take(link));
        debug_assert!(linked, "a queued packet exists");
        if !relink(packets, old.prev, |link| link.next = old.next) {
            self.first = old.next;
        }
        if !relink(packets, old.next, |link| link.prev = old.prev) {
            self.last = old.prev;
        }
    }
}
