//! The system calls that no safe interface offers: many datagrams with one call, and options of sockets.
#![allow(unsafe_code, reason = "system calls; each use says why it is sound")]

use crate::address::RawAddress;
use libc::{c_int, c_void, iovec, mmsghdr, msghdr};
use std::io;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::{from_ref, null_mut};

/// Room for one control message of up to a `c_int`, aligned as a `cmsghdr`.
///
/// The kernel's header: the length as a `size_t`, level and type as `c_int`.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Control([u8; Self::SPACE]);

impl Control {
    const WORD: usize = size_of::<usize>();
    const HEADER: usize = Self::WORD + 2 * size_of::<c_int>();
    const SPACE: usize = Self::HEADER + Self::WORD;
    const EMPTY: Self = Self([0; Self::SPACE]);

    /// The message that asks the kernel to cut what it is given into datagrams of so many octets.
    fn segment(octets: u16) -> Self {
        let mut control = Self::EMPTY;
        let (header, data) = control.0.split_at_mut(Self::HEADER);
        header[..Self::WORD].copy_from_slice(&(Self::HEADER + size_of::<u16>()).to_ne_bytes());
        header[Self::WORD..][..4].copy_from_slice(&libc::SOL_UDP.to_ne_bytes());
        header[Self::WORD + 4..].copy_from_slice(&libc::UDP_SEGMENT.to_ne_bytes());
        data[..2].copy_from_slice(&octets.to_ne_bytes());
        control
    }

    /// The octets of each datagram that the kernel joined to one, if that is what it wrote here.
    fn joined(&self) -> Option<usize> {
        let (length, rest) = self.0.split_first_chunk()?;
        let (level, rest) = rest.split_first_chunk()?;
        let (kind, data) = rest.split_first_chunk()?;
        let length = usize::from_ne_bytes(*length);
        let of_udp =
            c_int::from_ne_bytes(*level) == libc::SOL_UDP && c_int::from_ne_bytes(*kind) == libc::UDP_GRO;
        let octets = c_int::from_ne_bytes(*data.first_chunk()?);
        (of_udp && length >= Self::HEADER + size_of::<c_int>()).then_some(())?;
        usize::try_from(octets).ok().filter(|&octets| octets > 0)
    }
}

/// Room for messages that the kernel writes.
pub(crate) struct Incoming {
    octets: Vec<u8>,
    names: Vec<RawAddress>,
    controls: Vec<Control>,
    /// Only the headers read it.
    _vectors: Vec<iovec>,
    headers: Vec<mmsghdr>,
    received: usize,
}

// SAFETY: the pointers in headers and vectors lead to allocations that the value alone owns, wherever it is.
unsafe impl Send for Incoming {}

/// One message received.
pub(crate) struct Message<'a> {
    pub(crate) from: &'a RawAddress,
    pub(crate) octets: &'a [u8],
    /// The octets of each datagram in it, all but the last being of the same length, if the kernel joined several.
    pub(crate) joined: Option<usize>,
    pub(crate) truncated: bool,
}

impl Incoming {
    /// Octets of a message: as many as UDP can carry, so that joined datagrams fit too.
    const LONGEST: usize = 65_535;
    /// From message to message: whole cache lines, and not a power of two, so that the first lines of all messages
    /// do not share one set of the cache.
    const STRIDE: usize = 65_536 + 64;

    /// Room for so many messages. The kernel gives the memory when it is first written to.
    pub(crate) fn new(messages: usize) -> Self {
        let mut octets = vec![0; messages * Self::STRIDE];
        let mut names = vec![RawAddress::default(); messages];
        let mut controls = vec![Control::EMPTY; messages];
        let mut vectors: Vec<iovec> = (0..messages)
            .map(|at| iovec {
                iov_base: octets.as_mut_ptr().wrapping_add(at * Self::STRIDE).cast(),
                iov_len: Self::LONGEST,
            })
            .collect();
        let headers = (0..messages)
            .map(|at| {
                let mut header = empty_header();
                header.msg_hdr.msg_name = names.as_mut_ptr().wrapping_add(at).cast();
                header.msg_hdr.msg_iov = vectors.as_mut_ptr().wrapping_add(at);
                header.msg_hdr.msg_iovlen = 1;
                header.msg_hdr.msg_control = controls.as_mut_ptr().wrapping_add(at).cast();
                Self::reset(&mut header.msg_hdr);
                header
            })
            .collect();
        Self { octets, names, controls, _vectors: vectors, headers, received: 0 }
    }

