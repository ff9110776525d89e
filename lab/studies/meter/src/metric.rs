//! Metrics of studies of flow meters, in addition to the shared ones.

pub(crate) use hashlane_records::metric::*;

/// Packets per second of CPU time.
pub(crate) const RATE_CORE: &str = "packets_per_core_second";

/// CPU time of the meter for each packet, in nanoseconds.
pub(crate) const METER_NS: &str = "meter_ns";

/// Peak of resident memory of the process, in bytes.
pub(crate) const PEAK: &str = "peak_memory";

/// Records of flows that a meter wrote.
pub(crate) const RECORDS: &str = "records";

/// Flows of a workload.
pub(crate) const FLOWS: &str = "flows";

/// Packets of a workload.
pub(crate) const PACKETS: &str = "packets";

/// Peak of resident memory of our meter under a flood with a quarter of the limit, in bytes.
pub(crate) const QUARTER_PEAK: &str = "quarter_peak_memory";

/// Peak of resident memory of the process over the limit of flows. Under floods: difference of [`PEAK`] and
/// [`QUARTER_PEAK`] over the difference of the limits.
pub(crate) const BYTES_PER_FLOW: &str = "bytes_per_flow";

/// Packets of established flows that their records miss or have too many.
pub(crate) const MISCOUNTED: &str = "miscounted";

/// Flows that ended early, as the table was full.
pub(crate) const EVICTED: &str = "evicted";

/// Flows without a record.
pub(crate) const LOST_FLOWS: &str = "lost_flows";

/// Flows without a record that the meter did not count as lost.
pub(crate) const UNCOUNTED_FLOWS: &str = "uncounted_flows";

/// Packets that reached the interface and were not metered.
pub(crate) const LOST: &str = "lost_packets";

/// Share of the packets that reached the interface and were not metered.
pub(crate) const LOST_SHARE: &str = "lost_share";

/// Packets per second that were sent to the interface.
pub(crate) const RATE: &str = "packets_per_second";

/// Lowest rate, in packets per second, at which more than 0.1 % of them were not metered.
pub(crate) const LOSING_RATE: &str = "losing_rate";
