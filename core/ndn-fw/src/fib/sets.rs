//! Next hops that many prefixes share, each set stored once.

use super::NextHop;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use smallvec::SmallVec;

/// Next hops in order of cost.
pub(super) type NextHops = SmallVec<[NextHop; 2]>;

/// All sets of next hops, each with the number of prefixes that have it.
#[derive(Clone, Debug, Default)]
pub(super) struct Sets(BTreeMap<Arc<NextHops>, usize>);

impl Sets {
    /// Shares the next hops with one more prefix.
    pub(super) fn take(&mut self, mut hops: NextHops) -> Arc<NextHops> {
        hops.shrink_to_fit();
        let hops = match self.0.get_key_value(&hops) {
            Some((known, _)) => known.clone(),
            None => Arc::new(hops),
        };
        *self.0.entry(hops.clone()).or_default() += 1;
        hops
    }

    /// Takes next hops from a prefix. They go with their last prefix.
    pub(super) fn release(&mut self, hops: &NextHops) {
        if let Some(prefixes) = self.0.get_mut(hops) {
            *prefixes -= 1;
            if *prefixes == 0 {
                self.0.remove(hops);
            }
        }
    }

    /// Bytes of memory on the heap, without next hops that do not fit into their set.
    pub(super) fn memory_of_sets(&self) -> usize {
        // An entry takes its room in a node of the map that is two thirds full; counts of references stand
        // before the hops.
        let node = (size_of::<Arc<NextHops>>() + size_of::<usize>()) * 3 / 2;
        let set = node + 2 * size_of::<usize>() + size_of::<NextHops>();
        self.0.len() * set
    }

    /// Bytes of memory on the heap. Visits each set.
    pub(super) fn memory(&self) -> usize {
        let spilled = self.0.keys().filter(|hops| hops.spilled());
        self.memory_of_sets() + spilled.map(|hops| hops.capacity() * size_of::<NextHop>()).sum::<usize>()
    }
}
