//! Generated packets, the same in every run: a mix of flows, and a flood between established ones.

mod flood;
mod frame;
mod mix;
mod pcap;

pub(crate) use flood::Flood;
pub(crate) use frame::{Ends, udp};
pub(crate) use mix::Mix;
