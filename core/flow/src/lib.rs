//! Flows: the 4-tuple of a connection, its hash, and the table from tuples to connections.
//!
//! - [`mod@tuple`]: two addresses and two ports, as bytes and as words.
//! - [`dissect`](mod@dissect): the flow of a frame, through tags, labels, fragments and tunnels.
//! - [`fragments`]: the ports of later fragments, which only the first one has.
//! - [`key`]: keys of tables that hold several protocols.
//! - [`packet`]: the tuple of a packet, from its bytes.
//! - [`ehash`]: hashes of a tuple, one at a time and a burst at a time.
//! - [`hashed`]: hashes of every key with fixed words.
//! - [`burst`]: the receive path of a burst of packets, as stages.
//! - [`table`](mod@table): the flows of a host or a device, with expiry of idle ones.
//! - [`shards`]: the choice of the worker that owns a flow, by a keyed hash; [`rss`]: a network card's choice
//!   of its queue.
//!
//! Nothing here opens a socket or reads a clock: packets, time and keys are arguments.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod burst;
pub mod captured;
pub mod dissect;
pub mod ehash;
pub mod fragments;
pub mod hashed;
pub mod key;
pub mod packet;
pub mod rss;
pub mod shards;
pub mod table;
pub mod tuple;
mod wheel;

// `for_each_tuple_hash!` names its types through this crate, so that callers need no dependency of their own.
#[doc(hidden)]
pub use hashlane_hash;

/// Calls the macro `$callback` with every [`TupleHash`](ehash::TupleHash) of this crate, separated by commas.
///
/// A hash of bytes becomes one of tuples by its entry here, as [`TupleBytes`](ehash::TupleBytes).
#[macro_export]
macro_rules! for_each_tuple_hash {
    ($callback:ident) => {
        $callback! {
            $crate::ehash::SipHash13,
            $crate::ehash::SipHash24,
            $crate::ehash::Jhash2,
            $crate::ehash::TupleBytes<$crate::hashlane_hash::toeplitz::Toeplitz>,
            $crate::ehash::TupleBytes<$crate::hashlane_hash::multilinear::Multilinear>,
            $crate::ehash::TupleBytes<$crate::hashlane_hash::halfsiphash::HalfSipHash13>,
            $crate::ehash::TupleBytes<$crate::hashlane_hash::crc32c::Crc32c>,
            $crate::ehash::TupleBytes<$crate::hashlane_hash::city::CityHash64>,
        }
    };
}

/// The examples of the README, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
