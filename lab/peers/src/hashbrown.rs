//! hashbrown: the table of Rust's standard library, with hashes that the caller gives.

use ::hashbrown::HashTable;
use hashlane_table::{Inserted, Table};

/// A `hashbrown::HashTable` of keys and values. It has nothing to prefetch: its finds are one at a time.
/// Churn may double it within its capacity.
#[derive(Clone, Debug)]
pub struct Hashbrown<K, V>(HashTable<(K, V)>);

impl<K: Eq, V> Table<K, V> for Hashbrown<K, V> {
    const SLOTS_STAY: bool = false;

    fn with_capacity(entries: usize) -> Self {
        Self(HashTable::with_capacity(entries))
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn memory(&self) -> usize {
        self.0.allocation_size()
    }

    fn slots(&self) -> usize {
        self.0.num_buckets()
    }

    #[inline(always)]
    fn find(&self, hash: u64, key: &K) -> Option<&V> {
        self.0.find(hash, |(other, _)| other == key).map(|(_, value)| value)
    }

    #[inline(always)]
    fn find_mut(&mut self, hash: u64, key: &K) -> Option<&mut V> {
        self.0.find_mut(hash, |(other, _)| other == key).map(|(_, value)| value)
    }

    #[inline(always)]
    fn entry(&self, slot: u32) -> Option<(&K, &V)> {
        self.0.get_bucket(slot as usize).map(|(key, value)| (key, value))
    }

    /// Full to its capacity, the table moves its entries before it takes another.
    fn insert(&mut self, hash: u64, key: K, value: V, rehash: impl Fn(&K) -> u64) -> Inserted {
        let moved = self.0.len() == self.0.capacity();
        let entry = self.0.insert_unique(hash, (key, value), |(key, _)| rehash(key));
        Inserted { slot: entry.bucket_index() as u32, moved }
    }

    fn remove(&mut self, hash: u64, key: &K) -> Option<V> {
        let entry = self.0.find_entry(hash, |(other, _)| other == key).ok()?;
        let ((_, value), _) = entry.remove();
        Some(value)
    }

    #[inline(always)]
    fn prefetch(&self, _: u64) {}

    #[inline(always)]
    fn prefetch_entry(&self, _: u64) {}

    fn comparisons(&self, hash: u64, key: &K) -> usize {
        let mut keys = 0;
        self.0.find(hash, |(other, _)| {
            keys += 1;
            other == key
        });
        keys
    }

    fn iter<'a>(&'a self) -> impl Iterator<Item = (u32, &'a K, &'a V)>
    where
        K: 'a,
        V: 'a,
    {
        let entries =
            self.0.iter_buckets().filter_map(|bucket| Some((bucket as u32, self.0.get_bucket(bucket)?)));
        entries.map(|(bucket, (key, value))| (bucket, key, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn keeps_entries_at_the_slots_it_names() {
        let hash = |key: &u32| u64::from(*key).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
        let mut table = Hashbrown::with_capacity(0);
        let mut slots = BTreeMap::new();
        for key in 0..1000u32 {
            let Inserted { slot, moved } = table.insert(hash(&key), key, key + 1, hash);
            if moved {
                slots = table.iter().map(|(slot, key, _)| (*key, slot)).collect();
            }
            slots.insert(key, slot);
            if key % 3 == 0 {
                assert_eq!(table.remove(hash(&key), &key), Some(key + 1));
                slots.remove(&key);
            }
        }
        assert_eq!(table.len(), slots.len());
        for (key, slot) in slots {
            assert_eq!(table.entry(slot), Some((&key, &(key + 1))));
            assert_eq!(table.find(hash(&key), &key), Some(&(key + 1)));
            assert!((slot as usize) < table.slots() && table.comparisons(hash(&key), &key) > 0);
        }
    }
}
