//! A zone with changes, made from a copy of its arrays.
//!
//! To build a zone anew takes time for each of its records. A patch copies the arrays, which the system does
//! at the speed of memory, and works on the names that change:
//!
//! | array | change |
//! | --- | --- |
//! | names, labels | new ones are added at the end; a name that has gone stays, without properties |
//! | sets | a changed owner's are written anew at the end |
//! | index | names that come and go, in the room that it has |
//! | NSEC, NSEC3, wildcards | copied in parts, between the places of the changes |
//!
//! Numbers of names stay, so that the data of other records need not change, and lookups work as in a zone
//! that was built. Names that the index does not have (glue, names of other zones) are searched for in the
//! tree: one or two passes over the names, 13 bytes each.
//!
//! A patch has the memory of the copy, and little more: a bit for each name, and the changes. The bytes that
//! it leaves without use are counted; with more than an eighth of the zone's memory, the zone is to be built
//! anew. So it is in the cases of [`Unpatched`].

mod changes;
mod children;
mod lists;
mod marks;
mod owners;
mod resolve;
mod state;

use super::names::{NameId, Names};
use super::sets::UNIT;
use super::{Rule, Warnings, WholeRecord, Zone, ZoneError, nsec3};
use crate::wire::RecordType;
use alloc::vec::Vec;
use changes::Changes;
use hashlane_hash::scheme::Key;
use owners::{Owner, Rewritten};

/// Bytes without use at most, as a share of the memory.
const MOST_GARBAGE: usize = 8;

/// Bytes without use that each zone may have.
const LITTLE_GARBAGE: usize = 16 << 10;

/// Bytes of a name in the data of a removed record, which perhaps no other record has: its node, and a label.
const NAME: usize = 24;

/// Reasons for which a zone is to be built anew.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unpatched {
    /// The zone does not have a record that it is to lose.
    #[error("a removed record that the zone does not have")]
    Missing,
    /// The zone has a record that it is to gain.
    #[error("an added record that the zone has already")]
    Present,
    /// More changes than an eighth of the records.
    #[error("more changes than an eighth of the records")]
    TooMany,
    /// Patches before have left more than an eighth of the memory without use.
    #[error("an eighth of the zone's memory is without use")]
    Garbage,
    /// The index of names has no room.
    #[error("the index of names is full")]
    IndexFull,
    /// A DNAME comes or goes, or records below one.
    #[error("changes of a DNAME, or below one")]
    Dname,
    /// The parameters of NSEC3 change, or records outside of the chain in use.
    #[error("changes of the NSEC3 parameters, or outside of the chain")]
    Nsec3,
    /// The zone has warnings, or a change brings one.
    #[error("a zone with warnings")]
    Warnings,
    /// A record that no zone may have, or that breaks a rule together with others.
    #[error(transparent)]
    Zone(#[from] ZoneError),
    /// The key is not the key of the builder.
    #[error("another key than the builder's")]
    Key,
}

