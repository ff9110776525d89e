//! Packets from a stream.

use super::spare::{READ, Spare};
use std::io::{self, Read};

/// Result of a framer: the packet at the start of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// A packet of this length in bytes, 1 or more. The header that states the length is enough.
    Packet(usize),
    /// More bytes are needed for the length.
    More,
    /// No packet starts like this. The start of the next one cannot be found.
    Lost,
}

/// Error of a stream whose packets can no longer be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FramingError {
    /// No packet starts here.
    #[error("no packet starts at byte {at} of the stream")]
    Lost {
        /// Bytes of the stream before it.
        at: u64,
    },
    /// A packet is longer than the reader takes.
    #[error("packet too long at byte {at} of the stream: {length} bytes or more, at most {longest} allowed")]
    TooLong {
        /// Bytes of the stream before it.
        at: u64,
        /// Length in bytes, as far as it is known.
        length: usize,
        /// Longest packet that is allowed, in bytes.
        longest: usize,
    },
}

/// Outcome of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filled {
    /// This many bytes, and the buffer is full: more may wait. Take the packets, then fill again.
    ///
    /// 0 means that there was no room, because packets were not taken.
    Full(usize),
    /// This many bytes, perhaps 0, and no more for now.
    ///
    /// The socket gave less than it was asked for, so an event will report more (epoll(7)). One event reports
    /// bytes and the end together: if it says that the peer has closed, fill until [`Filled::End`].
    Drained(usize),
    /// The end of the stream.
    End,
}

/// A buffer that splits a stream into packets.
#[derive(Debug)]
pub struct StreamReader {
    /// All of it is initialised; the bytes of the stream are in `start..end`. Shorter than [`Self::ROOM`]
    /// between [`Self::give_room`] and the next read.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    longest: usize,
    /// Bytes of the stream before `start`.
    passed: u64,
    /// True if the packet at `start` is incomplete, so that only more room can lead to another packet.
    incomplete: bool,
    failed: Option<FramingError>,
}

impl StreamReader {
    /// Length of the buffer as long as no packet is longer, in bytes.
    const ROOM: usize = 64 << 10;

    /// A reader of packets of up to `longest` bytes. It holds 64 KiB from a read until
    /// [`give_room`](Self::give_room); while a longer packet arrives up to `longest`, and never more than
    /// twice the bytes that have arrived.
    pub fn new(longest: usize) -> Self {
        Self { buffer: Vec::new(), start: 0, end: 0, longest, passed: 0, incomplete: false, failed: None }
    }

    /// Reads once from the stream into the room that is left.
    ///
    /// # Errors
    ///
    /// Errors of the stream, except `WouldBlock` and `Interrupted`; the [`FramingError`], as `InvalidData`,
    /// once framing has failed.
    pub fn fill(&mut self, stream: &mut impl Read) -> io::Result<Filled> {
        if let Some(error) = self.failed {
            return Err(io::Error::new(io::ErrorKind::InvalidData, error));
        }
        self.make_room();
        let room = self.buffer.get_mut(self.end..).unwrap_or_default();
        if room.is_empty() {
            return Ok(Filled::Full(0));
        }
        let read = loop {
            match stream.read(room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Filled::Drained(0)),
                Err(error) => return Err(error),
                // A stream may claim more than it was given room for.
                Ok(read) => break read.min(room.len()),
            }
        };
        let full = read == room.len();
        self.end += read;
        self.incomplete &= read == 0;
        Ok(match read {
            0 => Filled::End,
            _ if full => Filled::Full(read),
            _ => Filled::Drained(read),
        })
    }

    /// Takes the complete packets out of the buffer.
    ///
    /// The framer gets the bytes from the start of a packet on, at least one. After an error there are no
    /// more packets.
    pub fn frames<F: FnMut(&[u8]) -> Framing>(&mut self, framer: F) -> Frames<'_, F> {
        let Self { buffer, start, end, longest, passed, incomplete, failed } = self;
        let bytes = buffer.get(*start..*end).unwrap_or_default();
        Frames { bytes, start, passed, incomplete, failed, longest: *longest, framer }
    }

    /// Gives the room that is left to the other readers of this thread, and keeps an incomplete packet alone.
    /// The next read takes room again. Should be called when a stream has no more for now and others have.
    pub fn give_room(&mut self) {
        let waiting = self.buffer.get(self.start..self.end).unwrap_or_default().to_vec();
        let room = std::mem::replace(&mut self.buffer, waiting);
        (self.start, self.end) = (0, self.buffer.len());
        if room.len() == Self::ROOM {
            READ.with(|spare| spare.give(room));
        }
    }

    /// Bytes in the buffer: packets not taken, and an incomplete one.
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// True if the buffer is empty.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Makes room at the end of the buffer. Linear in the bytes of the stream: bytes are moved to the front
    /// for as many that were taken, or once for the packet that they begin.
    fn make_room(&mut self) {
        let waiting = self.len();
        if self.buffer.len() < Self::ROOM {
            let mut room = READ.with(Spare::take).unwrap_or_else(|| vec![0; Self::ROOM]);
            for (to, from) in room.iter_mut().zip(self.buffer.get(self.start..self.end).unwrap_or_default()) {
                *to = *from;
            }
            (self.buffer, self.start, self.end) = (room, 0, waiting);
        }
        let room = self.buffer.len() - self.end;
        if waiting == 0 {
            (self.start, self.end) = (0, 0);
        } else if (waiting <= self.start && room < self.buffer.len() / 2) || (room == 0 && self.incomplete) {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, waiting);
        }
        if self.end == self.buffer.len() && self.incomplete {
            let grown = (2 * self.buffer.len()).min(self.longest).max(self.buffer.len());
            self.buffer.resize(grown, 0);
        }
    }
}

/// The packets of a [`StreamReader`], as [`StreamReader::frames`] gives them. They can be kept side by side.
#[derive(Debug)]
pub struct Frames<'a, F> {
    bytes: &'a [u8],
    start: &'a mut usize,
    passed: &'a mut u64,
    incomplete: &'a mut bool,
    failed: &'a mut Option<FramingError>,
    longest: usize,
    framer: F,
}

impl<F> Frames<'_, F> {
    fn fail<T>(&mut self, error: FramingError) -> Option<Result<T, FramingError>> {
        *self.failed = Some(error);
        self.bytes = &[];
        Some(Err(error))
    }
}

impl<'a, F: FnMut(&[u8]) -> Framing> Iterator for Frames<'a, F> {
    type Item = Result<&'a [u8], FramingError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() || self.failed.is_some() {
            return None;
        }
        let (at, longest) = (*self.passed, self.longest);
        let length = match (self.framer)(self.bytes) {
            Framing::Packet(length @ 1..) => length,
            Framing::More => self.bytes.len().saturating_add(1),
            Framing::Packet(0) | Framing::Lost => return self.fail(FramingError::Lost { at }),
        };
        if length > longest {
            return self.fail(FramingError::TooLong { at, length, longest });
        }
        let Some((packet, rest)) = self.bytes.split_at_checked(length) else {
            *self.incomplete = true;
            return None;
        };
        self.bytes = rest;
        *self.start += length;
        *self.passed += length as u64;
        Some(Ok(packet))
    }
}

#[cfg(test)]
mod tests;
