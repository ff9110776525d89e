//! Lists of domain names in the formats that filters use, read into the rules of `hashlane-name-map`.
//!
//! - [`ListReader`]: takes the bytes of a list in pieces, detects its format, adds its rules to a builder;
//! - [`Format`]: the formats, with what their rules cover;
//! - [`Counts`], [`Reason`]: the lines of a list, and why entries were refused;
//! - [`write_compiled`], [`read_compiled`]: rules and their lists as bytes, to be kept in a file;
//! - [`query_name`]: names to look up, in the form that the rules have.
//!
//! No entry is guessed at: an entry that a filter of names cannot express, such as a path of an Adblock
//! filter, is counted by its reason, with the first line that has it.
//!
//! ```
//! use hashlane_name_lists::{Format, ListReader, Options, Reason};
//! use hashlane_name_map::{Builder, Key, Reversed};
//!
//! # fn main() -> Result<(), Box<dyn core::error::Error>> {
//! let mut builder = Builder::new(&Key::VECTOR); // A secret key in programs.
//! let mut reader = ListReader::new(0, Options::default());
//! reader.push(b"! a list\n||ads.example^\n||example.com/banner^\n@@||good.a", &mut builder)?;
//! reader.push(b"ds.example^\n", &mut builder)?;
//! let report = reader.finish(&mut builder)?;
//! assert_eq!(report.format, Format::Adblock);
//! assert_eq!((report.counts.rules(), report.counts.exceptions), (1, 1));
//! assert_eq!(report.counts.refused[&Reason::Path].first_line, 3);
//!
//! let rules = builder.build()?;
//! let mut name = Reversed::new();
//! name.set(b"www.ads.example")?;
//! assert_eq!(rules.verdict(&name).lists(), 1);
//! # Ok(())
//! # }
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod adblock;
mod compiled;
mod counts;
mod detect;
mod dnsmasq;
mod domains;
mod entry;
mod format;
mod hosts;
mod lines;
mod name;
mod psl;
mod reader;
mod reason;
mod rpz;
mod v2ray;

pub use compiled::{CompiledError, CompiledList, compiled_len, is_compiled, read_compiled, write_compiled};
pub use counts::{Counts, Refused};
pub use format::Format;
pub use lines::{LineTooLong, Lines, MAX_LINE};
pub use name::{MAX_NAME, ascii_name, query_name};
pub use reader::{ListError, ListReader, Options, Report};
pub use reason::Reason;

/// The example of the README, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
