//! Lookup tables: number → entry.
//!
//! All tables are exact-match tables with one entry for each key. Their caller hashes the keys. They offer
//! the same operations ([`Table`]):
//!
//! - [`chained`]: buckets with chains of nodes, the shape of the Linux kernel's connection tables. For
//!   studies.
//! - [`swiss`]: groups of 16 control bytes, and all entries in one array.
//! - [`batched`]: buckets of one cache line with short tags, and entries that never move; it grows in steps.
//!
//! [`index`] is the part of a batched table that leads from a hash to a place, without keys and entries;
//! [`growing`] is an index that grows in steps.
//! [`share`] divides bounded resources among peer addresses and local users: no party fills a table.
//! [`stage`] has the trait of the stages of a receive path.
//!
//! A burst of keys is looked up in three rounds: [`prefetch`](Table::prefetch) for all, then
//! [`prefetch_entry`](Table::prefetch_entry) for all, then [`find`](Table::find) for each; the cache misses
//! of a burst then overlap, with any hash.
#![no_std]
#![deny(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod batched;
pub mod chained;
mod group;
pub mod growing;
mod growth;
pub mod index;
mod layout;
mod place;
mod segments;
pub mod share;
pub mod stage;
pub mod swiss;
mod table;

pub use group::{prefetch, prefetch_bytes};
pub use segments::Segments;
pub use table::{Inserted, Table};

#[cfg(test)]
mod tests;

/// The examples of the README, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
