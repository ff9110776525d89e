//! Mergeable sketches of keys: answers for more keys than a machine holds.
//!
//! | sketch | answer | error | bytes |
//! | --- | --- | --- | --- |
//! | [`Spread`] | keys of each bucket under a hash: χ², fullest, quantiles | none | 8 a bucket |
//! | [`Imbalance`] | load of queues under one key and many candidates | none | 16 a queue and key |
//! | [`Prefixes`] | distinct prefixes by depth, memory of tables | 0.761 / √registers | 1 a register and depth |
//! | [`Distinct`] | distinct keys | none if few, 0.761 / √registers | 8 a key, 1 a register |
//! | [`HeavyHitters`] | keys with the largest weights | total / (counters + 1) | 2 entries a counter |
//! | [`Groups`] | one of these for each group of rows | as the sketch | as the sketch, by group |
//!
//! A sketch takes batches of [`Keys`] from columns in memory: rows of one width, or strings with offsets.
//! [`Sketch::merge`] adds another sketch of the same parameters, [`Sketch::to_bytes`] and
//! [`Sketch::from_bytes`] carry it between processes. Merging is associative and commutative: however a data
//! set is split, and in whatever order its parts are merged, the sketch has the same bytes. Only
//! [`HeavyHitters`] depends on the order, and states a bound of its error that does not.
//!
//! Bytes may come from anyone: reading them needs memory in proportion to their number, and never panics.
//! They hold no key. A sketch that was read can be merged and has a result; for updates it needs its key
//! again.
//!
//! - [`hasher`]: every registered hash over a batch of keys, by its id.
//! - [`arrow`]: checks of columns of strings.
//! - [`datasketches`]: sketches that Apache DataSketches reads and writes.
//!
//! # Format
//! `HLSK`, a version and a kind, a byte each; the parameters: the id of the hash, 64 bits to recognise the
//! key by, and sizes; then counts as LEB128 numbers, hashes as 8 bytes, and registers as bytes. A value has
//! one form.
#![forbid(unsafe_code)]

pub mod arrow;
pub mod datasketches;
mod distinct;
mod error;
mod groups;
pub mod hasher;
mod heavy;
mod imbalance;
mod keyed;
mod keys;
mod prefixes;
mod registers;
mod sketch;
mod spread;
mod wire;

pub use distinct::{Distinct, DistinctResult};
pub use error::{Error, ReadError};
pub use groups::{Batch, Grouped, Groups};
pub use heavy::{HeavyHitter, HeavyHitters, HeavyHittersResult};
pub use imbalance::{Function, Imbalance, ImbalanceResult, KeyImbalance, Load};
pub use keys::Keys;
pub use prefixes::{Depth, FIB_ENTRY, Memory, PIT_ENTRY, Prefixes, PrefixesResult, fib, pit};
pub use sketch::Sketch;
pub use spread::{Reduction, Spread, SpreadResult};
pub use wire::SketchKind;

/// The examples of the README, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
