//! Metrics of studies of forwarders, in addition to the shared ones.

pub(crate) use hashlane_records::metric::*;

/// Microseconds of a process's CPU time per exchange of an Interest and its Data.
pub(crate) const CPU_US: &str = "cpu_us";

/// CPU time of a process, in per cent of a core.
pub(crate) const CPU_PERCENT: &str = "cpu_percent";

/// Mean round-trip time of Interests, in milliseconds.
pub(crate) const RTT_MS: &str = "rtt_ms";

/// The median of the same.
pub(crate) const RTT_P50_MS: &str = "rtt_p50_ms";

/// 99th percentile of the round-trip time.
pub(crate) const RTT_P99_MS: &str = "rtt_p99_ms";

/// One scheme's mean waiting time divided by another's, whose id is the unit.
pub(crate) const RATIO_RTT: &str = "ratio_rtt";

/// Exchanges that a forwarder did in a second.
pub(crate) const RATE: &str = "exchanges_per_second";

/// Unanswered Interests, per million exchanges.
pub(crate) const LOST: &str = "lost_per_million";

/// Bytes of memory that an entry takes, as its table accounts for them.
pub(crate) const OCTETS_ACCOUNTED: &str = "octets_accounted";

/// Bytes of the packet in an entry, if it keeps one.
pub(crate) const OCTETS_PACKET: &str = "octets_packet";

/// 1 for a forwarder that was installed and could not be measured; a note has the reason.
pub(crate) const FAILED: &str = "failed";

/// Packets that a forwarding thread handed over to another one, per exchange.
pub(crate) const HANDED_OVER: &str = "handed_over";

/// Packets that the busiest shard forwarded, over the mean of all shards.
pub(crate) const BUSIEST: &str = "busiest";
