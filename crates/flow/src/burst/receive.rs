//! The receive paths of a flow table: its operations on bursts, each a row of stages.

use super::{Act, BURST, Burst, Decode, Find, Hash, Keys, Prefetch, Visitor};
use crate::ehash::TupleHash;
use crate::table::{Flow, FlowTable, Full};
use crate::tuple::Tuple;
use hashlane_table::Table;
use hashlane_table::stage::Stage;

impl<V, H: TupleHash, T: Table<Tuple, Flow<V>>> FlowTable<V, H, T> {
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

    /// Looks up many flows: calls `each` with the position of a tuple and the value of its flow, in order.
    ///
    /// It hashes [`BURST`] tuples at a time, and their cache misses overlap.
    #[inline]
    pub fn find_burst<'a>(&'a self, tuples: &[Tuple], mut each: impl FnMut(usize, Option<&'a V>)) {
        for (chunk, tuples) in tuples.chunks(BURST).enumerate() {
            let mut hashes = [0; BURST];
            let mut keys = Keys::new(tuples, &mut hashes);
            self.hash_stage().run(&mut keys);
            self.prefetch_stage().run(&mut keys);
            let each = |number, value| each(BURST * chunk + number, value);
            Find { flows: self, each }.run(&mut keys);
        }
    }

    /// Acts as [`find_burst`](Self::find_burst), and marks the flows as seen at tick `now`.
    #[inline]
    pub fn touch_burst(&mut self, tuples: &[Tuple], now: u32, mut each: impl FnMut(usize, Option<&mut V>)) {
        for (chunk, tuples) in tuples.chunks(BURST).enumerate() {
            let visitor = Seen { first: BURST * chunk, each: &mut each };
            self.act(tuples, now, visitor);
        }
    }

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
        self.act(burst.tuples(), now, Numbered { numbers: burst.numbers(), visitor });
    }

    /// The stages of a batch that marks flows as seen and adds flows.
    #[inline(always)]
    fn act(&mut self, tuples: &[Tuple], now: u32, visitor: impl Visitor<V>) {
        let mut hashes = [0; BURST];
        let mut keys = Keys::new(tuples, &mut hashes);
        self.hash_stage().run(&mut keys);
        self.prefetch_stage().run(&mut keys);
        Act { flows: self, now, visitor }.run(&mut keys);
    }
}

/// A visitor that calls a closure for each tuple, and adds no flow.
struct Seen<F> {
    /// Position of the first tuple of the batch.
    first: usize,
    each: F,
}

impl<V, F: FnMut(usize, Option<&mut V>)> Visitor<V> for Seen<F> {
    #[inline(always)]
    fn on_known_flow(&mut self, number: usize, value: &mut V) {
        (self.each)(self.first + number, Some(value));
    }

    #[inline(always)]
    fn on_new_flow(&mut self, number: usize, _: &Tuple) -> Option<V> {
        (self.each)(self.first + number, None);
        None
    }

    #[inline(always)]
    fn on_table_full(&mut self, _: usize, _: Full<V>) {}
}

/// Gives a visitor the numbers of packets for the places of their tuples.
struct Numbered<'a, R> {
    numbers: &'a [u8],
    visitor: &'a mut R,
}

impl<R> Numbered<'_, R> {
    #[inline(always)]
    fn number(&self, place: usize) -> usize {
        self.numbers.get(place).map_or(place, |number| usize::from(*number))
    }
}

impl<V, R: Visitor<V>> Visitor<V> for Numbered<'_, R> {
    #[inline(always)]
    fn on_known_flow(&mut self, place: usize, value: &mut V) {
        self.visitor.on_known_flow(self.number(place), value);
    }

    #[inline(always)]
    fn on_new_flow(&mut self, place: usize, tuple: &Tuple) -> Option<V> {
        self.visitor.on_new_flow(self.number(place), tuple)
    }

    #[inline(always)]
    fn on_table_full(&mut self, place: usize, full: Full<V>) {
        self.visitor.on_table_full(self.number(place), full);
    }
}
