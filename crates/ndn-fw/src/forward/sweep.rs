//! Removal of the PIT records of closed faces.
//!
//! A face that closes may have records in every entry of the PIT, so they are not removed at once: each turn
//! visits a bounded number of slots and records, until all slots have been visited. One pass removes the
//! records of every face that closed before it began. No list of the records of a face is kept, so that the
//! path of a packet does no work for this. A record counts as used until it is removed, so that the table
//! stays within its limit; it has no other effect, as nothing is sent to a closed face.

use super::Forwarder;
use crate::face::Faces;
use crate::pit::{Pit, Records};
use hashlane_ndn::time::Time;

/// Slots and records that one turn visits: about 1,400 entries with an in-record and an out-record each. The
/// last entry may exceed it.
const VISITS: usize = 4096;

/// A pass over all slots of the PIT.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sweep {
    /// The slot that comes next.
    next: usize,
    /// Slots left to visit.
    left: usize,
    /// Slots of the PIT at the last turn.
    slots: usize,
}

impl Sweep {
    /// Starts a pass over a PIT of so many slots. A pass under way continues for one more round.
    fn start(&mut self, slots: usize) {
        (self.left, self.slots) = (slots, slots);
    }

    /// Adds slots that the PIT has grown by: the pass visits them before it wraps around.
    fn grow(&mut self, slots: usize) {
        self.left += slots.saturating_sub(self.slots);
        self.slots = slots.max(self.slots);
    }

    /// Next slot; `None` if all have been visited.
    fn step(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        let slot = if self.next < self.slots { self.next } else { 0 };
        self.next = slot + 1;
        u32::try_from(slot).ok()
    }

    /// True while slots are left to visit.
    pub(super) fn is_due(&self) -> bool {
        self.left > 0
    }
}

/// True for an entry with a record of a closed face.
fn is_stale(records: &Records, faces: &Faces) -> bool {
    records.ins.iter().any(|record| faces.find(record.face).is_none())
        || records.outs.iter().any(|record| faces.find(record.face).is_none())
}

impl<P: Pit> Forwarder<P> {
    /// Starts the removal of the records of closed faces.
    pub(super) fn start_sweep(&mut self) {
        self.sweep.start(self.pit.slots());
    }

    /// Visits the next slots.
    pub(super) fn sweep(&mut self, now: Time) {
        if !self.sweep.is_due() {
            return;
        }
        self.sweep.grow(self.pit.slots());
        let mut visits = 0;
        while visits < VISITS
            && let Some(slot) = self.sweep.step()
        {
            visits += 1 + self.purge(slot, now);
        }
    }

    /// Removes the records of closed faces from an entry, and the entry if no other face waits for it.
    /// Returns the number of records visited.
    fn purge(&mut self, slot: u32, now: Time) -> usize {
        let Self { pit, faces, dead, pending, counters, .. } = self;
        let Some((key, records)) = pit.entry_mut(slot) else { return 0 };
        let visits = records.ins.len() + records.outs.len();
        if !is_stale(records, faces) {
            return visits;
        }
        let hash = key.name_hash();
        records.ins.retain(|record| {
            let stays = faces.find(record.face).is_some();
            if !stays {
                pending.remove(record.scope);
            }
            stays
        });
        records.outs.retain(|record| {
            let stays = faces.find(record.face).is_some();
            if !stays {
                // The Interest may come round yet.
                dead.insert(hash, record.nonce, now);
            }
            stays
        });
        let last = records.ins.iter().map(|record| record.expires).max();
        match last.filter(|last| *last > now) {
            Some(last) => {
                if last < records.expires {
                    pit.expire_at(slot, last);
                }
                pit.retain_downstreams(slot, |face| faces.find(face).is_some());
            }
            None => {
                let Some(gone) = pit.remove(slot) else { return visits };
                counters.unsatisfied.add(1);
                self.release(&gone.records);
                self.bury(&gone.key, &gone.records, now);
            }
        }
        visits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_pass_visits_every_slot_if_it_restarts_and_the_table_grows() {
        for (restart_at, grow_at, grown) in [(0, 0, 0), (3, 5, 7), (9, 2, 100), (9, 9, 1)] {
            let mut sweep = Sweep::default();
            sweep.start(10);
            for step in 0..10 {
                if step == grow_at {
                    sweep.grow(10 + grown);
                }
                if step == restart_at {
                    sweep.start(sweep.slots);
                }
                assert!(sweep.step().is_some());
            }
            sweep.start(sweep.slots);
            let seen: BTreeSet<u32> = core::iter::from_fn(|| sweep.step()).collect();
            assert!(seen.len() == 10 + grown && !sweep.is_due());
        }
        let mut sweep = Sweep::default();
        sweep.start(10);
        assert!((0..6).all(|_| sweep.step().is_some()));
        sweep.start(10);
        let mut seen: BTreeSet<u32> = (0..3).filter_map(|_| sweep.step()).collect();
        sweep.grow(20);
        seen.extend(core::iter::from_fn(|| sweep.step()));
        assert_eq!(seen.len(), 20);
    }
}
