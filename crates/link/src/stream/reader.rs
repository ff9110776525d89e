//! Packets out of a stream.

use std::fmt;
use std::io::{self, Read};

/// What a framer finds at the start of the octets that it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// A packet of so many octets, 1 or more. They need not all be there yet: a header that tells the length is enough.
    Packet(usize),
    /// More octets are needed to tell.
    More,
    /// No packet starts so; where the next one starts cannot be known.
    Lost,
}

/// Why a stream has no more packets to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FramingError {
    /// No packet starts here.
    Lost {
        /// Octets of the stream before it.
        at: u64,
    },
    /// A packet is longer than the reader takes.
    TooLong {
        /// Octets of the stream before it.
        at: u64,
        /// Its octets, as far as they are known.
        length: usize,
        /// Most octets of a packet.
        longest: usize,
    },
}

impl fmt::Display for FramingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Lost { at } => write!(f, "no packet starts at octet {at} of the stream"),
            Self::TooLong { at, length, longest } => {
                write!(
                    f,
                    "the packet at octet {at} of the stream has {length} octets or more, and {longest} are allowed"
                )
            }
        }
    }
}

impl std::error::Error for FramingError {}

/// What a read brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filled {
    /// So many octets, and the room is full: more may wait. Take the packets, then fill again.
    ///
    /// 0 says that there was no room, because packets were not taken.
    Full(usize),
    /// So many octets, perhaps 0, and no more for now.
    ///
    /// A socket gave less than it was asked for, so it tells by an event when there is more (epoll(7)). One event
    /// tells of octets and of the end together: where it says that the peer has closed, fill until [`Filled::End`].
    Drained(usize),
    /// The end of the stream.
    End,
}

/// A buffer between a stream and the packets in it.
#[derive(Debug)]
pub struct StreamReader {
    /// All of it is initialised; the octets of the stream stand in `start..end`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    longest: usize,
    /// Octets of the stream before `start`.
    passed: u64,
    /// Whether the packet at `start` was seen to be incomplete, so that only more room can bring on another.
    incomplete: bool,
    failed: Option<FramingError>,
}

impl StreamReader {
    /// Octets of the buffer as long as no packet is longer.
    const ROOM: usize = 64 << 10;

    /// A reader of packets of up to `longest` octets. It holds 64 KiB, and while packets that are longer arrive up to
    /// `longest`, never more than twice what has arrived of them.
    pub fn new(longest: usize) -> Self {
        Self {
            buffer: vec![0; Self::ROOM],
            start: 0,
            end: 0,
            longest,
            passed: 0,
            incomplete: false,
            failed: None,
        }
    }

    /// Reads once from the stream into the room that is left.
    ///
    /// # Errors
    ///
    /// Those of the stream, but for `WouldBlock` and `Interrupted`; the [`FramingError`], as `InvalidData`, once the
    /// framing is lost.
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
                // A stream that claims more than it was given room for is not believed.
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

    /// The complete packets in the buffer; each is passed over once it is given.
    ///
    /// The framer is shown octets that start where a packet starts, at least one. After an error there are no more
    /// packets, ever.
    pub fn frames<F: FnMut(&[u8]) -> Framing>(&mut self, framer: F) -> Frames<'_, F> {
        let Self { buffer, start, end, longest, passed, incomplete, failed } = self;
        let octets = buffer.get(*start..*end).unwrap_or_default();
        Frames { octets, start, passed, incomplete, failed, longest: *longest, framer }
    }

    /// Octets that wait: of packets not taken, and of one that is not complete.
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Makes room behind the octets. Linear in the octets of the stream: octets are moved to the front for as many
    /// passed over, or once for the packet that they begin.
    fn make_room(&mut self) {
        let waiting = self.len();
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
    octets: &'a [u8],
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
        self.octets = &[];
        Some(Err(error))
    }
}

impl<'a, F: FnMut(&[u8]) -> Framing> Iterator for Frames<'a, F> {
    type Item = Result<&'a [u8], FramingError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.octets.is_empty() || self.failed.is_some() {
            return None;
        }
        let (at, longest) = (*self.passed, self.longest);
        let length = match (self.framer)(self.octets) {
            Framing::Packet(length @ 1..) => length,
            Framing::More => self.octets.len().saturating_add(1),
            Framing::Packet(0) | Framing::Lost => return self.fail(FramingError::Lost { at }),
        };
        if length > longest {
            return self.fail(FramingError::TooLong { at, length, longest });
        }
        let Some((packet, rest)) = self.octets.split_at_checked(length) else {
            *self.incomplete = true;
            return None;
        };
        self.octets = rest;
        *self.start += length;
        *self.passed += length as u64;
        Some(Ok(packet))
    }
}

#[cfg(test)]
mod tests;
