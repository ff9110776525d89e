//! Datagrams from one socket to one address.

use hashlane_link::udp::{SendBatch, UdpSocket};
use std::io;
use std::net::SocketAddr;

/// Datagrams for one address, queued.
pub(super) struct Datagrams<'a> {
    pub(super) socket: &'a mut UdpSocket,
    pub(super) queue: &'a mut SendBatch,
    pub(super) to: SocketAddr,
}

impl Datagrams<'_> {
    /// Queues a datagram made of the parts.
    #[inline]
    pub(super) fn push(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        let Self { socket, queue, to } = self;
        if !queue.push(*to, parts) {
            socket.send(queue)?;
            queue.push(*to, parts);
        }
        Ok(())
    }
}
