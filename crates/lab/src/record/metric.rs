//! The metrics that reports and runs agree on.

/// Mean cycles per name of a repetition; the value is the median over the repetitions.
pub const CYCLES_MEAN: &str = "cycles_mean";

/// Mean over the names of each name's fewest cycles in any repetition.
pub const CYCLES_MIN_MEAN: &str = "cycles_min_mean";

/// Standard deviation of the repetitions' means.
pub const CYCLES_MEAN_SD: &str = "cycles_mean_sd";

/// Cycles per name of a whole repetition timed at once, without barriers between names.
pub const CYCLES_STREAM: &str = "cycles_stream";

/// One scheme's time divided by another's, whose id is the unit.
pub const RATIO: &str = "ratio";

/// Cycles per name that the CRC instruction takes at least, at one 8-octet word a cycle. Recorded for a scheme or for an
/// encoding, the first part of a scheme's id.
pub const CRC_WORDS_LIMIT: &str = "crc_words_limit";

/// The scheme under which the probe itself is measured, followed by `/` and the units of work between two
/// readings.
pub const EMPTY: &str = "empty";

/// Mean cycles of a pair of readings around no work, which are subtracted from means and minima.
pub const OVERHEAD_MEAN: &str = "overhead_mean";

/// The fewest cycles of a pair of readings around no work.
pub const OVERHEAD_MIN: &str = "overhead_min";

/// Names that are timed between two readings of the counter.
pub const NAMES_PER_READING: &str = "names_per_reading";

/// Cycles per item where no item waits for another.
pub const CYCLES_THROUGHPUT: &str = "cycles_throughput";

/// Cycles per item where each waits for the one before it.
pub const CYCLES_LATENCY: &str = "cycles_latency";

/// One scheme's latency divided by another's, whose id is the unit.
pub const RATIO_LATENCY: &str = "ratio_latency";

/// Nanoseconds per item of work.
pub const NS: &str = "ns";

/// Nanoseconds per find of a flow that a flood is not aimed at.
pub const NS_ELSEWHERE: &str = "ns_elsewhere";

/// Octets of a message, on average over the messages of a workload.
pub const OCTETS: &str = "octets";

/// Names in a message, on average over the messages of a workload.
pub const NAMES: &str = "names";

/// Entries that a find compares before it answers.
pub const COMPARED: &str = "compared";

/// The most entries that a find compares.
pub const LONGEST_CHAIN: &str = "longest_chain";

/// Requests that are missing from a table of connections after a set of SYNs: of those sent, and at the worst
/// of all boots.
pub const LOST_ENTRIES: &str = "lost_entries";

/// Microseconds of a process's CPU time per exchange of an Interest and its Data.
pub const CPU_US: &str = "cpu_us";

/// CPU time of a process, in per cent of a core.
pub const CPU_PERCENT: &str = "cpu_percent";

/// How long Interests waited for their Data, in milliseconds: the mean.
pub const RTT_MS: &str = "rtt_ms";

/// The median of the same.
pub const RTT_P50_MS: &str = "rtt_p50_ms";

/// What one in a hundred waited longer than.
pub const RTT_P99_MS: &str = "rtt_p99_ms";

/// One scheme's mean waiting time divided by another's, whose id is the unit.
pub const RATIO_RTT: &str = "ratio_rtt";

/// Exchanges that a forwarder did in a second.
pub const RATE: &str = "exchanges_per_second";

/// Interests to which no Data came, per million exchanges.
pub const LOST: &str = "lost_per_million";

/// How much more a scheme's figure is than that of another, whose id is the unit; in the unit of the study's metric.
pub const MORE: &str = "more";

/// A scheme's figure on one workload divided by its figure on another, whose id is the unit.
pub const RATIO_WORKLOAD: &str = "ratio_workload";

/// Counts of the counter per item of work.
pub const CYCLES: &str = "cycles";

/// Octets that streams carry, as millions of bits a second.
pub const MBIT: &str = "mbit_per_second";

/// The largest figure of one thing measured again and again over its smallest: what nothing makes.
pub const AGAIN: &str = "again";

/// Octets of memory that an entry takes, as its table accounts for them.
pub const OCTETS_ACCOUNTED: &str = "octets_accounted";

/// Octets of the packet in an entry, where it keeps one.
pub const OCTETS_PACKET: &str = "octets_packet";
