//! Metrics of studies of DNS messages, in addition to the shared ones.

pub(crate) use hashlane_lab::record::metric::*;

/// Names in a message, on average over the messages of a workload.
pub(crate) const NAMES: &str = "names";
