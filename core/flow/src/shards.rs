//! Shards: tables of flows of several workers that share nothing.
//!
//! Each flow belongs to one shard, whose worker alone has its table. [`Shards`] chooses the shard by a keyed
//! hash, which no remote party foresees. [`rss`](crate::rss) computes the choice of a network card.

use crate::burst::BURST;
use crate::hashed::KeyHash;
use hashlane_hash::scheme::Key;

/// The choice of the shard that owns a flow, by its key's hash.
///
/// Both directions of a flow have one shard if they have one key, as they have with
/// [`MeterKey`](crate::key::MeterKey). The shard takes bits 32 to 47 of the hash; the tables take their
/// buckets from the lowest bits and their tags from the highest 16, so a shard may use the same hash.
///
/// ```
/// use hashlane_flow::ehash::SipHash13;
/// use hashlane_flow::key::{MeterKey, Scope};
/// use hashlane_flow::shards::Shards;
/// use hashlane_hash::scheme::Key;
/// use std::net::Ipv4Addr;
///
/// let shards = Shards::<SipHash13>::new::<MeterKey>(&Key::random()?, 4);
/// let (client, server) = ((Ipv4Addr::new(192, 0, 2, 1), 50_000), (Ipv4Addr::new(198, 51, 100, 7), 443));
/// let scope = Scope { protocol: 6, version: 4, ..Scope::default() };
/// let [request, response] = [(client, server), (server, client)].map(|(a, b)| MeterKey::v4(a, b, scope).0);
/// assert_eq!(shards.shard(&request), shards.shard(&response));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Shards<H> {
    hash: H,
    count: u64,
}

/// Maximum number of shards.
pub const MOST: usize = 1 << 16;

impl<H> Shards<H> {
    /// The choice among `count` shards, 1 to [`MOST`], under `key`.
    pub fn new<K>(key: &Key, count: usize) -> Self
    where
        H: KeyHash<K>,
    {
        const { assert!(H::SCHEME.width == 64, "a narrow hash has no bits beyond buckets and tags") };
        Self { hash: H::keyed(key), count: count.clamp(1, MOST) as u64 }
    }

    /// Number of shards.
    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// The shard that owns the flow of `key`, below [`count`](Self::count).
    #[inline]
    pub fn shard<K>(&self, key: &K) -> usize
    where
        H: KeyHash<K>,
    {
        self.shard_of(self.hash.hash_key(key))
    }

    /// Passes the position of each key and its shard to `each`, in order. It hashes [`BURST`] keys at a time.
    #[inline]
    pub fn shard_burst<K>(&self, keys: &[K], mut each: impl FnMut(usize, usize))
    where
        H: KeyHash<K>,
    {
        for (chunk, keys) in keys.chunks(BURST).enumerate() {
            let mut hashes = [0; BURST];
            self.hash.hash_keys(keys, &mut hashes);
            for (number, hash) in hashes.iter().take(keys.len()).enumerate() {
                each(BURST * chunk + number, self.shard_of(*hash));
            }
        }
    }

    /// The shard of a flow whose key has this hash.
    #[inline]
    pub fn shard_of(&self, hash: u64) -> usize {
        (((hash >> 32 & 0xffff) * self.count) >> 16) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ehash::SipHash13;
    use crate::key::{MeterKey, Scope};
    use core::net::{Ipv4Addr, Ipv6Addr};
    use proptest::prelude::*;
    use std::vec;

    type End<A> = (A, u16);

    fn scope(version: u8, protocol: u8) -> Scope {
        Scope { protocol, version, ..Scope::default() }
    }

    proptest! {
        #[test]
        fn both_directions_of_a_flow_reach_one_shard(
            key: [u8; 16],
            count in 1..300usize,
            (a, b, protocol) in any::<(End<u32>, End<u32>, u8)>(),
            (x, y) in any::<(End<u128>, End<u128>)>(),
        ) {
            let shards = Shards::<SipHash13>::new::<MeterKey>(&Key::new(key), count);
            let four = |(address, port): End<u32>| (Ipv4Addr::from_bits(address), port);
            let six = |(address, port): End<u128>| (Ipv6Addr::from_bits(address), port);
            let there = MeterKey::v4(four(a), four(b), scope(4, protocol)).0;
            let back = MeterKey::v4(four(b), four(a), scope(4, protocol)).0;
            prop_assert_eq!(shards.shard(&there), shards.shard(&back));
            let there = MeterKey::new(six(x), six(y), scope(6, protocol)).0;
            let back = MeterKey::new(six(y), six(x), scope(6, protocol)).0;
            prop_assert_eq!(shards.shard(&there), shards.shard(&back));
            prop_assert!(shards.shard(&there) < shards.count());
        }

        #[test]
        fn a_shard_leaves_the_bits_of_buckets_and_tags(hash: u64, low: u32, high: u16, count in 1..1000usize) {
            let shards = Shards::<SipHash13>::new::<MeterKey>(&Key::VECTOR, count);
            let other = hash & 0xffff_0000_0000 | u64::from(low) | u64::from(high) << 48;
            prop_assert_eq!(shards.shard_of(hash), shards.shard_of(other));
        }
    }

    #[test]
    fn flows_spread_evenly_over_any_number_of_shards() {
        for count in [1, 2, 3, 7, 64] {
            let shards = Shards::<SipHash13>::new::<MeterKey>(&Key::VECTOR, count);
            let mut flows = vec![0u32; count];
            for client in 0..6400 {
                let ends = ((Ipv4Addr::from_bits(client), 443), (Ipv4Addr::LOCALHOST, 80));
                flows[shards.shard(&MeterKey::v4(ends.0, ends.1, scope(4, 6)).0)] += 1;
            }
            let mean = 6400 / count as u32;
            assert!(flows.iter().all(|flows| flows.abs_diff(mean) <= mean / 2), "{flows:?}");
        }
    }

    #[test]
    fn a_burst_gets_the_shards_of_its_keys() {
        let shards = Shards::<SipHash13>::new::<MeterKey>(&Key::VECTOR, 5);
        let key = |client| {
            let ends = ((Ipv4Addr::from_bits(client), 443), (Ipv4Addr::LOCALHOST, 80));
            MeterKey::v4(ends.0, ends.1, scope(4, 6)).0
        };
        let keys: vec::Vec<_> = (0..77).map(key).collect();
        let mut burst = vec::Vec::new();
        shards.shard_burst(&keys, |number, shard| burst.push((number, shard)));
        let alone: vec::Vec<_> = keys.iter().map(|key| shards.shard(key)).enumerate().collect();
        assert_eq!(burst, alone);
    }

    #[test]
    fn counts_outside_the_range_are_the_nearest_inside() {
        let count = |count| Shards::<SipHash13>::new::<MeterKey>(&Key::VECTOR, count).count();
        assert_eq!([count(0), count(5), count(usize::MAX)], [1, 5, MOST]);
    }
}
