//! Timeouts: expired PIT entries, and records of closed faces.

use super::forwarder::Forwarder;
use super::pending::Pending;
use crate::face::{Face, Faces};
use crate::pit::{InRecord, Key, Pit, Records};
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::time::Time;

/// Slots and records visited per timeout: about 1,400 entries with an in-record and an out-record each. The
/// last entry may exceed it.
const VISITS: usize = 4096;

/// True for an entry with a record of a closed face.
fn is_stale(records: &Records, faces: &Faces) -> bool {
    records.ins.iter().any(|record| faces.find(record.face).is_none())
        || records.outs.iter().any(|record| faces.find(record.face).is_none())
}

/// Releases the share of a removed in-record. Returns its face, unless that was closed.
#[inline(always)]
pub(super) fn release<'f>(
    pending: &mut Pending,
    faces: &'f mut Faces,
    record: &InRecord,
) -> Option<&'f mut Face> {
    pending.remove(record);
    let face = faces.find_mut(record.face)?;
    debug_assert!(face.pending > 0, "an in-record is removed once");
    face.pending = face.pending.saturating_sub(1);
    Some(face)
}

impl<P: Pit> Forwarder<P> {
    /// Handles timeouts: removes expired entries from the PIT, a bounded number of records of closed faces,
    /// and stale entries of the other tables.
    pub fn handle_timeout(&mut self, now: Time) {
        while let Some(slot) = self.pit.pop_expired(now) {
            self.retries.stop(slot);
            if let Some(gone) = self.pit.remove(slot).invariant("an expired entry exists") {
                self.counters.unsatisfied.add(1);
                if self.watch.is_tracing() {
                    self.trace_expired(&gone.key, &gone.records, now);
                }
                self.release_shares(&gone.records);
                self.record_dead_nonces(&gone.key, &gone.records, now);
            }
        }
        self.watch.expire(now);
        self.sweep(now);
        self.cs.handle_timeout(now);
        self.dead.handle_timeout(now);
        self.counters.starved.set(self.pit.starved());
        self.counters.pit_entries.set(self.pit.len() as u64);
        self.counters.cs_entries.set(self.cs.len() as u64);
    }

    /// Time of the next timeout: the latest time at which to call [`handle_timeout`](Self::handle_timeout)
    /// and [`handle_retries`](Self::handle_retries).
    pub fn poll_timeout(&self) -> Option<Time> {
        // Eviction from a store whose capacity was reduced, and a sweep, continue at once.
        let at_once = self.cs.is_over_capacity() || self.sweep.is_due();
        if at_once {
            return Some(Time::default());
        }
        match (self.pit.next_expiry(), self.retries.next_due()) {
            (expiry, None) => expiry,
            (expiry, Some(retry)) => Some(expiry.map_or(retry, |expiry| expiry.min(retry))),
        }
    }

    /// Releases the shares of the in-records of a removed entry.
    #[inline(always)]
    pub(super) fn release_shares(&mut self, records: &Records) {
        records.ins.iter().for_each(|record| self.release_share(record));
    }

    /// Releases the share of a removed in-record.
    #[inline(always)]
    pub(super) fn release_share(&mut self, record: &InRecord) {
        release(&mut self.pending, &mut self.faces, record);
    }

    /// Charges the first record of an entry, from which a record was removed, with its weight.
    pub(super) fn settle(&mut self, slot: u32) {
        if let Some((key, records)) = self.pit.entry(slot) {
            self.pending.settle(key, records);
        }
    }

    /// Removes an entry from which a record was removed, if no downstream is left.
    pub(super) fn remove_if_unwanted(&mut self, slot: u32, now: Time) {
        if self.pit.entry(slot).is_some_and(|(_, records)| !records.ins.is_empty()) {
            return self.settle(slot);
        }
        self.retries.stop(slot);
        if let Some(gone) = self.pit.remove(slot) {
            self.record_dead_nonces(&gone.key, &gone.records, now);
        }
    }

    /// Records the Nonces of a removed entry in the dead nonce list.
    pub(super) fn record_dead_nonces(&mut self, key: &Key, records: &Records, now: Time) {
        records.outs.iter().for_each(|out| self.dead.insert(key.name_hash(), out.nonce, now));
    }

    /// Continues the sweep.
    fn sweep(&mut self, now: Time) {
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

    /// Removes the records of closed faces from an entry, and the entry if no downstream is left. Returns the
    /// number of records visited.
    fn purge(&mut self, slot: u32, now: Time) -> usize {
        let Self { pit, faces, dead, pending, counters, retries, .. } = self;
        let Some((key, records)) = pit.entry_mut(slot) else { return 0 };
        let visits = records.ins.len() + records.outs.len();
        if !is_stale(records, faces) {
            return visits;
        }
        let hash = key.name_hash();
        records.ins.retain(|record| {
            let stays = faces.find(record.face).is_some();
            if !stays {
                pending.remove(record);
            }
            stays
        });
        records.outs.retain(|record| {
            let stays = faces.find(record.face).is_some();
            if !stays {
                // The Interest may still loop back.
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
                self.settle(slot);
            }
            None => {
                retries.stop(slot);
                let Some(gone) = pit.remove(slot).invariant("the entry was found") else { return visits };
                counters.unsatisfied.add(1);
                self.release_shares(&gone.records);
                self.record_dead_nonces(&gone.key, &gone.records, now);
            }
        }
        visits
    }
}
