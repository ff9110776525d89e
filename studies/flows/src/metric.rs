//! Metrics of studies of flows, in addition to the shared ones.

pub(crate) use hashlane_lab::record::metric::*;

/// Cycles per item of independent items.
pub(crate) const CYCLES_THROUGHPUT: &str = "cycles_throughput";

/// Cycles per item if each waits for the one before it.
pub(crate) const CYCLES_LATENCY: &str = "cycles_latency";

/// One scheme's latency divided by another's, whose id is the unit.
pub(crate) const RATIO_LATENCY: &str = "ratio_latency";

/// Nanoseconds per find of a flow that a flood is not aimed at.
pub(crate) const NS_ELSEWHERE: &str = "ns_elsewhere";

/// Entries that a find compares before it answers.
pub(crate) const COMPARED: &str = "compared";
