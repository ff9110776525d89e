//! Memory, rings and descriptor of a socket, of whatever use.

use super::memory::{Frame, Frames};
use super::rings::{Completion, Fill, Receive, Transmit};
use super::sys;
use crate::burst::Losses;
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// Memory, rings and descriptor of a socket.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) socket: OwnedFd,
    pub(super) frames: Frames,
    pub(super) fill: Fill,
    pub(super) receive: Receive,
    pub(super) transmit: Transmit,
    pub(super) completion: Completion,
    /// Frames to send.
    pub(super) free: Vec<Frame>,
}

impl Parts {
    /// Gives frames back to the kernel, for others to be received into.
    #[inline]
    pub(super) fn give_back(&mut self, spent: &mut Vec<Frame>) {
        if spent.is_empty() {
            return;
        }
        self.fill.give(spent);
        if self.fill.needs_wakeup() {
            // The driver waits for frames; what it returns says nothing about them.
            let _ = recv(self.socket.as_raw_fd(), &mut [], MsgFlags::MSG_DONTWAIT);
        }
    }

    /// Fails if the interface is down or was removed: a wait does not report it.
    pub(super) fn check_up(&self) -> io::Result<()> {
        let (kind, text) = match recv(self.socket.as_raw_fd(), &mut [], MsgFlags::MSG_DONTWAIT) {
            Err(Errno::ENETDOWN) => {
                (io::ErrorKind::NetworkDown, "cannot receive frames: the interface is down")
            }
            Err(Errno::ENXIO | Errno::ENODEV) => {
                (io::ErrorKind::NotFound, "cannot receive frames: the interface was removed")
            }
            _ => return Ok(()),
        };
        Err(io::Error::new(kind, text))
    }

    /// Frames that the kernel has lost or refused. With zero-copy, it does not count those without a free
    /// frame among the dropped ones.
    pub(super) fn losses(&self, is_zero_copy: bool) -> io::Result<Losses> {
        let counted = sys::statistics(self.socket.as_fd())?;
        let empty = if is_zero_copy { counted.rx_fill_ring_empty_descs } else { 0 };
        Ok(Losses {
            dropped: counted.rx_dropped + empty,
            ring_full: counted.rx_ring_full,
            invalid: counted.rx_invalid_descs + counted.tx_invalid_descs,
            ..Losses::default()
        })
    }
}
