//! Metrics of studies of the Python package, in addition to the shared ones.

pub(crate) use hashlane_records::metric::*;

/// Nanoseconds of a call without rows.
pub(crate) const EMPTY_NS: &str = "empty_call_ns";

/// Keys of a sketch.
pub(crate) const KEYS: &str = "keys";

/// Largest peak of resident memory of a worker process, in bytes.
pub(crate) const PEAK: &str = "peak_memory";

/// Workers killed, one in each run.
pub(crate) const KILLS: &str = "kills";

/// Runs with a killed worker whose sketch differs from one process's in its bytes, or that failed.
pub(crate) const DIFFERING: &str = "differing_results";
