//! The NDN forwarder: what stands around the forwarding of packets.
//!
//! - [`counters`]: what the forwarding threads count and management tells.
//! - [`rib`]: routes, and the FIB that they make.
//! - [`management`]: the management protocol of NFD, as a state machine without sockets.
#![forbid(unsafe_code)]

pub mod counters;
pub mod management;
pub mod rib;
