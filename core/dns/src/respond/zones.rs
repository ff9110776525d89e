//! The zones of a server, and the one that holds a name.

use crate::query::Hash;
use crate::slices::own_hash;
use crate::wire::RecordType;
use crate::zone::Zone;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{Name, NameBuf};
use hashlane_table::index::Index;

/// A zone by its apex, loaded or not.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Name of the zone.
    pub apex: NameBuf,
    /// Data of the zone. Queries for a zone without data are answered with SERVFAIL.
    pub zone: Option<Arc<Zone>>,
}

/// The zones of a server. Immutable: a reload makes another one, which shares the zones that did not change.
pub struct Zones {
    entries: Vec<Entry>,
    /// Numbers of entries by the hash of the apex.
    index: Index,
    /// Bit *n* is set if an apex has *n* labels.
    depths: u128,
    /// True for entries that are restricted; empty if none is.
    restricted: Vec<bool>,
}

/// Two zones have the same apex.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("zone {} is given twice; remove one of them", .0.view())]
pub struct DuplicateZone(pub Box<NameBuf>);

impl Zones {
    /// Collects zones. `key` is the key of the zones and of the stage [`Hash`](struct@Hash).
    ///
    /// # Errors
    /// Two entries have the same apex.
    pub fn new(entries: Vec<Entry>, key: &Key) -> Result<Self, DuplicateZone> {
        let mut hash = Hash::new(key);
        let mut zones =
            Self { index: Index::with_capacity(entries.len()), entries, depths: 0, restricted: Vec::new() };
        for (number, entry) in zones.entries.iter().enumerate() {
            let apex = entry.apex.view();
            let suffixes = hash.name(apex);
            let own = own_hash(suffixes);
            if zones.at(own, apex).is_some() {
                return Err(DuplicateZone(Box::new(entry.apex)));
            }
            zones.depths |= 1 << (suffixes.len() - 1);
            zones.index.enter(own, number as u32);
        }
        Ok(zones)
    }

    /// Restricts an entry to the clients that the server chooses, query by query. Aliases of other zones do
    /// not lead into it, so that their clients do not learn its records.
    pub fn restrict(&mut self, number: usize) {
        self.restricted.resize(self.entries.len(), false);
        if let Some(place) = self.restricted.get_mut(number) {
            *place = true;
        }
    }

    /// True if an entry may be restricted.
    #[inline(always)]
    pub(super) fn has_restricted(&self) -> bool {
        !self.restricted.is_empty()
    }

    /// True if an entry is restricted.
    #[inline(always)]
    pub(super) fn is_restricted(&self, number: usize) -> bool {
        self.restricted.get(number).copied().unwrap_or(false)
    }

    /// The zones, in the order given to [`new`](Self::new).
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Number of the entry with this apex. `hash` has the key of the zones.
    pub fn position(&self, apex: Name<'_>, hash: &mut Hash) -> Option<usize> {
        self.at(own_hash(hash.name(apex)), apex)
    }

    /// The entry with this apex.
    fn at(&self, hash: u64, apex: Name<'_>) -> Option<usize> {
        let is = |number: u32| {
            self.entries.get(number as usize).is_some_and(|entry| entry.apex.view().eq_ignore_case(apex))
        };
        self.index.find(hash, is).map(|found| found.place as usize)
    }

    /// Number of the entry that holds `name`: the one with the longest apex at or above it. `suffixes` are
    /// the hashes of the name, as [`Batch::suffixes`](crate::query::Batch::suffixes) gives them.
    ///
    /// DS records stand in the zone above a cut (RFC 4035 §2.4): a query for them at an apex goes to the zone
    /// above it, if the server has one.
    pub(super) fn find(&self, suffixes: &[u64], name: Name<'_>, rtype: RecordType) -> Option<usize> {
        let labels = suffixes.len().checked_sub(1)?;
        let number = self.find_below(suffixes, name, labels)?;
        if rtype == RecordType::DS && labels > 0 {
            let is_apex = self.entries.get(number).is_some_and(|entry| entry.apex.view().len() == name.len());
            if is_apex && let Some(above) = self.find_below(suffixes, name, labels - 1) {
                return Some(above);
            }
        }
        Some(number)
    }

    /// Acts as [`find`](Self::find), among apexes of at most `depth` labels.
    fn find_below(&self, suffixes: &[u64], name: Name<'_>, depth: usize) -> Option<usize> {
        let labels = suffixes.len() - 1;
        let mut depths = self.depths & (u128::MAX >> (127 - depth.min(127)));
        while depths > 0 {
            let depth = depths.ilog2();
            depths &= !(1 << depth);
            let from = labels - depth as usize;
            let apex = name.labels_from(from).as_name()?;
            if let Some(number) = self.at(*suffixes.get(from)?, apex) {
                return Some(number);
            }
        }
        None
    }

    /// The data of an entry.
    pub(super) fn zone(&self, number: usize) -> Option<&Zone> {
        self.entries.get(number)?.zone.as_deref()
    }
}

impl fmt::Debug for Zones {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries.iter().map(|entry| entry.apex)).finish()
    }
}
