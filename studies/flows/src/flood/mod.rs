//! Lookups of an innocent flow while hostile flows fill the table.

mod run;
mod section;

pub(crate) use run::run;
pub use section::attacks;
pub(crate) use section::{MODEL, section};
