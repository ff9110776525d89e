//! Room for newcomers: records that have to go when the PIT, an entry, or the entries of a name are full.
//!
//! The holder that has most loses its oldest record, and is told so with a Nack. So a peer that asks for more
//! than its share loses its own Interests, and everybody else is served.

use super::forwarder::Forwarder;
use super::output::Output;
use crate::drop::DropReason;
use crate::pit::{HopFields, Pit};
use alloc::vec::Vec;
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{Interest, NackReason};
use hashlane_table::share::Holder;

/// Place of the oldest item of the holder that occurs most often among `holders`, oldest first. Of remote and
/// local holders, a remote one; a local one only for a local newcomer, if there is no remote one.
fn crowding(holders: &[Holder], newcomer: Holder) -> Option<usize> {
    let remote = holders.iter().any(|holder| holder.is_remote());
    if !remote && newcomer.is_remote() {
        return None;
    }
    let mut counted: Vec<u32> =
        holders.iter().filter(|holder| holder.is_remote() == remote).map(|holder| holder.index()).collect();
    counted.sort_unstable();
    let most = counted.chunk_by(|a, b| a == b).max_by_key(|same| same.len())?.first()?;
    holders.iter().position(|holder| holder.is_remote() == remote && holder.index() == *most)
}

impl<P: Pit> Forwarder<P> {
    /// Removes records until the PIT is within its limits.
    #[cold]
    #[inline(never)]
    pub(super) fn relieve(&mut self, now: Time, out: &mut impl Output) {
        while let Some(victim) = self.pending.excess() {
            let entry = self.pit.entry(victim.value);
            let at = entry
                .and_then(|(_, records)| records.ins.iter().position(|record| record.item == victim.id))
                .invariant("an item is a record of an entry");
            let Some(at) = at else { return };
            self.evict(victim.value, at, now, out);
        }
    }

    /// Makes room for a record of `newcomer` in an entry that has the most records.
    ///
    /// # Errors
    /// [`DropReason::TooManyRecords`] if all of them are of local faces, and the newcomer is not.
    #[cold]
    #[inline(never)]
    pub(super) fn make_room_in_entry(
        &mut self,
        slot: u32,
        newcomer: Holder,
        now: Time,
        out: &mut impl Output,
    ) -> Result<(), DropReason> {
        let entry = self.pit.entry(slot).invariant("the entry was found");
        let (_, records) = entry.ok_or(DropReason::TooManyRecords)?;
        let holders: Vec<Holder> = records.ins.iter().map(|record| self.pending.holder(record)).collect();
        let at = crowding(&holders, newcomer).ok_or(DropReason::TooManyRecords)?;
        self.evict(slot, at, now, out);
        Ok(())
    }

    /// Makes room for another entry with a forwarding hint among the entries of the name with this hash.
    ///
    /// # Errors
    /// [`DropReason::TooManyRecords`] if all of them are of local faces, and the newcomer is not.
    #[cold]
    #[inline(never)]
    pub(super) fn make_room_for_hint(
        &mut self,
        name: u64,
        newcomer: Holder,
        now: Time,
        out: &mut impl Output,
    ) -> Result<(), DropReason> {
        let mut hinted = Vec::new();
        self.pit.find_by_hash(name, |slot, key, records| {
            if let Some(first) = records.ins.first().filter(|_| !key.hint().is_empty()) {
                hinted.push((first.expires, slot, self.pending.holder(first)));
            }
            false
        });
        // The one that ends first stands for the oldest.
        hinted.sort_unstable_by_key(|(expires, slot, _)| (*expires, *slot));
        let holders: Vec<Holder> = hinted.iter().map(|(_, _, holder)| *holder).collect();
        let entry = crowding(&holders, newcomer).and_then(|at| hinted.get(at));
        let slot = entry.ok_or(DropReason::TooManyRecords)?.1;
        let entry = self.pit.entry(slot).invariant("the entry was found");
        let records = entry.map_or(0, |(_, records)| records.ins.len());
        // The entry goes with its last record.
        for _ in 0..records {
            self.evict(slot, 0, now, out);
        }
        Ok(())
    }

    /// Removes a record, with a Nack to its downstream; and the entry, if no downstream is left.
    fn evict(&mut self, slot: u32, at: usize, now: Time, out: &mut impl Output) {
        let Some((key, records)) = self.pit.entry_mut(slot).invariant("the entry was found") else { return };
        let record = records.ins.remove(at);
        let (mut packet, nonce_at) = (key.packet().to_vec(), key.nonce_at());
        self.counters.evicted.add(1);
        self.release_share(&record);
        self.pit.retain_downstreams(slot, |face| face != record.face);
        let interest = Interest::parse(&packet).ok().invariant("the Interest of an entry was parsed");
        let mark = interest.and_then(|interest| self.pit.mark(&interest, HopFields::default()).ok());
        if let Some(mark) = mark.invariant("an Interest without hop fields has a mark") {
            self.send_nack(&record, &mut packet, nonce_at, &mark, NackReason::CONGESTION, now, out);
        }
        self.remove_if_unwanted(slot, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crowding_holder_gives_way_and_local_ones_only_to_local_ones() {
        let [local, a, b] = [Holder::new(0, false), Holder::new(1, true), Holder::new(2, true)];
        assert_eq!(crowding(&[local, a, b, local, b, local], a), Some(2));
        assert_eq!(crowding(&[local, local, a, local], local), Some(2));
        assert_eq!(crowding(&[local, local], local), Some(0));
        assert_eq!(crowding(&[local, local], a), None);
        assert_eq!(crowding(&[], local), None);
    }
}
