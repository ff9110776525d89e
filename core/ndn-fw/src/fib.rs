//! Forwarding information base (FIB): name prefixes and their next hops.

use crate::face::FaceId;
use crate::hashed::HashedName;
use crate::prefixes::Prefixes;
use smallvec::SmallVec;

/// Next hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextHop {
    /// Face that leads to the next hop.
    pub face: FaceId,
    /// Cost, without a unit; next hops are ordered by it.
    pub cost: u64,
}

/// Next hops in order of cost.
pub type NextHops = SmallVec<[NextHop; 2]>;

/// Forwarding information base. It holds only prefixes with at least one next hop.
#[derive(Clone, Debug, Default)]
pub struct Fib {
    prefixes: Prefixes<NextHops>,
}

impl Fib {
    /// Finds the longest prefix match of `name`: number of components, and next hops.
    #[inline(always)]
    pub fn longest(&self, name: &HashedName<'_>) -> Option<(usize, &[NextHop])> {
        self.prefixes.longest(name).map(|(len, hops)| (len, hops.as_slice()))
    }

    /// Prefetches the buckets that a lookup of `name` may read.
    #[inline(always)]
    pub(crate) fn prefetch(&self, name: &HashedName<'_>) {
        self.prefixes.prefetch(name);
    }

    /// Prefetches the entries that a lookup of `name` may read; their buckets should be in the cache.
    #[inline(always)]
    pub(crate) fn prefetch_entries(&self, name: &HashedName<'_>) {
        self.prefixes.prefetch_entries(name);
    }

    /// Prefetches the components of the prefix that a lookup of `name` compares first; its entry should be in
    /// the cache.
    #[inline(always)]
    pub(crate) fn prefetch_components(&self, name: &HashedName<'_>) {
        self.prefixes.prefetch_components(name);
    }

    /// Adds a next hop, or updates its cost. Returns false if the prefix had it already.
    pub fn add(&mut self, prefix: &HashedName<'_>, hop: NextHop) -> bool {
        let Some(hops) = self.prefixes.find_mut(prefix) else {
            self.prefixes.insert(prefix, SmallVec::from_slice(&[hop]));
            return true;
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
        let Some(hops) = self.prefixes.find_mut(prefix) else { return false };
        let before = hops.len();
        hops.retain(|hop| hop.face != face);
        let removed = hops.len() < before;
        if hops.is_empty() {
            self.prefixes.remove(prefix);
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
        let spilled = self.prefixes.values().filter(|hops| hops.spilled());
        self.prefixes.memory() + spilled.map(|hops| hops.capacity() * size_of::<NextHop>()).sum::<usize>()
    }
}
