//! All records of a zone.

use super::{NameId, Record, Zone, order};
use crate::wire::RecordType;
use alloc::vec::Vec;

impl Zone {
    /// The first owner of records, glue and NSEC3 records among them, after `id` in the order of the numbers;
    /// the first of all without `id`. A caller that stops between two owners can so go on later.
    pub fn owner_after(&self, id: Option<NameId>) -> Option<NameId> {
        self.names.owner_from(id.map_or(0, |id| id.index() + 1))
    }

    /// The owners of records, in the order of their numbers.
    pub fn owners(&self) -> impl Iterator<Item = NameId> {
        core::iter::successors(self.owner_after(None), |id| self.owner_after(Some(*id)))
    }

    /// The owners of records in canonical order (RFC 4034 §6.1), glue among them. Takes 4 bytes for each
    /// owner, and linear time if they were added in this order.
    pub fn owners_in_order(&self) -> Vec<NameId> {
        let mut owners: Vec<NameId> = self.owners().collect();
        order::sort(&self.names, self.apex, &mut owners);
        owners
    }

    /// The SOA record: its TTL in seconds, and its data.
    pub fn soa(&self) -> Option<(u32, Record<'_>)> {
        let set = self.set(self.apex(), RecordType::SOA)?;
        let record = set.records().next();
        debug_assert!(record.is_some(), "a zone has a SOA record");
        Some((set.ttl, record?))
    }

    /// The records of a name: type, TTL in seconds, and data. Each set stands before its signatures.
    pub fn records_of(&self, owner: NameId) -> impl Iterator<Item = (RecordType, u32, Record<'_>)> {
        self.sets(owner).flat_map(|set| {
            let records = set.records().map(move |record| (set.rtype, set.ttl, record));
            let signature = |data| Record { before: data, names: [None; 2], after: &[] };
            records.chain(set.signatures().map(move |(ttl, data)| (RecordType::RRSIG, ttl, signature(data))))
        })
    }
}
