//! Forwarders under load: CPU time per exchange, the parts of ours, and the memory of its tables.

mod answer;
mod parts_section;
mod run;
mod section;

pub(crate) use answer::answer;
pub(crate) use run::run;
pub(crate) use section::{MODEL, section};
