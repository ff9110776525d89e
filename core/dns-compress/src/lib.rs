//! Name compression for writers of DNS messages (RFC 1035 §4.1.4).
//!
//! A [`Compressor`] decides for each name how many of its bytes to write and where a pointer leads from
//! there. [`SuffixTable`] is the one of the renderer of `hashlane-dns`; this crate has it alone, for programs
//! with a message writer of their own. The program keeps its buffer: the compressor sees the message so far
//! with each name, and compares candidates with these bytes.
//!
//! ```
//! use hashlane_dns_compress::{Case, Compressor, HEADER_LEN, SuffixTable};
//!
//! # fn main() -> Result<(), Box<dyn core::error::Error>> {
//! // Once for each thread; it serves any number of messages.
//! let mut table = SuffixTable::with_random_key()?;
//!
//! let mut message = vec![0; HEADER_LEN];
//! table.start(Case::Ignored);
//! for name in [&b"\x07example\x03com\0"[..], b"\x03www\x07Example\x03com\0"] {
//!     let place = table.compress(&message, name)?;
//!     message.extend_from_slice(&name[..place.literal()]);
//!     message.extend(place.pointer_bytes().into_iter().flatten());
//! }
//! assert_eq!(message[HEADER_LEN..], *b"\x07example\x03com\0\x03www\xc0\x0c");
//!
//! // The second name goes again, as a record that did not fit.
//! message.truncate(HEADER_LEN + 13);
//! table.truncate(message.len());
//! # Ok(())
//! # }
//! ```
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;

mod compressor;
#[doc(hidden)]
pub mod slices;
mod suffixes;

pub use compressor::{CompressedName, Compressor, POINTER_LIMIT};
pub use hashlane_hash::scheme::Key;
pub use hashlane_name::dns::{Case, Name, ParseError};
pub use suffixes::SuffixTable;

/// Bytes of a message's header, into which no pointer leads (RFC 1035 §4.1.1).
pub const HEADER_LEN: usize = 12;

/// The examples of the README, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
