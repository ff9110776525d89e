//! Models: stages of receive paths and public functions of the crates, timed on a unit of a workload.

#[cfg(feature = "peers")]
pub mod composer;
pub mod digest;
pub mod exchanges;
pub mod flows;
pub mod memory;
pub mod names;
pub mod pending;
pub mod render;
pub mod stages;
pub mod tuples;

/// One thing that is timed.
pub trait Model {
    /// Names in a unit of work.
    const UNIT: usize;

    /// Does the work for one unit; what it yields must not be optimised away.
    fn work(&mut self, names: &[&[u8]]);

    /// The sum, modulo 2⁶⁴, of what [`work`](Self::work) yields for the unit: the check that the work is done, and
    /// is the same by whatever way.
    fn sum(&mut self, names: &[&[u8]]) -> u64;
}
