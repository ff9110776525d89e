//! Frames of captures: pcap and pcapng, as `tcpdump -w` and Wireshark write them.
//!
//! [`Reader`] reads a stream once, in a window of fixed size, and lends the frames in the window as a
//! [`Batch`], or gives them away as a [`Chunk`]. [`open`] takes a file or standard input, also compressed by
//! gzip or Zstandard. Nothing in a capture is trusted: no bytes make the reader panic, or hold more memory
//! than its window.
//!
//! Files are read, not mapped: a page fault for each page cost more than the copy of a large read (26 against
//! 17 ns of CPU time a frame of 117 bytes), and a mapped file that shrinks ends the process.

mod error;
mod file;
mod format;
mod limits;
mod pcap;
mod pcapng;
mod pipe;
mod reader;
mod skipped;
mod step;
mod writer;

pub use error::{CaptureError, FormatError, Problem};
pub use file::{Input, open, open_stream, open_until};
pub use reader::{Batch, Chunk, Reader};
pub use skipped::write_skipped;
pub use writer::Writer;

use format::Format;
use std::io::Read;
use std::ops::ControlFlow;
use std::time::Duration;

/// A captured frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Type of the link that it was captured on (LINKTYPE number of the pcap registry), if the capture states
    /// one.
    pub link: Option<u32>,
    /// Time of capture in nanoseconds since 1970; zero if the capture states none.
    pub time: u64,
    /// Length of the frame on the link, in bytes; at least the number of captured bytes in a sound capture.
    pub original: u32,
    /// Captured bytes.
    pub bytes: &'a [u8],
}

impl Frame<'_> {
    /// Returns `true` if the frame was longer than its captured bytes.
    #[inline]
    pub fn is_cut(&self) -> bool {
        self.original as usize > self.bytes.len()
    }

    /// Time of capture since 1970.
    pub fn since_epoch(&self) -> Duration {
        Duration::from_nanos(self.time)
    }
}

/// Visitor of frames; it breaks to end the reading.
pub type TakeFrame<'a> = dyn FnMut(Frame<'_>) -> ControlFlow<()> + 'a;

/// Passes every frame of a capture to `take` until it breaks. Returns the reason if the stream ends too
/// early; the frames before were passed.
///
/// # Errors
/// The stream fails at its beginning, or is not a capture.
pub fn frames(from: impl Read, take: &mut TakeFrame<'_>) -> Result<Option<String>, FormatError> {
    let mut reader = Reader::new(from)?;
    loop {
        match reader.next_batch() {
            Ok(Some(mut batch)) => {
                if batch.any(|frame| take(frame).is_break()) {
                    return Ok(None);
                }
            }
            Ok(None) => return Ok(None),
            Err(error) => return Ok(Some(error.to_string())),
        }
    }
}

/// `true` if `bytes` begin as a capture does.
pub fn is_capture(bytes: &[u8]) -> bool {
    Format::of(bytes).is_some()
}

#[cfg(test)]
mod tests;
