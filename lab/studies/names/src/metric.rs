//! Metrics of studies of names, in addition to the shared ones.

pub(crate) use hashlane_records::metric::*;

/// Standard deviation of the repetitions' means.
pub(crate) const CYCLES_MEAN_SD: &str = "cycles_mean_sd";

/// Cycles per name of a whole repetition timed at once, without barriers between names.
pub(crate) const CYCLES_STREAM: &str = "cycles_stream";

/// Cycles per name that the CRC instruction takes at least, at one 8-byte word a cycle. Recorded for a scheme
/// or for an encoding, the first part of a scheme's id.
pub(crate) const CRC_WORDS_LIMIT: &str = "crc_words_limit";

/// The scheme under which the probe itself is measured, followed by `/` and the units of work between two
/// readings.
pub(crate) const EMPTY: &str = "empty";

/// The same of the source's program.
pub(crate) const EMPTY_IN_C: &str = "empty-in-c";

/// Mean cycles of a pair of readings around no work, which are subtracted from means and minima.
pub(crate) const OVERHEAD_MEAN: &str = "overhead_mean";

/// The fewest cycles of a pair of readings around no work.
pub(crate) const OVERHEAD_MIN: &str = "overhead_min";

/// Bytes of a name that a hash of all its components reads.
pub(crate) const HASHED_BYTES: &str = "hashed_bytes";

/// Time of the slowest of the three encodings divided by the fastest's, with the same method and hash; named
/// by the scheme's id without its encoding. Its bounds hold for all pairs of encodings together.
pub(crate) const SLOWEST_TO_FASTEST: &str = "slowest_to_fastest";

/// Names that are timed between two readings of the counter.
pub(crate) const NAMES_PER_READING: &str = "names_per_reading";

/// Nanoseconds of building a table, an entry.
pub(crate) const BUILD_NS: &str = "build_ns";

/// Bytes of memory of a table, an entry; its name included.
pub(crate) const BYTES: &str = "bytes_per_entry";

/// Bytes of memory of a table beyond the names of its entries, an entry.
pub(crate) const BYTES_BEYOND: &str = "bytes_beyond_name";
