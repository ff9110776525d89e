//! Meters on an interface: losses by rate, and a flood.

mod means;
mod network;
mod search;
mod sender;
mod trial;

pub(crate) use means::{Means, Sped, run as speed};
pub(crate) use network::refused;
pub(crate) use search::{Search, search};
pub(crate) use trial::{Live, Packets, Setup, Trial, fastest, run};
