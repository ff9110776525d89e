//! Spread of tuples over buckets.

mod buckets;
pub(crate) mod run;
mod section;

pub(crate) use section::section;
