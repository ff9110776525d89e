//! Hashes of the audit alone, behind the feature `audited`.
//!
//! The audit tries every hash that tables are built on, also those that no study would choose; the studies,
//! which compile their loops once for each hash, do without these. Each module adapts one crate or, for a
//! function that no kept crate holds, is written from its published description and tested against published
//! results; it names the licence of the library that defines the function.
//! [`for_each_audited_hash!`](crate::for_each_audited_hash) lists them, and [`NOT_AUDITED`] those that are left
//! out.
//!
//! Every hash is a plain function of key and bytes and allocates nothing. Of a function with 128 bits of
//! result, a table takes 64: the scheme's id ends in the half that it gives.

pub mod a5hash;
pub mod absl;
mod aes;
pub mod ahash_aes;
pub mod blake3;
pub mod cityhash;
pub mod djb2;
pub mod farmhash;
pub mod fnv;
pub mod foldhash;
pub mod fxhash;
pub mod gxhash;
pub mod highway;
pub mod komihash;
pub mod metrohash;
mod missing;
pub mod murmurhash;
pub mod museair;
pub mod museair_v03;
mod part;
pub mod rapidhash;
pub mod seahash;
pub mod t1ha;
#[cfg(test)]
mod testing;
mod words;
pub mod wyhash;
pub mod xxhash;

pub use missing::{Missing, NOT_AUDITED};
