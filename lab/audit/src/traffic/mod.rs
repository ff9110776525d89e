//! Spread of real traffic over buckets, queues and paths.
//!
//! The keys are [`flows`] of a capture or of a file of [`tuples`], or [`names`] of a file. A [`function`]
//! hashes them; [`depth`] counts the keys of each bucket beside the [`poisson`] distribution of a uniform
//! hash. [`rss`] and [`ecmp`] spread flows over queues and paths, under one key or the best of many
//! ([`imbalance`]). [`entropy`] shows the fields that differ.
//!
//! The files are untrusted: they are read once, a line or a frame at a time, and at most [`MOST_KEYS`]
//! distinct keys are kept.

pub mod depth;
pub mod ecmp;
pub mod entropy;
pub mod flows;
pub mod function;
pub mod imbalance;
mod lines;
pub mod names;
pub mod packets;
pub mod poisson;
pub mod rss;
pub mod tuples;

pub use lines::TextError;

/// Distinct keys that are kept, at most.
pub const MOST_KEYS: usize = 1 << 20;
