//! The receive path of a burst of packets, as stages: packets → tuples → hashes → prefetch → act.
//!
//! | stage | batch | does |
//! | --- | --- | --- |
//! | [`Decode`] | [`Burst`] | parses each packet; keeps the tuples, counts the packets without one |
//! | [`Hash`](struct@Hash) | [`Keys`] | hashes all tuples together |
//! | [`Prefetch`] | [`Keys`] | brings the buckets, then the entries of all tuples into the cache |
//! | [`Find`] | [`Keys`] | looks each tuple up |
//! | [`Act`] | [`Keys`] | for each packet in order of arrival: marks its flow seen, or adds it |
//!
//! [`FlowTable::receive`] runs Decode, Hash, Prefetch and Act; [`FlowTable::touch_burst`] the last three, of
//! tuples that the caller has; [`FlowTable::find_burst`] Hash, Prefetch and Find. No stage allocates, unless
//! an added flow makes the table grow.
//!
//! [`FlowTable::receive`]: crate::table::FlowTable::receive
//! [`FlowTable::touch_burst`]: crate::table::FlowTable::touch_burst
//! [`FlowTable::find_burst`]: crate::table::FlowTable::find_burst

mod act;
mod decode;
mod keys;
mod receive;

pub use act::{Act, Find, Visitor};
pub use decode::{Burst, Decode, Link, Skipped};
pub use keys::{Hash, Hashes, Keys, Prefetch};

/// Packets or tuples of a burst at most.
pub const BURST: usize = 32;

#[cfg(test)]
mod tests;
