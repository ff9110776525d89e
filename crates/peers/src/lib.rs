//! Other people's crates behind hashlane's traits, so that one run measures all.
//!
//! Each module adapts one crate and says which part of a [`Key`](hashlane_hash::scheme::Key) it takes and whether its results
//! are the same everywhere. The versions are pinned exactly: foldhash and ahash promise nothing from one release to
//! the next, and a measurement is of a release.
#![forbid(unsafe_code)]

pub mod ahash;
pub mod dns;
pub mod foldhash;
pub mod hashbrown;
pub mod rapidhash;
pub mod xxh3;
