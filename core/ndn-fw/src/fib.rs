//! Forwarding information base (FIB): name prefixes and their next hops.
//!
//! Prefixes with the same next hops share them: a prefix takes its name and a pointer, and the next hops of
//! most lookups are in the cache.

mod sets;

use crate::face::FaceId;
use crate::hashed::HashedName;
use alloc::sync::Arc;
use hashlane_name_map::map::{Candidate, NameMap, Tagged};
use sets::{NextHops, Sets};

/// Next hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NextHop {
    /// Face that leads to the next hop.
    pub face: FaceId,
    /// Cost, without a unit; next hops are ordered by it.
    pub cost: u64,
}

/// Bytes of a prefix that fit into its cache line.
const SHORT: usize = 44;

/// Forwarding information base. It holds only prefixes with at least one next hop.
#[derive(Clone, Debug, Default)]
pub struct Fib {
    prefixes: NameMap<Arc<NextHops>, SHORT>,
    sets: Sets,
}

impl Fib {
    /// Finds the longest prefix match of `name`: number of components, and next hops.
    #[inline(always)]
    pub fn longest(&self, name: &HashedName<'_>) -> Option<(usize, &[NextHop])> {
        self.prefixes.longest(name).map(|found| (found.components, found.value.as_slice()))
    }

    /// Finds the longest prefix match of a `name` with this candidate, as [`longest`](Self::longest) does.
    #[inline(always)]
    pub(crate) fn longest_from(
        &self,
        name: &HashedName<'_>,
        candidate: Candidate,
    ) -> Option<(usize, &[NextHop])> {
        let found = self.prefixes.longest_from(name, candidate);
        found.map(|found| (found.components, found.value.as_slice()))
    }

    /// Prefetches the tags that a lookup of `name` may read.
    #[inline(always)]
    pub(crate) fn prefetch(&self, name: &HashedName<'_>) {
        self.prefixes.prefetch(name);
    }

    /// Finds the longest length at which a tag of `name` is there, and prefetches its place; the tags should
    /// be in the cache. Valid until the FIB changes.
    #[inline(always)]
    pub(crate) fn tagged(&self, name: &HashedName<'_>) -> Option<Tagged> {
        self.prefixes.tagged(name)
    }

    /// Finds the longest prefix of `name` by its tag alone, and prefetches its entry; the place should be in
    /// the cache. Valid until the FIB changes.
    #[inline(always)]
    pub(crate) fn candidate(&self, name: &HashedName<'_>, tagged: Tagged) -> Option<Candidate> {
        self.prefixes.candidate(name, tagged)
    }

    /// Prefetches the components that a lookup of `name` compares; the entry of the candidate should be in
    /// the cache.
    #[inline(always)]
    pub(crate) fn prefetch_components(&self, name: &HashedName<'_>, candidate: Candidate) {
        self.prefixes.prefetch_name(name, candidate);
    }

    /// Adds a next hop, or updates its cost. Returns false if the prefix had it already, or is longer than
    /// 65,535 bytes and so than the name of any packet.
    pub fn add(&mut self, prefix: &HashedName<'_>, hop: NextHop) -> bool {
        let Self { prefixes, sets } = self;
        let Some(known) = prefixes.find_mut(&prefix.key()) else {
            let hops = sets.take(NextHops::from_slice(&[hop]));
            let added = prefixes.insert(prefix.key(), hops.clone()).is_ok();
            if !added {
                sets.release(&hops);
            }
            return added;
        };
        let mut hops: NextHops = known.iter().filter(|other| other.face != hop.face).copied().collect();
        let at = hops.partition_point(|other| other.cost <= hop.cost);
        hops.insert(at, hop);
        let old = core::mem::replace(known, sets.take(hops));
        sets.release(&old);
        known.len() > old.len()
    }

    /// Removes a next hop, and the prefix with its last next hop. Returns false if the prefix did not have
    /// it.
    pub fn remove(&mut self, prefix: &HashedName<'_>, face: FaceId) -> bool {
        let Self { prefixes, sets } = self;
        let Some(known) = prefixes.find_mut(&prefix.key()) else { return false };
        let hops: NextHops = known.iter().filter(|hop| hop.face != face).copied().collect();
        if hops.len() == known.len() {
            return false;
        }
        let old = if hops.is_empty() {
            prefixes.remove(&prefix.key())
        } else {
            Some(core::mem::replace(known, sets.take(hops)))
        };
        old.iter().for_each(|old| sets.release(old));
        true
    }

    /// Number of prefixes.
    pub fn len(&self) -> usize {
        self.prefixes.len()
    }

    /// True if there are no prefixes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory of the table in bytes, reserve included, without next hops of prefixes that have many. Visits
    /// no entry.
    pub(crate) fn memory_of_prefixes(&self) -> usize {
        self.prefixes.memory() + self.sets.memory_of_sets()
    }

    /// Memory of the table in bytes, reserve included.
    pub fn memory(&self) -> usize {
        self.prefixes.memory() + self.sets.memory()
    }
}
