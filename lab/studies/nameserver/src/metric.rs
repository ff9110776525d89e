//! Metrics of studies of name servers, in addition to the shared ones.

#[cfg(test)]
pub(crate) use hashlane_records::metric::RATIO;

/// CPU time of the server's processes per answer, in microseconds.
pub(crate) const CPU_US: &str = "cpu_us";

/// Time that the load was busy for an answer, in microseconds.
pub(crate) const CLIENT_US: &str = "client_us";

/// Answers per second under full load.
pub(crate) const RATE: &str = "answers_per_second";

/// Queries without an answer.
pub(crate) const LOST: &str = "lost_answers";

/// Queries sent.
pub(crate) const QUERIES: &str = "queries";

/// Records of a zone.
pub(crate) const RECORDS: &str = "records";

/// Memory of the server's processes with the zone, each shared page counted once, in bytes.
pub(crate) const MEMORY: &str = "memory";

/// The same with a zone of few records.
pub(crate) const EMPTY_MEMORY: &str = "empty_memory";

/// [`MEMORY`] over the records of the zone.
pub(crate) const BYTES_PER_RECORD: &str = "bytes_per_record";

/// Largest peak of resident memory of a process of the server, in bytes.
pub(crate) const PEAK: &str = "peak_memory";

/// Seconds from the start to the first answer, less those with a zone of few records.
pub(crate) const LOAD_SECONDS: &str = "load_seconds";

/// Seconds from the start to the first answer with a zone of few records.
pub(crate) const EMPTY_SECONDS: &str = "empty_seconds";

/// Records loaded per second.
pub(crate) const LOAD_RATE: &str = "records_per_second";

/// Reloads of a zone that were seen in answers.
pub(crate) const RELOADS: &str = "reloads";

/// Milliseconds from the signal to the first answer of the new zone.
pub(crate) const RELOAD_MS: &str = "reload_ms";

/// 99th percentile of the time from when a query was due until its answer was read, in microseconds.
pub(crate) const P99_US: &str = "p99_us";

/// Median of the same times.
pub(crate) const P50_US: &str = "p50_us";

/// [`P99_US`] beside random subdomains over that beside existing names, of the same round.
pub(crate) const P99_GROWTH: &str = "p99_growth";
