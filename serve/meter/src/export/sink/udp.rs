//! A collector over UDP.

use super::health::Health;
use super::queue::{Block, Queue};
use super::{ExportError, Totals};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

#[derive(Debug)]
pub(super) struct UdpSink {
    socket: UdpSocket,
    pub(super) queue: Queue,
    pub(super) health: Health,
    /// The block that was sent last, until it is refused.
    last: Option<Block>,
}

impl UdpSink {
    pub(super) fn open(collector: SocketAddr) -> Result<Self, ExportError> {
        let local: SocketAddr = match collector {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let open = || {
            let socket = UdpSocket::bind(local)?;
            socket.connect(collector)?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        };
        let socket = open().map_err(|error| ExportError::Socket(collector, error))?;
        Ok(Self { socket, queue: Queue::new(), health: Health::default(), last: None })
    }

    /// Sends blocks until the queue is empty or the socket's buffer is full.
    pub(super) fn pump(&mut self, now: u64, totals: &mut Totals) {
        loop {
            // A datagram was refused, as a port without a listener does: at least the last one is lost.
            if let Ok(Some(error)) = self.socket.take_error() {
                totals.errors += 1;
                self.health.fail(error);
                self.last.take().iter().for_each(|block| totals.refuse(block));
            }
            let Some(block) = self.queue.front() else { break };
            match self.socket.send(&block.bytes) {
                Ok(_) => {
                    self.last = self.queue.delivered(totals);
                    self.health.succeed(now);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    totals.errors += 1;
                    self.health.fail(error);
                    self.queue.lost(totals);
                }
            }
        }
        self.health.tick(now);
    }
}
