//! Named Data Networking without I/O and without a clock: everything that a client or a dissector needs.
//!
//! - [`tlv`]: elements of type, length and value, and the rules for skipping or rejecting unknown ones.
//! - [`wire`]: Interest, Data and the link packets of NDNLPv2, as checked views and as builders.
//! - [`fragment`]: fragmentation and reassembly of link packets; [`endpoints`]: on links with several senders.
//! - [`reliability`]: retransmission of lost link packets.
//! - [`security`]: signatures, certificates and trust anchors.
//! - [`mgmt`]: NFD's management protocol: commands, responses, datasets.
//! - [`pattern`]: NDN regular expressions over the components of names.
//!
//! Tables and forwarding are in the crate `hashlane-ndn-fw`.
//!
//! Sources: NDN Packet Format Specification 0.3; NDNLPv2 revision 63.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod endpoints;
pub mod fragment;
pub mod invariant;
pub mod mgmt;
pub mod pattern;
pub mod reliability;
pub mod security;
pub mod time;
pub mod tlv;
pub mod wire;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
