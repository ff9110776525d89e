//! A table of flows for one writing thread and any number of readers that never wait.
//!
//! [`table()`] makes it with a limit, up to which it grows in steps of bounded work. A value is any type that
//! is its bytes ([`bytemuck::Pod`]): a connection's place in an array, an address, counters. It is
//! [`hashlane_table::shared`] over a tuple's words and its hash; that module states the guarantees of a find
//! while the writer works. [`sharded`](crate::sharded) has several writers. No data plane of this repository
//! uses it.
//!
//! Flows expire by the writer's clock: a reader's find leaves them as old as they are.

pub use hashlane_table::shared::InsertError;

use crate::burst::{BURST, Hash, Keys, Prefetch};
use crate::ehash::TupleHash;
use crate::hashed::KeyHash;
use crate::table::{Limits, after, idle};
use crate::tuple::Tuple;
use crate::wheel::{TICKS, Wheel};
use bytemuck::Pod;
use core::num::NonZeroU32;
use hashlane_hash::scheme::Key;
use hashlane_table::Segments;
use hashlane_table::shared;
use hashlane_table::stage::Stage;

/// Makes a table at tick `now`, hashed under `key`: its writer, and the first of its readers. It has memory
/// for `room` flows and grows up to its limit. For each flow the writer has 8 bytes beside the shared memory,
/// and the wheel of [`Limits::idle`].
///
/// # Panics
/// More than 2³¹ flows, or more than fit in memory.
pub fn table<H: TupleHash, V: Pod>(
    room: usize,
    limits: Limits,
    key: &Key,
    now: u32,
) -> (Writer<H, V>, Reader<H, V>) {
    let (writer, reader) = shared::table(room, limits.flows);
    let idle = limits.idle.clamp(1, 1 << 24);
    let room = room.min(limits.flows);
    let wheel = Wheel::new(idle, room, now);
    let seen = Segments::with_capacity(room);
    (
        Writer { table: writer, hash: H::new(key), wheel, seen, idle },
        Reader { table: reader, hash: H::new(key) },
    )
}

/// Inserts and removes flows. There is one for each table.
#[derive(Debug)]
pub struct Writer<H, V = u64> {
    table: shared::Writer<5, V>,
    hash: H,
    wheel: Wheel,
    /// The tick after the one when the flow at each place was last written; `None` at a free place.
    seen: Segments<Option<NonZeroU32>>,
    idle: u32,
}

impl<H: TupleHash, V: Pod> Writer<H, V> {
    /// Number of flows.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns true if the table has no flows.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Maximum number of flows.
    pub fn capacity(&self) -> usize {
        self.table.capacity()
    }

    /// The value of a flow.
    #[inline]
    pub fn find(&self, tuple: &Tuple) -> Option<V> {
        self.table.find(self.hash.hash_key(tuple), tuple.as_ref())
    }

    /// Inserts a flow or replaces its value, and marks it as seen at tick `now`; returns the old value.
    /// Readers find the old value or the new one.
    ///
    /// # Errors
    /// [`InsertError::Full`] if the flow is not in the table and the table is full.
    pub fn insert(&mut self, tuple: &Tuple, value: V, now: u32) -> Result<Option<V>, InsertError> {
        self.insert_hashed(self.hash.hash_key(tuple), tuple, value, now)
    }

    /// The hash of a tuple in this table.
    #[inline]
    pub(crate) fn hash_of(&self, tuple: &Tuple) -> u64 {
        self.hash.hash_key(tuple)
    }

    /// [`insert`](Self::insert) of a tuple with a known hash.
    pub(crate) fn insert_hashed(
        &mut self,
        hash: u64,
        tuple: &Tuple,
        value: V,
        now: u32,
    ) -> Result<Option<V>, InsertError> {
        let before = self.table.place(hash, tuple.as_ref());
        let rehash = |words: &[u64; 5]| self.hash.hash_key(&Tuple::from_words(*words));
        let old = self.table.insert(hash, tuple.as_ref(), value, rehash)?;
        // A large value gets another place.
        if let Some(before) = before {
            self.forget(before);
        }
        self.mark(hash, tuple, now);
        Ok(old)
    }

    /// Marks a flow as seen at tick `now`; returns false if it is absent.
    pub fn touch(&mut self, tuple: &Tuple, now: u32) -> bool {
        self.mark(self.hash.hash_key(tuple), tuple, now)
    }

    fn mark(&mut self, hash: u64, tuple: &Tuple, now: u32) -> bool {
        let Some(place) = self.table.place(hash, tuple.as_ref()) else { return false };
        while self.seen.len() <= place as usize {
            self.seen.push(None);
        }
        if let Some(seen) = self.seen.get_mut(place as usize) {
            *seen = Some(after(now));
        }
        self.wheel.watch(place, now.wrapping_add(self.idle));
        true
    }

    /// Marks a place as free.
    fn forget(&mut self, place: u32) {
        if let Some(seen) = self.seen.get_mut(place as usize) {
            *seen = None;
        }
    }

