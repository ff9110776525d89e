//! Forwarding pipelines, as stages over a burst of packets.
//!
//! A [`Forwarder`] is a state machine without I/O, clock or thread. [`receive`](Forwarder::receive) takes one
//! link packet, [`receive_burst`](Forwarder::receive_burst) several; both hand packets to send to an
//! [`Output`]. [`handle_timeout`](Forwarder::handle_timeout) expires entries, and
//! [`handle_retries`](Forwarder::handle_retries) sends Interests to further next hops. The same packets at the
//! same times have the same effects, so a whole network of forwarders runs in one test.
//!
//! The pipelines follow the NFD Developer's Guide, Forwarding, with these differences:
//!
//! - Data satisfies only entries with an out-record of its ingress face.
//! - A downstream gets Data once for each of its PIT tokens.
//! - Interests with different forwarding hints have different entries.
//! - A full PIT removes the oldest record of the address that holds most of it, with a Nack.
//! - Interests of non-local faces have a shorter longest lifetime.

mod act;
mod burst;
mod config;
mod counters;
mod crowd;
mod data;
mod decode;
mod forwarder;
mod gauges;
mod hand_over;
mod header;
mod interest;
mod learn;
mod nack;
mod output;
mod pending;
mod prefetch;
mod receive;
mod retries;
mod retry;
mod rewrite;
mod route;
mod scope;
mod shrink;
mod sweep;
mod timeout;
mod visit;
mod visits;
mod watch;
mod watched;

pub use crate::drop::{DropCounters, DropReason};
pub use act::Act;
pub(crate) use burst::Content;
pub use burst::{BURST, Burst, PushError};
pub use config::{Config, MAX_LIFETIME, MIN_PIT_BYTES, PIT_BYTES, REMOTE_LIFETIME};
pub use counters::Counters;
pub use decode::Decode;
pub use forwarder::Forwarder;
pub use hand_over::HandOver;
pub use output::{Output, Part};
pub use prefetch::Prefetch;
pub use visit::{Served, Visit};
pub use visits::Visits;
