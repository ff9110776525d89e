//! Hierarchical names as bytes.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod error;
pub mod walk;
