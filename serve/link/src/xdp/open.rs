//! The order of system calls that opens an interface.

use super::error::XdpError;
use super::interface::{Interface, check_unused, lans};
use super::memory::Frames;
use super::parts::Parts;
use super::program::{LONGEST, Lan, assemble, assemble_all};
use super::rings::{Completion, Fill, Receive, Transmit};
use super::socket::XdpSocket;
use super::{bpf, sys};
use crate::ring;
use nix::errno::Errno;
use std::fmt;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Frames of a socket, and entries of the rings for them. Valid: powers of two.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// Those that the kernel can receive into.
    receive: u32,
    /// Those that are sent.
    transmit: u32,
}

/// Sizes of a socket for datagrams and replies.
const DATAGRAMS: Sizes = Sizes { receive: 2048, transmit: 1024 };

/// Sizes of a socket for all frames: it must hold some milliseconds of frames, and sends none. The kernel
/// wants all rings.
const TAP: Sizes = Sizes { receive: 32_768, transmit: 2 };

/// Names by which the kernel shows the programs, also to `bpftool` and `ip -details link`.
const UDP: &[u8; 16] = b"hashlane_udp\0\0\0\0";
const ALL: &[u8; 16] = b"hashlane_tap\0\0\0\0";

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

/// Opens an interface for datagrams to the addresses out of `local` that it or its virtual LANs have. A
/// socket [waits](crate::burst::Burst::recv_wait) for at most `patience`, and receives up to `burst`
/// datagrams at once.
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

/// Sockets for all frames of an interface.
pub(super) struct Tapped {
    /// A socket for each receive queue.
    pub(super) parts: Vec<Parts>,
    pub(super) mode: Mode,
    /// Holds the program.
    pub(super) attached: OwnedFd,
    /// Has the interface receive frames to other hosts.
    pub(super) promiscuous: Option<OwnedFd>,
}

/// Opens an interface for all frames that it receives: see [`XdpTap::open_group`](super::XdpTap::open_group).
pub(super) fn open_all(interface: &str, promiscuous: bool) -> Result<Tapped, XdpError> {
    let link = Interface::find(interface)?;
    check_unused(interface)?;
    let promiscuous = promiscuous
        .then(|| ring::promiscuous(link.index as usize))
        .transpose()
        .map_err(XdpError::system("set the interface promiscuous"))?;
    let Opened { parts, mode, attached, .. } =
        first_of(&[Mode::ZeroCopy, Mode::Generic], (interface, &link), Wanted::All)?;
    Ok(Tapped { parts, mode, attached, promiscuous })
}

/// Opens an interface for datagrams in the first of these modes that it supports.
pub(super) fn open_in(
    modes: &[Mode],
    interface: (&str, &Interface),
    lans: Vec<Lan>,
    burst: usize,
    patience: Duration,
) -> Result<Xdp, XdpError> {
    let Opened { parts, mode, attached, mtu } = first_of(modes, interface, Wanted::Datagrams(&lans))?;
    let (attached, settings) = (Arc::new(attached), (mtu, mode == Mode::ZeroCopy));
    let socket = |parts| XdpSocket::new(parts, Arc::clone(&attached), settings, burst, patience);
    let sockets = parts.into_iter().map(socket).collect();
    let local = lans.into_iter().flat_map(|lan| lan.local).collect();
    Ok(Xdp { sockets, mode, local })
}

/// Opens an interface in the first of these modes that it supports; `ZeroCopy` stands for `Native`, too.
fn first_of(
    modes: &[Mode],
    (name, link): (&str, &Interface),
    wanted: Wanted<'_>,
) -> Result<Opened, XdpError> {
    let mut failed = None;
    for mode in modes {
        match (Opening { name, link, wanted, mode: *mode }).run_until_free() {
            // No driver and no other mode helps.
            Err(
                error @ (XdpError::Forbidden | XdpError::Busy(_) | XdpError::Memory(_) | XdpError::Mtu(_)),
            ) => return Err(error),
            Err(error) => failed = Some(error),
            opened => return opened,
        }
    }
    Err(failed.unwrap_or(XdpError::Kind))
}

