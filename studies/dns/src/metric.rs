//! Metrics of studies of DNS messages, in addition to the shared ones.

pub(crate) use hashlane_lab::record::metric::*;

/// Names in a message, on average over the messages of a workload.
pub(crate) const NAMES: &str = "names";

/// Records in a message, on average over the messages of a workload.
pub(crate) const RECORDS: &str = "records";

/// Bytes of a message without compression, on average over the messages of a workload.
pub(crate) const UNCOMPRESSED: &str = "octets_uncompressed";
