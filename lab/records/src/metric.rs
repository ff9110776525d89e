//! Metrics that runs and reports of several kinds of studies share.

/// Mean cycles per item of a repetition; the value is the median over the repetitions.
pub const CYCLES_MEAN: &str = "cycles_mean";

/// Mean over the items of each item's fewest cycles in any repetition.
pub const CYCLES_MIN_MEAN: &str = "cycles_min_mean";

/// One scheme's time divided by another's, whose id is the unit.
pub const RATIO: &str = "ratio";

/// Excess of a scheme's figure over another scheme's, whose id is the unit; in the unit of the study's
/// metric.
pub const MORE: &str = "more";

/// A scheme's figure on one workload divided by its figure on another, whose id is the unit.
pub const RATIO_WORKLOAD: &str = "ratio_workload";

/// Nanoseconds per item of work.
pub const NS: &str = "ns";

/// Counts of the counter per item of work.
pub const CYCLES: &str = "cycles";

/// Bytes of a message, on average over the messages of a workload.
pub const OCTETS: &str = "octets";

/// The most entries that a find compares.
pub const LONGEST_CHAIN: &str = "longest_chain";

/// Answered share of the load that a subject was offered, from 0 to 1; of loads with a pace of their own.
pub const CARRIED: &str = "carried";
