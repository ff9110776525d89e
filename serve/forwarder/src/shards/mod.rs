//! Forwarding threads that share nothing, each with a shard of the names.
//!
//! The first thread has all sockets and faces, and shard 0. It routes each packet by its name
//! ([`Dispatch`](hashlane_ndn_fw::shard::Dispatch)) and hands packets of other shards over in [batches](Batch)
//! through bounded queues. A worker forwards them with its own tables. It sends datagrams itself, over the
//! same sockets, and hands back what other faces send. Each worker has all faces and routes, and its part of
//! the limits: changes reach it as controls, before the packets that follow them.
//!
//! Nothing waits for a lock. If the queue of a worker is full, the first thread stops reading its sockets, so
//! that the kernel drops packets as it does without shards; if the queue of the first thread is full, workers
//! wait for it. Between workers, where each might wait for the other, packets beyond a bound are dropped and
//! counted.
//!
//! The public items are the path of a packet between threads, which the study `ndn-shards` times.

mod batch;
mod control;
mod crew;
mod datagrams;
mod exchange;
mod forward;
mod idle;
mod spawn;
mod worker;

pub use batch::{Action, Batch};
pub(crate) use control::Erasure;
pub(crate) use crew::Crew;
pub(crate) use datagrams::UdpPeer;
pub use exchange::{Exchange, FirstWaker};
pub use forward::{Outlet, Router, Through, forward_batch, pass_on, route_burst};
pub(crate) use spawn::start;

use hashlane_ndn_fw::forward::Config;

/// The part of the limits of a forwarder that each of `shards` has.
pub fn part(config: &Config, shards: usize) -> Config {
    let mut part = config.clone();
    part.pit_entries = config.pit_entries.div_ceil(shards);
    part.pit_bytes = config.pit_bytes.div_ceil(shards).max(hashlane_ndn_fw::forward::MIN_PIT_BYTES);
    part.cs.packets = config.cs.packets.div_ceil(shards);
    part.cs.bytes = config.cs.bytes.div_ceil(shards);
    part
}
