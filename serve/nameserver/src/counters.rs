//! Counters of each thread, summed on demand.

use hashlane_dns::respond::Transport;
use hashlane_dns::wire::{Rcode, RecordType};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Types with a counter of their own: all below this, and [`RecordType::CAA`].
const TYPES: usize = 256;

/// Response codes with a counter of their own; all others are counted with the last one.
const RCODES: usize = 24;

/// A counter that one thread writes and all read.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds to the counter, without a locked instruction: only its thread writes it.
    #[inline]
    pub(crate) fn add(&self, number: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(number), Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Takes over a count that another place keeps.
    pub(crate) fn set(&self, number: u64) {
        self.0.store(number, Ordering::Relaxed);
    }
}

macro_rules! counters {
    ($($(#[doc = $doc:literal])* $name:ident,)*) => {
        /// Counters of one thread, on cache lines of their own.
        #[derive(Debug)]
        #[repr(align(128))]
        pub(crate) struct Counters {
            pub(crate) transport: Transport,
            /// Turns of the thread's loop, by which it shows that it makes progress.
            pub(crate) turns: Counter,
            types: [Counter; TYPES + 2],
            rcodes: [Counter; RCODES],
            $(pub(crate) $name: Counter,)*
        }

        impl Counters {
            pub(crate) fn new(transport: Transport) -> Self {
                Self {
                    transport,
                    turns: Counter::default(),
                    types: std::array::from_fn(|_| Counter::default()),
                    rcodes: Default::default(),
                    $($name: Counter::default(),)*
                }
            }

            fn add_to(&self, sums: &mut Sums) {
                $(sums.$name += self.$name.get();)*
            }
        }

        /// Counters of all threads of a transport since the start.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct Sums {
            $($(#[doc = $doc])* pub $name: u64,)*
            /// Queries by the mnemonic of their type.
            pub types: BTreeMap<String, u64>,
            /// Responses by the mnemonic of their code.
            pub rcodes: BTreeMap<String, u64>,
        }

        impl Sums {
            /// Names and values, without those by type and code.
            pub fn fields(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name),)*].into_iter()
            }
        }
    };
}

counters! {
    /// Messages received.
    received,
    /// Bytes of these messages.
    received_bytes,
    /// Responses sent.
    sent,
    /// Bytes of these responses.
    sent_bytes,
    /// Messages without a response: too short, or responses.
    ignored,
    /// Responses with TC because they were longer than the query allowed.
    truncated,
    /// Responses withheld by the rate limit.
    limited_dropped,
    /// Responses that the rate limit made truncated.
    limited_truncated,
    /// Queries with a valid server cookie.
    cookies,
    /// Responses that the kernel did not take.
    unsent,
    /// Frames by XDP without a valid datagram: wrong lengths, checksums or sources.
    malformed,
    /// Frames by XDP that the kernel dropped, almost always because no frame was free to receive into.
    xdp_dropped,
    /// Frames by XDP for which the ring had no room.
    xdp_ring_full,
    /// Sends by XDP that found the queue of the interface full; each may have lost a response.
    xdp_queue_full,
    /// Frames by XDP that the kernel refused: a defect of this program.
    xdp_invalid,
    /// Messages that are signed, NOTIFY or queries for transfers.
    special,
    /// Messages whose signature is not valid.
    bad_signatures,
    /// NOTIFY messages from a peer that may send them.
    notified,
    /// Transfers to secondaries that were begun.
    transfers,
    /// Transfers to secondaries that were written to their last message.
    completed_transfers,
    /// Transfers to secondaries that ended before the last message.
    broken_transfers,
    /// Queries for transfers that were refused.
    refused_transfers,
    /// Connections accepted.
    accepted,
    /// Connections over TLS whose handshake was completed.
    handshakes,
    /// Connections over TLS that ended before their handshake was complete.
    failed_handshakes,
    /// Connections closed because they were idle.
    closed_idle,
    /// Connections closed because a query took too long to arrive.
    closed_slow_query,
    /// Connections closed because responses were not taken.
    closed_slow_reader,
    /// Connections closed to make place for others.
    closed_for_others,
}

impl Counters {
    /// Counts the type of a query.
    #[inline]
    pub(crate) fn query(&self, rtype: Option<RecordType>) {
        let at = match rtype {
            Some(RecordType::CAA) => TYPES,
            Some(RecordType(number)) => usize::from(number).min(TYPES + 1),
            None => TYPES + 1,
        };
        if let Some(counter) = self.types.get(at) {
            counter.add(1);
        }
    }

