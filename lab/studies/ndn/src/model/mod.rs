//! Stages of the forwarder's receive path, timed without I/O, and the memory of its tables.

pub(crate) mod digest;
pub(crate) mod exchanges;
pub mod memory;
pub(crate) mod pending;
mod stages;
