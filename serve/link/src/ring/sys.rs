//! System calls of a ring that nix does not offer.
#![allow(unsafe_code, reason = "system calls; each use says why it is sound")]

use super::block::TAG;
use super::settings::{RingSettings, Share};
use libc::{c_int, c_uint, c_void, pollfd, sockaddr_ll, socklen_t};
use nix::errno::Errno;
use nix::sys::socket::{getsockopt, sockopt};
use std::io;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// Sets an option of a packet socket, a value of plain numbers.
fn set<T>(socket: BorrowedFd<'_>, level: c_int, option: c_int, value: &T) -> Result<(), Errno> {
    // SAFETY: the kernel reads at most the size of `value` from it.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            std::ptr::from_ref(value).cast::<c_void>(),
            size_of::<T>() as socklen_t,
        )
    };
    Errno::result(result).map(drop)
}

/// Reads an option of a packet socket.
fn get<T: Copy>(socket: BorrowedFd<'_>, option: c_int, mut value: T) -> Result<T, Errno> {
    let mut length = size_of::<T>() as socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `value`, numbers for which every value is valid
    // (this module passes integers and arrays of them), and the number of bytes to `length`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            option,
            (&raw mut value).cast::<c_void>(),
            &raw mut length,
        )
    };
    Errno::result(result).map(|_| value)
}

/// Gives the socket its ring: version 3, with room before each frame for a tag.
pub(super) fn set_ring(socket: BorrowedFd<'_>, settings: &RingSettings) -> Result<(), Errno> {
    /// The unit in which the kernel checks the size of a block; frames take what they need.
    const FRAME: u32 = 2048;
    set(socket, libc::SOL_PACKET, libc::PACKET_VERSION, &(libc::tpacket_versions::TPACKET_V3 as c_int))?;
    set(socket, libc::SOL_PACKET, libc::PACKET_RESERVE, &(TAG as c_uint))?;
    let timeout = settings.timeout.as_millis().clamp(1, 10_000) as c_uint;
    let ring = libc::tpacket_req3 {
        tp_block_size: settings.block_bytes,
        tp_block_nr: settings.blocks,
        tp_frame_size: FRAME,
        tp_frame_nr: (settings.block_bytes / FRAME).saturating_mul(settings.blocks),
        tp_retire_blk_tov: timeout,
        tp_sizeof_priv: 0,
        tp_feature_req_word: 0,
    };
    set(socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &ring)
}

/// Has the kernel capture at most `snap` bytes of a frame: a filter that takes all frames, cut; with 0, none.
pub(super) fn set_snap(socket: BorrowedFd<'_>, snap: u32) -> Result<(), Errno> {
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let mut take = libc::sock_filter { code: RETURN, jt: 0, jf: 0, k: snap };
    let program = libc::sock_fprog { len: 1, filter: &raw mut take };
    set(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)
}

/// Receives the frames of the interface with this protocol from now on.
pub(crate) fn bind_to(socket: BorrowedFd<'_>, index: usize, protocol: u16) -> Result<(), Errno> {
    // SAFETY: zeros are valid for every field, which are numbers.
    let mut address: sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = protocol.to_be();
    address.sll_ifindex = c_int::try_from(index).map_err(|_| Errno::ENODEV)?;
    // SAFETY: the kernel reads the address, whose size is given.
    let result = unsafe {
        libc::bind(socket.as_raw_fd(), (&raw const address).cast(), size_of::<sockaddr_ll>() as socklen_t)
    };
    Errno::result(result).map(drop)
}

/// Has the interface pass frames to other hosts, while the socket is open.
pub(super) fn set_promiscuous(socket: BorrowedFd<'_>, index: usize) -> Result<(), Errno> {
    add_membership(socket, index, libc::PACKET_MR_PROMISC, &[])
}

/// Has the interface pass frames to an Ethernet group, while the socket is open.
pub(crate) fn join_ethernet(socket: BorrowedFd<'_>, index: usize, group: [u8; 6]) -> Result<(), Errno> {
    add_membership(socket, index, libc::PACKET_MR_MULTICAST, &group)
}

/// Adds a membership with an address of at most 8 bytes.
fn add_membership(socket: BorrowedFd<'_>, index: usize, kind: c_int, address: &[u8]) -> Result<(), Errno> {
    let mut membership = libc::packet_mreq {
        mr_ifindex: c_int::try_from(index).map_err(|_| Errno::ENODEV)?,
        mr_type: kind as u16,
        mr_alen: address.len() as u16,
        mr_address: [0; 8],
    };
    for (to, from) in membership.mr_address.iter_mut().zip(address) {
        *to = *from;
    }
    set(socket, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &membership)
}

/// Joins the group, or a new one whose number the kernel chooses. Returns its number.
pub(super) fn join_group(socket: BorrowedFd<'_>, share: Share, group: Option<u16>) -> Result<u16, Errno> {
    let kind = match share {
        Share::Hash => libc::PACKET_FANOUT_HASH,
        Share::Cpu => libc::PACKET_FANOUT_CPU,
    };
    let unique = if group.is_none() { libc::PACKET_FANOUT_FLAG_UNIQUEID } else { 0 };
    let value = (kind | unique) << 16 | c_uint::from(group.unwrap_or(0));
    set(socket, libc::SOL_PACKET, libc::PACKET_FANOUT, &value)?;
    get(socket, libc::PACKET_FANOUT, 0_u32).map(|value| value as u16)
}

/// Frames seen, frames dropped and stalls since the last call; no stalls without a ring.
pub(crate) fn statistics(socket: BorrowedFd<'_>) -> Result<[u32; 3], Errno> {
    get(socket, libc::PACKET_STATISTICS, [0_u32; 3])
}

/// Reasons for which a wait ended.
pub(super) struct Readable {
    pub(super) failed: bool,
    pub(super) stopped: bool,
}

/// Waits until the socket or `stop` is readable, at most for `time`.
pub(super) fn wait(socket: BorrowedFd<'_>, stop: BorrowedFd<'_>, time: Duration) -> io::Result<Readable> {
    let entry = |fd: BorrowedFd<'_>| pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let mut entries = [entry(socket), entry(stop)];
    // Up to a millisecond longer rather than many calls within it.
    let time = c_int::try_from(time.as_micros().div_ceil(1000)).unwrap_or(c_int::MAX);
    // SAFETY: the kernel reads and writes two entries, which outlive the call.
    let result = unsafe { libc::poll(entries.as_mut_ptr(), 2, time) };
    match Errno::result(result) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(errno) => return Err(errno.into()),
    }
    let [socket, stop] = entries.map(|entry| entry.revents);
    Ok(Readable { failed: socket & (libc::POLLERR | libc::POLLNVAL) != 0, stopped: stop != 0 })
}

/// The error that waits at the socket.
pub(super) fn socket_error(socket: BorrowedFd<'_>) -> io::Error {
    match getsockopt(&socket, sockopt::SocketError) {
        Ok(0) => io::Error::other("the interface reports an error without a number"),
        Ok(number) => io::Error::from_raw_os_error(number),
        Err(errno) => errno.into(),
    }
}
