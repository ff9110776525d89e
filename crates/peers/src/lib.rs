//! Other projects' crates behind hashlane's traits, so that one run measures all.
//!
//! Each module adapts one crate and states the part of a [`Key`](hashlane_hash::scheme::Key) that it takes,
//! and if its results are the same everywhere. The versions are pinned exactly: foldhash and ahash promise
//! nothing from one release to the next, and a measurement is of a release.
#![forbid(unsafe_code)]

pub mod ahash;
#[cfg(feature = "audited")]
pub mod audited;
pub mod dns;
pub mod foldhash;
pub mod hashbrown;
pub mod rapidhash;
pub mod xxh3;

/// Calls the macro `$callback` with every hash of this crate, in the form of
/// [`hashlane_hash::for_each_hash!`]. All of them hash bytes and nothing more.
#[macro_export]
macro_rules! for_each_hash {
    ($callback:ident) => {
        $callback! {
            bytes:
                $crate::xxh3::Xxh3,
                $crate::rapidhash::RapidHash,
                $crate::foldhash::FoldHash,
                $crate::ahash::AHash;
        }
    };
}