/// Frames that the sockets get.
#[derive(Clone, Copy)]
enum Wanted<'a> {
    /// Datagrams to these addresses.
    Datagrams(&'a [Lan]),
    All,
}

/// An attempt to open an interface.
struct Opening<'a> {
    name: &'a str,
    link: &'a Interface,
    wanted: Wanted<'a>,
    mode: Mode,
}

/// An interface with its program.
struct Opened {
    /// A socket for each receive queue.
    parts: Vec<Parts>,
    mode: Mode,
    attached: OwnedFd,
    mtu: usize,
}

impl Opening<'_> {
    /// Waits for the kernel, which frees the queues of a process a while after its end.
    fn run_until_free(&self) -> Result<Opened, XdpError> {
        let begun = Instant::now();
        loop {
            match self.run() {
                Err(XdpError::Busy(_)) if begun.elapsed() < GRACE => thread::sleep(RETRY),
                outcome => return outcome,
            }
        }
    }

    fn run(&self) -> Result<Opened, XdpError> {
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
        let (code, program, sizes) = match self.wanted {
            Wanted::Datagrams(lans) => (assemble(self.link.mac, lans, map.as_raw_fd()), UDP, DATAGRAMS),
            Wanted::All if mtu > LONGEST.into() => return Err(XdpError::Mtu(mtu)),
            Wanted::All => (Some(assemble_all(map.as_raw_fd())), ALL, TAP),
        };
        let code = code.ok_or(XdpError::TooManyAddresses)?;
        let program = bpf::load(&code, *program).map_err(XdpError::system("load the program"))?;

        let mut parts = Vec::new();
        let (mut next, mut is_zero_copy) = (Some(first), true);
        for queue in 0..queues {
            let socket = next.take().map_or_else(new_socket, Ok)?;
            let bound = self.bind(socket, queue, sizes)?;
            is_zero_copy &= sys::is_zero_copy(bound.socket.as_fd()).unwrap_or(false);
            bpf::enter(map.as_fd(), queue, bound.socket.as_fd())
                .map_err(XdpError::system("enter a socket into the map"))?;
            parts.push(bound);
        }
        // From here on, frames come to the sockets.
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
        Ok(Opened { parts, mode, attached, mtu })
    }

    /// Gives a socket its memory and its rings, and binds it to a queue.
    fn bind(&self, socket: OwnedFd, queue: u32, sizes: Sizes) -> Result<Parts, XdpError> {
        let (receive, transmit) = (sizes.receive, sizes.transmit);
        let (frames, mut free) = Frames::new(receive + transmit)
            .map_err(|error| XdpError::System { operation: "map memory for frames", error })?;
        let fd = socket.as_fd();
        sys::register(fd, &frames).map_err(|errno| match errno {
            Errno::ENOBUFS | Errno::ENOMEM => XdpError::Memory(frames.registration().1 as usize),
            errno => XdpError::system("register memory for frames")(errno),
        })?;
        for (ring, entries) in [
            (libc::XDP_UMEM_FILL_RING, receive),
            (libc::XDP_UMEM_COMPLETION_RING, transmit),
            (libc::XDP_RX_RING, receive),
            (libc::XDP_TX_RING, transmit),
        ] {
            sys::set_ring(fd, ring, entries).map_err(XdpError::system("make a ring"))?;
        }
        let offsets = sys::offsets(fd).map_err(XdpError::system("read the places of rings"))?;
        let failed = |error| XdpError::System { operation: "map a ring", error };
        let mut fill = Fill::new(fd, &offsets.fr, sizes.receive).map_err(failed)?;
        let receive = Receive::new(fd, &offsets.rx, sizes.receive).map_err(failed)?;
        let transmit = Transmit::new(fd, &offsets.tx, sizes.transmit).map_err(failed)?;
        let completion = Completion::new(fd, &offsets.cr, sizes.transmit).map_err(failed)?;
        let mut empty = free.split_off(sizes.transmit as usize);
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
    let opening = Opening { name, link: &link, wanted: Wanted::All, mode: Mode::Generic };
    opening.bind(new_socket().unwrap(), 0, DATAGRAMS).unwrap()
}
