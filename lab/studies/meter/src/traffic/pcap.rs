//! Writer of captures.

use super::frame::ETHERNET;
use std::io::{self, BufWriter, Write};

/// Bytes of a frame that are captured, as by `tcpdump -s 96`.
const SNAP: usize = 96;

/// Seconds since 1970 of the first packet.
const START: u64 = 1_767_323_045;

/// A capture of Ethernet in the format pcap, with times to the microsecond.
pub(super) struct Pcap<W: Write> {
    out: BufWriter<W>,
    frame: Vec<u8>,
}

impl<W: Write> Pcap<W> {
    /// Begins a capture.
    pub(super) fn new(to: W) -> io::Result<Self> {
        let mut out = BufWriter::with_capacity(1 << 20, to);
        for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, SNAP as u32, 1] {
            out.write_all(&word.to_le_bytes())?;
        }
        Ok(Self { out, frame: Vec::with_capacity(SNAP) })
    }

    /// Adds a frame with an IP packet of `bytes`; `write` appends the packet's headers; `time` is in
    /// microseconds since the first packet.
    pub(super) fn frame(
        &mut self,
        time: u64,
        bytes: usize,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> io::Result<()> {
        self.frame.clear();
        write(&mut self.frame);
        let captured = (ETHERNET + bytes).min(SNAP);
        self.frame.resize(captured, 0);
        let (seconds, micros) = (START + time / 1_000_000, time % 1_000_000);
        for word in [seconds as u32, micros as u32, captured as u32, (ETHERNET + bytes) as u32] {
            self.out.write_all(&word.to_le_bytes())?;
        }
        self.out.write_all(&self.frame)
    }

    /// Writes the rest.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }
}
