//! The NDN forwarder: what stands around the forwarding of packets.
//!
//! - [`config`]: one TOML file, in which every value has a default.
//! - [`server`]: the process: its sockets, the forwarding thread, and the management on a thread of its own.
//! - [`management`]: the management protocol of NFD, as a state machine without sockets.
//! - [`rib`]: routes, and the FIB that they make.
#![forbid(unsafe_code)]

pub mod config;
mod initial;
pub mod management;
mod plane;
pub mod rib;
pub mod server;

pub use config::{Config, PitIndex};
pub use server::Server;
