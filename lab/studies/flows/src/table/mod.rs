//! Lookups in tables of flows, at several sizes and under churn.

mod answer;
mod caches;
mod entry;
mod find;
mod longest;
mod memory;
mod own;
mod run;
mod section;
mod writes;

pub(crate) use answer::answer;
pub(crate) use run::run;
pub(crate) use section::{MODEL, section};
