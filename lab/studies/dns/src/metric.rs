//! Names that the records of studies of DNS messages have in addition to the shared ones.

pub(crate) use hashlane_records::metric::*;

/// Model of all records.
pub(crate) const MODEL: &str = "render";

/// The scheme that has the cost of the benign answer: our renderer writes that answer, and the time is scaled
/// to the bytes of the workload's message, as our renderer writes it.
pub(crate) const BENIGN: &str = "benign";

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
