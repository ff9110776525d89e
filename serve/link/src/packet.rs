//! Payloads of Ethernet frames of one type, in batches of one system call each (AF_PACKET).
//!
//! The kernel adds and removes the Ethernet header: a process sees a payload, with its padding, and the
//! address of the other host. Frames with the tag of a virtual LAN belong to the interface of that LAN.

mod filter;

use crate::address::RawAddress;
use crate::context::context;
use crate::ring::sys as ring;
use crate::sys::{self, Incoming, Wait};
use crate::tap::TapError;
use crate::udp::{Limited, ReceiveQueue, Segmentation, SendBatch, Sent};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use socket2::SockRef;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// Socket for frames of one type on one interface: those to its own address, and to one group.
///
/// Opening one takes the capability CAP_NET_RAW; all else works without.
#[derive(Debug)]
pub struct PacketSocket {
    socket: OwnedFd,
    ethertype: u16,
    group: [u8; 6],
    /// Interface and its address; 0 before the first [`attach`](Self::attach).
    interface: u32,
    own: [u8; 6],
}

/// A received frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Address of the sender.
    pub from: [u8; 6],
    /// True if it was sent to the group, false if to this host alone.
    pub is_group: bool,
    /// Payload, with the padding of a short frame.
    pub payload: &'a [u8],
}

/// Buffers for the frames of one receive; made once and reused.
pub struct FrameBatch {
    incoming: Incoming,
}

impl FrameBatch {
    /// Buffers for `frames` frames. Valid: 1..=1024, others are clamped.
    pub fn new(frames: usize) -> Self {
        Self { incoming: Incoming::new(frames.clamp(1, 1024)) }
    }

    /// Drops the last frames, and returns the memory of the buffers to the system.
    pub fn release(&mut self) {
        self.incoming.release();
    }

    /// True if the last receive used all buffers, so that more frames may wait.
    pub fn is_full(&self) -> bool {
        self.incoming.is_full()
    }

    /// Frames of the last receive from other hosts, in order of arrival.
    #[inline]
    pub fn iter<'a>(&'a self, socket: &PacketSocket) -> impl Iterator<Item = Frame<'a>> + use<'a> {
        let (interface, own) = (socket.interface, socket.own);
        self.incoming.messages().filter_map(move |message| {
            let (from, is_group) = sender(message.from, interface, own)?;
            Some(Frame { from, is_group, payload: message.bytes })
        })
    }
}

impl fmt::Debug for FrameBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameBatch").finish_non_exhaustive()
    }
}

/// Sender of a frame, and true if the frame was sent to a group; `None` if the frame is not for this
/// interface, is its own, or has no host as its source.
#[inline]
fn sender(from: &RawAddress, interface: u32, own: [u8; 6]) -> Option<([u8; 6], bool)> {
    let address = from.parse_frame()?;
    let is_group = match address.kind {
        filter::TO_HOST => false,
        filter::TO_GROUP => true,
        _ => return None,
    };
    // The kernel also passes frames of a virtual LAN, as its interface's.
    let is_foreign = address.interface == interface && address.host != own && is_host(address.host);
    is_foreign.then_some((address.host, is_group))
}

/// True for the address of one host, false for a group's and for zeros.
pub fn is_host(address: [u8; 6]) -> bool {
    let [first, ..] = address;
    first & 1 == 0 && address != [0; 6]
}