    /// Sets again what the kernel writes into a header.
    fn reset(header: &mut msghdr) {
        header.msg_namelen = size_of::<RawAddress>() as _;
        header.msg_controllen = Control::SPACE as _;
    }

    /// Receives what waits, as far as there is room, with one system call. Forgets what was received before.
    pub(crate) fn receive(&mut self, socket: BorrowedFd<'_>) -> io::Result<usize> {
        for header in &mut self.headers[..self.received] {
            Self::reset(&mut header.msg_hdr);
        }
        self.received = 0;
        // SAFETY: each header leads to one name, one vector and one control, each vector to `LONGEST` octets of its
        // own stride, in allocations that `self` owns and that have not moved since `new` (none of the vectors grows);
        // `&mut self` says that nobody reads them now. All lengths are those of the room. No timeout is given.
        let received = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                self.headers.len() as _,
                libc::MSG_DONTWAIT as _,
                null_mut(),
            )
        };
        self.received = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
        Ok(self.received)
    }

    /// Tells if the last call filled all the room.
    ///
    /// `recvmmsg` returns fewer messages than it has room for when none waits, or when one after the first
    /// fails. An unconnected UDP socket queues no errors of the network, so only the former remains.
    pub(crate) fn is_full(&self) -> bool {
        self.received == self.headers.len()
    }

    /// The messages of the last call.
    #[inline]
    pub(crate) fn messages(&self) -> impl Iterator<Item = Message<'_>> {
        let headers = self.headers[..self.received].iter();
        let octets = self.octets.chunks_exact(Self::STRIDE);
        headers.zip(octets).zip(self.names.iter().zip(&self.controls)).map(
            |((header, octets), (from, control))| Message {
                from,
                octets: &octets[..Self::LONGEST.min(header.msg_len as usize)],
                joined: if header.msg_hdr.msg_controllen > 0 { control.joined() } else { None },
                truncated: header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0,
            },
        )
    }
}

/// Room for the headers of messages to send.
pub(crate) struct Outgoing {
    vectors: Vec<iovec>,
    controls: Vec<Control>,
    headers: Vec<mmsghdr>,
}

// SAFETY: the pointers are written and followed within one call of `send`; what remains of them is never read.
unsafe impl Send for Outgoing {}

/// One message to send.
pub(crate) struct Datagrams<'a> {
    pub(crate) to: &'a RawAddress,
    pub(crate) octets: &'a [u8],
    /// The octets of each datagram that the kernel shall cut it into, 0 to leave it whole.
    pub(crate) segment: u16,
}

impl Outgoing {
    /// Room for so many messages a call.
    pub(crate) fn new(messages: usize) -> Self {
        Self {
            vectors: Vec::with_capacity(messages),
            controls: Vec::with_capacity(messages),
            headers: Vec::with_capacity(messages),
        }
    }

