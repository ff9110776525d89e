//! Lists of domain names: name → the rules that it matches.
//!
//! A rule is a name, with what it covers: that name, the names below it, or those one label below it. It
//! belongs to one or more of 64 lists, or is an exception from them. [`Rules`] are the rules of all lists in
//! one table, built by a [`Builder`]; a lookup finds every rule that covers a name, by the name's suffixes.
//!
//! - [`Reversed`]: a name with its labels in reverse order, so that its suffixes are prefixes;
//! - [`Builder`], [`Rules`]: the table, which never changes; a reload builds another;
//! - [`Burst`]: the room for a burst of names that are looked up together.
//!
//! [`map::NameMap`] is a mutable map from prefixes to values, for names of any encoding: the table of a
//! forwarder. Its names stand in the arena of [`names`].
//!
//! ```
//! use hashlane_name_map::{Builder, Key, Reversed, Target};
//!
//! # fn main() -> Result<(), Box<dyn core::error::Error>> {
//! let mut builder = Builder::new(&Key::random()?);
//! builder.block(0, Target::Subtree, b"ads.example.com")?;
//! builder.block(1, Target::Below, b"example.net")?;
//! builder.except(1, Target::Exact, b"www.example.net")?;
//! let rules = builder.build()?;
//!
//! let mut name = Reversed::new();
//! name.set(b"Banner.Ads.Example.COM")?;
//! let verdict = rules.verdict(&name);
//! assert_eq!(verdict.lists(), 0b01);
//! assert_eq!(verdict.depth(), Some(3));
//! name.set(b"www.example.net")?;
//! assert_eq!(rules.verdict(&name).lists(), 0);
//! # Ok(())
//! # }
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod build;
mod burst;
mod filter;
mod groups;
mod image;
mod lists;
pub mod map;
pub mod names;
mod reversed;
mod rules;
mod search;
mod table;

pub use build::{BuildError, Builder};
pub use burst::Burst;
pub use hashlane_hash::scheme::Key;
pub use image::ImageError;
pub use lists::{Lists, MAX_LISTS, Match, Target, Verdict};
pub use reversed::{MAX_LABELS, MAX_LEN, NameError, Reversed};
pub use rules::Rules;

/// The examples of the README, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
