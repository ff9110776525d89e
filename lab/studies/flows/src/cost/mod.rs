//! Cycles of hashes of tuples, and their machine code simulated.

mod answer;
pub(crate) mod in_c;
mod mca;
mod mca_section;
#[cfg(feature = "plant")]
mod plant;
pub(crate) mod run;
mod section;

pub(crate) use answer::answer;
pub(crate) use mca_section::section as mca_section;
pub(crate) use section::{MODEL, section};
