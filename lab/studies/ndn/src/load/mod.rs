//! Load for a forwarder of NDN: consumers and producers in one thread of this process, the forwarder in a
//! separate process.
//!
//! Each pair of a consumer and a producer has one connection for each, and a window of unanswered Interests.
//! An *exchange* is an Interest that a consumer sent and the Data that answered it, counted when the consumer
//! reads the Data. No two Interests of a run have one name. Packets are [templates](template) in which a
//! number is written; they are sent and received by the calls of the crate `link` that the forwarder itself
//! uses.
//!
//! The cost of a forwarder is the CPU time of its process, which the kernel counts in nanoseconds, divided by
//! the exchanges of the same time. The forwarder and the load have a core each if the machine has two.
//!
//! - [`Workload`]: the packets to send, and the link.
//! - [`Forwarder`]: ours, another project's, and a relay of datagrams that is the floor under both.
//! - [`turn`]: one forwarder, started afresh, under one load.

pub mod child;
mod control;
mod datagrams;
mod drive;
mod forwarders;
mod index;
mod network;
mod pair;
mod plan;
mod port;
mod reading;
pub mod relay;
mod reliable;
mod routes;
mod spread;
mod tables;
pub mod template;
mod turn;
mod window;
mod workload;

pub use forwarders::{Forwarder, NDND};
pub use index::Index;
pub use network::namespaces_refused;
pub use plan::Plan;
pub use reading::{Reading, Rtt};
pub use tables::Tables;
pub use turn::turn;
pub use window::Counts;
pub use workload::{Link, Names, Pace, Workload, WorkloadError};
