//! Batches of datagrams to send.

use super::recv::LONGEST_DATAGRAM;
use crate::address::RawAddress;
use crate::context::context;
use crate::sys::{Datagrams, Outgoing};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;

/// Longest payload of a UDP datagram over IPv4, in bytes.
pub(crate) const LONGEST_SENT: usize = 65_507;
/// Most datagrams that Linux splits a payload into (`UDP_MAX_SEGMENTS` of its older versions).
const MAX_SEGMENTS: u16 = 64;

/// A queue of datagrams to send; made once and reused.
pub struct SendBatch {
    queue: Queue,
    outgoing: Outgoing,
}

/// Outcome of sending a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Datagrams that the kernel took.
    pub sent: usize,
    /// Datagrams that were dropped.
    pub dropped: usize,
}

impl SendBatch {
    /// A queue for `datagrams` datagrams of 9000 bytes on average. Valid: 1..=1024, others are clamped; 64 is
    /// a good choice.
    pub fn new(datagrams: usize) -> Self {
        let datagrams = datagrams.clamp(1, 1024);
        Self { queue: Queue::new(datagrams), outgoing: Outgoing::new(datagrams) }
    }

    /// Adds a datagram, given as its parts in order. Returns false if there is no room for it: send the
    /// batch, then push again.
    ///
    /// A datagram of more than 65,507 bytes can never be sent: it takes no room, and the next [`Sent`] counts
    /// it as dropped.
    #[inline]
    pub fn push(&mut self, to: SocketAddr, parts: &[&[u8]]) -> bool {
        self.queue.push(to.into(), parts)
    }

    /// Adds a message to any address, as [`push`](Self::push) does.
    #[inline]
    pub(crate) fn push_raw(&mut self, to: RawAddress, parts: &[&[u8]]) -> bool {
        self.queue.push(to, parts)
    }

    /// Number of datagrams in the queue.
    pub fn len(&self) -> usize {
        self.queue.messages.len()
    }

    /// True if the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.queue.messages.is_empty()
    }

    /// Sends all messages over a socket, and empties the batch.
    pub(crate) fn empty_into(
        &mut self,
        socket: BorrowedFd<'_>,
        segmentation: &mut Segmentation,
    ) -> io::Result<Sent> {
        let outgoing = &mut self.outgoing;
        self.queue.drain(segmentation, |messages, bytes| {
            outgoing.send(
                socket,
                messages.iter().map(|message| Datagrams {
                    to: &message.to,
                    bytes: message.bytes(bytes),
                    segment: if message.datagrams > 1 { message.segment } else { 0 },
                }),
            )
        })
    }
}

impl fmt::Debug for SendBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendBatch").field("datagrams", &self.len()).finish_non_exhaustive()
    }
}

/// Limit of the datagrams that are joined for the kernel to split (GSO).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segmentation {
    /// Longest datagram that is joined, in bytes; 0 joins none. A refused length lowers it: the path does not
    /// take that length without fragments.
    longest: u16,
}

impl Segmentation {
    pub(crate) const OFF: Self = Self { longest: 0 };
    pub(super) const ON: Self = Self { longest: u16::MAX };
}

/// The queue of a batch, without the system call.
struct Queue {
    /// The payloads in order.
    bytes: Vec<u8>,
    max_bytes: usize,
    messages: Vec<Message>,
    most_messages: usize,
    too_long: usize,
}

/// One datagram, or several consecutive ones to one destination.
#[derive(Clone, Copy, Debug)]
struct Message {
    to: RawAddress,
    start: u32,
    length: u32,
    /// Length of each datagram in bytes; the last one may be shorter.
    segment: u16,
    datagrams: u16,
}

impl Message {
    fn bytes(self, all: &[u8]) -> &[u8] {
        all.get(self.start as usize..).and_then(|rest| rest.get(..self.length as usize)).unwrap_or_default()
    }