    /// Takes out a flow; the value that it had.
    pub fn remove(&mut self, tuple: &Tuple) -> Option<V> {
        let hash = self.hash.hash_key(tuple);
        let place = self.table.place(hash, tuple.as_ref())?;
        self.forget(place);
        self.table.remove(hash, tuple.as_ref())
    }

    /// Removes flows that have been idle for the limit at tick `now`, and passes them to `each`. Returns true
    /// once every such flow has been removed, false if the budget was used up before: the next call goes on.
    ///
    /// `budget` counts as in [`FlowTable::expire`](crate::table::FlowTable::expire).
    pub fn expire(&mut self, now: u32, budget: usize, mut each: impl FnMut(Tuple, V)) -> bool {
        let mut left = budget;
        while self.wheel.is_behind(now) {
            if left == 0 {
                return false;
            }
            let mut places = [0; BURST];
            let taken = self.wheel.due(now, &mut places);
            left = left.saturating_sub(if taken < BURST { taken + TICKS / 128 } else { taken });
            for place in places.into_iter().take(taken) {
                let Some(Some(seen)) = self.seen.get(place as usize).copied() else { continue };
                let idle = idle(seen, now);
                if idle < self.idle {
                    self.wheel.watch(place, now.wrapping_add(self.idle - idle));
                } else if let Some(words) = self.table.last_key(place) {
                    let tuple = Tuple::from_words(words);
                    if let Some(value) = self.remove(&tuple) {
                        each(tuple, value);
                    }
                }
            }
        }
        true
    }
}

/// Finds flows while the [`Writer`] inserts and removes. A clone, for another thread, reads the same table.
#[derive(Clone, Debug)]
pub struct Reader<H, V = u64> {
    table: shared::Reader<5, V>,
    hash: H,
}

impl<H: TupleHash, V: Pod> Reader<H, V> {
    /// The value of a flow.
    #[inline]
    pub fn find(&self, tuple: &Tuple) -> Option<V> {
        self.find_hashed(self.hash.hash_key(tuple), tuple)
    }

    /// [`find`](Self::find) of a tuple with a known hash.
    #[inline(always)]
    pub(crate) fn find_hashed(&self, hash: u64, tuple: &Tuple) -> Option<V> {
        self.table.find(hash, tuple.as_ref())
    }

    /// Prefetches the bucket of this hash.
    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) {
        self.table.prefetch(hash);
    }

    /// Prefetches the entry that a find would compare first.
    #[inline(always)]
    pub(crate) fn prefetch_entry(&self, hash: u64) {
        self.table.prefetch_entry(hash);
    }

    /// Finds the flow of each of `tuples`, and calls `each` with its position among them and its value, in
    /// order.
    ///
    /// It hashes 32 tuples at a time, and their cache misses overlap. Each is found at a different moment.
    #[inline]
    pub fn find_burst(&self, tuples: &[Tuple], each: impl FnMut(usize, Option<V>)) {
        find_burst(&self.hash, tuples, |_| Some(self), each);
    }
}

