//! Named Data Networking, without I/O and without a clock: packets, time and randomness are arguments.
//!
//! - [`tlv`]: elements of type, length and value, and the rules by which a reader skips or refuses those that it does not know.
//! - [`security`]: signatures, certificates, and whom to trust.
//! - [`wire`]: Interest, Data and the link packets of NDNLPv2, as checked views and as builders.
//! - [`forward`]: what becomes of a packet that comes in, on the tables [`fib`], [`pit`], [`cs`], [`dead_nonce`], with a [`strategy`] for each
//!   prefix.
//! - [`mgmt`]: the management protocol of NFD: commands, answers, datasets.
//!
//! Sources: NDN Packet Format Specification 0.3; NDNLPv2 revision 63.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod congestion;
pub mod cs;
pub mod dead_nonce;
pub mod face;
pub mod fib;
pub mod forward;
pub mod fragment;
pub mod hashed;
pub mod mgmt;
pub mod pit;
pub mod prefixes;
pub mod security;
pub mod strategy;
pub mod time;
pub mod tlv;
pub mod wheel;
pub mod wire;