impl Zone {
    /// The zone without the records that are removed, whose TTL does not count, and with those that are
    /// added, behind the others of their sets. `key` is the key of the builder.
    ///
    /// It answers as the zone that a [`Builder`](super::Builder) makes of the same records, but for the
    /// spelling of a name that was out of use and comes back in the data of records alone. [`Zone::owners`]
    /// may give another order.
    ///
    /// Takes the time of a copy of the zone's memory, some nanoseconds for each name, and microseconds for
    /// each change; memory beside the copy for the changes, and a quarter of a byte for each name.
    ///
    /// # Errors
    /// The reason for which the zone is to be built anew. A builder then tells if the changes are valid.
    pub fn patched<'c>(
        &self,
        key: &Key,
        removed: impl IntoIterator<Item = WholeRecord<'c>>,
        added: impl IntoIterator<Item = WholeRecord<'c>>,
    ) -> Result<Self, Unpatched> {
        if self.garbage > (self.memory() / MOST_GARBAGE).max(LITTLE_GARBAGE) {
            return Err(Unpatched::Garbage);
        }
        if self.warnings.count() > 0 {
            return Err(Unpatched::Warnings);
        }
        let mut changes = Changes::of(self, key, removed, added)?;
        let found =
            resolve::resolve(self, &changes.names, &changes.hashes, changes.apex).ok_or(Unpatched::Key)?;
        let (mut names, numbers, first_label) = self.grow(&changes, found)?;
        changes.renumber(&numbers);
        let Rewritten { owners, sets: new_sets, removed, added, mut garbage } =
            owners::rewrite(self, &changes)?;
        let moved = state::settle(self, &mut names, &owners, (&changes, &numbers, first_label))?;
        garbage += self.unused_labels(&changes.added, &names, &numbers);
        garbage += moved.iter().filter(|moved| moved.is_lost()).count() * NAME;
        let sets = self.append_sets(&new_sets, &owners, &mut names)?;
        let order = lists::NamesIn { names: &names, apex: self.apex };
        let nsec = order.nsec(&self.nsec, &moved);
        let wildcards = order.wildcards(&self.wildcards, &moved);
        let (index, visible_names) = lists::index(self, &names, &moved, key)?;
        let mut zone = Self {
            names,
            sets,
            index,
            apex: self.apex,
            apex_name: self.apex_name,
            apex_labels: self.apex_labels,
            wildcards,
            nsec,
            nsec3: nsec3::Chain::default(),
            serial: 0,
            records: self.records + added - removed,
            visible_names,
            garbage: self.garbage + garbage,
            duplicates: 0,
            warnings: Warnings::default(),
        };
        let serial = zone.soa().and_then(|(_, soa)| soa.after.first_chunk().copied());
        zone.serial =
            serial.map(u32::from_be_bytes).ok_or_else(|| self.broken(RecordType::SOA, Rule::NoSoa))?;
        if zone.set(zone.apex, RecordType::NS).is_none() {
            return Err(self.broken(RecordType::NS, Rule::NoNameServer));
        }
        let changed = owners.iter().filter(|owner| owner.has_nsec3()).map(|owner| owner.id);
        zone.nsec3 = self.nsec3.patched((self, &zone), changed).ok_or(Unpatched::Nsec3)?;
        Ok(zone)
    }

    /// A copy of the names with those that the added records bring, the numbers of all names of the changes,
    /// and the offset of the added labels.
    fn grow(
        &self,
        changes: &Changes,
        found: Vec<Option<NameId>>,
    ) -> Result<(Names, Vec<NameId>, u32), Unpatched> {
        let added = &changes.added;
        if found.iter().skip(added.len()).any(Option::is_none) {
            return Err(Unpatched::Missing);
        }
        let mut within: Vec<bool> = Vec::with_capacity(added.len());
        for id in added.ids() {
            let above = within.get(added.parent(id).index()).copied().unwrap_or_default();
            within.push(id == changes.apex || above);
        }
        let new = |kind: bool| {
            let new = within.iter().zip(&found).filter(|(within, found)| **within == kind && found.is_none());
            new.count()
        };
        let too_large = || self.broken(RecordType::SOA, Rule::TooLarge);
        let grown = self.names.grown(new(true), new(false), added.labels());
        let (mut names, first_label) = grown.ok_or_else(too_large)?;
        let mut numbers: Vec<NameId> = Vec::with_capacity(found.len());
        for (at, known) in found.iter().enumerate() {
            let id = NameId(at as u32);
            let number = match known {
                Some(known) => *known,
                None => {
                    // A name comes after the one above it.
                    let parent = numbers.get(added.parent(id).index()).copied().unwrap_or(NameId::ROOT);
                    let label = first_label + added.label_offset(id);
                    let is_within = within.get(at).copied().unwrap_or_default();
                    let number =
                        if is_within { names.add(parent, label) } else { names.add_bare(parent, label) };
                    number.ok_or_else(too_large)?
                }
            };
            numbers.push(number);
        }
        Ok((names, numbers, first_label))
    }

    /// Bytes of the added labels that no new name has.
    fn unused_labels(&self, added: &Names, names: &Names, numbers: &[NameId]) -> usize {
        let (full, bare) = self.names.counts();
        let is_new = |id: &&NameId| match id.is_bare() {
            true => id.bare_index() >= bare,
            false => id.index() >= full,
        };
        let used = numbers.iter().take(added.len()).filter(is_new).map(|id| names.label(*id).len());
        added.labels().len().saturating_sub(used.sum())
    }

    /// A copy of the sets with the owners' sets behind them, which get their places.
    fn append_sets(&self, new: &[u8], owners: &[Owner], names: &mut Names) -> Result<Vec<u8>, Unpatched> {
        let base = self.sets.len().div_ceil(UNIT);
        let mut sets = Vec::with_capacity(base * UNIT + new.len());
        sets.extend_from_slice(&self.sets);
        sets.resize(base * UNIT, 0);
        sets.extend_from_slice(new);
        for owner in owners {
            match owner.place {
                None => names.remove_sets(owner.id),
                Some(place) => {
                    let place = u32::try_from(base + place as usize).ok().filter(|place| *place < u32::MAX);
                    let too_large = || self.broken(RecordType::SOA, Rule::TooLarge);
                    names.set_sets(owner.id, place.ok_or_else(too_large)?);
                }
            }
        }
        Ok(sets)
    }

    /// The error of records that break a rule together; the zone that is built anew names the owner.
    fn broken(&self, rtype: RecordType, rule: Rule) -> Unpatched {
        Unpatched::Zone(ZoneError { owner: alloc::boxed::Box::new(self.apex_name), rtype, rule })
    }
}
