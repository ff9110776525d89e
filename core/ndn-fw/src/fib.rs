//! Forwarding information base (FIB): name prefixes and their next hops.

use crate::face::FaceId;
use crate::hashed::HashedName;
use hashlane_name_map::map::{Candidate, NameMap};
use smallvec::SmallVec;

/// Next hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextHop {
    /// Face that leads to the next hop.
    pub face: FaceId,
    /// Cost, without a unit; next hops are ordered by it.
    pub cost: u64,
}

/// Next hops in order of cost. Most prefixes have one.
pub type NextHops = SmallVec<[NextHop; 1]>;

/// Forwarding information base. It holds only prefixes with at least one next hop.
#[derive(Clone, Debug, Default)]
pub struct Fib {
    prefixes: NameMap<NextHops>,
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

    /// Prefetches the buckets that a lookup of `name` may read.
    #[inline(always)]
    pub(crate) fn prefetch(&self, name: &HashedName<'_>) {
        self.prefixes.prefetch(name);
    }

    /// Finds the longest prefix of `name` by its tag alone, and prefetches its entry; the buckets should be
    /// in the cache. Valid until the FIB changes.
    #[inline(always)]
    pub(crate) fn candidate(&self, name: &HashedName<'_>) -> Option<Candidate> {
        self.prefixes.candidate(name)
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
        let Some(hops) = self.prefixes.find_mut(&prefix.key()) else {
            return self.prefixes.insert(prefix.key(), SmallVec::from_slice(&[hop])).is_ok();
        };
        let before = hops.len();
        hops.retain(|other| other.face != hop.face);
        let at = hops.partition_point(|other| other.cost <= hop.cost);
        hops.insert(at, hop);
        hops.len() > before
    }

    /// Removes a next hop, and the prefix with its last next hop. Returns false if the prefix did not have
    /// it.
    pub fn remove(&mut self, prefix: &HashedName<'_>, face: FaceId) -> bool {
        let Some(hops) = self.prefixes.find_mut(&prefix.key()) else { return false };
        let before = hops.len();
        hops.retain(|hop| hop.face != face);
        let removed = hops.len() < before;
        if hops.is_empty() {
            self.prefixes.remove(&prefix.key());
        }
        removed
    }

    /// Number of prefixes.
    pub fn len(&self) -> usize {
        self.prefixes.len()
    }

    /// True if there are no prefixes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory of the table in bytes, reserve included. Visits each prefix.
    pub fn memory(&self) -> usize {
        let spilled = self.prefixes.iter().map(|(_, hops)| hops).filter(|hops| hops.spilled());
        self.prefixes.memory() + spilled.map(|hops| hops.capacity() * size_of::<NextHop>()).sum::<usize>()
    }
}
