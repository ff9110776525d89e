//! Flows: the 4-tuple of a connection, its hash, and the table that leads from it to the connection.
//!
//! - [`tuple`]: two addresses and two ports, as octets and as words.
//! - [`ehash`]: what hashes a tuple, one at a time and a burst at a time.
//!
//! Nothing here opens a socket or reads a clock: packets, time and keys are arguments.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod ehash;
pub mod tuple;
