//! Indexes of the pending Interest table: forwarders under load, operations, parts, digests.

mod answer;
mod busy;
mod load;
mod parts_section;
mod run;
mod section;
mod work;

pub(crate) use answer::answer;
pub(crate) use run::run;
pub(crate) use section::{MODEL, section};
