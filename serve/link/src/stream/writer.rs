//! Packets to a stream.

use super::spare::{Spare, WRITE};
use std::io::{self, Write};

/// A bounded send queue of a stream.
#[derive(Debug)]
pub struct StreamWriter {
    /// The first `start` bytes are written already; the rest waits.
    queue: Vec<u8>,
    start: usize,
    bound: usize,
    dropped: u64,
}

impl StreamWriter {
    /// Largest buffer that stays allocated for the next writer of the thread, in bytes.
    const KEPT: usize = 256 << 10;

    /// Room beyond twice the bytes that wait which a queue may keep while its stream blocks.
    const SLACK: usize = 4 << 10;

    /// A queue of at most `bound` bytes. Its memory grows with the queue, to at most four times the bound. An
    /// empty queue has none: a buffer of up to 256 KiB goes to the next writer of the thread.
    pub fn new(bound: usize) -> Self {
        Self { queue: Vec::new(), start: 0, bound, dropped: 0 }
    }

    /// Queues a packet, given as its parts in order; nothing is written yet. Returns false if it does not
    /// fit: then none of it is queued, and it is counted as dropped.
    pub fn push(&mut self, parts: &[&[u8]]) -> bool {
        let length = parts.iter().fold(0, |sum: usize, part| sum.saturating_add(part.len()));
        if length > self.bound - self.len() {
            self.dropped += 1;
            return false;
        }
        // Moves no more bytes than were written since the last move.
        if self.start > 0 && self.start >= self.len() {
            self.queue.drain(..self.start);
            self.start = 0;
        }
        if self.queue.capacity() == 0 {
            self.queue = WRITE.with(Spare::take).unwrap_or_default();
        }
        for part in parts {
            self.queue.extend_from_slice(part);
        }
        true
    }

    /// Writes the queue, with one call if the stream takes it all. Returns true if the queue is empty, and
    /// false if the stream would block.
    ///
    /// # Errors
    ///
    /// Errors of the stream, except `WouldBlock` and `Interrupted`; `WriteZero` if it takes nothing.
    pub fn flush(&mut self, stream: &mut impl Write) -> io::Result<bool> {
        while let Some(waiting @ [_, ..]) = self.queue.get(self.start..) {
            match stream.write(waiting) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => self.start += written.min(waiting.len()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.shrink();
                    return Ok(false);
                }
                Err(error) => return Err(error),
            }
        }
        self.start = 0;
        let mut buffer = std::mem::take(&mut self.queue);
        buffer.clear();
        if (1..=Self::KEPT).contains(&buffer.capacity()) {
            WRITE.with(|spare| spare.give(buffer));
        }
        Ok(true)
    }

    /// Frees the room of what was written, if that is more than half of the memory.
    fn shrink(&mut self) {
        if self.memory() > 2 * self.len() + Self::SLACK {
            self.queue.drain(..self.start);
            self.start = 0;
            self.queue.shrink_to_fit();
        }
    }

    /// Bytes of memory that the queue holds.
    pub fn memory(&self) -> usize {
        self.queue.capacity()
    }

    /// Length of the queue, in bytes.
    pub fn len(&self) -> usize {
        self.queue.len() - self.start
    }

    /// True if the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Packets that did not fit, since the start.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests;