impl PacketSocket {
    /// Opens a socket that receives nothing until it is [attached](Self::attach) to an interface.
    ///
    /// # Errors
    /// The process lacks the capability CAP_NET_RAW, or no file descriptors are left.
    pub fn open(ethertype: u16, group: [u8; 6]) -> Result<Self, TapError> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        // Without a protocol it receives nothing until the bind, also not from other interfaces.
        let socket = socket(AddressFamily::Packet, SockType::Datagram, flags, None)?;
        SockRef::from(&socket).attach_filter(&filter::program(group, &[], 0)).map_err(TapError::System)?;
        Ok(Self { socket, ethertype, group, interface: 0, own: [0; 6] })
    }

    /// Receives from and sends to an interface from now on, by its number and Ethernet address, in place of
    /// the one before. Repeat it for an interface that was down or removed.
    ///
    /// # Errors
    /// There is no such interface, or it is down.
    pub fn attach(&mut self, interface: u32, own: [u8; 6]) -> io::Result<()> {
        let index = interface as usize;
        ring::bind_to(self.socket.as_fd(), index, self.ethertype)?;
        ring::join_ethernet(self.socket.as_fd(), index, self.group)?;
        (self.interface, self.own) = (interface, own);
        Ok(())
    }

    /// Ethernet address of the interface.
    pub fn own_address(&self) -> [u8; 6] {
        self.own
    }

    /// Requests a length of the kernel's receive and send queues, in bytes. A shorter one is no error.
    pub fn set_queues(&self, bytes: usize) {
        let socket = SockRef::from(&self.socket);
        if nix::sys::socket::setsockopt(&self.socket, nix::sys::socket::sockopt::RcvBufForce, &bytes).is_err()
        {
            let _ = socket.set_recv_buffer_size(bytes);
        }
        let _ = socket.set_send_buffer_size(bytes);
    }

    /// Receives waiting frames with one system call, up to the size of the batch. Returns their number,
    /// including those that [`FrameBatch::iter`] leaves out; 0 if none waits.
    ///
    /// # Errors
    /// The interface went down ([`NetworkDown`](io::ErrorKind::NetworkDown), reported once), or the socket
    /// can receive no more.
    pub fn recv(&self, batch: &mut FrameBatch) -> io::Result<usize> {
        loop {
            match batch.incoming.receive(self.socket.as_fd(), Wait::Never) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(0),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => return outcome.map_err(|error| context("cannot receive frames", &error)),
            }
        }
    }

    /// Adds a frame to a batch, given as the parts of its payload in order. Returns false if there is no room
    /// for it: send the batch, then push again.
    #[inline]
    pub fn push(&self, batch: &mut SendBatch, to: [u8; 6], parts: &[&[u8]]) -> bool {
        batch.push_raw(RawAddress::of_frame(self.interface, self.ethertype, to), parts)
    }

    /// Sends all frames of a batch in order and empties it. A frame that is longer than the interface permits
    /// is dropped; if the queue of the kernel is full, so are all that follow.
    ///
    /// # Errors
    /// The socket can send no more. The batch is empty in this case, too.
    pub fn send(&self, batch: &mut SendBatch) -> io::Result<Sent> {
        let mut segmentation = Segmentation::OFF;
        batch.empty_into(self.socket.as_fd(), &mut segmentation)
    }

    /// Bytes in the kernel's send queue, with its own overhead: a measure of congestion.
    ///
    /// # Errors
    /// Errors of `ioctl`.
    pub fn unsent(&self) -> io::Result<usize> {
        sys::unsent(self.socket.as_fd())
    }

    /// State of the kernel's receive queue. Its losses are frames that it had no room for.
    ///
    /// # Errors
    /// Errors of `getsockopt`; kernels before Linux 4.12 do not have the option.
    pub fn receive_queue(&self) -> io::Result<ReceiveQueue> {
        ReceiveQueue::of(self.socket.as_fd())
    }

    /// Keeps only a part of the frames of these senders ([`Sender::Ethernet`]), in place of those limited
    /// before, and at most [`MAX_LIMITED`]. The kernel drops the others before they take room in the receive
    /// queue, and does not count them. `salt` should be random.
    ///
    /// [`Sender::Ethernet`]: crate::udp::Sender::Ethernet
    /// [`MAX_LIMITED`]: crate::udp::MAX_LIMITED
    ///
    /// # Errors
    /// The kernel has no memory for the filter (`net.core.optmem_max`). The earlier one stays.
    pub fn limit_sources(&mut self, limited: &[Limited], salt: u64) -> io::Result<()> {
        SockRef::from(&self.socket).attach_filter(&filter::program(self.group, limited, salt))
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl AsRawFd for PacketSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

#[cfg(test)]
mod tests;
