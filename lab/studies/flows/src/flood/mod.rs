//! Lookups of an innocent flow while hostile flows fill the table.

mod answer;
mod growth;
mod run;
mod section;

pub(crate) use answer::answer;
pub use growth::add_growth;
pub(crate) use run::run;
pub use section::attacks;
pub(crate) use section::{MODEL, section};
