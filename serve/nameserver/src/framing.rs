//! The bytes of a TCP connection as queries and responses, without I/O or a clock: length-prefixed messages
//! in, responses in order out (RFC 7766 §6, §8).

use crate::config::Tcp;
use hashlane_dns::slices::Parts as _;
use std::time::{Duration, Instant};

/// Bytes of responses in the queue from which on no further query is answered.
pub const MAX_QUEUED: usize = 64 << 10;

/// Buffers of at most this many bytes stay allocated while they are empty.
const KEPT: usize = 2 << 10;

/// The two queues of a connection, and the times by which it is closed.
///
/// A caller that [receives](Self::receive) only while no [message](Self::messages) is complete and there is
/// [room](Self::has_room) holds at most the longest message, what one read brings, [`MAX_QUEUED`] and the
/// responses to one batch.
#[derive(Debug)]
pub struct Framing {
    input: Vec<u8>,
    output: Vec<u8>,
    /// Bytes of `output` that are sent.
    sent: usize,
    /// The client has ended its side, or sent what is no query: nothing more is read.
    is_ended: bool,
    times: Times,
}

/// Times from which the timeouts count.
#[derive(Clone, Copy, Debug)]
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
pub enum Timeout {
    /// No query for too long.
    Idle,
    /// A query whose last byte has not come in time.
    SlowQuery,
    /// Responses that the client has not taken in time.
    SlowReader,
}

impl Framing {
    /// A connection that opens at `now`.
    pub fn new(now: Instant) -> Self {
        Self {
            input: Vec::new(),
            output: Vec::new(),
            sent: 0,
            is_ended: false,
            times: Times { active: now, query: None, unsent: None },
        }
    }

    /// Bytes of memory of the queues.
    pub fn memory(&self) -> usize {
        self.input.capacity() + self.output.capacity()
    }

    /// Adds received bytes.
    pub fn receive(&mut self, bytes: &[u8], now: Instant) {
        self.input.extend_from_slice(bytes);
        self.times.query.get_or_insert(now);
    }

    /// Receives nothing more.
    pub fn end(&mut self) {
        self.is_ended = true;
    }

    /// True after [`end`](Self::end).
    pub fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// The complete messages that were received, in order, without their lengths.
    pub fn messages(&self) -> Messages<'_> {
        Messages(&self.input)
    }

    /// Removes messages from the input, `bytes` bytes with their lengths.
    pub fn consume(&mut self, bytes: usize, now: Instant) {
        self.input.drain(..bytes.min(self.input.len()));
        self.times.active = now;
        // A further query has begun, and may take as long as this one.
        self.times.query = (!self.input.is_empty()).then_some(now);
        release(&mut self.input);
    }

    /// Notes that the connection is in use, as by a response of many messages.
    pub fn renew(&mut self, now: Instant) {
        self.times.active = now;
    }

    /// True if a response can be queued.
    pub fn has_room(&self) -> bool {
        self.unsent().len() < MAX_QUEUED
    }

    /// Bytes that wait to be sent.
    pub fn unsent(&self) -> &[u8] {
        self.output.part(self.sent..)
    }

    /// Takes the queue of responses, to add to it while the input is borrowed.
    pub fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }

    /// Puts the queue back.
    pub fn put_output(&mut self, output: Vec<u8>) {
        self.output = output;
    }

    /// Bytes at the begin of the queue that were sent already.
    pub fn sent(&self) -> usize {
        self.sent
    }

    /// Notes that the first bytes of [`unsent`](Self::unsent), `len` of them, are sent.
    pub fn advance(&mut self, len: usize) {
        debug_assert!(len <= self.unsent().len(), "more is sent than waits");
        self.sent += len;
        self.times.unsent = match self.times.unsent {
            Some((since, left)) if left > len => Some((since, left - len)),
            _ => None,
        };
        if self.unsent().is_empty() {
            self.output.clear();
            (self.sent, self.times.unsent) = (0, None);
            release(&mut self.output);
        }
    }

    /// Notes that the client takes no more bytes at present. Of those that wait now, the last must be taken
    /// before the timeout.
    pub fn block(&mut self, now: Instant) {
        let waiting = self.unsent().len();
        if waiting > 0 {
            self.times.unsent.get_or_insert((now, waiting));
        }
        if self.sent >= MAX_QUEUED {
            self.output.drain(..self.sent);
            self.sent = 0;
        }
    }

    /// The timeout that has passed.
    pub fn timeout(&self, now: Instant, limits: &Tcp) -> Option<Timeout> {
        let passed = |since: Instant, millis: u64| {
            now.saturating_duration_since(since) >= Duration::from_millis(millis)
        };
        let Times { active, query, unsent } = self.times;
        if unsent.is_some_and(|(since, _)| passed(since, limits.write_timeout_ms)) {
            return Some(Timeout::SlowReader);
        }
        if !self.unsent().is_empty() {
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
#[derive(Clone, Copy, Debug)]
pub struct Messages<'a>(&'a [u8]);

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
