//! All frames of an interface, without a copy: the receive ring of a packet socket (AF_PACKET, TPACKET_V3).
//!
//! The kernel writes frames into blocks of memory that it shares with the process. [`Ring::next_block`] waits
//! for a block and lends its frames; dropping the [`Block`] gives it back. While all blocks are taken, frames
//! are lost and counted ([`Ring::counters`]). Several rings of one group share the frames of an interface:
//! [`Ring::open_group`] opens one for each worker.

mod block;
mod map;
mod open;
mod settings;
pub(crate) mod sys;

pub use block::{Block, Frames};
pub use settings::{RingSettings, Share};

use crate::tap::TapError;
use map::Map;
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Receive ring of one interface.
#[derive(Debug)]
pub struct Ring {
    // Dropped before the socket.
    map: Map,
    socket: OwnedFd,
    /// Readable, once stopped.
    stop: UnixStream,
    stopper: Stopper,
    /// Number of the block that the kernel fills next.
    next: usize,
    /// LINKTYPE number of the frames.
    link: u32,
    /// `true` if a frame that leaves the interface comes back in.
    is_loopback: bool,
    counters: RingCounters,
}

/// Frames of a ring since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingCounters {
    /// Frames of the interface for this ring, also those that were lost.
    pub seen: u64,
    /// Frames lost because all blocks were taken.
    pub dropped: u64,
    /// Times that the kernel had no free block.
    pub stalls: u64,
}

/// Ends the waiting of a [`Ring`] from any thread.
#[derive(Clone, Debug)]
pub struct Stopper(Arc<UnixStream>);

impl Stopper {
    /// Ends the current and every later wait of the ring.
    pub fn stop(&self) {
        // An error means that the ring is gone.
        let _ = self.0.shutdown(std::net::Shutdown::Write);
    }
}

impl Ring {
    /// Opens the ring of one interface.
    ///
    /// # Errors
    /// The interface does not exist, its frames cannot be read, the process lacks the permission, or the
    /// kernel refuses the settings.
    pub fn open(interface: &str, settings: &RingSettings) -> Result<Self, TapError> {
        let ring = open::open(interface, settings)?;
        open::admit(&ring, settings)?;
        Ok(ring)
    }

    /// Opens `workers` rings that share the frames of one interface, each frame in one ring.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_group(
        interface: &str,
        settings: &RingSettings,
        share: Share,
        workers: usize,
    ) -> Result<Vec<Self>, TapError> {
        let mut rings = Vec::with_capacity(workers);
        let mut group = None;
        for _ in 0..workers {
            let ring = open::open(interface, settings)?;
            group = Some(sys::join_group(ring.socket.as_fd(), share, group)?);
            rings.push(ring);
        }
        // A ring outside of the group would receive frames that the others have, too.
        rings.iter().try_for_each(|ring| open::admit(ring, settings))?;
        Ok(rings)
    }

    /// LINKTYPE number of the frames: Ethernet (1) or IP (101).
    pub fn link(&self) -> u32 {
        self.link
    }

    /// Ends the waits of this ring from another thread.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// The next block with frames, waiting for it until `deadline`. `None` if none came, or after a stop:
    /// blocks that are ready come first. A block is ready when it is full, or once its timeout has passed, so
    /// frames of the last timeout before a stop are lost unless the ring is read for one timeout more.
    ///
    /// # Errors
    /// The interface went down or was removed, or a system call failed.
    pub fn next_block(&mut self, deadline: Instant) -> io::Result<Option<Block<'_>>> {
        while !self.map.is_ready(self.next) {
            let wait = deadline.saturating_duration_since(Instant::now());
            let readable = sys::wait(self.socket.as_fd(), self.stop.as_fd(), wait)?;
            if self.map.is_ready(self.next) {
                break;
            }
            if readable.failed {
                return Err(sys::socket_error(self.socket.as_fd()));
            }
            if readable.stopped || wait == Duration::ZERO {
                return Ok(None);
            }
        }
        let number = self.next;
        self.next = (number + 1) % self.map.blocks();
        Ok(Some(Block::new(&mut self.map, number, self.link, self.is_loopback)))
    }

    /// Reads the counters of the kernel.
    ///
    /// # Errors
    /// The system call failed.
    pub fn counters(&mut self) -> io::Result<RingCounters> {
        // The kernel counts from the last call.
        let [seen, dropped, stalls] = sys::statistics(self.socket.as_fd())?.map(u64::from);
        self.counters.seen += seen;
        self.counters.dropped += dropped;
        self.counters.stalls += stalls;
        Ok(self.counters)
    }
}

/// Has an interface receive frames to other hosts, as long as the returned socket is open.
pub(crate) fn promiscuous(index: usize) -> Result<OwnedFd, Errno> {
    // Without a protocol, it receives nothing.
    let held = socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, None)?;
    sys::set_promiscuous(held.as_fd(), index)?;
    Ok(held)
}

#[cfg(test)]
mod tests;
