//! Account book of the in-records, whose weight is their memory.
//!
//! The record that stands first in an entry carries the weight of the entry. A record weighs at least as much
//! as makes [`Config::pit_entries`] of them weigh [`Config::pit_bytes`], so one limit bounds both.

use super::config::Config;
use crate::pit::{ENTRY_MEMORY, InRecord, Key, Records};
use hashlane_table::share::{Holder, ItemId, Ledger, Limits, Renumbered, Victim};

/// Bytes of a record beside its first one, which has room in the entry: the record and its item.
const RECORD: usize = size_of::<InRecord>() + 32;

/// In-records of all holders.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    ledger: Ledger,
    /// Least weight of a record.
    unit: u32,
    /// Largest weight of all records since memory was last given back.
    largest: u64,
}

impl Pending {
    pub(super) fn new(config: &Config) -> Self {
        let (unit, limits) = Self::limits(config);
        Self { ledger: Ledger::new(limits), unit, largest: 0 }
    }

    /// Least weight of a record, and the limits. Other hosts leave a quarter of the entries to this one.
    fn limits(config: &Config) -> (u32, Limits) {
        let entries = config.pit_entries.max(1) as u64;
        let unit = u32::try_from(config.pit_bytes as u64 / entries).unwrap_or(u32::MAX).max(1);
        let Limits { all, remote } = Limits::new(entries);
        let weight = |entries: u64| entries.saturating_mul(unit.into());
        (unit, Limits { all: weight(all), remote: weight(remote) })
    }

    /// Applies the limits of a configuration. Records that are too many have to go.
    pub(super) fn configure(&mut self, config: &Config) {
        let (unit, limits) = Self::limits(config);
        self.unit = unit;
        self.ledger.set_limits(limits);
    }

    /// Number of records.
    pub(super) fn len(&self) -> usize {
        self.ledger.len()
    }

    /// Weight of all records: now, and the largest since memory was last given back.
    pub(super) fn weights(&self) -> (u64, u64) {
        (self.ledger.weight(), self.largest)
    }

    /// True if a holder has no records.
    pub(super) fn is_idle(&self, holder: Holder) -> bool {
        self.ledger.weight_of(holder) == 0
    }

    /// Holder of a record.
    pub(super) fn holder(&self, record: &InRecord) -> Holder {
        self.ledger.holder(record.item)
    }

    /// Weight of a record. `interest` is the length of the entry's Interest if the record stands first.
    #[inline(always)]
    pub(super) fn weight(&self, interest: Option<usize>, hinted: Option<&[u8]>) -> u32 {
        let own = interest.map_or(RECORD, |interest| ENTRY_MEMORY + interest);
        let bytes = own + hinted.map_or(0, <[u8]>::len);
        // Packets have at most MAX_PACKET bytes.
        (bytes as u32).max(self.unit)
    }

    /// True if a record of this weight fits at all.
    #[inline(always)]
    pub(super) fn admits(&self, holder: Holder, weight: u32) -> bool {
        self.ledger.admits(holder, weight)
    }

    /// Adds a record of the entry in a slot.
    #[inline(always)]
    pub(super) fn add(&mut self, holder: Holder, weight: u32, slot: u32) -> ItemId {
        let item = self.ledger.add(holder, weight, slot);
        self.largest = self.largest.max(self.ledger.weight());
        item
    }

    /// Makes a record the newest of its holder.
    pub(super) fn renew(&mut self, item: ItemId, weight: u32) {
        self.ledger.set_weight(item, weight);
        self.ledger.renew(item);
    }

    /// Removes a record.
    #[inline(always)]
    pub(super) fn remove(&mut self, record: &InRecord) {
        self.ledger.remove(record.item);
    }

    /// Charges the record that now stands first with the weight of the entry.
    pub(super) fn settle(&mut self, key: &Key, records: &Records) {
        if let Some(first) = records.ins.first() {
            self.charge(first, Some(key.packet().len()));
        }
    }

    /// Charges all records of an entry anew.
    pub(super) fn reweigh(&mut self, key: &Key, records: &Records) {
        let mut interest = Some(key.packet().len());
        records.ins.iter().for_each(|record| self.charge(record, interest.take()));
    }

    fn charge(&mut self, record: &InRecord, interest: Option<usize>) {
        let weight = self.weight(interest, record.hinted.as_ref().map(|hinted| &hinted[..]));
        self.ledger.set_weight(record.item, weight);
    }

    /// Record that has to go, and the slot of its entry, if there are too many.
    #[inline(always)]
    pub(super) fn excess(&self) -> Option<Victim> {
        self.ledger.excess()
    }

    /// Slots of the entries of all records. The slot of an entry occurs once for each of its records.
    pub(super) fn slots(&self) -> impl Iterator<Item = u32> {
        self.ledger.values()
    }

    /// Gives memory back. Returns the new numbers of the records.
    pub(super) fn compact(&mut self) -> Renumbered {
        self.largest = self.ledger.weight();
        self.ledger.compact()
    }

    /// Notes that the entry of a record is in another slot.
    pub(super) fn moved(&mut self, item: ItemId, slot: u32) {
        self.ledger.set_value(item, slot);
    }
}
