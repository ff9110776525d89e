//! The changes of a patch in the form of a builder.

use super::Unpatched;
use crate::slices::Parts as _;
use crate::zone::build::Builder;
use crate::zone::entry::{Entries, Entry};
use crate::zone::finish::Contents;
use crate::zone::intern::Bare;
use crate::zone::names::{NameId, Names};
use crate::zone::{Rule, WholeRecord, Zone, sets};
use alloc::vec::Vec;
use hashlane_hash::scheme::Key;

/// Changes of a zone at most, as a share of its records.
pub(super) const MOST_CHANGES: usize = 8;

/// Changes that each zone may have.
pub(super) const FEW_CHANGES: usize = 64;

/// The changes in the form of a builder.
pub(super) struct Changes {
    /// Names of the changes, and their hashes as far as an index uses them. Names of the added records come
    /// first.
    pub(super) names: Names,
    pub(super) hashes: Vec<u64>,
    /// Number of the apex among them.
    pub(super) apex: NameId,
    /// The names of the added records alone, in their spelling.
    pub(super) added: Names,
    pub(super) entries: Vec<Entry>,
    pub(super) data: Vec<u8>,
    /// Offset at which the data of removed records begin.
    removed_from: usize,
}

impl Changes {
    pub(super) fn of<'c>(
        zone: &Zone,
        key: &Key,
        removed: impl IntoIterator<Item = WholeRecord<'c>>,
        added: impl IntoIterator<Item = WholeRecord<'c>>,
    ) -> Result<Self, Unpatched> {
        let mut left = (zone.records / MOST_CHANGES).max(FEW_CHANGES);
        let mut builder = Builder::with(zone.apex_name(), key, Bare::None);
        let mut add = |builder: &mut Builder, WholeRecord { owner, rtype, ttl, data }: WholeRecord<'_>| {
            left = left.checked_sub(1).ok_or(Unpatched::TooMany)?;
            Ok::<_, Unpatched>(builder.add(owner, rtype, ttl, data)?)
        };
        added.into_iter().try_for_each(|change| add(&mut builder, change))?;
        let (added, count) = builder.pause()?;
        removed.into_iter().try_for_each(|change| add(&mut builder, WholeRecord { ttl: 0, ..change }))?;
        let Contents { interner, apex, log, warnings, .. } = builder.into_contents()?;
        if warnings.count() > 0 {
            return Err(Unpatched::Warnings);
        }
        let (names, hashes) = interner.into_parts();
        let hashes = hashes.iter().collect();
        let (mut records, mut all, mut removed_from) = (log.into_reader(), Entries::default(), 0);
        for number in 0.. {
            if number == count {
                // A record without data stands before it.
                all.data.push(0);
                removed_from = all.data.len();
            }
            let Some((entry, data)) = records.next() else { break };
            all.push(entry, data).ok_or_else(|| zone.broken(entry.rtype, Rule::TooLarge))?;
        }
        let Entries { list: entries, data } = all;
        Ok(Self { names, hashes, apex, added, entries, data, removed_from })
    }

    /// Returns true for a record that is removed.
    pub(super) fn is_removed(&self, entry: &Entry) -> bool {
        entry.range().start >= self.removed_from
    }

    /// Gives owners, and names in the data, the numbers of the zone, and brings the records of each owner
    /// together, type by type.
    pub(super) fn renumber(&mut self, numbers: &[NameId]) {
        let number = |id: NameId| {
            debug_assert!(id.index() < numbers.len(), "each name of the changes has a number");
            numbers.get(id.index()).copied().unwrap_or(NameId::ROOT)
        };
        for entry in &mut self.entries {
            entry.owner = number(entry.owner);
            if !entry.signs() {
                sets::renumber(entry.rtype, self.data.part_mut(entry.range()), number);
            }
        }
        self.entries.sort_by_key(|entry| (entry.owner, entry.rtype));
    }
}
