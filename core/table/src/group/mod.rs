//! Comparison of a group of tags, and prefetching: the only `unsafe` of this crate.

mod prefetch;
mod tags;

pub use prefetch::{prefetch, prefetch_bytes};
pub(crate) use tags::{Positions, Tags8, Tags16};
