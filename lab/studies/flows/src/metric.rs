//! Metrics of studies of flows, in addition to the shared ones.

pub(crate) use hashlane_records::metric::*;

/// Cycles per item of independent items.
pub(crate) const CYCLES_THROUGHPUT: &str = "cycles_throughput";

/// Cycles per item if each waits for the one before it.
pub(crate) const CYCLES_LATENCY: &str = "cycles_latency";

/// One scheme's latency divided by another's, whose id is the unit.
pub(crate) const RATIO_LATENCY: &str = "ratio_latency";

/// Nanoseconds per lookup of a flow that a flood is not aimed at.
pub(crate) const NS_ELSEWHERE: &str = "ns_elsewhere";

/// Growth of [`NS_ELSEWHERE`]: a scheme's figure divided by another's, whose id is the unit.
pub(crate) const RATIO_ELSEWHERE: &str = "ratio_elsewhere";

/// Bytes of memory of a table.
pub(crate) const MEMORY: &str = "memory";

/// Distinct tuples of a capture.
pub(crate) const FLOWS: &str = "flows";

/// Packets of a capture that have a tuple.
pub(crate) const PACKETS: &str = "packets";

/// 1 if a capture was read to its end, otherwise 0.
pub(crate) const COMPLETE: &str = "complete";

/// Entries that a lookup compares before it answers.
pub(crate) const COMPARED: &str = "compared";
