//! Hash functions for packet paths: bytes → number.
//!
//! - [`scheme`]: what a scheme says of itself ([`SchemeInfo`](scheme::SchemeInfo)) and the traits it implements:
//!   a hash of bytes, a prefix hash with a running state.
//! - [`words`]: keys of a fixed number of words, one or many at once.
//! - [`prefix`]: every prefix of a name at once, for one name or a burst of names.
//! - one module per family: [`crc32c`], [`siphash`] and [`halfsiphash`], [`city`], [`jhash`], [`toeplitz`],
//!   [`multilinear`], [`suffix`] (every suffix of a name).
//! - [`fixed`]: SipHash of a fixed number of words.
//! - `arch`: the CPU's instructions, the only place with `unsafe`.
#![no_std]
#![deny(unsafe_code)]

// For the detection of CPU features at run time; nothing else of it is used outside the tests.
#[cfg(any(test, not(target_os = "none")))]
extern crate std;

mod arch;
pub mod city;
pub mod crc32c;
mod expand;
pub mod fixed;
pub mod halfsiphash;
pub mod jhash;
mod load;
pub mod multilinear;
pub mod prefix;
pub mod scheme;
pub mod siphash;
pub mod suffix;
pub mod toeplitz;
#[cfg(test)]
mod vectors;
pub mod words;
