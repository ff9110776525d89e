//! Spread of tuples over buckets.

mod buckets;
mod queues;
pub(crate) mod run;
mod section;

pub(crate) use section::{BUSIEST, MODEL, RSS, piled_up, section};
