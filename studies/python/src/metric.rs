//! Metrics of studies of the Python package, in addition to the shared ones.

pub(crate) use hashlane_lab::record::metric::*;

/// Nanoseconds of a call without rows.
pub(crate) const EMPTY_NS: &str = "empty_call_ns";
