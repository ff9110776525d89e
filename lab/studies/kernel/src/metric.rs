//! Metrics of studies of kernels, in addition to the shared ones.

pub(crate) use hashlane_records::metric::*;

/// Requests that are missing from a table of connections after a set of SYNs: of those sent, and at the worst
/// of all boots.
pub(crate) const LOST_ENTRIES: &str = "lost_entries";

/// Bytes that streams carry, as millions of bits a second.
pub(crate) const MBIT: &str = "mbit_per_second";

/// Largest over smallest figure of repeated measurements of one kernel: the noise.
pub(crate) const AGAIN: &str = "again";
