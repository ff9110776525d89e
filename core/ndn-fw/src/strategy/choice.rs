//! Strategy choice table: the strategy of each prefix.

use super::{Strategy, StrategyKind};
use crate::hashed::{HashedName, NameHasher};
use hashlane_name_map::map::NameMap;
use hashlane_ndn::invariant::Invariant as _;

/// Strategy choice table. The root prefix always has a strategy.
#[derive(Clone, Debug)]
pub struct ChoiceTable {
    prefixes: NameMap<Strategy>,
}

impl ChoiceTable {
    /// Creates a table with best-route for all names.
    pub fn new(hasher: &mut NameHasher) -> Self {
        let mut table = Self { prefixes: NameMap::new() };
        table.set(&hasher.root(), StrategyKind::BestRoute.create());
        table
    }

    /// Finds the strategy of a name.
    #[inline(always)]
    pub fn find(&mut self, name: &HashedName<'_>) -> Option<&mut Strategy> {
        self.find_slot(name).map(|(_, strategy)| strategy)
    }

    /// Finds the strategy of a name and its slot, which is valid until the table changes.
    #[inline(always)]
    pub(crate) fn find_slot(&mut self, name: &HashedName<'_>) -> Option<(u32, &mut Strategy)> {
        let slot = self.prefixes.longest(name).map(|found| found.slot);
        let slot = slot.invariant("the root prefix has a strategy")?;
        Some((slot, self.prefixes.at_mut(slot)?))
    }

    /// Number of components of the prefix whose strategy a name has, and the strategy.
    pub(crate) fn longest(&self, name: &HashedName<'_>) -> Option<(usize, StrategyKind)> {
        self.prefixes.longest(name).map(|found| (found.components, found.value.kind()))
    }

    /// Strategy in a slot.
    #[inline(always)]
    pub(crate) fn at(&mut self, slot: u32) -> Option<&mut Strategy> {
        self.prefixes.at_mut(slot)
    }

    /// Sets the strategy of a prefix, unless it is longer than 65,535 bytes and so than the name of any
    /// packet.
    pub fn set(&mut self, prefix: &HashedName<'_>, mut strategy: Strategy) {
        strategy.set_depth(prefix.len());
        let _ = self.prefixes.insert(prefix.key(), strategy);
    }

    /// Unsets the strategy of a prefix, which then inherits from the next shorter one. Returns false if the
    /// prefix had none, or is the root, which keeps its strategy.
    pub fn unset(&mut self, prefix: &HashedName<'_>) -> bool {
        !prefix.is_empty() && self.prefixes.remove(&prefix.key()).is_some()
    }
}
