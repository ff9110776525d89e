//! Lookups of an innocent flow while hostile flows fill the table.

mod growth;
mod run;

pub use growth::add_growth;
pub(crate) use run::run;

pub(crate) const MODEL: &str = "flood";
