//! Lookups in tables of flows, at several sizes and under churn.

mod caches;
mod entry;
mod find;
mod longest;
mod memory;
mod own;
mod run;
mod writes;

pub(crate) use run::run;

pub(crate) const MODEL: &str = "table";
