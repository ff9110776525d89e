//! Ranking of keys by bytes, in bounded memory.

use super::Traffic;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::Hash;

/// Keys with most bytes.
///
/// At its limit of keys, the half with fewest bytes is dropped. So a key may have lost what it had when it
/// was dropped; [`missing`](Top::missing) bounds that.
#[derive(Debug)]
pub struct Top<K> {
    // Its hash is keyed at random: the keys come from strangers.
    traffic: HashMap<K, Traffic>,
    limit: usize,
    missing: u64,
}

impl<K: Copy + Ord + Hash> Top<K> {
    /// A ranking that keeps `limit` keys at most, at least 2.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { traffic: HashMap::new(), limit: limit.max(2), missing: 0 }
    }

    /// Adds traffic to a key.
    pub fn add(&mut self, key: K, traffic: Traffic) {
        self.traffic.entry(key).or_default().add(traffic);
        if self.traffic.len() > self.limit {
            self.drop_half();
        }
    }

    /// Drops the keys with fewest bytes.
    fn drop_half(&mut self) {
        // A key breaks ties, so that the result depends on the traffic alone.
        let mut all: Vec<(u64, K)> =
            self.traffic.iter().map(|(key, traffic)| (traffic.bytes, *key)).collect();
        let half = all.len() / 2;
        let (_, &mut limit, _) = all.select_nth_unstable(half);
        self.traffic.retain(|key, traffic| (traffic.bytes, *key) > limit);
        self.missing = self.missing.saturating_add(limit.0);
    }

    /// The `count` keys with most bytes, in that order; equal ones by key.
    #[must_use]
    pub fn top(&self, count: usize) -> Vec<(K, Traffic)> {
        let mut all: Vec<(K, Traffic)> = self.traffic.iter().map(|(key, traffic)| (*key, *traffic)).collect();
        all.sort_unstable_by_key(|(key, traffic)| (Reverse(traffic.bytes), *key));
        all.truncate(count);
        all
    }

    /// Bytes that any key may have beyond those counted; 0 if no key was dropped.
    #[must_use]
    pub const fn missing(&self) -> u64 {
        self.missing
    }

    /// Keys now. After keys were dropped, the number that there were is not known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.traffic.len()
    }

    /// Tests if there are no keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.traffic.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_are_bounded_and_misses_too(
            added in proptest::collection::vec((0_u8..40, 1_u64..1000), 1..400),
            limit in 2_usize..20,
        ) {
            let mut top = Top::new(limit);
            let mut exact = HashMap::<u8, u64>::new();
            for (key, bytes) in added {
                top.add(key, Traffic { bytes, ..Traffic::default() });
                *exact.entry(key).or_default() += bytes;
                prop_assert!(top.len() <= limit);
            }
            let shown = top.top(40).into_iter().map(|(key, traffic)| (key, traffic.bytes));
            let shown: HashMap<u8, u64> = shown.collect();
            for (key, bytes) in exact {
                let counted = shown.get(&key).copied().unwrap_or(0);
                prop_assert!(counted <= bytes && bytes - counted <= top.missing());
            }
        }
    }
}
