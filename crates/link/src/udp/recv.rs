//! Datagrams received together.

use super::LONGEST_DATAGRAM;
use crate::sys::{Incoming, Message};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;

/// Room for the datagrams of one receive; made once, used again and again.
///
/// Holds 64 KiB of address space for each message, of which the kernel backs with memory what is ever written.
pub struct RecvBatch {
    incoming: Incoming,
    datagrams: usize,
}

/// A datagram received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// Who sent it.
    pub from: SocketAddr,
    /// Its payload, [`LONGEST_DATAGRAM`] octets of it at the most.
    pub octets: &'a [u8],
    /// Whether the payload was longer than that.
    pub truncated: bool,
}

impl RecvBatch {
    /// Room for so many datagrams, 1 to 1024; 64 is a good choice. With segmentation ([`UdpSocket::set_segmentation`]) it
    /// is so many times what the kernel joined: dozens of datagrams each.
    ///
    /// [`UdpSocket::set_segmentation`]: super::UdpSocket::set_segmentation
    pub fn new(datagrams: usize) -> Self {
        Self { incoming: Incoming::new(datagrams.clamp(1, 1024)), datagrams: 0 }
    }

    /// The datagrams of the last receive, in the order in which they came.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Datagram<'_>> {
        self.incoming.messages().filter_map(|message| Some((message.from.parse()?, message))).flat_map(
            |(from, message)| {
                let truncated = message.truncated;
                parts(&message).map(move |octets| match octets.get(..LONGEST_DATAGRAM) {
                    Some(first) => {
                        Datagram { from, octets: first, truncated: truncated || octets.len() > first.len() }
                    }
                    None => Datagram { from, octets, truncated },
                })
            },
        )
    }

    /// How many datagrams the last receive brought.
    pub fn len(&self) -> usize {
        self.datagrams
    }

    /// Whether the last receive brought nothing.
    pub fn is_empty(&self) -> bool {
        self.datagrams == 0
    }

    /// Tells if the last receive used all the room, so that more datagrams may wait. After one that did not,
    /// none waits, and an event reports the next one.
    pub fn is_full(&self) -> bool {
        self.incoming.is_full()
    }

    /// Receives in place of what was there.
    pub(super) fn fill(&mut self, socket: BorrowedFd<'_>) -> io::Result<usize> {
        self.datagrams = 0;
        self.incoming.receive(socket)?;
        let known = self.incoming.messages().filter(|message| message.from.parse().is_some());
        self.datagrams = known.map(|message| parts(&message).len()).sum();
        Ok(self.datagrams)
    }
}

/// The datagrams of a message: one, be it empty, unless the kernel joined several.
fn parts<'a>(message: &Message<'a>) -> impl ExactSizeIterator<Item = &'a [u8]> + use<'a> {
    let octets = message.octets;
    let each = message.joined.unwrap_or(octets.len()).max(1);
    (0..octets.len().div_ceil(each).max(1)).map(move |at| {
        let start = at * each;
        octets.get(start..octets.len().min(start + each)).unwrap_or_default()
    })
}

impl fmt::Debug for RecvBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvBatch").field("datagrams", &self.datagrams).finish_non_exhaustive()
    }
}
