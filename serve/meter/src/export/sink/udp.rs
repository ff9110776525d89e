//! A collector over UDP.

use super::queue::Queue;
use super::{ExportError, Totals};
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

#[derive(Debug)]
pub(super) struct UdpSink {
    socket: UdpSocket,
    pub(super) queue: Queue,
    /// Latest error.
    pub(super) error: Option<io::Error>,
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
        Ok(Self { socket, queue: Queue::new(), error: None })
    }

    /// Sends blocks until the queue is empty or the socket's buffer is full.
    pub(super) fn pump(&mut self, totals: &mut Totals) {
        // An error of an earlier datagram, such as a port without a listener, is returned once by the next
        // call, which sends nothing.
        let mut tried = false;
        while let Some(block) = self.queue.front() {
            match self.socket.send(&block.bytes) {
                Ok(_) => {
                    self.queue.delivered(totals);
                    tried = false;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    totals.errors += 1;
                    self.error = Some(error);
                    if tried {
                        self.queue.lost(totals);
                    }
                    tried = !tried;
                }
            }
        }
    }
}
