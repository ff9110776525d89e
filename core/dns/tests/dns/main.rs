//! The renderer against a naive search and, with the feature `domain`, against other readers and builders.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[cfg(feature = "domain")]
mod composer;
mod hostile;
mod reading;
mod render;
#[cfg(feature = "domain")]
mod rollback;
