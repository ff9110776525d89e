//! Statistics of a population of prefixes.

use super::memory::{Memory, fib, pit};
use core::ops::RangeInclusive;

/// Statistics of prefixes.
#[derive(Clone, Debug, PartialEq)]
pub struct PrefixesResult {
    /// Number of names, repeated ones included.
    pub names: u64,
    /// Names that broke a rule of the encoding.
    pub invalid: u64,
    /// Number of distinct names, estimated.
    pub distinct_names: f64,
    /// Mean bytes of the components of a name, repeated ones included.
    pub mean_name_len: f64,
    /// Standard error of all estimates of distinct names and prefixes, relative to the number, at most: small
    /// numbers are exact.
    pub standard_error: f64,
    /// Prefixes of depth 1, 2, …, to the longest name.
    pub depths: Vec<Depth>,
}

/// Prefixes of one depth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Depth {
    /// Number of components.
    pub depth: usize,
    /// Number of names that have as many components or more, repeated ones included.
    pub names: u64,
    /// Number of distinct prefixes, estimated.
    pub distinct: f64,
    /// Mean bytes of a prefix over the names, repeated ones included.
    pub mean_len: f64,
}

impl PrefixesResult {
    /// Memory of a FIB with an entry for each distinct prefix of these depths.
    pub fn fib(&self, depths: RangeInclusive<usize>) -> Memory {
        let within = self.depths.iter().filter(|depth| depths.contains(&depth.depth));
        let (entries, bytes) = within.fold((0.0, 0.0), |(entries, bytes), depth| {
            (entries + depth.distinct, bytes + depth.distinct * depth.mean_len)
        });
        fib(entries.round() as u64, if entries > 0.0 { bytes / entries } else { 0.0 })
    }

    /// Memory of a PIT with an entry for each distinct name, all pending at once.
    pub fn pit(&self) -> Memory {
        pit(self.distinct_names.round() as u64, self.mean_name_len)
    }
}
