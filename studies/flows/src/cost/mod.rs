//! Cycles of hashes of tuples, and their machine code simulated.

mod mca;
mod mca_section;
pub(crate) mod run;
mod section;

pub(crate) use mca_section::section as mca_section;
pub(crate) use section::{MODEL, section};
