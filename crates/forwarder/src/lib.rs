//! The NDN forwarder: what stands around the forwarding of packets.
//!
//! - [`rib`]: routes, and the FIB that they make.
#![forbid(unsafe_code)]

pub mod counters;
pub mod rib;
