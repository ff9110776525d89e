//! One connection: length-prefixed messages in, responses in order out (RFC 7766 §6).

use crate::config::Tcp;
use hashlane_table::share::{Holder, ItemId};
use mio::net::TcpStream;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Bytes of responses in the queue from which on no further query is answered.
pub(super) const MAX_QUEUED: usize = 64 << 10;

/// Buffers of at most this many bytes stay allocated while they are empty.
const KEPT: usize = 2 << 10;

/// A connection.
pub(super) struct Connection {
    pub(super) stream: TcpStream,
    pub(super) peer: SocketAddr,
    pub(super) holder: Holder,
    /// Items of the connection in the books of places and of bytes.
    pub(super) place: ItemId,
    pub(super) bytes: ItemId,
    /// Received bytes: at most the longest message and what one read brings.
    input: Vec<u8>,
    output: Vec<u8>,
    /// Bytes of `output` that are sent.
    sent: usize,
    /// True until a read finds nothing: no event reports bytes that wait already.
    pub(super) is_readable: bool,
    /// The client has ended its side, or sent what is no query: nothing more is read.
    pub(super) is_ended: bool,
    /// True while the connection stands in the list of those that have work left.
    pub(super) is_pending: bool,
    times: Times,
}

/// Times from which the timeouts count.
#[derive(Clone, Copy)]
struct Times {
    /// Last query or the connect.
    active: Instant,
    /// First byte of the query that is not complete.
    query: Option<Instant>,
    /// Time at which responses waited, and how many of their bytes still have to be sent.
    unsent: Option<(Instant, usize)>,
}

/// Reason to close a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timeout {
    Idle,
    SlowQuery,
    SlowReader,
}

impl Connection {
    pub(super) fn new(
        (stream, peer): (TcpStream, SocketAddr),
        holder: Holder,
        (place, bytes): (ItemId, ItemId),
        now: Instant,
    ) -> Self {
        Self {
            stream,
            peer,
            holder,
            place,
            bytes,
            input: Vec::new(),
            output: Vec::new(),
            sent: 0,
            is_readable: true,
            is_ended: false,
            is_pending: false,
            times: Times { active: now, query: None, unsent: None },
        }
    }

    /// Bytes of memory of the queues.
    pub(super) fn memory(&self) -> usize {
        self.input.capacity() + self.output.capacity()
    }

    /// Reads once. Returns true if something came.
    ///
    /// # Errors
    /// The connection is broken.
    pub(super) fn read(&mut self, scratch: &mut [u8], now: Instant) -> io::Result<bool> {
        if !self.is_readable || self.is_ended {
            return Ok(false);
        }
        loop {
            match self.stream.read(scratch) {
                Ok(0) => {
                    self.is_ended = true;
                    return Ok(false);
                }
                Ok(length) => {
                    self.input.extend_from_slice(scratch.get(..length).unwrap_or_default());
                    self.times.query.get_or_insert(now);
                    return Ok(true);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.is_readable = false;
                    return Ok(false);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The complete messages that were received, in order.
    pub(super) fn messages(&self) -> Messages<'_> {
        Messages(&self.input)
    }

    /// Removes messages from the input, `bytes` bytes with their lengths.
    pub(super) fn consume(&mut self, bytes: usize, now: Instant) {
        self.input.drain(..bytes.min(self.input.len()));
        self.times.active = now;
        // A further query has begun, and may take as long as this one.
        self.times.query = (!self.input.is_empty()).then_some(now);
        release(&mut self.input);
    }

    /// True if a response can be queued.
    pub(super) fn has_room(&self) -> bool {
        self.queued() < MAX_QUEUED
    }

    /// Bytes that wait to be sent.
    pub(super) fn queued(&self) -> usize {
        self.output.len() - self.sent
    }

    /// Takes the queue of responses, to add to it while the input is borrowed.
    pub(super) fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }

    /// Puts the queue back.
    pub(super) fn put_output(&mut self, output: Vec<u8>) {
        self.output = output;
    }

    /// Bytes at the begin of the queue that were sent already.
    pub(super) fn sent(&self) -> usize {
        self.sent
    }

    /// Sends what the kernel takes. Returns true if all was sent.
    ///
    /// # Errors
    /// The connection is broken.
    pub(super) fn flush(&mut self, now: Instant) -> io::Result<bool> {
        while self.queued() > 0 {
            match self.stream.write(self.output.get(self.sent..).unwrap_or_default()) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(length) => {
                    self.sent += length;
                    self.times.unsent = match self.times.unsent {
                        Some((since, left)) if left > length => Some((since, left - length)),
                        _ => None,
                    };
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.times.unsent.get_or_insert((now, self.queued()));
                    if self.sent >= MAX_QUEUED {
                        self.output.drain(..self.sent);
                        self.sent = 0;
                    }
                    return Ok(false);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.output.clear();
        (self.sent, self.times.unsent) = (0, None);
        release(&mut self.output);
        Ok(true)
    }

    /// The timeout that has passed.
    pub(super) fn timeout(&self, now: Instant, limits: &Tcp) -> Option<Timeout> {
        let passed = |since: Instant, millis: u64| {
            now.saturating_duration_since(since) >= Duration::from_millis(millis)
        };
        let Times { active, query, unsent } = self.times;
        if unsent.is_some_and(|(since, _)| passed(since, limits.write_timeout_ms)) {
            return Some(Timeout::SlowReader);
        }
        if self.queued() > 0 {
            // Queries wait for the responses before them.
            return None;
        }
        if query.is_some_and(|since| passed(since, limits.message_timeout_ms)) {
            return Some(Timeout::SlowQuery);
        }
        passed(active, limits.idle_timeout_ms).then_some(Timeout::Idle)
    }
}

/// Gives back the memory of an empty buffer, so that an idle connection has none.
fn release(buffer: &mut Vec<u8>) {
    if buffer.is_empty() && buffer.capacity() > KEPT {
        *buffer = Vec::new();
    }
}

/// Complete messages at the begin of received bytes.
#[derive(Clone, Copy)]
pub(super) struct Messages<'a>(&'a [u8]);

impl<'a> Iterator for Messages<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.0.split_first_chunk::<2>()?;
        let (message, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        self.0 = rest;
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_those_that_are_complete() {
        let all: Vec<&[u8]> = Messages(b"\0\x03abc\0\0\0\x01d\0\x05abcd").collect();
        assert_eq!(all, [&b"abc"[..], b"", b"d"]);
        assert_eq!(Messages(b"\0").count(), 0);
        let mut longest = vec![0xff; 2 + 65_535];
        assert_eq!(Messages(&longest).map(<[u8]>::len).collect::<Vec<_>>(), [65_535]);
        longest.pop();
        assert_eq!(Messages(&longest).count(), 0);
    }
}
