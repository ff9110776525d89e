//! Errors of opening an interface.

use nix::errno::Errno;
use std::io;
use std::net::IpAddr;

/// Error of opening an interface for XDP.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum XdpError {
    /// No interface has this name; the names that exist.
    #[error("no such interface; this host has {}", .0.join(", "))]
    NoInterface(Vec<String>),
    /// The interface carries no Ethernet frames between hosts.
    #[error("not an Ethernet interface; XDP needs one")]
    Kind,
    /// No address to listen on is one of the interface or of its virtual LANs.
    #[error("it has none of the addresses to listen on; name one of its addresses")]
    NoAddress,
    /// The host has this address on the interface, whose packets it would not get any more.
    #[error("it has the address {0}, which XDP would cut off; name a mirror port, or use --io packet")]
    HasAddress(IpAddr),
    /// Packets of this MTU are longer than a frame.
    #[error("its MTU of {0} bytes exceeds the 1,774 of XDP; set it lower, or use --io packet")]
    Mtu(usize),
    /// The interface has this number of receive queues, fewer than were to be served apart.
    #[error("its {0} receive queues are fewer than the threads; name at most so many, or use --io packet")]
    Queues(usize),
    /// The program would be too long.
    #[error("too many addresses for one program; name fewer")]
    TooManyAddresses,
    /// The process lacks a permission.
    #[error(
        "permission denied: XDP needs the capabilities CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF; start as root, \
         or grant them"
    )]
    Forbidden,
    /// Another program or socket has the interface.
    #[error("another program has XDP on it; end that program, or run `ip link set dev {0} xdp off`")]
    Busy(String),
    /// The process may not lock as much memory as the frames need, in bytes.
    #[error(
        "frames of {0} bytes exceed the limit of locked memory; raise RLIMIT_MEMLOCK (systemd: LimitMEMLOCK)"
    )]
    Memory(usize),
    /// The kernel does not have what is needed.
    #[error(
        "this kernel has no {0}; XDP needs Linux 5.9 or later with CONFIG_XDP_SOCKETS and CONFIG_BPF_SYSCALL"
    )]
    Unsupported(&'static str),
    /// A system call failed.
    #[error("cannot {operation}: {error}")]
    System {
        /// The operation; it completes "cannot".
        operation: &'static str,
        /// The error of the kernel.
        error: io::Error,
    },
}

impl XdpError {
    /// The error of a system call; `operation` completes "cannot".
    pub(super) fn system(operation: &'static str) -> impl FnOnce(Errno) -> Self {
        move |errno| match errno {
            Errno::EPERM | Errno::EACCES => Self::Forbidden,
            errno => Self::System { operation, error: errno.into() },
        }
    }
}
