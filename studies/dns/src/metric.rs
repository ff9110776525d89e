//! Metrics of this room, beside those that all rooms share.

pub(crate) use hashlane_lab::record::metric::*;

/// Names in a message, on average over the messages of a workload.
pub(crate) const NAMES: &str = "names";
