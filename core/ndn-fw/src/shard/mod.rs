//! Shards: forwarders that share nothing, each with a part of the names.
//!
//! [`Dispatch`] chooses the shards that a packet visits. Almost every packet visits one: the shard that owns
//! the first two components of its name, or more of them where one prefix is too hot for a shard. Shards
//! together behave as one forwarder, so some packets visit others before it:
//!
//! - An Interest with CanBePrefix and fewer components than the choice reads asks the content stores of all
//!   shards, then stays at its own. While it is pending, Data below its name visits that shard, too.
//! - When a bucket of names moves to another shard, its packets first visit the shard that it came from,
//!   until all Interests of that time have expired. That shard takes further Interests for the names that are
//!   pending there, so that Data visits it until these have expired, too.
//!
//! [`Visit`] is what a shard knows of the visits of a packet: a shard that is not the last one takes a packet
//! only if it has its Interest or its Data. Names below `/localhost` and `/localhop` belong to shard 0, which
//! has the face of the management. Measurements of strategies, dead nonces and limits belong to one shard.

mod balance;
mod buckets;
mod dispatch;
mod load;
mod route;
mod sleep;

pub use crate::forward::{Served, Visit, Visits};
pub use balance::Balance;
pub use dispatch::Dispatch;
pub use load::Load;
pub use sleep::SleepFlag;

/// Most shards.
pub const MAX_SHARDS: usize = 64;
