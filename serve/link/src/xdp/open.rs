//! The order of system calls that opens an interface.

use super::error::XdpError;
use super::interface::{Interface, lans};
use super::memory::Frames;
use super::program::{Lan, assemble};
use super::rings::{Completion, Fill, Receive, Transmit};
use super::socket::{Parts, XdpSocket};
use super::{bpf, sys};
use nix::errno::Errno;
use std::fmt;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Frames of a socket that the kernel can receive into, and entries of the rings for them.
const RECEIVE: u32 = 2048;
/// Frames of a socket for replies, and entries of the rings for them.
const TRANSMIT: u32 = 1024;

/// Longest wait for queues that another process has.
const GRACE: Duration = Duration::from_secs(2);
/// Wait between two attempts to get them.
const RETRY: Duration = Duration::from_millis(10);

/// Place in the kernel where the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// In the driver, before the kernel makes a packet of a frame. Frames are copied once.
    Native,
    /// In the driver, which writes frames into the memory of the process itself.
    ZeroCopy,
    /// In the network stack, for a driver without XDP. The kernel makes a packet of each frame first.
    Generic,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Native => "native, copying",
            Self::ZeroCopy => "native, zero-copy",
            Self::Generic => "generic, copying",
        })
    }
}

/// An open interface.
#[derive(Debug)]
pub struct Xdp {
    /// A socket for each receive queue.
    pub sockets: Vec<XdpSocket>,
    /// Place where the program runs.
    pub mode: Mode,
    /// Addresses and ports whose datagrams the sockets receive.
    pub local: Vec<SocketAddr>,
}

/// Opens an interface for datagrams to those of the addresses `local` that it or its virtual LANs have. A
/// socket [waits](crate::burst::Burst::recv_wait) for at most `patience`, and receives up to `burst` datagrams
/// at once.
///
/// Prefers the driver to the network stack, and zero-copy to copies. Waits up to two seconds for an interface
/// that another process has: the kernel frees its queues a while after the end of the process.
///
/// # Errors
/// No such Ethernet interface, or it has none of the addresses; the process lacks a permission; another
/// program has XDP on the interface; the kernel lacks what is needed.
pub fn open(
    interface: &str,
    local: &[SocketAddr],
    burst: usize,
    patience: Duration,
) -> Result<Xdp, XdpError> {
    let link = Interface::find(interface)?;
    open_in(&[Mode::ZeroCopy, Mode::Generic], (interface, &link), lans(interface, local)?, burst, patience)
}

/// Checks that an interface exists and has one of the addresses `local`, without opening it.
///
/// # Errors
/// No such Ethernet interface, or it has none of the addresses.
pub fn check(interface: &str, local: &[SocketAddr]) -> Result<(), XdpError> {
    Interface::find(interface)?;
    lans(interface, local).map(drop)
}

/// Opens an interface in the first of these modes that it supports; `ZeroCopy` stands for `Native`, too.
pub(super) fn open_in(
    modes: &[Mode],
    (name, link): (&str, &Interface),
    lans: Vec<Lan>,
    burst: usize,
    patience: Duration,
) -> Result<Xdp, XdpError> {
    let mut failed = None;
    for mode in modes {
        let opening = Opening { name, link, lans: &lans, mode: *mode, burst, patience };
        match opening.run_until_free() {
            Ok((sockets, mode)) => {
                let local = lans.into_iter().flat_map(|lan| lan.local).collect();
                return Ok(Xdp { sockets, mode, local });
            }
            // No driver and no other mode helps.
            Err(error @ (XdpError::Forbidden | XdpError::Busy(_) | XdpError::Memory(_))) => {
                return Err(error);
            }
            Err(error) => failed = Some(error),
        }
    }
    Err(failed.unwrap_or(XdpError::Kind))
}

/// An attempt to open an interface.
struct Opening<'a> {
    name: &'a str,
    link: &'a Interface,
    lans: &'a [Lan],
    mode: Mode,
    burst: usize,
    patience: Duration,
}