/// Finds the flow of each of `tuples` in the table that `table` gives for its hash, as
/// [`Reader::find_burst`].
#[inline(always)]
pub(crate) fn find_burst<'a, H: TupleHash + 'a, V: Pod>(
    hash: &H,
    tuples: &[Tuple],
    table: impl Fn(u64) -> Option<&'a Reader<H, V>>,
    mut each: impl FnMut(usize, Option<V>),
) {
    for (burst, tuples) in tuples.chunks(BURST).enumerate() {
        let mut hashes = [0; BURST];
        let mut keys = Keys::new(tuples, &mut hashes);
        Hash(hash).run(&mut keys);
        let bucket = |hash| table(hash).into_iter().for_each(|table| table.prefetch(hash));
        let entry = |hash| table(hash).into_iter().for_each(|table| table.prefetch_entry(hash));
        Prefetch { bucket, entry }.run(&mut keys);
        for (at, (tuple, hash)) in tuples.iter().zip(keys.hashes()).enumerate() {
            each(burst * BURST + at, table(*hash).and_then(|table| table.find_hashed(*hash, tuple)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::fmt::Debug;
    use core::net::Ipv6Addr;
    use hashlane_hash::scheme::{Keying, SchemeInfo};
    use proptest::prelude::*;
    use proptest::test_runner::TestCaseError;
    use std::vec::Vec;

    /// A weak hash of `WIDTH` bits that fills chosen buckets.
    #[derive(Clone)]
    struct Sum<const WIDTH: u32>(u64);

    impl<const WIDTH: u32> TupleHash for Sum<WIDTH> {
        const INFO: SchemeInfo = SchemeInfo {
            id: "sum",
            source: "this test",
            width: WIDTH,
            keying: Keying::Seed(64),
            check: 0,
            safe: "nowhere",
        };

        fn new(key: &Key) -> Self {
            Self(key.halves().0)
        }

        fn hash(&self, tuple: &Tuple) -> u64 {
            let sum = tuple.words().iter().fold(self.0, |sum, word| sum.wrapping_mul(31).wrapping_add(*word));
            sum.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - WIDTH)
        }
    }

    fn tuple(at: u16) -> Tuple {
        Tuple::new(Ipv6Addr::LOCALHOST, 443, Ipv6Addr::from_bits(u128::from(at) << 64), at)
    }

    fn finds_what_was_inserted<H: TupleHash>(inserted: &[u16], removed: &[u16], sought: &[u16]) {
        let limits = Limits { flows: inserted.len(), idle: 10 };
        let (mut writer, reader) = table::<H, u64>(limits.flows / 4, limits, &Key::VECTOR, 0);
        let mut map = std::collections::BTreeMap::new();
        for at in inserted {
            assert_eq!(writer.insert(&tuple(*at), !u64::from(*at), 0), Ok(map.insert(*at, !u64::from(*at))));
        }
        for at in removed {
            assert_eq!(writer.remove(&tuple(*at)), map.remove(at));
        }
        assert_eq!((writer.len(), writer.is_empty()), (map.len(), map.is_empty()));
        let expected: Vec<_> = sought.iter().map(|at| map.get(at).copied()).enumerate().collect();
        let tuples: Vec<_> = sought.iter().map(|at| tuple(*at)).collect();
        let mut found = Vec::new();
        reader.find_burst(&tuples, |at, value| found.push((at, value)));
        assert_eq!(found, expected);
        for (tuple, (_, value)) in tuples.iter().zip(expected) {
            assert_eq!((reader.find(tuple), writer.find(tuple)), (value, value));
        }
    }

    proptest! {
        #[test]
        fn a_burst_finds_what_one_at_a_time_finds(
            inserted in prop::collection::vec(0..200u16, 0..150),
            removed in prop::collection::vec(0..200u16, 0..50),
            sought in prop::collection::vec(0..200u16, 0..150),
        ) {
            finds_what_was_inserted::<Sum<64>>(&inserted, &removed, &sought);
            finds_what_was_inserted::<Sum<32>>(&inserted, &removed, &sought);
        }
    }

    #[test]
    fn a_full_table_takes_no_other_flow() {
        let (mut writer, reader) = table::<Sum<64>, u64>(1, Limits { flows: 1, idle: 10 }, &Key::VECTOR, 0);
        assert_eq!(
            (writer.insert(&tuple(1), 10, 0), writer.insert(&tuple(1), 11, 0)),
            (Ok(None), Ok(Some(10)))
        );
        assert_eq!((writer.insert(&tuple(2), 20, 0), writer.capacity()), (Err(InsertError::Full), 1));
        assert_eq!((reader.find(&tuple(1)), reader.find(&tuple(2))), (Some(11), None));
    }

    /// Against a map from each flow to its value and its last tick.
    fn expires<V: Pod + PartialEq + Debug>(
        (idle, start): (u32, u32),
        steps: &[(u8, u16, u32)],
        of: impl Fn(u64) -> V,
    ) -> Result<(), TestCaseError> {
        let limits = Limits { flows: 30, idle };
        let (mut writer, reader) = table::<Sum<64>, V>(5, limits, &Key::VECTOR, start);
        let mut map = std::collections::BTreeMap::new();
        let mut now = start;
        for (number, &(kind, at, ticks)) in (0..).zip(steps) {
            now = now.wrapping_add(ticks);
            let mut expired = Vec::new();
            while !writer.expire(now, 32, |tuple, value| expired.push((tuple.foreign_port(), value))) {}
            expired.sort_unstable_by_key(|(port, _)| *port);
            let is_old = |at: &u16, flow: &mut (V, u32)| (now.wrapping_sub(flow.1) >= idle).then_some(*at);
            let old: Vec<u16> = map.iter_mut().filter_map(|(at, flow)| is_old(at, flow)).collect();
            let old: Vec<_> = old.into_iter().filter_map(|at| Some((at, map.remove(&at)?.0))).collect();
            prop_assert_eq!(expired, old);
            match kind {
                0 => prop_assert_eq!(writer.remove(&tuple(at)), map.remove(&at).map(|(value, _)| value)),
                1 => {
                    prop_assert_eq!(writer.touch(&tuple(at), now), map.contains_key(&at));
                    map.entry(at).and_modify(|(_, seen)| *seen = now);
                }
                _ => {
                    let old = map.insert(at, (of(number), now)).map(|(value, _)| value);
                    prop_assert_eq!(writer.insert(&tuple(at), of(number), now), Ok(old));
                }
            }
            prop_assert_eq!(reader.find(&tuple(at)), map.get(&at).map(|(value, _)| *value));
            prop_assert_eq!(writer.len(), map.len());
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn flows_expire_when_the_writer_has_not_seen_them(
            idle in 1..40u32,
            start: u32,
            steps in prop::collection::vec((0..4u8, 0..30u16, 0..5u32), 0..200),
        ) {
            expires((idle, start), &steps, |number| number)?;
            expires((idle, start), &steps, |number| [number, !number, 7])?;
        }
    }
}
