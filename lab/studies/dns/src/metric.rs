//! Metrics of studies of DNS messages, in addition to the shared ones.

pub(crate) use hashlane_records::metric::*;

/// Names in a message, on average over the messages of a workload.
pub(crate) const NAMES: &str = "names";

/// Pairs of a message's suffixes in one bucket of a table.
pub(crate) const COLLISIONS: &str = "collisions";

/// Collisions of one table divided by another's; the unit is the other table's id.
pub(crate) const RATIO_COLLISIONS: &str = "ratio_collisions";

/// Records in a message, on average over the messages of a workload.
pub(crate) const RECORDS: &str = "records";

/// Bytes of a message without compression, on average over the messages of a workload.
pub(crate) const UNCOMPRESSED: &str = "octets_uncompressed";