    /// Joins the next datagram to this message if the kernel can split them again. Returns true if it did.
    fn join(&mut self, next: &Self, longest: u16) -> bool {
        let full = u32::from(self.segment) * u32::from(self.datagrams) == self.length;
        let joins = full
            && (1..=u32::from(self.segment)).contains(&next.length)
            && self.segment <= longest
            && self.datagrams < MAX_SEGMENTS
            && (self.length + next.length) as usize <= LONGEST_SENT
            && self.to == next.to;
        if joins {
            self.length += next.length;
            self.datagrams += 1;
        }
        joins
    }

    /// The datagrams of a message, each as a separate message.
    fn split(self) -> impl Iterator<Item = Self> {
        (0..self.datagrams).map(move |at| {
            let passed = u32::from(self.segment) * u32::from(at);
            let length = (self.length - passed).min(self.segment.into());
            Self { start: self.start + passed, length, segment: length as u16, datagrams: 1, ..self }
        })
    }
}

impl Queue {
    fn new(datagrams: usize) -> Self {
        let max_bytes = (datagrams * LONGEST_DATAGRAM).max(LONGEST_SENT);
        Self {
            bytes: Vec::with_capacity(max_bytes),
            max_bytes,
            messages: Vec::with_capacity(datagrams),
            most_messages: datagrams,
            too_long: 0,
        }
    }

    fn push(&mut self, to: RawAddress, parts: &[&[u8]]) -> bool {
        let length = parts.iter().fold(0, |sum: usize, part| sum.saturating_add(part.len()));
        if length > LONGEST_SENT {
            self.too_long += 1;
            return true;
        }
        if self.messages.len() == self.most_messages || self.bytes.len() + length > self.max_bytes {
            return false;
        }
        let start = self.bytes.len() as u32;
        for part in parts {
            self.bytes.extend_from_slice(part);
        }
        let segment = length as u16;
        self.messages.push(Message { to, start, length: length as u32, segment, datagrams: 1 });
        true
    }

    /// Passes the messages to `transmit` until none is left. It returns how many it took from the first on,
    /// or the error of the first.
    fn drain(
        &mut self,
        segmentation: &mut Segmentation,
        mut transmit: impl FnMut(&[Message], &[u8]) -> io::Result<usize>,
    ) -> io::Result<Sent> {
        let mut result = Sent { sent: 0, dropped: std::mem::take(&mut self.too_long) };
        if segmentation.longest > 0 {
            self.messages.dedup_by(|next, last| last.join(next, segmentation.longest));
        }
        let mut at = 0;
        let mut outcome = Ok(());
        while let Some(first) = self.messages.get(at).copied() {
            let error = match transmit(&self.messages[at..], &self.bytes) {
                Ok(taken) => {
                    let taken = &self.messages[at..][..taken.clamp(1, self.messages.len() - at)];
                    result.sent += taken.iter().map(|message| usize::from(message.datagrams)).sum::<usize>();
                    at += taken.len();
                    continue;
                }
                Err(error) => error,
            };
            match error.raw_os_error() {
                Some(libc::EINTR) => {}
                Some(libc::EAGAIN | libc::ENOBUFS | libc::ENOMEM) => break,
                Some(libc::EBADF | libc::ENOTSOCK | libc::EPIPE) | None => {
                    outcome = Err(context("cannot send datagrams", &error));
                    break;
                }
                // The length is more than the path takes without fragments; or the device computes no
                // checksums, so that no length is accepted.
                Some(code @ (libc::EINVAL | libc::EMSGSIZE | libc::EIO)) if first.datagrams > 1 => {
                    segmentation.longest = if code == libc::EIO { 0 } else { first.segment - 1 };
                    self.messages.splice(at..=at, first.split());
                }
                Some(_) => {
                    result.dropped += usize::from(first.datagrams);
                    at += 1;
                }
            }
        }
        result.dropped +=
            self.messages.iter().skip(at).map(|message| usize::from(message.datagrams)).sum::<usize>();
        self.messages.clear();
        self.bytes.clear();
        outcome.map(|()| result)
    }
}

#[cfg(test)]
mod tests;
