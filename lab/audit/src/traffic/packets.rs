//! Packets of a capture.

use hashlane_flow::captured::{Carried, NOT_IP};
use hashlane_flow::packet::Segment;
use hashlane_link::capture::{FormatError, frames};
use std::io::Read;
use std::ops::ControlFlow;

/// Handler of a packet: it gets the segment, or the reason why the packet has none, and decides if reading
/// goes on.
pub type Take<'a> = dyn FnMut(Result<Segment<'_>, &'static str>) -> ControlFlow<()> + 'a;

/// Hands every packet of the capture to `take`, as [`frames`] does.
///
/// # Errors
/// As `frames`.
pub fn walk(from: impl Read, take: &mut Take<'_>) -> Result<Option<String>, FormatError> {
    frames(from, &mut |frame| {
        take(Carried::of(frame.link, frame.bytes).and_then(|carried| match carried {
            Carried::Segment(segment) => Ok(segment),
            Carried::Other { .. } => Err(NOT_IP),
        }))
    })
}
