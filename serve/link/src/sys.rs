//! System calls that no safe interface offers without a loss: batches of datagrams, and the lengths of
//! queues. The reasons are in `docs/adr/0010-system-calls-by-hand.md`.
#![allow(unsafe_code, reason = "system calls; each use says why it is sound")]

use crate::address::RawAddress;
use libc::{c_int, iovec, mmsghdr, msghdr};
use std::io;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::{from_ref, null_mut};

/// Buffer for one control message of up to a `c_int`, aligned as a `cmsghdr`.
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

    /// A `UDP_SEGMENT` message: the kernel splits the payload into datagrams of this many bytes.
    fn segment(bytes: u16) -> Self {
        let mut control = Self::EMPTY;
        let (header, data) = control.0.split_at_mut(Self::HEADER);
        header[..Self::WORD].copy_from_slice(&(Self::HEADER + size_of::<u16>()).to_ne_bytes());
        header[Self::WORD..][..4].copy_from_slice(&libc::SOL_UDP.to_ne_bytes());
        header[Self::WORD + 4..].copy_from_slice(&libc::UDP_SEGMENT.to_ne_bytes());
        data[..2].copy_from_slice(&bytes.to_ne_bytes());
        control
    }

    /// Length of each datagram that the kernel has joined, in bytes; `None` if this is not a `UDP_GRO`
    /// message.
    fn joined(&self) -> Option<usize> {
        let (length, rest) = self.0.split_first_chunk()?;
        let (level, rest) = rest.split_first_chunk()?;
        let (kind, data) = rest.split_first_chunk()?;
        let length = usize::from_ne_bytes(*length);
        let of_udp =
            c_int::from_ne_bytes(*level) == libc::SOL_UDP && c_int::from_ne_bytes(*kind) == libc::UDP_GRO;
        let bytes = c_int::from_ne_bytes(*data.first_chunk()?);
        (of_udp && length >= Self::HEADER + size_of::<c_int>()).then_some(())?;
        usize::try_from(bytes).ok().filter(|&bytes| bytes > 0)
    }
}

/// Buffers for messages that the kernel writes.
pub(crate) struct Incoming {
    bytes: Vec<u8>,
    names: Vec<RawAddress>,
    controls: Vec<Control>,
    /// Read through pointers in the headers only.
    _vectors: Vec<iovec>,
    headers: Vec<mmsghdr>,
    received: usize,
}

// SAFETY: the pointers in headers and vectors point to allocations that only this value owns, on any thread.
unsafe impl Send for Incoming {}

/// A received message.
pub(crate) struct Message<'a> {
    pub(crate) from: &'a RawAddress,
    pub(crate) bytes: &'a [u8],
    /// Length of each datagram but the last in bytes, if the kernel has joined several.
    pub(crate) joined: Option<usize>,
    pub(crate) truncated: bool,
}

impl Incoming {
    /// Longest message in bytes: the most that UDP can carry, so that joined datagrams fit too.
    const LONGEST: usize = 65_535;
    /// Distance between messages in bytes: whole cache lines, and not a power of two, so that the first lines
    /// of all messages do not share one set of the cache.
    const STRIDE: usize = 65_536 + 64;

    /// Buffers for `messages` messages. The kernel backs them with memory when they are first written.
    pub(crate) fn new(messages: usize) -> Self {
        let mut bytes = vec![0; messages * Self::STRIDE];
        let mut names = vec![RawAddress::default(); messages];
        let mut controls = vec![Control::EMPTY; messages];
        let mut vectors: Vec<iovec> = (0..messages)
            .map(|at| iovec {
                iov_base: bytes.as_mut_ptr().wrapping_add(at * Self::STRIDE).cast(),
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
        Self { bytes, names, controls, _vectors: vectors, headers, received: 0 }
    }

    /// Drops the last messages, and returns the memory of all buffers to the system until they are next
    /// written.
    pub(crate) fn release(&mut self) {
        self.received = 0;
        // SAFETY: the function has no preconditions.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let Ok(page @ 1..) = usize::try_from(page) else { return };
        if !page.is_power_of_two() {
            return;
        }
        let start = self.bytes.as_mut_ptr();
        let skipped = start.align_offset(page);
        let whole = self.bytes.len().saturating_sub(skipped) / page * page;
        // SAFETY: the range is within the allocation that `self` owns, and begins and ends at pages. The
        // memory of an allocation is private and not of a file, so that its pages read as 0 afterwards, which
        // is a value of every byte; `&mut self` excludes readers.
        let _ = unsafe { libc::madvise(start.wrapping_add(skipped).cast(), whole, libc::MADV_DONTNEED) };
    }

    /// Restores the fields of a header that the kernel overwrites.
    fn reset(header: &mut msghdr) {
        header.msg_namelen = size_of::<RawAddress>() as _;
        header.msg_controllen = Control::SPACE as _;
    }

    /// Receives messages with one system call, in place of the last ones. With [`Wait::ForOne`], the call
    /// waits for the first one, if the socket blocks.
    pub(crate) fn receive(&mut self, socket: BorrowedFd<'_>, wait: Wait) -> io::Result<usize> {
        for header in &mut self.headers[..self.received] {
            Self::reset(&mut header.msg_hdr);
        }
        self.received = 0;
        // SAFETY: each header points to one name, one vector and one control, each vector to the `LONGEST`
        // bytes of its stride, in allocations that `self` owns and that have not moved since `new` (no `Vec`
        // grows); `&mut self` excludes readers. All lengths equal the buffers'. No timeout is given.
        let received = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                self.headers.len() as _,
                wait as _,
                null_mut(),
            )
        };
        self.received = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
        Ok(self.received)
    }

