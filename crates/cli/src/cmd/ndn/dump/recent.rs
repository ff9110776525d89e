//! A bounded memory of what was used last.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// Values by keys, so many at the most: a new one takes the place of the one that was used longest ago.
#[derive(Debug)]
pub(super) struct Recent<K, V> {
    values: HashMap<K, (u64, V)>,
    /// The keys by when they were used last.
    order: BTreeMap<u64, K>,
    tick: u64,
    most: usize,
}

impl<K: Copy + Eq + Hash, V: Default> Recent<K, V> {
    pub(super) fn new(most: usize) -> Self {
        Self { values: HashMap::new(), order: BTreeMap::new(), tick: 0, most }
    }

    /// What gives way to `key`, if something must.
    pub(super) fn make_room(&mut self, key: &K) -> Option<(K, V)> {
        if self.values.len() < self.most || self.values.contains_key(key) {
            return None;
        }
        let (_, oldest) = self.order.pop_first()?;
        self.values.remove(&oldest).map(|(_, value)| (oldest, value))
    }

    /// The value of `key`, perhaps a new one.
    pub(super) fn of(&mut self, key: K) -> &mut V {
        self.tick += 1;
        let (used, value) = self.values.entry(key).or_default();
        self.order.remove(used);
        *used = self.tick;
        self.order.insert(self.tick, key);
        value
    }

    /// All of them, in the order of their last use; none is left.
    pub(super) fn take_all(&mut self) -> Vec<(K, V)> {
        let order = std::mem::take(&mut self.order);
        order.into_values().filter_map(|key| Some((key, self.values.remove(&key)?.1))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgets_what_was_used_longest_ago() {
        let mut recent = Recent::<u8, u8>::new(2);
        for key in [1, 2, 1] {
            assert_eq!(recent.make_room(&key), None);
            *recent.of(key) += key;
        }
        assert_eq!(recent.make_room(&3), Some((2, 2)));
        *recent.of(3) = 9;
        assert_eq!(recent.take_all(), [(1, 2), (3, 9)]);
        assert_eq!((recent.values.len(), recent.order.len()), (0, 0));
    }
}
