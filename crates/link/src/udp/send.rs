//! Datagrams sent together.

use crate::address::RawAddress;
use crate::context::context;
use crate::sys::{Datagrams, Outgoing};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;

/// Most octets that a UDP datagram can carry over IPv4.
const LONGEST_SENT: usize = 65_507;
/// Most datagrams that Linux cuts out of one (`UDP_MAX_SEGMENTS` of its older versions).
const MOST_SEGMENTS: u16 = 64;

/// Datagrams that wait to be sent; made once, used again and again.
pub struct SendBatch {
    queue: Queue,
    outgoing: Outgoing,
}

/// What became of the datagrams of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// How many the kernel took.
    pub sent: usize,
    /// How many it did not take.
    pub dropped: usize,
}

impl SendBatch {
    /// Room for so many datagrams, 1 to 1024, of 9000 octets on average; 64 is a good choice.
    pub fn new(datagrams: usize) -> Self {
        let datagrams = datagrams.clamp(1, 1024);
        Self { queue: Queue::new(datagrams), outgoing: Outgoing::new(datagrams) }
    }

    /// Adds a datagram made of the parts, one behind the other. Returns false when there is no room for it: send the
    /// batch, then push again.
    ///
    /// One of more than 65,507 octets can never be sent: it takes no room, and counts as dropped in the next [`Sent`].
    #[inline]
    pub fn push(&mut self, to: SocketAddr, parts: &[&[u8]]) -> bool {
        self.queue.push(to, parts)
    }

    /// How many datagrams wait.
    pub fn len(&self) -> usize {
        self.queue.messages.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.queue.messages.is_empty()
    }

    pub(super) fn empty_into(
        &mut self,
        socket: BorrowedFd<'_>,
        segmentation: &mut Segmentation,
    ) -> io::Result<Sent> {
        let outgoing = &mut self.outgoing;
        self.queue.drain(segmentation, |messages, octets| {
            outgoing.send(
                socket,
                messages.iter().map(|message| Datagrams {
                    to: &message.to,
                    octets: message.octets(octets),
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

/// Which datagrams go to the kernel joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segmentation {
    /// Those of up to so many octets. Falls below a length that was refused: longer than the path takes without
    /// fragments.
    longest: u16,
}

impl Segmentation {
    pub(super) const OFF: Self = Self { longest: 0 };
    pub(super) const ON: Self = Self { longest: u16::MAX };
}

/// The datagrams of a batch, apart from the system call.
struct Queue {
    /// The payloads one behind the other.
    octets: Vec<u8>,
    most_octets: usize,
    messages: Vec<Message>,
    most_messages: usize,
    too_long: usize,
}

/// One datagram, or several to one destination that stand one behind the other.
#[derive(Clone, Copy, Debug)]
struct Message {
    to: RawAddress,
    start: u32,
    length: u32,
    /// Octets of each datagram but the last, which may be shorter.
    segment: u16,
    datagrams: u16,
}

impl Message {
    fn octets(self, all: &[u8]) -> &[u8] {
        all.get(self.start as usize..).and_then(|rest| rest.get(..self.length as usize)).unwrap_or_default()
    }

    /// Takes the datagram that follows in, if the kernel can part them again.
    fn join(&mut self, next: &Self, longest: u16) -> bool {
        let full = u32::from(self.segment) * u32::from(self.datagrams) == self.length;
        let joins = full
            && (1..=u32::from(self.segment)).contains(&next.length)
            && self.segment <= longest
            && self.datagrams < MOST_SEGMENTS
            && (self.length + next.length) as usize <= LONGEST_SENT
            && self.to == next.to;
        if joins {
            self.length += next.length;
            self.datagrams += 1;
        }
        joins
    }

    /// The datagrams again, each for itself.
    fn parted(self) -> impl Iterator<Item = Self> {
        (0..self.datagrams).map(move |at| {
            let passed = u32::from(self.segment) * u32::from(at);
            let length = (self.length - passed).min(self.segment.into());
            Self { start: self.start + passed, length, segment: length as u16, datagrams: 1, ..self }
        })
    }
}

impl Queue {
    fn new(datagrams: usize) -> Self {
        let most_octets = (datagrams * super::LONGEST_DATAGRAM).max(LONGEST_SENT);
        Self {
            octets: Vec::with_capacity(most_octets),
            most_octets,
            messages: Vec::with_capacity(datagrams),
            most_messages: datagrams,
            too_long: 0,
        }
    }

    fn push(&mut self, to: SocketAddr, parts: &[&[u8]]) -> bool {
        let length = parts.iter().fold(0, |sum: usize, part| sum.saturating_add(part.len()));
        if length > LONGEST_SENT {
            self.too_long += 1;
            return true;
        }
        if self.messages.len() == self.most_messages || self.octets.len() + length > self.most_octets {
            return false;
        }
        let start = self.octets.len() as u32;
        for part in parts {
            self.octets.extend_from_slice(part);
        }
        let segment = length as u16;
        self.messages.push(Message { to: to.into(), start, length: length as u32, segment, datagrams: 1 });
        true
    }

    /// Hands the messages to `transmit`, which says how many of them it took from the first one on, or why it did not
    /// take the first one.
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
            let error = match transmit(&self.messages[at..], &self.octets) {
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
                    outcome = Err(context("cannot send UDP datagrams", &error));
                    break;
                }
                // Longer than the path takes in one piece; or a device that does no checksums, which the length of
                // datagrams does not mend.
                Some(code @ (libc::EINVAL | libc::EMSGSIZE | libc::EIO)) if first.datagrams > 1 => {
                    segmentation.longest = if code == libc::EIO { 0 } else { first.segment - 1 };
                    self.messages.splice(at..=at, first.parted());
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
        self.octets.clear();
        outcome.map(|()| result)
    }
}

#[cfg(test)]
mod tests;
