//! Reasons why a capture is not read, or not to its end.

use super::limits::LONGEST;
use std::fmt;
use std::io;

/// Reason why a stream is not readable as a capture.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// The stream itself fails.
    #[error("{0}")]
    Read(io::Error),
    /// The stream does not begin as a capture does.
    #[error("not a pcap or pcapng file: {0}")]
    NotACapture(String),
}

/// Reason why a capture ends early; the frames before `at` are sound. `at` counts bytes from the start of the
/// capture, after decompression.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The stream fails.
    #[error("it cannot be read at offset {at}: {error}")]
    Read {
        /// Offset of the first byte that was not read.
        at: u64,
        /// The error of the stream.
        error: io::Error,
    },
    /// The capture ends within a packet or a block.
    #[error("it ends within a packet, at offset {at}")]
    CutOff {
        /// Offset of that packet or block.
        at: u64,
    },
    /// A packet or block is broken.
    #[error(fmt = write_broken)]
    Broken {
        /// Its offset.
        at: u64,
        /// The rule that it breaks.
        problem: Problem,
    },
}

fn write_broken(at: &u64, problem: &Problem, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match problem {
        Problem::Capture => {
            write!(f, "{problem} at offset {at}; name the files one after the other, do not join them")
        }
        _ => write!(f, "{problem}, at offset {at}"),
    }
}

/// The rule that a packet or block breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// A packet, or a block with one, longer than 512 KiB.
    #[error("packet of {length} bytes; at most {LONGEST} are read")]
    Packet {
        /// The length stated.
        length: usize,
    },
    /// A block whose lengths do not agree with each other or with its fields, or the description of one
    /// interface more than 4,096.
    #[error("malformed block of {length} bytes")]
    Block {
        /// The length stated.
        length: usize,
    },
    /// The header of another capture: joined files have one each.
    #[error("a second capture begins")]
    Capture,
    /// A section with an unknown byte order.
    #[error("section with the unknown byte order {magic:#010x}")]
    Order {
        /// Its magic number.
        magic: u32,
    },
}
