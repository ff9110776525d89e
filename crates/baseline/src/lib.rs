//! The historical schemes that the studies compare with: cited, frozen, tested.
//!
//! - [`dns`]: what the compression of names in messages is held against.
//! - [`ehash`]: the hashes of connections of the Linux kernel, and what was proposed in their place.
//! - [`rss`]: hashes without a secret: Toeplitz under the published key, jhash without a seed.
//!
//! They stand here to be studied, behind the same traits as what is meant for use.
#![no_std]
#![forbid(unsafe_code)]

pub mod dns;
pub mod ehash;
pub mod rss;
