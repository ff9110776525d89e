//! Forwarding: what becomes of a packet that comes in.
//!
//! A [`Forwarder`] is a state machine. [`receive`](Forwarder::receive) takes one link packet from one face at
//! one time, [`receive_burst`](Forwarder::receive_burst) several; both hand what is to be sent to an
//! [`Output`]. [`turn`](Forwarder::handle_timeout) lets time pass. It does no I/O, reads no clock, and starts no
//! thread, so that a whole network of forwarders runs in one test, and the same packets at the same times
//! have the same effects.
//!
//! The rules are those of NFD (NFD Developer's Guide, Forwarding), with these differences: Data satisfies
//! only entries that went to the face it comes from; a downstream gets one Data once for each of its PIT
//! tokens; entries with different forwarding hints are different entries; a face holds no more of the PIT
//! than its [share](crate::share); Interests of non-local faces have a shorter longest lifetime.

mod act;
mod burst;
mod config;
mod counters;
mod data;
mod decode;
mod forwarder;
mod header;
mod interest;
mod nack;
mod output;
mod prefetch;
mod receive;
mod rewrite;
mod route;
mod scope;
mod sweep;
mod timeout;

pub use crate::drop::{DropCounters, DropReason};
pub use act::Act;
pub use burst::{BURST, Burst, PushError};
pub use config::{Config, MAX_LIFETIME, REMOTE_LIFETIME};
pub use counters::Counters;
pub use decode::Decode;
pub use forwarder::Forwarder;
pub use output::{Output, Part};
pub use prefetch::Prefetch;
