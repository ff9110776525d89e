//! The receive paths of a flow table: its operations on bursts, each a row of stages.

use super::{Act, BURST, Burst, Decode, Find, Hash, Keys, Prefetch, Visitor};
use crate::hashed::KeyHash;
use crate::table::{Flow, FlowTable, Full};
use crate::tuple::Tuple;
use hashlane_table::Table;
use hashlane_table::stage::Stage;

impl<K: Copy + Eq, V, H: KeyHash<K>, T: Table<K, Flow<V>>> FlowTable<K, V, H, T> {
    /// The stage that hashes a batch for this table.
    #[inline(always)]
    pub fn hash_stage(&self) -> Hash<'_, H> {
        Hash(&self.hash)
    }

    /// The stage that prefetches the buckets and entries of a batch.
    #[inline(always)]
    pub fn prefetch_stage(&self) -> Prefetch<impl Fn(u64), impl Fn(u64)> {
        Prefetch { bucket: |hash| self.table.prefetch(hash), entry: |hash| self.table.prefetch_entry(hash) }
    }

    /// Looks up many flows: calls `each` with the position of a key and the value of its flow, in order.
    ///
    /// It hashes [`BURST`] keys at a time, and their cache misses overlap.
    #[inline]
    pub fn find_burst<'a>(&'a self, keys: &[K], mut each: impl FnMut(usize, Option<&'a V>)) {
        for (chunk, keys) in keys.chunks(BURST).enumerate() {
            let mut hashes = [0; BURST];
            let mut keys = Keys::new(keys, &mut hashes);
            self.hash_stage().run(&mut keys);
            self.prefetch_stage().run(&mut keys);
            let each = |number, value| each(BURST * chunk + number, value);
            Find { flows: self, each }.run(&mut keys);
        }
    }

    /// Acts as [`find_burst`](Self::find_burst), and marks the flows as seen at tick `now`.
    #[inline]
    pub fn touch_burst(&mut self, keys: &[K], now: u32, each: impl FnMut(usize, Option<&mut V>)) {
        self.seen_or_insert_burst(keys, now, &mut Seen(each));
    }

    /// For each key in order, marks its flow as seen at tick `now`, or adds it with the value from `visitor`,
    /// which gets the keys' positions. Two keys of one new flow make one entry.
    ///
    /// It hashes [`BURST`] keys at a time, and their cache misses overlap.
    #[inline]
    pub fn seen_or_insert_burst(&mut self, keys: &[K], now: u32, visitor: &mut impl Visitor<V, K>) {
        for (chunk, keys) in keys.chunks(BURST).enumerate() {
            self.act(keys, now, Numbered { number: |place| BURST * chunk + place, visitor });
        }
    }

    /// Adds flows seen at tick `now`, or replaces their values if they are present: acts as
    /// [`insert`](FlowTable::insert) of each key in order. `value` gets the position of a key, and `each` the
    /// position and the result.
    #[inline]
    pub fn insert_burst(
        &mut self,
        keys: &[K],
        now: u32,
        value: impl FnMut(usize) -> V,
        each: impl FnMut(usize, Result<Option<V>, Full<V>>),
    ) {
        self.seen_or_insert_burst(keys, now, &mut Inserts { value, each });
    }

    /// Removes flows: acts as [`remove`](FlowTable::remove) of each key in order, and calls `each` with its
    /// position and the result.
    #[inline]
    pub fn remove_burst(&mut self, keys: &[K], mut each: impl FnMut(usize, Option<V>)) {
        for (chunk, keys) in keys.chunks(BURST).enumerate() {
            let mut hashes = [0; BURST];
            let mut batch = Keys::new(keys, &mut hashes);
            self.hash_stage().run(&mut batch);
            self.prefetch_stage().run(&mut batch);
            for (number, (key, hash)) in keys.iter().zip(batch.hashes()).enumerate() {
                each(BURST * chunk + number, self.remove_hashed(*hash, key));
            }
        }
    }

    /// Hashes the keys of a batch and prefetches their buckets: the first step of
    /// [`seen_or_insert_burst`](Self::seen_or_insert_burst), for callers that work on other batches until the
    /// buckets have come. Changes nothing in the table.
    #[inline(always)]
    pub fn begin_batch(&self, keys: &mut Keys<'_, K>) {
        self.hash_stage().run(keys);
        keys.hashes().iter().for_each(|hash| self.table.prefetch(*hash));
    }

    /// Prefetches the entries of hashes: the second step, once the buckets have come.
    #[inline(always)]
    pub fn prefetch_entries(&self, hashes: &[u64]) {
        hashes.iter().for_each(|hash| self.table.prefetch_entry(*hash));
    }

    /// Marks the flows of a batch as seen, or adds them: the last step. The hashes must come from
    /// [`begin_batch`](Self::begin_batch); the table may have changed since.
    #[inline(always)]
    pub fn finish_batch(&mut self, keys: &mut Keys<'_, K>, now: u32, visitor: &mut impl Visitor<V, K>) {
        Act { flows: self, now, visitor }.run(keys);
    }

    /// The stages of a batch that marks flows as seen and adds flows.
    #[inline(always)]
    fn act(&mut self, keys: &[K], now: u32, visitor: impl Visitor<V, K>) {
        let mut hashes = [0; BURST];
        let mut keys = Keys::new(keys, &mut hashes);
        self.begin_batch(&mut keys);
        self.prefetch_entries(keys.hashes());
        Act { flows: self, now, visitor }.run(&mut keys);
    }
}