    /// Sends the messages in order with one system call, and says how many the kernel took. An error is that of the
    /// first message.
    pub(crate) fn send<'a>(
        &mut self,
        socket: BorrowedFd<'_>,
        messages: impl Iterator<Item = Datagrams<'a>>,
    ) -> io::Result<usize> {
        self.vectors.clear();
        self.controls.clear();
        self.headers.clear();
        for message in messages {
            // The kernel only reads through these, whatever their types say.
            let mut header = empty_header();
            header.msg_hdr.msg_name = from_ref(message.to).cast_mut().cast();
            header.msg_hdr.msg_namelen = message.to.length();
            header.msg_hdr.msg_iovlen = 1;
            if message.segment > 0 {
                header.msg_hdr.msg_controllen = Control::SPACE as _;
            }
            self.vectors.push(iovec {
                iov_base: message.octets.as_ptr().cast_mut().cast(),
                iov_len: message.octets.len(),
            });
            self.controls.push(if message.segment > 0 {
                Control::segment(message.segment)
            } else {
                Control::EMPTY
            });
            self.headers.push(header);
        }
        // Only now do the vectors stay where they are.
        let (vectors, controls) = (self.vectors.as_mut_ptr(), self.controls.as_mut_ptr());
        for (at, header) in self.headers.iter_mut().enumerate() {
            header.msg_hdr.msg_iov = vectors.wrapping_add(at);
            if header.msg_hdr.msg_controllen > 0 {
                header.msg_hdr.msg_control = controls.wrapping_add(at).cast();
            }
        }
        // SAFETY: each header leads to one name and one vector, and the vector to octets, that the messages borrow for
        // longer than this call, and to one control; all lengths are theirs. The kernel writes `msg_len` only.
        let sent = unsafe {
            libc::sendmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                self.headers.len() as _,
                libc::MSG_DONTWAIT as _,
            )
        };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }
}

/// Who is at the other end of a Unix socket: process, user, group.
pub(crate) fn peer_credentials(socket: BorrowedFd<'_>) -> io::Result<libc::ucred> {
    let mut credentials = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` octets, those of the plain structure.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut credentials).cast::<c_void>(),
            &raw mut length,
        )
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(credentials) }
}

/// Whether the kernel can cut datagrams for this socket. Asks by setting what is the default.
pub(crate) fn can_segment(socket: BorrowedFd<'_>) -> bool {
    set_udp_option(socket, libc::UDP_SEGMENT, 0).is_ok()
}

/// Says whether the kernel may join datagrams that this socket receives.
pub(crate) fn set_joining(socket: BorrowedFd<'_>, on: bool) -> io::Result<()> {
    set_udp_option(socket, libc::UDP_GRO, on.into())
}

fn set_udp_option(socket: BorrowedFd<'_>, option: c_int, value: c_int) -> io::Result<()> {
    // SAFETY: the kernel reads the octets of one `c_int`.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_UDP,
            option,
            (&raw const value).cast::<c_void>(),
            size_of::<c_int>() as libc::socklen_t,
        )
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Octets that the kernel has taken of this socket and not sent yet, with its own overhead.
pub(crate) fn unsent(socket: BorrowedFd<'_>) -> io::Result<usize> {
    let mut octets: c_int = 0;
    // SAFETY: the kernel writes one `c_int`.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut octets) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(usize::try_from(octets).unwrap_or(0)) }
}

/// A header that leads nowhere.
fn empty_header() -> mmsghdr {
    // SAFETY: null pointers and zeros are valid for every field; some C libraries add padding that has no name.
    unsafe { zeroed() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_room_for_control_is_that_of_the_headers() {
        // SAFETY: arithmetic alone.
        let space = unsafe { libc::CMSG_SPACE(size_of::<c_int>() as u32) };
        assert_eq!(space as usize, Control::SPACE);
        assert_eq!(size_of::<Control>() % align_of::<libc::cmsghdr>(), 0);
    }

    #[test]
    fn control_of_another_kind_joins_nothing() {
        let mut control = Control::segment(1200);
        assert_eq!(control.joined(), None);
        control.0[Control::WORD + 4..][..4].copy_from_slice(&libc::UDP_GRO.to_ne_bytes());
        assert_eq!(control.joined(), None, "cut short");
        control.0[..Control::WORD].copy_from_slice(&(Control::HEADER + 4).to_ne_bytes());
        assert_eq!(control.joined(), Some(1200));
    }
}
