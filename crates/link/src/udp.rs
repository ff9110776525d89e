//! Datagrams, many with one system call.
//!
//! A [`UdpSocket`] fills a [`RecvBatch`] and empties a [`SendBatch`]; both are made once and used for all sockets of a
//! thread. Octets are copied by the kernel alone on the way in, and once more on the way out.

mod recv;
mod send;

pub use recv::{Datagram, RecvBatch};
pub use send::{SendBatch, Sent};

use crate::context::{bind_failed, context};
use crate::sys;
use mio::event::Source;
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use send::Segmentation;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

/// Longest datagram that is received whole, in octets.
pub const LONGEST_DATAGRAM: usize = 9000;

/// Octets that the kernel is asked to queue in each direction. It gives no more than `net.core.rmem_max` and
/// `net.core.wmem_max` allow.
const KERNEL_QUEUE: usize = 4 << 20;

/// Errors of earlier datagrams that one receive passes over.
const MOST_ERRORS_PASSED: usize = 64;

/// A UDP socket of one address family that never blocks.
///
/// To `mio` it is an event source.
#[derive(Debug)]
pub struct UdpSocket {
    socket: Socket,
    segmentation: Segmentation,
}

impl UdpSocket {
    /// A socket on an address of this machine; port 0 lets the kernel choose. An IPv6 socket takes no IPv4 datagrams,
    /// so that both families can have the same port.
    ///
    /// # Errors
    ///
    /// The port is in use, or needs privileges; the address is not one of this machine's; there are no file descriptors.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let open = || -> io::Result<Socket> {
            let kind = Type::DGRAM.nonblocking().cloexec();
            let socket = Socket::new(Domain::for_address(address), kind, Some(Protocol::UDP))?;
            if address.is_ipv6() {
                socket.set_only_v6(true)?;
            }
            socket.bind(&address.into())?;
            Ok(socket)
        };
        let socket = open().map_err(|error| bind_failed("UDP", address, &error))?;
        // A short queue is no reason not to start.
        let _ = socket.set_recv_buffer_size(KERNEL_QUEUE);
        let _ = socket.set_send_buffer_size(KERNEL_QUEUE);
        Ok(Self { socket, segmentation: Segmentation::OFF })
    }

    /// The address that the socket is bound to, with the port that the kernel chose.
    ///
    /// # Errors
    ///
    /// Those of `getsockname`.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        let address = self.socket.local_addr()?;
        address
            .as_socket()
            .ok_or_else(|| io::Error::other("the address of a UDP socket is none of the Internet's"))
    }

    /// Octets that the kernel queues for this socket while nobody receives, with its own overhead.
    ///
    /// # Errors
    ///
    /// Those of `getsockopt`.
    pub fn receive_queue(&self) -> io::Result<usize> {
        self.socket.recv_buffer_size()
    }

    /// Octets that the kernel has taken and not sent yet, with its own overhead: how congested the way out is.
    ///
    /// # Errors
    ///
    /// Those of `ioctl`.
    pub fn unsent(&self) -> io::Result<usize> {
        sys::unsent(self.socket.as_fd())
    }

    /// Lets the kernel take and give several datagrams of one peer and one length as one (generic segmentation and
    /// receive offload), or no longer. Returns whether it does; kernels before Linux 5.0 do not. Off at first.
    ///
    /// Datagrams are the same either way. A route that refuses datagrams to be cut is given them one by one.
    pub fn set_segmentation(&mut self, on: bool) -> bool {
        let done = sys::set_joining(self.socket.as_fd(), on).is_ok();
        let on = on && done && sys::can_segment(self.socket.as_fd());
        self.segmentation = if on { Segmentation::ON } else { Segmentation::OFF };
        on
    }

    /// Receives what waits, as far as the batch has room, with one system call. Returns how many datagrams there are
    /// now in the batch; 0 when none waited. Call again only when the batch [is full](RecvBatch::is_full).
    ///
    /// What hosts and routers report of datagrams sent earlier (a closed port, no route) is passed over.
    ///
    /// # Errors
    ///
    /// The socket can receive no more, or not now, as for want of memory; what waits is told of by no event then.
    pub fn recv(&self, batch: &mut RecvBatch) -> io::Result<usize> {
        let mut last = io::ErrorKind::Interrupted.into();
        for _ in 0..MOST_ERRORS_PASSED {
            match batch.fill(self.socket.as_fd()) {
                Ok(received) => return Ok(received),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(0),
                // Each report is told once, and then the next call receives.
                Err(error) if is_report(&error) => last = error,
                Err(error) => return Err(context("cannot receive UDP datagrams", &error)),
            }
        }
        // Not nothing: no event would tell of what still waits.
        Err(context("cannot receive UDP datagrams", &last))
    }

    /// Sends all datagrams of the batch in order and empties it, with one system call as a rule.
    ///
    /// A datagram that its destination, its length or a filter keeps from leaving is dropped; when the kernel's queue is
    /// full, all that are left are. They are counted: [`Sent`].
    ///
    /// # Errors
    ///
    /// The socket can send no more. The batch is empty then too.
    pub fn send(&mut self, batch: &mut SendBatch) -> io::Result<Sent> {
        batch.empty_into(self.socket.as_fd(), &mut self.segmentation)
    }
}

/// Whether the error tells of a datagram sent earlier, or of nothing, and not of this socket. These are what Linux makes
/// of the messages of ICMP (`icmp_err_convert`, `tab_unreach`), and of its own routes.
fn is_report(error: &io::Error) -> bool {
    let reports = [
        libc::EINTR,
        libc::ECONNREFUSED,
        libc::ECONNRESET,
        libc::ENETUNREACH,
        libc::ENETDOWN,
        libc::EHOSTUNREACH,
        libc::EHOSTDOWN,
        libc::ENONET,
        libc::ENOPROTOOPT,
        libc::EOPNOTSUPP,
        libc::EPROTO,
        libc::EMSGSIZE,
        libc::EACCES,
        libc::EPERM,
        libc::ETIMEDOUT,
    ];
    error.raw_os_error().is_some_and(|code| reports.contains(&code))
}

impl AsFd for UdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl AsRawFd for UdpSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

impl Source for UdpSocket {
    fn register(&mut self, registry: &Registry, token: Token, interests: Interest) -> io::Result<()> {
        SourceFd(&self.as_raw_fd()).register(registry, token, interests)
    }

    fn reregister(&mut self, registry: &Registry, token: Token, interests: Interest) -> io::Result<()> {
        SourceFd(&self.as_raw_fd()).reregister(registry, token, interests)
    }

    fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        SourceFd(&self.as_raw_fd()).deregister(registry)
    }
}

#[cfg(test)]
mod tests;
