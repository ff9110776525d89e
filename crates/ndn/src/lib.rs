//! Named Data Networking, without I/O and without a clock: packets, time and randomness are arguments.
//!
//! - [`mgmt`]: the management protocol of NFD: commands, answers, datasets.
//! - [`tlv`]: elements of type, length and value, and the rules by which a reader skips or refuses those that it does not know.
//! - [`security`]: signatures, certificates, and whom to trust.
//! - [`wire`]: Interest, Data and the link packets of NDNLPv2, as checked views and as builders.
//!
//! Sources: NDN Packet Format Specification 0.3; NDNLPv2 revision 63.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod mgmt;
pub mod security;
pub mod tlv;
pub mod wire;
