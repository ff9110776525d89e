//! Packets on byte streams.
//!
//! A [`StreamReader`] splits the bytes of a stream into packets, and lends them without a copy; a
//! [`StreamWriter`] is a bounded queue of bytes that the stream does not take at once. Neither owns the
//! stream. Any non-blocking stream will do.

mod reader;
mod spare;
mod writer;

pub use reader::{Filled, Frames, Framing, FramingError, StreamReader};
pub use writer::StreamWriter;
