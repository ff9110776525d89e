//! Sizes and ages of the tables, for the counters.

use super::forwarder::Forwarder;
use crate::pit::Pit;
use hashlane_ndn::time::Time;

/// Slots of the PIT whose age is looked at.
const AGED: usize = 256;

impl<P: Pit> Forwarder<P> {
    /// Writes the sizes of the tables in bytes, and the ages of the PIT and of the content store, into the
    /// [counters](Self::counters). Meant for once a second: it visits up to 256 slots of the PIT.
    pub fn gauge(&mut self, now: Time) {
        let (pit, _) = self.pending.weights();
        self.counters.pit_bytes.set(pit);
        self.counters.cs_bytes.set(self.cs.bytes() as u64);
        self.counters.cs_age.set(self.cs.oldest(now).unwrap_or(0));
        self.counters.fib_entries.set(self.fib.len() as u64);
        self.counters.fib_bytes.set(self.fib.memory_of_prefixes() as u64);
        let slots = (0..self.pit.slots().min(AGED) as u32).filter_map(|slot| self.pit.entry(slot));
        let sent = slots.flat_map(|(_, records)| &records.outs).map(|out| out.sent).min();
        let age = sent.map_or(0, |sent| now.since(sent).as_millis() as u64);
        self.counters.pit_age.set(age);
    }
}
