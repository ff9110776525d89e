//! One connection: a stream, its queues, and its shares.

use super::stream::Stream;
use crate::framing::Framing;
use crate::transfers::special::Transfer;
use hashlane_dns::slices::Parts as _;
use hashlane_table::share::{Holder, ItemId};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Instant;

/// A connection.
pub(super) struct Connection {
    pub(super) stream: Stream,
    pub(super) peer: SocketAddr,
    pub(super) holder: Holder,
    /// Items of the connection in the books of places and of bytes.
    pub(super) place: ItemId,
    pub(super) bytes: ItemId,
    pub(super) framing: Framing,
    /// The transfer that is being sent.
    pub(super) transfer: Option<Box<Transfer>>,
    /// True until a read finds nothing: no event reports bytes that wait already.
    pub(super) is_readable: bool,
    /// True while the connection stands in the list of those that have work left.
    pub(super) is_pending: bool,
}

impl Connection {
    pub(super) fn new(
        (stream, peer): (Stream, SocketAddr),
        holder: Holder,
        (place, bytes): (ItemId, ItemId),
        now: Instant,
    ) -> Self {
        let framing = Framing::new(now);
        let (transfer, is_pending) = (None, false);
        Self { stream, peer, holder, place, bytes, framing, transfer, is_readable: true, is_pending }
    }

    /// Bytes of memory of the queues, and of TLS.
    pub(super) fn memory(&self) -> usize {
        self.framing.memory() + self.stream.memory()
    }

    /// True if all was sent.
    pub(super) fn is_flushed(&self) -> bool {
        self.framing.unsent().is_empty() && self.stream.is_flushed()
    }

    /// Reads once. Returns true if something came.
    ///
    /// # Errors
    /// The connection is broken.
    pub(super) fn read(&mut self, scratch: &mut [u8], now: Instant) -> io::Result<bool> {
        if !self.is_readable || self.framing.is_ended() {
            return Ok(false);
        }
        loop {
            match self.stream.read(scratch) {
                Ok(Some(0)) => {
                    self.framing.end();
                    return Ok(false);
                }
                // Of TLS, but no data.
                Ok(None) => return Ok(true),
                Ok(Some(length)) => {
                    debug_assert!(length <= scratch.len(), "a read fills no more than its buffer");
                    self.framing.receive(scratch.part(..length), now);
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

    /// Sends what the kernel takes. Returns true if all was sent.
    ///
    /// # Errors
    /// The connection is broken.
    pub(super) fn flush(&mut self, now: Instant) -> io::Result<bool> {
        while !self.framing.unsent().is_empty() {
            match self.stream.write(self.framing.unsent()) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(length) => self.framing.advance(length),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.framing.block(now);
                    return Ok(false);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.stream.flush()
    }
}
