//! Counters of a forwarder.

use crate::drop::DropCounters;
use crate::face::{Counter, ReliabilityCounters};
use crate::latency::Latency;
use crate::strategy::DecisionCounters;

/// Counters of all faces together. One thread writes, any thread may read.
#[derive(Debug, Default)]
pub struct Counters {
    /// Interests received.
    pub in_interests: Counter,
    /// Data received.
    pub in_data: Counter,
    /// Nacks received.
    pub in_nacks: Counter,
    /// Interests sent.
    pub out_interests: Counter,
    /// Data sent.
    pub out_data: Counter,
    /// Nacks sent.
    pub out_nacks: Counter,
    /// PIT entries satisfied by Data.
    pub satisfied: Counter,
    /// Downstreams that got no Data although its name answers their Interest, because it carried the digest
    /// of another Interest.
    pub starved: Counter,
    /// PIT entries that expired.
    pub unsatisfied: Counter,
    /// Interests answered by the content store.
    pub cs_hits: Counter,
    /// Interests not answered by the content store.
    pub cs_misses: Counter,
    /// In-records removed from a full PIT, a full entry, or the entries of a name: their downstreams got a
    /// Nack.
    pub evicted: Counter,
    /// Current PIT entries.
    pub pit_entries: Counter,
    /// Current packets in the content store.
    pub cs_entries: Counter,
    /// Prefixes with measurements of a strategy.
    pub measurements_entries: Counter,
    /// Datagrams lost because the receive queue of a UDP socket was full.
    pub udp_overflows: Counter,
    /// Datagrams dropped by the kernel while a UDP socket limits the peers that flood it.
    pub flood_drops: Counter,
    /// On-demand UDP faces closed to make room for new peers.
    pub evicted_faces: Counter,
    /// Connections and handshakes closed for new ones.
    pub evicted_connections: Counter,
    /// Datagrams of new peers, and connections, that got no face because of a limit.
    pub refused_faces: Counter,
    /// Packets dropped because a send queue, or all together, are full.
    pub queue_drops: Counter,
    /// Log lines suppressed because remote parties cause too many.
    pub suppressed_lines: Counter,
    /// Link packets of faces with link reliability.
    pub reliability: ReliabilityCounters,
    /// Time from the last sending of an Interest to the Data from there.
    pub latency: Latency,
    /// Decisions of strategies.
    pub decisions: DecisionCounters,
    /// Size of the PIT in bytes: entries, Interests, records.
    pub pit_bytes: Counter,
    /// Age of the oldest pending Interest in a part of the PIT, in milliseconds since it was last sent.
    pub pit_age: Counter,
    /// Time for which the packet of the content store that is evicted next has been in its queue, in
    /// milliseconds.
    pub cs_age: Counter,
    /// Size of the content store in bytes, overhead included.
    pub cs_bytes: Counter,
    /// Prefixes in the FIB.
    pub fib_entries: Counter,
    /// Size of the FIB in bytes, reserve included, without next hops of prefixes that have many.
    pub fib_bytes: Counter,
    /// Dropped packets.
    pub drops: DropCounters,
}
