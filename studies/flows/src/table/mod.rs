//! Lookups in tables of flows, at several sizes and under churn.

mod run;
mod section;

pub(crate) use run::run;
pub(crate) use section::{MODEL, section};
