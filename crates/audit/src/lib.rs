//! Tells if a hash table can be flooded, for any hash function, with the keys that do it.
//!
//! A [`subject`] is a hash function under audit: a [`registered`] one, or one that a caller adapts. It hashes
//! [`keys`] under a seed. [`epsilon`] is the share of seeds for which two keys collide; a [`table`]
//! compares entries.
#![forbid(unsafe_code)]

pub mod draw;
pub mod epsilon;
pub mod keys;
pub mod registered;
pub mod subject;
pub mod table;