impl<V, H: KeyHash<Tuple>, T: Table<Tuple, Flow<V>>> FlowTable<Tuple, V, H, T> {
    /// Receives a burst of packets at tick `now`: each marks its flow as seen, or adds one.
    ///
    /// `visitor` gets the packets' numbers in the burst. `decode` counts packets without a tuple, which are
    /// not visited.
    #[inline]
    pub fn receive(
        &mut self,
        decode: &mut Decode,
        burst: &mut Burst<'_>,
        now: u32,
        visitor: &mut impl Visitor<V>,
    ) {
        decode.run(burst);
        let numbers = burst.numbers();
        let number = |place| numbers.get(place).map_or(place, |number| usize::from(*number));
        self.act(burst.tuples(), now, Numbered { number, visitor });
    }
}

/// A visitor that calls a closure for each key, and adds no flow.
struct Seen<F>(F);

impl<K, V, F: FnMut(usize, Option<&mut V>)> Visitor<V, K> for Seen<F> {
    #[inline(always)]
    fn on_known_flow(&mut self, number: usize, value: &mut V) {
        self.0(number, Some(value));
    }

    #[inline(always)]
    fn on_new_flow(&mut self, number: usize, _: &K) -> Option<V> {
        self.0(number, None);
        None
    }

    #[inline(always)]
    fn on_table_full(&mut self, _: usize, _: Full<V>) {}
}

/// A visitor that adds every flow, or replaces its value.
struct Inserts<G, F> {
    value: G,
    each: F,
}

impl<K, V, G, F> Visitor<V, K> for Inserts<G, F>
where
    G: FnMut(usize) -> V,
    F: FnMut(usize, Result<Option<V>, Full<V>>),
{
    #[inline(always)]
    fn on_known_flow(&mut self, number: usize, value: &mut V) {
        let old = core::mem::replace(value, (self.value)(number));
        (self.each)(number, Ok(Some(old)));
    }

    #[inline(always)]
    fn on_new_flow(&mut self, number: usize, _: &K) -> Option<V> {
        Some((self.value)(number))
    }

    #[inline(always)]
    fn on_added(&mut self, number: usize) {
        (self.each)(number, Ok(None));
    }

    #[inline(always)]
    fn on_table_full(&mut self, number: usize, full: Full<V>) {
        (self.each)(number, Err(full));
    }
}

/// Gives a visitor the numbers of packets for the places of their keys.
struct Numbered<'a, N, R> {
    number: N,
    visitor: &'a mut R,
}

impl<K, V, N: Fn(usize) -> usize, R: Visitor<V, K>> Visitor<V, K> for Numbered<'_, N, R> {
    #[inline(always)]
    fn on_known_flow(&mut self, place: usize, value: &mut V) {
        self.visitor.on_known_flow((self.number)(place), value);
    }

    #[inline(always)]
    fn on_new_flow(&mut self, place: usize, key: &K) -> Option<V> {
        self.visitor.on_new_flow((self.number)(place), key)
    }

    #[inline(always)]
    fn on_added(&mut self, place: usize) {
        self.visitor.on_added((self.number)(place));
    }

    #[inline(always)]
    fn on_table_full(&mut self, place: usize, full: Full<V>) {
        self.visitor.on_table_full((self.number)(place), full);
    }
}
