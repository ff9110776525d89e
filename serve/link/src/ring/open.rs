//! Interfaces, settings and the order of system calls that opens a ring.

use super::map::Map;
use super::{Ring, RingCounters, Stopper, sys};
use crate::tap::{Interface, LinkKind, TapError};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

/// Settings of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingSettings {
    /// Bytes of a block: a power of two, at least a page. A longer frame is cut.
    pub block_bytes: u32,
    /// Number of blocks.
    pub blocks: u32,
    /// Time after which a block with a frame is ready, also if it is not full. At least 1 ms.
    pub timeout: Duration,
    /// Captured bytes of a frame at most; `None`: all.
    pub snap: Option<u32>,
    /// `true`: also frames to other hosts.
    pub promiscuous: bool,
}

impl Default for RingSettings {
    /// 64 blocks of 1 MiB, ready after 20 ms; whole frames to this host.
    fn default() -> Self {
        let timeout = Duration::from_millis(20);
        Self { block_bytes: 1 << 20, blocks: 64, timeout, snap: None, promiscuous: false }
    }
}

/// Rule by which the rings of a group share frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// By the kernel's hash of addresses and ports, alike for both directions of a flow. Later fragments have
    /// no ports, so they may be in another ring than the first.
    Hash,
    /// By the CPU that received the frame: the interface distributes flows (RSS).
    Cpu,
}

pub(super) fn open(interface: &str, settings: &RingSettings) -> Result<Ring, TapError> {
    // LINKTYPE numbers of the pcap registry.
    const ETHERNET: u32 = 1;
    const RAW: u32 = 101;
    let Interface { address, kind, is_loopback } = Interface::find(interface)?;
    let link = match kind {
        LinkKind::Ethernet => ETHERNET,
        LinkKind::Ip => RAW,
    };
    // Without a protocol it receives nothing until the bind, also not from other interfaces.
    let socket = socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, None)?;
    sys::set_ring(socket.as_fd(), settings)?;
    if let Some(snap) = settings.snap {
        sys::set_snap(socket.as_fd(), snap)?;
    }
    let map = Map::new(socket.as_fd(), settings.block_bytes as usize, settings.blocks as usize)
        .map_err(TapError::System)?;
    sys::bind_to(socket.as_fd(), address.ifindex())?;
    if settings.promiscuous {
        sys::set_promiscuous(socket.as_fd(), address.ifindex())?;
    }
    let (stopper, stop) = UnixStream::pair().map_err(TapError::System)?;
    let stopper = Stopper(Arc::new(stopper));
    Ok(Ring { map, socket, stop, stopper, next: 0, link, is_loopback, counters: RingCounters::default() })
}
