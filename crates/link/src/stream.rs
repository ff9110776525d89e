//! Packets on streams of octets.
//!
//! A [`StreamReader`] finds packets in what a stream gives, and lends them without copying; a [`StreamWriter`] keeps
//! what a stream does not take at once, within a bound. Neither owns the stream, and any non-blocking one will do.

mod reader;
mod writer;

pub use reader::{Filled, Frames, Framing, FramingError, StreamReader};
pub use writer::StreamWriter;
