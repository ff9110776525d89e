//! Reasons why a capture is not read, or not to its end.

use super::limits::LONGEST;
use std::fmt;
use std::io;

/// Reason why a stream is not readable as a capture.
#[derive(Debug)]
pub enum FormatError {
    /// The stream itself fails.
    Read(io::Error),
    /// The stream does not begin as a capture does.
    NotACapture(String),
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt(f),
            Self::NotACapture(reason) => write!(f, "not a pcap or pcapng file: {reason}"),
        }
    }
}

impl std::error::Error for FormatError {}

/// Reason why a capture ends early; the frames before `at` are sound. `at` counts bytes from the start of the
/// capture, after decompression.
#[derive(Debug)]
#[non_exhaustive]
pub enum CaptureError {
    /// The stream fails.
    Read {
        /// Offset of the first byte that was not read.
        at: u64,
        /// The error of the stream.
        error: io::Error,
    },
    /// The capture ends within a packet or a block.
    CutOff {
        /// Offset of that packet or block.
        at: u64,
    },
    /// A packet or block is broken.
    Broken {
        /// Its offset.
        at: u64,
        /// The rule that it breaks.
        problem: Problem,
    },
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { at, error } => write!(f, "it cannot be read at offset {at}: {error}"),
            Self::CutOff { at } => write!(f, "it ends within a packet, at offset {at}"),
            Self::Broken { at, problem: problem @ Problem::Capture } => {
                write!(f, "{problem} at offset {at}; name the files one after the other, do not join them")
            }
            Self::Broken { at, problem } => write!(f, "{problem}, at offset {at}"),
        }
    }
}

impl std::error::Error for CaptureError {}

/// The rule that a packet or block breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// A packet, or a block with one, longer than 512 KiB.
    Packet {
        /// The length stated.
        length: usize,
    },
    /// A block whose lengths do not agree with each other or with its fields, or the description of one
    /// interface more than 4,096.
    Block {
        /// The length stated.
        length: usize,
    },
    /// The header of another capture: joined files have one each.
    Capture,
    /// A section with an unknown byte order.
    Order {
        /// Its magic number.
        magic: u32,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packet { length } => write!(f, "packet of {length} bytes; at most {LONGEST} are read"),
            Self::Block { length } => write!(f, "malformed block of {length} bytes"),
            Self::Capture => f.write_str("a second capture begins"),
            Self::Order { magic } => write!(f, "section with the unknown byte order {magic:#010x}"),
        }
    }
}
