//! Shares of bounded resources by peer address: entries of a table, connections, bytes of queues.
//!
//! A remote party has as many ports and connections as it likes, and few addresses. So a resource is shared
//! among [`Owner`]s: an address, a network of IPv6, or a user of this host. [`Holders`] numbers the owners
//! that are present. A [`Ledger`] records, for one resource, what each of them holds and in which order. If
//! the resource is exhausted, the oldest item of the largest holder has to go, and the newcomer is served:
//! whoever holds less than the largest holder loses nothing. Remote holders together leave a reserve to local
//! ones.
//!
//! Source: longest queue drop with push-out (Suter, Lakshman, Stiliadis and Choudhury, "Design considerations
//! for supporting TCP with per-flow queueing", INFOCOM 1998).

mod classes;
mod holders;
mod ledger;
mod owner;

pub use holders::{Holder, Holders};
pub use ledger::{ItemId, Ledger, Limits, Renumbered, Victim};
pub use owner::Owner;
