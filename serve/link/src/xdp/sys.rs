//! System calls of AF_XDP sockets and of their interfaces that nix does not offer.
#![allow(unsafe_code, reason = "system calls; each use says why it is sound")]

use super::memory::{FRAME, Frames};
use libc::{c_int, c_void, sockaddr_xdp, socklen_t, xdp_mmap_offsets, xdp_statistics, xdp_umem_reg};
use nix::errno::Errno;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// A new AF_XDP socket.
pub(super) fn socket() -> Result<OwnedFd, Errno> {
    // SAFETY: the call has no pointers; the result is checked, and owned by nobody else.
    unsafe {
        let fd = Errno::result(libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Sets an option, a value of plain numbers.
fn set<T>(socket: BorrowedFd<'_>, option: c_int, value: &T) -> Result<(), Errno> {
    // SAFETY: the kernel reads at most the size of `value` from it.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_XDP,
            option,
            std::ptr::from_ref(value).cast::<c_void>(),
            size_of::<T>() as socklen_t,
        )
    };
    Errno::result(result).map(drop)
}

/// Reads an option, plain numbers. A kernel that has fewer fields leaves the others as they are.
fn get<T>(socket: BorrowedFd<'_>, option: c_int, mut value: T) -> Result<T, Errno> {
    let mut length = size_of::<T>() as socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `value`, numbers for which every value is valid
    // (this module passes structures of integers), and the number of bytes to `length`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_XDP,
            option,
            (&raw mut value).cast::<c_void>(),
            &raw mut length,
        )
    };
    Errno::result(result).map(|_| value)
}

/// Registers the memory of the frames, which lives as long as the socket.
pub(super) fn register(socket: BorrowedFd<'_>, frames: &Frames) -> Result<(), Errno> {
    let (addr, len) = frames.registration();
    // SAFETY: zeros are valid for every field, which are numbers.
    let mut memory: xdp_umem_reg = unsafe { zeroed() };
    (memory.addr, memory.len, memory.chunk_size) = (addr, len, FRAME as u32);
    set(socket, libc::XDP_UMEM_REG, &memory)
}

/// Sets the number of entries of a ring, such as `XDP_RX_RING`.
pub(super) fn set_ring(socket: BorrowedFd<'_>, ring: c_int, entries: u32) -> Result<(), Errno> {
    set(socket, ring, &entries)
}

/// Places of the numbers and entries in the rings.
pub(super) fn offsets(socket: BorrowedFd<'_>) -> Result<xdp_mmap_offsets, Errno> {
    // SAFETY: zeros are valid for every field, which are numbers.
    let offsets: xdp_mmap_offsets = unsafe { zeroed() };
    let offsets = get(socket, libc::XDP_MMAP_OFFSETS, offsets)?;
    // Kernels before Linux 5.4 have no flags.
    if offsets.rx.flags == 0 { Err(Errno::EOPNOTSUPP) } else { Ok(offsets) }
}

/// Attaches the socket to a queue of an interface.
pub(super) fn bind(socket: BorrowedFd<'_>, interface: u32, queue: u32, flags: u16) -> Result<(), Errno> {
    let address = sockaddr_xdp {
        sxdp_family: libc::AF_XDP as u16,
        sxdp_flags: flags,
        sxdp_ifindex: interface,
        sxdp_queue_id: queue,
        sxdp_shared_umem_fd: 0,
    };
    // SAFETY: the kernel reads the address, whose size is given.
    let result = unsafe {
        libc::bind(socket.as_raw_fd(), (&raw const address).cast(), size_of::<sockaddr_xdp>() as socklen_t)
    };
    Errno::result(result).map(drop)
}

/// Returns `true` if the interface writes frames into the memory of the socket itself.
pub(super) fn is_zero_copy(socket: BorrowedFd<'_>) -> Result<bool, Errno> {
    let options = get(socket, libc::XDP_OPTIONS, libc::xdp_options { flags: 0 })?;
    Ok(options.flags & libc::XDP_OPTIONS_ZEROCOPY != 0)
}

/// Frames that the kernel has lost or refused since the socket was opened.
pub(super) fn statistics(socket: BorrowedFd<'_>) -> Result<xdp_statistics, Errno> {
    // SAFETY: zeros are valid for every field, which are numbers.
    let statistics: xdp_statistics = unsafe { zeroed() };
    get(socket, libc::XDP_STATISTICS, statistics)
}

/// A request about an interface. The name has at most 15 bytes.
fn request(interface: &str) -> Result<libc::ifreq, Errno> {
    // SAFETY: zeros are valid for the name and for every variant of the union.
    let mut request: libc::ifreq = unsafe { zeroed() };
    if interface.len() >= request.ifr_name.len() {
        return Err(Errno::ENODEV);
    }
    for (to, from) in request.ifr_name.iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(request)
}

/// MTU of an interface, in bytes, by a socket of its network namespace that takes such requests.
pub(crate) fn mtu(socket: BorrowedFd<'_>, interface: &str) -> Result<usize, Errno> {
    let mut request = request(interface)?;
    // SAFETY: the kernel reads and writes the request, and fills the field that is read.
    let mtu = unsafe {
        Errno::result(libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFMTU as libc::Ioctl, &raw mut request))?;
        request.ifr_ifru.ifru_mtu
    };
    Ok(usize::try_from(mtu).unwrap_or(0))
}

/// `ethtool_channels` of Linux.
#[derive(Default)]
#[repr(C)]
struct Channels {
    command: u32,
    most: [u32; 4],
    receive: u32,
    transmit: u32,
    other: u32,
    combined: u32,
}

/// Receive queues of an interface, by a socket as of [`mtu`]; 1 if its driver does not say.
pub(super) fn queues(socket: BorrowedFd<'_>, interface: &str) -> Result<u32, Errno> {
    const GET_CHANNELS: u32 = 0x3c;
    let mut channels = Channels { command: GET_CHANNELS, ..Channels::default() };
    let mut request = request(interface)?;
    request.ifr_ifru.ifru_data = (&raw mut channels).cast();
    // SAFETY: the kernel reads the request, and reads and writes the structure of the command, which it
    // points to and which outlives the call.
    let result =
        unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL as libc::Ioctl, &raw mut request) };
    match Errno::result(result) {
        Ok(_) => Ok((channels.receive + channels.combined).max(1)),
        Err(Errno::EOPNOTSUPP) => Ok(1),
        Err(errno) => Err(errno),
    }
}