impl Opening<'_> {
    /// Waits for the kernel, which frees the queues of a process a while after its end.
    fn run_until_free(&self) -> Result<(Vec<XdpSocket>, Mode), XdpError> {
        let begun = Instant::now();
        loop {
            match self.run() {
                Err(XdpError::Busy(_)) if begun.elapsed() < GRACE => thread::sleep(RETRY),
                outcome => return outcome,
            }
        }
    }

    fn run(&self) -> Result<(Vec<XdpSocket>, Mode), XdpError> {
        // Flags of `linux/if_link.h`.
        const GENERIC: u32 = 1 << 1;
        const DRIVER: u32 = 1 << 2;
        let first = new_socket()?;
        // XDP sockets take no requests about interfaces.
        let any = UnixDatagram::unbound()
            .map_err(|error| XdpError::System { operation: "open a Unix socket", error })?;
        let queues = sys::queues(any.as_fd(), self.name).map_err(XdpError::system("count the queues"))?;
        let mtu = sys::mtu(any.as_fd(), self.name).map_err(XdpError::system("read the MTU"))?;
        let map = bpf::create_map(queues).map_err(|errno| match errno {
            Errno::ENOSYS | Errno::EINVAL => XdpError::Unsupported("map of XDP sockets"),
            errno => XdpError::system("create a map of sockets")(errno),
        })?;
        let code = assemble(self.link.mac, self.lans, map.as_raw_fd()).ok_or(XdpError::TooManyAddresses)?;
        let program = bpf::load(&code).map_err(XdpError::system("load the program"))?;

        let mut opened = Vec::new();
        let (mut next, mut is_zero_copy) = (Some(first), true);
        for queue in 0..queues {
            let socket = next.take().map_or_else(new_socket, Ok)?;
            let parts = self.bind(socket, queue)?;
            is_zero_copy &= sys::is_zero_copy(parts.socket.as_fd()).unwrap_or(false);
            bpf::enter(map.as_fd(), queue, parts.socket.as_fd())
                .map_err(XdpError::system("enter a socket into the map"))?;
            opened.push(parts);
        }
        // From here on, datagrams come to the sockets.
        let flags = if self.mode == Mode::Generic { GENERIC } else { DRIVER };
        let attached = bpf::attach(program.as_fd(), self.link.index, flags).map_err(|errno| match errno {
            Errno::EBUSY | Errno::EEXIST => XdpError::Busy(self.name.to_owned()),
            errno => XdpError::system("attach the program")(errno),
        })?;
        let mode = match self.mode {
            Mode::Generic => Mode::Generic,
            _ if is_zero_copy => Mode::ZeroCopy,
            _ => Mode::Native,
        };
        let attached = Arc::new(attached);
        let socket = |parts| {
            let settings = (mtu, mode == Mode::ZeroCopy);
            XdpSocket::new(parts, Arc::clone(&attached), settings, self.burst, self.patience)
        };
        Ok((opened.into_iter().map(socket).collect(), mode))
    }

    /// Gives a socket its memory and its rings, and binds it to a queue.
    fn bind(&self, socket: OwnedFd, queue: u32) -> Result<Parts, XdpError> {
        let (frames, mut free) = Frames::new(RECEIVE + TRANSMIT)
            .map_err(|error| XdpError::System { operation: "map memory for frames", error })?;
        let fd = socket.as_fd();
        sys::register(fd, &frames).map_err(|errno| match errno {
            Errno::ENOBUFS | Errno::ENOMEM => XdpError::Memory(frames.registration().1 as usize),
            errno => XdpError::system("register memory for frames")(errno),
        })?;
        for (ring, entries) in [
            (libc::XDP_UMEM_FILL_RING, RECEIVE),
            (libc::XDP_UMEM_COMPLETION_RING, TRANSMIT),
            (libc::XDP_RX_RING, RECEIVE),
            (libc::XDP_TX_RING, TRANSMIT),
        ] {
            sys::set_ring(fd, ring, entries).map_err(XdpError::system("make a ring"))?;
        }
        let offsets = sys::offsets(fd).map_err(XdpError::system("read the places of rings"))?;
        let failed = |error| XdpError::System { operation: "map a ring", error };
        let mut fill = Fill::new(fd, &offsets.fr, RECEIVE).map_err(failed)?;
        let receive = Receive::new(fd, &offsets.rx, RECEIVE).map_err(failed)?;
        let transmit = Transmit::new(fd, &offsets.tx, TRANSMIT).map_err(failed)?;
        let completion = Completion::new(fd, &offsets.cr, TRANSMIT).map_err(failed)?;
        let mut empty = free.split_off(TRANSMIT as usize);
        fill.give(&mut empty);
        // Without a flag, the kernel tries zero-copy first, which needs the program in the driver.
        let copy = if self.mode == Mode::Generic { libc::XDP_COPY } else { 0 };
        sys::bind(fd, self.link.index, queue, libc::XDP_USE_NEED_WAKEUP | copy).map_err(
            |errno| match errno {
                Errno::EBUSY => XdpError::Busy(self.name.to_owned()),
                errno => XdpError::system("bind a socket to a queue")(errno),
            },
        )?;
        Ok(Parts { socket, frames, fill, receive, transmit, completion, free })
    }
}

fn new_socket() -> Result<OwnedFd, XdpError> {
    sys::socket().map_err(|errno| match errno {
        Errno::EAFNOSUPPORT => XdpError::Unsupported("XDP sockets"),
        errno => XdpError::system("open an XDP socket")(errno),
    })
}

/// A socket that is bound to the first queue of an interface.
#[cfg(test)]
pub(super) fn bound_for_tests(name: &str) -> Parts {
    let link = Interface::find(name).unwrap();
    let opening =
        Opening { name, link: &link, lans: &[], mode: Mode::Generic, burst: 64, patience: Duration::ZERO };
    opening.bind(new_socket().unwrap(), 0).unwrap()
}
