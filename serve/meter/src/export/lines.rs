//! Blocks of whole lines: the part that JSON lines and CSV share.

use super::{DELAY, ExportError, Sink, has_passed};

/// Size from which a block leaves, in bytes.
const BLOCK: usize = 64 << 10;

/// Lines that wait to be written as one block.
#[derive(Debug)]
pub(super) struct Lines {
    pub(super) sink: Sink,
    lines: Vec<u8>,
    flows: u64,
    /// Time of the oldest line.
    since: u64,
    /// Size from which a block leaves; over UDP each line is a datagram.
    size: usize,
}

impl Lines {
    pub(super) fn new(sink: Sink) -> Self {
        let size = if sink.is_datagram() { 1 } else { BLOCK };
        Self { sink, lines: Vec::new(), flows: 0, since: 0, size }
    }

    /// Adds the line that `write` appends.
    pub(super) fn add(&mut self, now: u64, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), ExportError> {
        if self.flows == 0 {
            self.since = now;
        }
        write(&mut self.lines);
        self.flows += 1;
        if self.lines.len() >= self.size { self.flush(now) } else { Ok(()) }
    }

    pub(super) fn tick(&mut self, now: u64) -> Result<(), ExportError> {
        self.sink.tick(now);
        if self.flows > 0 && has_passed(&mut self.since, DELAY, now) { self.flush(now) } else { Ok(()) }
    }

    pub(super) fn finish(&mut self, now: u64) -> Result<(), ExportError> {
        let flushed = self.flush(now);
        flushed.and(self.sink.finish(now))
    }

    fn flush(&mut self, now: u64) -> Result<(), ExportError> {
        if self.flows == 0 {
            return Ok(());
        }
        let done = self.sink.send(&self.lines, self.flows, now);
        self.lines.clear();
        self.flows = 0;
        done.map(drop)
    }
}
