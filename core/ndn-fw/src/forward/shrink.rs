//! Memory given back after a flood.
//!
//! Tables keep the room of the most entries that they have had. A PIT that has become nearly empty is built
//! anew with the few entries that are left, which takes about a millisecond.

use super::forwarder::Forwarder;
use crate::pit::Pit;
use alloc::vec::Vec;
use hashlane_ndn::invariant::Invariant as _;

/// Least memory that is worth giving back, in bytes.
const MIN_BYTES: u64 = 8 << 20;
/// Part of its largest weight that a PIT that is nearly empty has at most: one in so many.
const PART: u64 = 16;
/// Most entries that are moved.
const MAX_MOVED: usize = 1 << 13;
/// Calls in a row that find the PIT nearly empty.
const CALLS: u8 = 3;

impl<P: Pit> Forwarder<P> {
    /// Gives back the memory of a PIT that has been nearly empty at the last three calls. Returns true if
    /// there was some: freed memory may then be returned to the system. Should be called about once a second.
    pub fn shrink(&mut self) -> bool {
        let (weight, largest) = self.pending.weights();
        let is_sparse = largest >= MIN_BYTES && weight <= largest / PART && self.pit.len() <= MAX_MOVED;
        self.sparse = if is_sparse { self.sparse + 1 } else { 0 };
        if self.sparse < CALLS {
            return false;
        }
        self.sparse = 0;
        let numbers = self.pending.compact();
        let mut taken: Vec<u32> = self.pending.slots().collect();
        taken.sort_unstable();
        taken.dedup();
        let removed: Vec<_> = taken
            .into_iter()
            .filter_map(|slot| {
                let retry = self.retries.stop(slot);
                let gone = self.pit.remove(slot).invariant("an item is a record of an entry")?;
                Some((gone, retry))
            })
            .collect();
        debug_assert!(self.pit.is_empty(), "each entry has an in-record");
        if self.pit.is_empty() {
            self.pit.reset();
            self.retries.reset();
        }
        for (gone, retry) in removed {
            let mut records = gone.records;
            let slot = self.pit.add(gone.key, gone.mark, records.expires);
            self.pit.restore(slot, gone.extra);
            if let Some(due) = retry {
                self.retries.set(slot, due);
            }
            for record in &mut records.ins {
                record.item = numbers.of(record.item);
                self.pending.moved(record.item, slot);
            }
            if let Some((_, kept)) = self.pit.entry_mut(slot).invariant("the entry was inserted") {
                *kept = records;
            }
        }
        // The records of closed faces are in other slots now.
        if self.sweep.is_due() {
            self.sweep.start(self.pit.slots());
        }
        true
    }
}
