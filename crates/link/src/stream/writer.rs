//! Packets into a stream.

use std::io::{self, Write};

/// A bounded queue of octets for a stream that may not take them at once.
#[derive(Debug)]
pub struct StreamWriter {
    /// What waits stands behind the first `start` octets, which are written already.
    queue: Vec<u8>,
    start: usize,
    bound: usize,
    dropped: u64,
}

impl StreamWriter {
    /// Octets that stay allocated when the queue has emptied.
    const KEPT: usize = 256 << 10;

    /// A queue of `bound` octets at the most. Its memory grows with what waits, to four times the bound at the most, and
    /// all but 256 KiB is given back when nothing does.
    pub fn new(bound: usize) -> Self {
        Self { queue: Vec::new(), start: 0, bound, dropped: 0 }
    }

    /// Queues a packet made of the parts, one behind the other; nothing is written yet. Returns false when it does not
    /// fit: then none of it is queued, and it is counted.
    pub fn push(&mut self, parts: &[&[u8]]) -> bool {
        let length = parts.iter().fold(0, |sum: usize, part| sum.saturating_add(part.len()));
        if length > self.bound - self.len() {
            self.dropped += 1;
            return false;
        }
        // Moves no more octets than were written since the last time.
        if self.start > 0 && self.start >= self.len() {
            self.queue.drain(..self.start);
            self.start = 0;
        }
        for part in parts {
            self.queue.extend_from_slice(part);
        }
        true
    }

    /// Writes what waits, with one call if the stream takes it all. Returns whether nothing waits any more; otherwise
    /// the stream would block.
    ///
    /// # Errors
    ///
    /// Those of the stream, but for `WouldBlock` and `Interrupted`; `WriteZero` if it takes nothing.
    pub fn flush(&mut self, stream: &mut impl Write) -> io::Result<bool> {
        while let Some(waiting @ [_, ..]) = self.queue.get(self.start..) {
            match stream.write(waiting) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => self.start += written.min(waiting.len()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        self.queue.clear();
        self.start = 0;
        self.queue.shrink_to(Self::KEPT);
        Ok(true)
    }

    /// Octets that wait.
    pub fn len(&self) -> usize {
        self.queue.len() - self.start
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Packets that did not fit, since the writer was made.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests;
