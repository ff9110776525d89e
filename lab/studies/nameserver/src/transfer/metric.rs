//! Metrics of transfers, in addition to the name servers'.

/// Largest peak of resident memory of a process, over its memory afterwards.
pub(super) const PEAK_RATIO: &str = "peak_ratio";

/// Seconds from the start of a secondary without a zone to its first answer.
pub(super) const ARRIVAL: &str = "arrival_seconds";

/// Records sent or loaded per second.
pub(super) const RATE: &str = "records_per_second";

/// Microseconds for each record from the start to the first answer, from what is on the disk.
pub(super) const RESTART_US: &str = "restart_us";

/// 99th percentile of the times of answers while changes arrive, less that without changes, in microseconds.
pub(super) const P99_ADDED: &str = "p99_added_us";

/// 99th percentile without changes, in microseconds.
pub(super) const P99_BEFORE: &str = "p99_before_us";

/// Longest time of an answer while changes arrive, in microseconds.
pub(super) const LONGEST: &str = "longest_us";

/// Milliseconds from NOTIFY to the first answer of the new version.
pub(super) const CHANGE_MS: &str = "change_ms";

/// CPU time of the processes meanwhile, less the time of answers, in milliseconds.
pub(super) const CHANGE_CPU_MS: &str = "change_cpu_ms";
