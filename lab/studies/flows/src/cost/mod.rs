//! Cycles of hashes of tuples, and their machine code simulated.

pub(crate) mod in_c;
mod mca;
#[cfg(feature = "plant")]
mod plant;
pub(crate) mod run;

pub(crate) const MODEL: &str = "tuples";
