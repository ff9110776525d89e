//! The last stages, which look up or change the flow of each packet.

use super::Keys;
use crate::hashed::KeyHash;
use crate::table::{Flow, FlowTable, Full};
use crate::tuple::Tuple;
use hashlane_table::Table;
use hashlane_table::stage::Stage;

/// Decisions of the caller about each packet of a burst, in order of arrival.
pub trait Visitor<V, K = Tuple> {
    /// Handles packet `number`, of a flow with this value; the flow has been marked as seen.
    fn on_known_flow(&mut self, number: usize, value: &mut V);

    /// Returns the value of the new flow of packet `number`; `None` adds no flow.
    fn on_new_flow(&mut self, number: usize, key: &K) -> Option<V>;

    /// Called after the flow of packet `number` was added.
    #[inline(always)]
    fn on_added(&mut self, number: usize) {
        let _ = number;
    }

    /// Takes back the value of the flow that packet `number` would have begun: the table is at its limit.
    fn on_table_full(&mut self, number: usize, full: Full<V>);
}

impl<V, K, T: Visitor<V, K>> Visitor<V, K> for &mut T {
    #[inline(always)]
    fn on_known_flow(&mut self, number: usize, value: &mut V) {
        T::on_known_flow(self, number, value);
    }

    #[inline(always)]
    fn on_new_flow(&mut self, number: usize, key: &K) -> Option<V> {
        T::on_new_flow(self, number, key)
    }

    #[inline(always)]
    fn on_added(&mut self, number: usize) {
        T::on_added(self, number);
    }

    #[inline(always)]
    fn on_table_full(&mut self, number: usize, full: Full<V>) {
        T::on_table_full(self, number, full);
    }
}

/// Stage: for each key in order, marks its flow as seen, or adds it with the value from the visitor.
///
/// Two keys of one new flow make one entry: the second finds the entry of the first. Packet numbers are the
/// keys' places in the batch.
#[derive(Debug)]
pub struct Act<'a, K, V, H, T, R> {
    /// The flows.
    pub flows: &'a mut FlowTable<K, V, H, T>,
    /// Tick at which the packets arrived.
    pub now: u32,
    /// The caller's decisions.
    pub visitor: R,
}

impl<K, V, H, T, R> Stage<Keys<'_, K>> for Act<'_, K, V, H, T, R>
where
    K: Copy + Eq,
    H: KeyHash<K>,
    T: Table<K, Flow<V>>,
    R: Visitor<V, K>,
{
    #[inline(always)]
    fn run(&mut self, batch: &mut Keys<'_, K>) {
        for (number, (key, hash)) in batch.keys().iter().zip(batch.hashes()).enumerate() {
            if let Some(value) = self.flows.touch_hashed(*hash, key, self.now) {
                self.visitor.on_known_flow(number, value);
            } else if let Some(value) = self.visitor.on_new_flow(number, key) {
                match self.flows.insert_hashed(*hash, *key, value, self.now) {
                    Ok(()) => self.visitor.on_added(number),
                    Err(full) => self.visitor.on_table_full(number, full),
                }
            }
        }
    }
}

/// Stage: looks each key up, and calls `each` with its place in the batch and the value of its flow.
#[derive(Debug)]
pub struct Find<'a, K, V, H, T, F> {
    /// The flows.
    pub flows: &'a FlowTable<K, V, H, T>,
    /// Called in order.
    pub each: F,
}

impl<'a, K, V, H, T, F> Stage<Keys<'_, K>> for Find<'a, K, V, H, T, F>
where
    K: Copy + Eq,
    H: KeyHash<K>,
    T: Table<K, Flow<V>>,
    F: FnMut(usize, Option<&'a V>),
{
    #[inline(always)]
    fn run(&mut self, batch: &mut Keys<'_, K>) {
        for (number, (key, hash)) in batch.keys().iter().zip(batch.hashes()).enumerate() {
            (self.each)(number, self.flows.find_hashed(*hash, key));
        }
    }
}
