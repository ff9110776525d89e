//! Content store: cached Data that answers Interests.
//!
//! Packets hang in a tree of names (`tree`), whose nodes are found by the keyed prefix hashes of the decode
//! stage. Insertion of Data below a known parent costs two probes. An Interest with CanBePrefix is answered
//! from the newest branch below its name. Nodes hold no names: a match is confirmed by the names of the
//! packets.
//!
//! A [`Policy`] selects the packets to evict. The capacity is given in packets and in bytes; the overhead of
//! the tree counts as bytes, too.

mod cached;
mod config;
mod queue;
mod store;
mod tree;

pub use config::{Config, Policy};
pub(crate) use store::Pass;
pub use store::{ContentStore, MAX_EVICTED};
