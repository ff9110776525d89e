//! Other projects' crates behind hashlane's traits, so that one run measures all.
//!
//! The versions are pinned exactly: foldhash and ahash promise nothing from one release to the next, and a
//! measurement is of a release.
//!
//! [`hashes`] has the hashes that studies time. With the feature `audited`, the module of that name has the
//! hashes that only the audit tries. [`hashbrown`] is a table, [`dns`] has renderers of DNS messages.
#![forbid(unsafe_code)]

#[cfg(feature = "audited")]
pub mod audited;
pub mod dns;
pub mod hashbrown;
pub mod hashes;
