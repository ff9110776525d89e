//! UDP datagrams in batches, one system call each.
//!
//! A [`UdpSocket`] fills a [`RecvBatch`] and empties a [`SendBatch`]; both are made once and used for all
//! sockets of a thread. Received bytes are copied by the kernel only, sent bytes once more.

mod multicast;
mod recv;
mod send;

pub use crate::limit::{Limited, MAX_HALVINGS, MAX_LIMITED, Sender};
pub use recv::{Datagram, LONGEST_DATAGRAM, RecvBatch};
pub(crate) use send::{LONGEST_SENT, Segmentation};
pub use send::{SendBatch, Sent};

use crate::context::{bind_failed, context};
use crate::limit::{Filter, Header};
use crate::sys::{self, Wait};
use mio::event::Source;
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use nix::sys::socket::{setsockopt, sockopt};
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::time::Duration;

/// Initially requested length of the kernel's queues, in bytes. `net.core.rmem_max` and `net.core.wmem_max`
/// limit it.
const KERNEL_QUEUE: usize = 4 << 20;

/// Most errors of earlier datagrams that one receive skips.
const MAX_SKIPPED_ERRORS: usize = 64;

/// A UDP socket of one address family that never blocks.
///
/// To `mio` it is an event source.
#[derive(Debug)]
pub struct UdpSocket {
    socket: Socket,
    segmentation: Segmentation,
}

impl UdpSocket {
    /// Binds a socket to an address of this machine; port 0 lets the kernel choose. An IPv6 socket receives
    /// no IPv4 datagrams, so that both families can have the same port.
    ///
    /// # Errors
    ///
    /// The port is in use, or needs privileges; the address is not one of this machine; no file descriptors
    /// are left.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        Self::open(address, false)
    }

    /// Binds `sockets` sockets to one address, among which the kernel divides the peers by a hash of their
    /// address and port (`SO_REUSEPORT`): one for each thread. With port 0, all have the port that the kernel
    /// chose for the first one.
    ///
    /// # Errors
    ///
    /// The errors of [`bind`](Self::bind); a port that another program shares in this way is in use, too.
    pub fn bind_shared(address: SocketAddr, sockets: usize) -> io::Result<Vec<Self>> {
        // The first one is bound without the option, which would also join the sockets of another program of
        // this user. Linux reads the option of a bound socket when the next one is bound.
        let first = Self::bind(address)?;
        first.socket.set_reuse_port(true)?;
        let bound = first.local_addr()?;
        let others = (1..sockets).map(|_| Self::open(bound, true)).collect::<io::Result<Vec<_>>>()?;
        Ok(std::iter::once(first).chain(others).collect())
    }

    fn open(address: SocketAddr, shared: bool) -> io::Result<Self> {
        let open = || -> io::Result<Socket> {
            let kind = Type::DGRAM.nonblocking().cloexec();
            let socket = Socket::new(Domain::for_address(address), kind, Some(Protocol::UDP))?;
            if address.is_ipv6() {
                socket.set_only_v6(true)?;
            }
            socket.set_reuse_port(shared)?;
            socket.bind(&address.into())?;
            Ok(socket)
        };
        let socket = open().map_err(|error| bind_failed("UDP", address, &error))?;
        // A shorter queue than requested is no error.
        let _ = socket.set_recv_buffer_size(KERNEL_QUEUE);
        let _ = socket.set_send_buffer_size(KERNEL_QUEUE);
        Ok(Self { socket, segmentation: Segmentation::OFF })
    }

    /// A second descriptor of the same socket, for another thread.
    ///
    /// # Errors
    ///
    /// No file descriptors are left.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { socket: self.socket.try_clone()?, segmentation: self.segmentation })
    }

    /// Bound address, with the port that the kernel chose.
    ///
    /// # Errors
    ///
    /// Errors of `getsockname`.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        let address = self.socket.local_addr()?;
        address
            .as_socket()
            .ok_or_else(|| io::Error::other("a UDP socket has an address that is not IPv4 or IPv6"))
    }

    /// Requests a length of the kernel's receive queue, in bytes. Returns the length that the kernel gives:
    /// less than requested if `net.core.rmem_max` is less, and the process lacks the privilege to exceed it
    /// (`CAP_NET_ADMIN`).
    ///
    /// # Errors
    ///
    /// Errors of `getsockopt`.
    pub fn set_receive_queue(&mut self, bytes: usize) -> io::Result<usize> {
        if setsockopt(&self.socket, sockopt::RcvBufForce, &bytes).is_err() {
            // A shorter queue than requested is no error.
            let _ = self.socket.set_recv_buffer_size(bytes);
        }
        // The kernel counts its own overhead: it takes twice the number, and returns that.
        Ok(self.socket.recv_buffer_size()? / 2)
    }

    /// State of the kernel's receive queue.
    ///
    /// # Errors
    ///
    /// Errors of `getsockopt`; kernels before Linux 4.12 do not have the option.
    pub fn receive_queue(&self) -> io::Result<ReceiveQueue> {
        ReceiveQueue::of(self.socket.as_fd())
    }

    /// Keeps only a part of the datagrams of these sources, in place of those limited before, and at most
    /// [`MAX_LIMITED`]. The kernel drops the others before they take room in the receive queue, and counts
    /// them as lost. `salt` should be random.
    ///
    /// # Errors
    ///
    /// The kernel has no memory for the filter (`net.core.optmem_max`). The earlier one stays.
    pub fn limit_sources(&mut self, limited: &[Limited], salt: u64) -> io::Result<()> {
        if limited.is_empty() {
            return match self.socket.detach_filter() {
                Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(()),
                done => done,
            };
        }
        let header = if self.local_addr()?.is_ipv6() { Header::Ipv6 } else { Header::Ipv4 };
        self.socket.attach_filter(&Filter::new(limited, header, salt).program())
    }

    /// Bytes in the kernel's send queue, with its own overhead: a measure of congestion.
    ///
    /// # Errors
    ///
    /// Errors of `ioctl`.
    pub fn unsent(&self) -> io::Result<usize> {
        sys::unsent(self.socket.as_fd())
    }

    /// Turns generic segmentation and receive offload (GSO, GRO) on or off: the kernel takes and gives
    /// several datagrams of one peer and one length as one. Returns true if it is on; kernels before Linux
    /// 5.0 have neither. Initially off.
    ///
    /// Datagrams are the same either way. On a route that refuses segmentation they are sent one by one.
    pub fn set_segmentation(&mut self, on: bool) -> bool {
        let joins = setsockopt(&self.socket, sockopt::UdpGroSegment, &on).is_ok();
        // Setting the default shows if the kernel knows the option.
        let on = on && joins && setsockopt(&self.socket, sockopt::UdpGsoSegment, &0).is_ok();
        self.segmentation = if on { Segmentation::ON } else { Segmentation::OFF };
        on
    }

    /// Receives waiting datagrams with one system call, up to the size of the batch. Returns their number; 0
    /// if none waits. Call again only if the batch [is full](RecvBatch::is_full).
    ///
    /// Errors that hosts and routers report for datagrams sent earlier (a closed port, no route) are skipped.
    ///
    /// # Errors
    ///
    /// The socket can receive no more, or not now, for example for want of memory. No event reports the
    /// datagrams that still wait.
    pub fn recv(&self, batch: &mut RecvBatch) -> io::Result<usize> {
        self.fill(batch, Wait::Never)
    }

    /// Sets how long [`recv_wait`](Self::recv_wait) waits at most. Other calls never block.
    ///
    /// # Errors
    ///
    /// Errors of `setsockopt` and `fcntl`.
    pub fn set_patience(&mut self, patience: Duration) -> io::Result<()> {
        self.socket.set_nonblocking(false)?;
        self.socket.set_read_timeout(Some(patience))
    }

    /// Waits for a datagram, and receives it and those that wait with it, up to the size of the batch: one
    /// system call, for a thread that has one socket. Returns their number; 0 if none came within the
    /// [patience](Self::set_patience).
    ///
    /// # Errors
    ///
    /// The errors of [`recv`](Self::recv).
    pub fn recv_wait(&self, batch: &mut RecvBatch) -> io::Result<usize> {
        self.fill(batch, Wait::ForOne)
    }

    fn fill(&self, batch: &mut RecvBatch, wait: Wait) -> io::Result<usize> {
        let mut last = io::ErrorKind::Interrupted.into();
        for _ in 0..MAX_SKIPPED_ERRORS {
            match batch.fill(self.socket.as_fd(), wait) {
                Ok(received) => return Ok(received),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(0),
                // The kernel reports each error once; the next call receives.
                Err(error) if is_of_earlier_datagram(&error) => last = error,
                Err(error) => return Err(context("cannot receive UDP datagrams", &error)),
            }
        }
        // Returning 0 would be wrong: no event reports the datagrams that still wait.
        Err(context("cannot receive UDP datagrams", &last))
    }

    /// Sends all datagrams of the batch in order and empties it, usually with one system call.
    ///
    /// A datagram that its destination, its length or a filter forbids is dropped; if the kernel's queue is
    /// full, so are all that follow. [`Sent`] counts them.
    ///
    /// # Errors
    ///
    /// The socket can send no more. The batch is empty in this case, too.
    pub fn send(&mut self, batch: &mut SendBatch) -> io::Result<Sent> {
        batch.empty_into(self.socket.as_fd(), &mut self.segmentation)
    }
}

