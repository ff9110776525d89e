//! Meters on an interface: losses by rate, and a flood.

mod network;
mod search;
mod sender;
mod trial;

pub(crate) use network::refused;
pub(crate) use search::{Search, search};
pub(crate) use trial::{Live, Packets, Setup, Trial, fastest, run};
