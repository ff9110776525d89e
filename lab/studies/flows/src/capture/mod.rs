//! Tuples out of captures: pcap and pcapng, as `tcpdump -w` and Wireshark write them.
//!
//! A file is read once, in a window of 1 MiB; the caller bounds the memory of the result. Nothing in the file
//! is trusted.

pub use hashlane_link::capture::FormatError;

use hashlane_audit::traffic::packets;
use hashlane_flow::tuple::Tuple;
use hashlane_link::capture::write_skipped;
use hashlane_stats::format::plural;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Tuples and packets of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capture {
    /// The distinct tuples as the receivers of the packets see them, in the order of their first packets.
    pub tuples: Vec<Tuple>,
    /// For each packet that has a tuple, in order, its place in `tuples`.
    pub packets: Vec<u32>,
    /// Packets in the file, as far as it was read.
    pub seen: usize,
    /// Number of skipped packets, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Error that ended the reading early, if one did; everything before it is kept.
    pub broken: Option<String>,
    /// `true` if the file had more tuples or packets than the limit.
    pub full: bool,
}

/// Reasons for which a capture cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The file cannot be read.
    #[error("cannot read {}: {}", .0.display(), .1)]
    Read(PathBuf, io::Error),
    /// It is neither pcap nor pcapng.
    #[error("{}: not a pcap or pcapng file ({}); `tcpdump -w FILE` writes one", .0.display(), .1)]
    NotACapture(PathBuf, String),
    /// The file has no packet with a tuple; the text reports the skipped packets.
    #[error("{} has no packet with ports (TCP, UDP, SCTP, DCCP) over IP: {}", .0.display(), .1)]
    NoTuple(PathBuf, String),
}

/// `12 tuples from 80 packets; 5 skipped: 3 not IP, 2 fragments`
impl fmt::Display for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} from {}", plural(self.tuples.len(), "tuple"), plural(self.seen, "packet"))?;
        write_skipped(f, &self.skipped, self.full, self.broken.as_deref())
    }
}

/// Reads the capture at `path`, and keeps up to `most` tuples and eight times as many packets.
///
/// # Errors
/// The file cannot be read, is not a capture, or has no packet with a tuple.
pub fn read(path: &Path, most: usize) -> Result<Capture, CaptureError> {
    let file = File::open(path).map_err(|error| CaptureError::Read(path.into(), error))?;
    match read_from(file, most) {
        Ok(capture) if capture.tuples.is_empty() => {
            Err(CaptureError::NoTuple(path.into(), capture.to_string()))
        }
        Ok(capture) => Ok(capture),
        Err(FormatError::Read(error)) => Err(CaptureError::Read(path.into(), error)),
        Err(FormatError::NotACapture(why)) => Err(CaptureError::NotACapture(path.into(), why)),
    }
}

/// Reads a capture from a stream; see [`read`]. One without a tuple is no error here.
///
/// # Errors
/// The stream fails at its beginning, or is not a capture.
pub fn read_from(from: impl Read, most: usize) -> Result<Capture, FormatError> {
    let mut capture = Capture::default();
    let mut places = HashMap::new();
    capture.broken = packets::walk(from, &mut |packet| {
        capture.seen += 1;
        match packet {
            Ok(segment) => {
                let (tuple, next) = (segment.packet.received(), capture.tuples.len());
                let place = places.get(&tuple).copied();
                if capture.packets.len() >= 8 * most || place.is_none() && next >= most {
                    capture.full = true;
                    return ControlFlow::Break(());
                }
                if place.is_none() {
                    places.insert(tuple, next as u32);
                    capture.tuples.push(tuple);
                }
                capture.packets.push(place.unwrap_or(next as u32));
            }
            Err(why) => *capture.skipped.entry(why).or_default() += 1,
        }
        ControlFlow::Continue(())
    })?;
    Ok(capture)
}

#[cfg(test)]
mod tests;
