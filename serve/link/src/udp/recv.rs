//! Batches of received datagrams.

use crate::sys::{Incoming, Message, Wait};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;

/// Longest datagram that is received whole, in bytes. Longer ones are truncated.
pub const LONGEST_DATAGRAM: usize = 9000;

/// Buffers for the datagrams of one receive; made once and reused.
///
/// Holds 64 KiB of address space for each message. The kernel backs it with memory when it is first written.
pub struct RecvBatch {
    incoming: Incoming,
    datagrams: usize,
}

/// A received datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// Address of the sender.
    pub from: SocketAddr,
    /// The payload, at most [`LONGEST_DATAGRAM`] bytes of it.
    pub payload: &'a [u8],
    /// True if the payload was longer.
    pub truncated: bool,
}

impl RecvBatch {
    /// Buffers for `datagrams` datagrams. Valid: 1..=1024, others are clamped; 64 is a good choice. With
    /// segmentation ([`UdpSocket::set_segmentation`]), each buffer takes the datagrams that the kernel has
    /// joined: dozens.
    ///
    /// [`UdpSocket::set_segmentation`]: super::UdpSocket::set_segmentation
    pub fn new(datagrams: usize) -> Self {
        Self { incoming: Incoming::new(datagrams.clamp(1, 1024)), datagrams: 0 }
    }

    /// Drops the last datagrams, and returns the memory of the buffers to the system. Buffers that were made
    /// anew would take memory that the allocator has used before, and clear it.
    pub fn release(&mut self) {
        self.datagrams = 0;
        self.incoming.release();
    }

    /// Datagrams of the last receive, in order of arrival.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Datagram<'_>> {
        self.incoming.messages().filter_map(|message| Some((message.from.parse()?, message))).flat_map(
            |(from, message)| {
                let truncated = message.truncated;
                parts(&message).map(move |bytes| match bytes.get(..LONGEST_DATAGRAM) {
                    Some(first) => {
                        Datagram { from, payload: first, truncated: truncated || bytes.len() > first.len() }
                    }
                    None => Datagram { from, payload: bytes, truncated },
                })
            },
        )
    }

    /// Number of datagrams of the last receive.
    pub fn len(&self) -> usize {
        self.datagrams
    }

    /// True if the last receive brought no datagram.
    pub fn is_empty(&self) -> bool {
        self.datagrams == 0
    }

    /// True if the last receive used all buffers, so that more datagrams may wait. Otherwise none waits, and
    /// an event reports the next one.
    pub fn is_full(&self) -> bool {
        self.incoming.is_full()
    }

    /// Receives, in place of the last datagrams.
    pub(super) fn fill(&mut self, socket: BorrowedFd<'_>, wait: Wait) -> io::Result<usize> {
        self.datagrams = 0;
        self.incoming.receive(socket, wait)?;
        let known = self.incoming.messages().filter(|message| message.from.parse().is_some());
        self.datagrams = known.map(|message| parts(&message).len()).sum();
        Ok(self.datagrams)
    }
}

/// The datagrams of a message: one, be it empty, unless the kernel joined several.
fn parts<'a>(message: &Message<'a>) -> impl ExactSizeIterator<Item = &'a [u8]> + use<'a> {
    let bytes = message.bytes;
    let each = message.joined.unwrap_or(bytes.len()).max(1);
    (0..bytes.len().div_ceil(each).max(1)).map(move |at| {
        let start = at * each;
        bytes.get(start..bytes.len().min(start + each)).unwrap_or_default()
    })
}

impl fmt::Debug for RecvBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvBatch").field("datagrams", &self.datagrams).finish_non_exhaustive()
    }
}
