//! Hash functions for packet paths: bytes → number.
//!
//! - [`scheme`]: what a scheme says of itself ([`SchemeInfo`](scheme::SchemeInfo)) and the traits it implements:
//!   a hash of bytes under a key, a prefix hash with a running state, a batch of keys at once.
//! - one module per family.
//! - `arch`: the CPU's instructions, the only place with `unsafe`.
#![no_std]
#![deny(unsafe_code)]
#![forbid(unsafe_op_in_unsafe_fn)]

#[cfg(test)]
extern crate std;

pub mod city;
pub mod jhash;
mod load;
pub mod scheme;
pub mod siphash;
#[cfg(test)]
mod vectors;