/// State of the kernel's receive queue of a socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiveQueue {
    /// Bytes in the queue, with the kernel's overhead.
    pub queued: u32,
    /// Most bytes in the queue, with the kernel's overhead.
    pub limit: u32,
    /// Datagrams or frames lost since the socket was bound, modulo 2^32: the queue was full, or the source of
    /// a datagram is [limited](UdpSocket::limit_sources). Joined datagrams count as one.
    pub lost: u32,
}

impl ReceiveQueue {
    /// State of a socket's queue.
    pub(crate) fn of(socket: BorrowedFd<'_>) -> io::Result<Self> {
        let lengths = sys::queue_lengths(socket)?;
        let [queued, limit, lost] =
            [libc::SK_MEMINFO_RMEM_ALLOC, libc::SK_MEMINFO_RCVBUF, libc::SK_MEMINFO_DROPS]
                .map(|place| lengths.get(place as usize).copied().unwrap_or(0));
        Ok(Self { queued, limit, lost })
    }
}

/// True for errors of a datagram sent earlier, or of an interrupted call; false for errors of the socket.
/// Linux derives them from ICMP messages (`icmp_err_convert`, `tab_unreach`) and from its own routes.
fn is_of_earlier_datagram(error: &io::Error) -> bool {
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

/// Checks that [`UdpSocket::bind`] would accept an address, without binding its port.
///
/// # Errors
///
/// The errors of `bind`, except that another program has the port.
pub fn check(address: SocketAddr) -> io::Result<()> {
    crate::bindable::check("UDP", Type::DGRAM, address)
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
