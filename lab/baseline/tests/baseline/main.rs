//! The historical schemes against independent implementations and published values.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod dns;
mod ehash;
