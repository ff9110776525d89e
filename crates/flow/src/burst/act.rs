//! The last stages, which look up or change the flow of each packet.

use super::Keys;
use crate::ehash::TupleHash;
use crate::table::{Flow, FlowTable, Full};
use crate::tuple::Tuple;
use hashlane_table::Table;
use hashlane_table::stage::Stage;

/// Decisions of the caller about each packet of a burst, in order of arrival.
pub trait Visitor<V> {
    /// Handles packet `number`, of a flow with this value; the flow has been marked as seen.
    fn on_known_flow(&mut self, number: usize, value: &mut V);

    /// Returns the value of the new flow of packet `number`; `None` adds no flow.
    fn on_new_flow(&mut self, number: usize, tuple: &Tuple) -> Option<V>;

    /// Takes back the value of the flow that packet `number` would have begun: the table is at its limit.
    fn on_table_full(&mut self, number: usize, full: Full<V>);
}

impl<V, T: Visitor<V>> Visitor<V> for &mut T {
    #[inline(always)]
    fn on_known_flow(&mut self, number: usize, value: &mut V) {
        T::on_known_flow(self, number, value);
    }

    #[inline(always)]
    fn on_new_flow(&mut self, number: usize, tuple: &Tuple) -> Option<V> {
        T::on_new_flow(self, number, tuple)
    }

    #[inline(always)]
    fn on_table_full(&mut self, number: usize, full: Full<V>) {
        T::on_table_full(self, number, full);
    }
}

/// Stage: for each tuple in order, marks its flow as seen, or adds it with the value from the visitor.
///
/// Two tuples of one new flow make one entry: the second finds the entry of the first. Packet numbers are the
/// tuples' places in the batch.
#[derive(Debug)]
pub struct Act<'a, V, H, T, R> {
    /// The flows.
    pub flows: &'a mut FlowTable<V, H, T>,
    /// Tick at which the packets arrived.
    pub now: u32,
    /// The caller's decisions.
    pub visitor: R,
}

impl<V, H: TupleHash, T: Table<Tuple, Flow<V>>, R: Visitor<V>> Stage<Keys<'_>> for Act<'_, V, H, T, R> {
    #[inline(always)]
    fn run(&mut self, batch: &mut Keys<'_>) {
        for (number, (tuple, hash)) in batch.tuples().iter().zip(batch.hashes()).enumerate() {
            if let Some(value) = self.flows.touch_hashed(*hash, tuple, self.now) {
                self.visitor.on_known_flow(number, value);
            } else if let Some(value) = self.visitor.on_new_flow(number, tuple)
                && let Err(full) = self.flows.insert_hashed(*hash, *tuple, value, self.now)
            {
                self.visitor.on_table_full(number, full);
            }
        }
    }
}

/// Stage: looks each tuple up, and calls `each` with its place in the batch and the value of its flow.
#[derive(Debug)]
pub struct Find<'a, V, H, T, F> {
    /// The flows.
    pub flows: &'a FlowTable<V, H, T>,
    /// Called in order.
    pub each: F,
}

impl<'a, V, H, T, F> Stage<Keys<'_>> for Find<'a, V, H, T, F>
where
    H: TupleHash,
    T: Table<Tuple, Flow<V>>,
    F: FnMut(usize, Option<&'a V>),
{
    #[inline(always)]
    fn run(&mut self, batch: &mut Keys<'_>) {
        for (number, (tuple, hash)) in batch.tuples().iter().zip(batch.hashes()).enumerate() {
            (self.each)(number, self.flows.find_hashed(*hash, tuple));
        }
    }
}