    /// Counts a response.
    #[inline]
    pub(crate) fn rcode(&self, rcode: Rcode) {
        if let Some(counter) = self.rcodes.get(usize::from(rcode.0).min(RCODES - 1)) {
            counter.add(1);
        }
    }
}

/// The counters of all threads.
#[derive(Clone, Debug, Default)]
pub(crate) struct AllCounters(pub(crate) Vec<Arc<Counters>>);

impl AllCounters {
    /// Sums of the threads of a transport.
    pub(crate) fn sums(&self, transport: Transport) -> Sums {
        let mut sums = Sums::default();
        for counters in self.0.iter().filter(|counters| counters.transport == transport) {
            counters.add_to(&mut sums);
            for (number, counter) in
                counters.types.iter().enumerate().filter(|(_, counter)| counter.get() > 0)
            {
                let name = match number {
                    TYPES => RecordType::CAA.to_string(),
                    number if number > TYPES => "other".to_owned(),
                    number => RecordType(number as u16).to_string(),
                };
                *sums.types.entry(name).or_default() += counter.get();
            }
            for (number, counter) in
                counters.rcodes.iter().enumerate().filter(|(_, counter)| counter.get() > 0)
            {
                *sums.rcodes.entry(rcode(number as u16)).or_default() += counter.get();
            }
        }
        sums
    }
}

/// Mnemonic of a response code.
fn rcode(number: u16) -> String {
    Rcode(number).to_string()
}

/// Counters of zones, by the number that each zone keeps: an array for each thread.
#[derive(Debug, Default)]
pub(crate) struct ZoneCounters {
    threads: Vec<Vec<Counter>>,
    /// Number of the first zone.
    first: usize,
}

impl ZoneCounters {
    pub(crate) fn new(threads: usize, first: usize, zones: usize) -> Self {
        let threads = (0..threads).map(|_| (0..zones).map(|_| Counter::default()).collect()).collect();
        Self { threads, first }
    }

    /// Number after the last zone's.
    pub(crate) fn end(&self) -> usize {
        self.first + self.threads.first().map_or(0, Vec::len)
    }

    /// Counter of a zone, if it is one of these.
    #[inline]
    pub(crate) fn of(&self, thread: usize, zone: usize) -> Option<&Counter> {
        self.threads.get(thread)?.get(zone.checked_sub(self.first)?)
    }

    /// Sum of all threads for a zone.
    pub(crate) fn sum(&self, zone: usize) -> u64 {
        (0..self.threads.len()).filter_map(|thread| self.of(thread, zone)).map(Counter::get).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_threads_of_a_transport() {
        let [a, b, c] =
            [Transport::Udp, Transport::Udp, Transport::Tcp].map(|at| Arc::new(Counters::new(at)));
        for (counters, number) in [(&a, 1), (&b, 2), (&c, 4)] {
            counters.received.add(number);
            counters.query(Some(RecordType::AAAA));
            counters.rcode(Rcode::NAME_ERROR);
        }
        for rtype in [Some(RecordType::CAA), Some(RecordType(65_280)), None] {
            c.query(rtype);
        }
        c.rcode(Rcode(4095));
        let all = AllCounters(vec![a, b, c]);
        let (udp, tcp) = (all.sums(Transport::Udp), all.sums(Transport::Tcp));
        assert_eq!((udp.received, tcp.received), (3, 4));
        assert_eq!((udp.types["AAAA"], udp.rcodes["NXDOMAIN"], udp.types.len()), (2, 2, 1));
        assert_eq!((tcp.types["AAAA"], tcp.types["CAA"], tcp.types["other"]), (1, 1, 2));
        assert_eq!(tcp.rcodes["RCODE23"], 1);
        assert!(tcp.fields().any(|field| field == ("received", 4)));
    }

    #[test]
    fn zones_are_counted_by_their_number() {
        let zones = ZoneCounters::new(2, 10, 3);
        zones.of(0, 10).expect("the first").add(1);
        zones.of(1, 10).expect("the first").add(2);
        assert_eq!((zones.sum(10), zones.sum(12), zones.end()), (3, 0, 13));
        assert!(zones.of(0, 9).is_none() && zones.of(0, 13).is_none() && zones.of(2, 10).is_none());
    }
}
