//! Tells if a hash table can be flooded, for any hash function, with the keys that do it.
//!
//! A [`subject`] is a hash function under audit: a [`registered`] one, or one that a caller adapts. It hashes
//! [`keys`] under a seed. A [`library`] has a hash function or a table in a shared object.
//!
//! An [`attack`] yields keys for a [`table`], [`flood`] counts the entries that they make it compare,
//! [`epsilon`] is the share of seeds for which two keys collide, [`bias`] the share for which they meet in
//! one bucket, [`identity`] the work to make two keys of one hash, [`blind`] searches for floods without
//! knowledge of the function, and [`audit`] draws the [`verdict`] from them. [`referee`] makes a table of all
//! verdicts, with the tests of [`smhasher`], and files of their keys. [`traffic`] spreads keys that a user
//! has over buckets, queues and paths.
//!
//! Shared objects, [`own_table`] and [`curve`] are for Linux alone; all else compiles on every system.
#![deny(unsafe_code)]

pub mod attack;
pub mod audit;
pub mod bias;
pub mod blind;
pub mod constants;
#[cfg(target_os = "linux")]
pub mod curve;
pub mod draw;
pub mod epsilon;
pub mod flood;
pub mod identity;
pub mod key_sets;
pub mod keys;
pub mod library;
mod narrowed;
#[cfg(target_os = "linux")]
pub mod own_table;
pub mod referee;
pub mod registered;
pub mod smhasher;
pub mod stated;
pub mod subject;
pub mod table;
pub mod traffic;
pub mod verdict;
