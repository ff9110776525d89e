//! The forwarding information base: prefixes, and the faces that lead to what begins with them.

use crate::face::FaceId;
use crate::hashed::HashedName;
use crate::prefixes::Prefixes;
use smallvec::SmallVec;

/// One way to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextHop {
    /// The face.
    pub face: FaceId,
    /// What it costs, in no unit; the cheapest way is taken first.
    pub cost: u64,
}

/// Ways to go, the cheapest first.
pub type NextHops = SmallVec<[NextHop; 2]>;

/// The table.
///
/// It holds only prefixes that have a next hop.
#[derive(Clone, Debug, Default)]
pub struct Fib {
    prefixes: Prefixes<NextHops>,
}

impl Fib {
    /// The ways of the longest prefix of `name`, and how many components that has.
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

    /// Adds a way, or gives it another cost.
    pub fn add(&mut self, prefix: &HashedName<'_>, hop: NextHop) {
        let Some(hops) = self.prefixes.find_mut(prefix) else {
            self.prefixes.insert(prefix, SmallVec::from_slice(&[hop]));
            return;
        };
        hops.retain(|other| other.face != hop.face);
        let at = hops.partition_point(|other| other.cost <= hop.cost);
        hops.insert(at, hop);
    }

    /// Takes a way away, and the prefix with its last one. Whether there was one.
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

    /// How many prefixes there are.
    pub fn len(&self) -> usize {
        self.prefixes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory that all of it takes, what is in reserve included. It looks at each prefix.
    pub fn memory(&self) -> usize {
        let spilled = self.prefixes.values().filter(|hops| hops.spilled());
        self.prefixes.memory() + spilled.map(|hops| hops.capacity() * size_of::<NextHop>()).sum::<usize>()
    }
}
