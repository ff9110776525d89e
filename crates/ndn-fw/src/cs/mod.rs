//! The content store: Data that came by, to answer Interests with.
//!
//! Packets hang in a tree of names (`tree`), whose nodes are found by the keyed hashes that came out of the walk over a packet's
//! name. So Data of a known parent costs two probes; an Interest that can be a prefix is answered from the newest branch below
//! its name; and a node, having no name of its own, is confirmed by the packets below it.
//!
//! What is evicted is said by a [`Policy`]. The capacity is stated in packets and in bytes; what the tree takes counts as
//! bytes, too.

mod cached;
mod config;
mod queue;
mod store;
mod tree;

pub use config::{Config, Policy};
pub(crate) use store::Pass;
pub use store::{ContentStore, EVICTED};
