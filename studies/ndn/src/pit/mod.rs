//! Indexes of the pending Interest table: forwarders under load, operations, parts, digests.

mod run;
mod section;

pub(crate) use run::run;
pub(crate) use section::{MODEL, section};
