//! Interfaces and the order of system calls that opens a ring.

use super::map::Map;
use super::settings::RingSettings;
use super::{Ring, RingCounters, Stopper, sys};
use crate::tap::{Interface, LinkKind, TapError};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// Opens a ring, which receives nothing until it is [admitted](admit).
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
    sys::set_snap(socket.as_fd(), 0)?;
    let map = Map::new(socket.as_fd(), settings.block_bytes as usize, settings.blocks as usize)
        .map_err(TapError::System)?;
    sys::bind_to(socket.as_fd(), address.ifindex(), libc::ETH_P_ALL as u16)?;
    if settings.promiscuous {
        sys::set_promiscuous(socket.as_fd(), address.ifindex())?;
    }
    let (stopper, stop) = UnixStream::pair().map_err(TapError::System)?;
    let stopper = Stopper(Arc::new(stopper));
    Ok(Ring { map, socket, stop, stopper, next: 0, link, is_loopback, counters: RingCounters::default() })
}

/// Lets a ring receive frames.
pub(super) fn admit(ring: &Ring, settings: &RingSettings) -> Result<(), TapError> {
    Ok(sys::set_snap(ring.socket.as_fd(), settings.snap.unwrap_or(u32::MAX))?)
}