    /// True if the last call filled all buffers.
    ///
    /// `recvmmsg` returns fewer messages than it has buffers for if no more wait, or if one after the first
    /// fails. An unconnected UDP socket queues no network errors, so only the former remains.
    pub(crate) fn is_full(&self) -> bool {
        self.received == self.headers.len()
    }

    /// Messages of the last call.
    #[inline]
    pub(crate) fn messages(&self) -> impl Iterator<Item = Message<'_>> {
        let headers = self.headers[..self.received].iter();
        let bytes = self.bytes.chunks_exact(Self::STRIDE);
        headers.zip(bytes).zip(self.names.iter().zip(&self.controls)).map(
            |((header, bytes), (from, control))| Message {
                from,
                bytes: &bytes[..Self::LONGEST.min(header.msg_len as usize)],
                joined: if header.msg_hdr.msg_controllen > 0 { control.joined() } else { None },
                truncated: header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0,
            },
        )
    }
}

/// Flags of a receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Wait {
    /// Takes the messages that wait already.
    Never = libc::MSG_DONTWAIT,
    /// Waits for the first message, and takes those that wait with it.
    ForOne = libc::MSG_WAITFORONE,
}

/// Headers of messages to send.
pub(crate) struct Outgoing {
    vectors: Vec<iovec>,
    controls: Vec<Control>,
    headers: Vec<mmsghdr>,
}

// SAFETY: the pointers are written and followed within one call of `send`; later calls overwrite them first.
unsafe impl Send for Outgoing {}

/// A message to send.
pub(crate) struct Datagrams<'a> {
    pub(crate) to: &'a RawAddress,
    pub(crate) bytes: &'a [u8],
    /// Length of the datagrams that the kernel splits it into, in bytes; 0 to send it whole.
    pub(crate) segment: u16,
}

impl Outgoing {
    /// Headers for `messages` messages a call.
    pub(crate) fn new(messages: usize) -> Self {
        Self {
            vectors: Vec::with_capacity(messages),
            controls: Vec::with_capacity(messages),
            headers: Vec::with_capacity(messages),
        }
    }

    /// Sends the messages in order with one system call. Returns how many the kernel took.
    ///
    /// # Errors
    /// The error of the first message.
    pub(crate) fn send<'a>(
        &mut self,
        socket: BorrowedFd<'_>,
        messages: impl Iterator<Item = Datagrams<'a>>,
    ) -> io::Result<usize> {
        self.vectors.clear();
        self.controls.clear();
        self.headers.clear();
        for message in messages {
            // The kernel only reads through these pointers, although they are `*mut`.
            let mut header = empty_header();
            header.msg_hdr.msg_name = from_ref(message.to).cast_mut().cast();
            header.msg_hdr.msg_namelen = message.to.length();
            header.msg_hdr.msg_iovlen = 1;
            if message.segment > 0 {
                header.msg_hdr.msg_controllen = Control::SPACE as _;
            }
            self.vectors.push(iovec {
                iov_base: message.bytes.as_ptr().cast_mut().cast(),
                iov_len: message.bytes.len(),
            });
            self.controls.push(if message.segment > 0 {
                Control::segment(message.segment)
            } else {
                Control::EMPTY
            });
            self.headers.push(header);
        }
        // Pointers are taken once the `Vec`s grow no more.
        let (vectors, controls) = (self.vectors.as_mut_ptr(), self.controls.as_mut_ptr());
        for (at, header) in self.headers.iter_mut().enumerate() {
            header.msg_hdr.msg_iov = vectors.wrapping_add(at);
            if header.msg_hdr.msg_controllen > 0 {
                header.msg_hdr.msg_control = controls.wrapping_add(at).cast();
            }
        }
        // SAFETY: each header points to one name, one vector and one control, and the vector to bytes that
        // the messages borrow for longer than this call; all lengths match. The kernel writes `msg_len` only.
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

/// Bytes in the kernel's send queue of this socket, with its own overhead.
pub(crate) fn unsent(socket: BorrowedFd<'_>) -> io::Result<usize> {
    let mut bytes: c_int = 0;
    // SAFETY: the kernel writes one `c_int`.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    usize::try_from(bytes).map_err(|_| io::Error::other("the kernel reports a send queue of negative length"))
}

/// Socket option for the lengths of the queues of a socket, in the kernel's generic numbering.
const SO_MEMINFO: c_int = 55;

/// Lengths of the queues of this socket and its lost datagrams, at the places `SK_MEMINFO_…`.
pub(crate) fn queue_lengths(socket: BorrowedFd<'_>) -> io::Result<[u32; 9]> {
    let mut values = [0_u32; 9];
    let mut length = size_of_val(&values) as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `values`, and the number of bytes to `length`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            SO_MEMINFO,
            values.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(values)
}

/// Lowers the scheduling priority of the calling thread, as nice(1) does for a process.
pub(crate) fn lower_priority(nice: c_int) -> io::Result<()> {
    // SAFETY: the function has no preconditions. On Linux, process 0 is the calling thread.
    let result = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A header with null pointers.
fn empty_header() -> mmsghdr {
    // SAFETY: null pointers and zeros are valid for every field; some C libraries add padding that has no
    // name.
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
