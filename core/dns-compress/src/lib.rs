//! Compression of the names of DNS messages.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;

mod compressor;
#[doc(hidden)]
pub mod slices;
mod suffixes;

pub use compressor::{CompressedName, Compressor, POINTER_LIMIT};
pub use suffixes::SuffixTable;

/// Bytes of a message's header, which no pointer leads into (RFC 1035 §4.1.1).
pub const HEADER_LEN: usize = 12;
