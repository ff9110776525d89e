//! State of an interface whose queries come by XDP.

use crate::status::{InterfaceState, InterfaceStatus};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An interface that was opened, as the threads of its queues see it.
#[derive(Debug)]
pub(crate) struct Interface(Mutex<InterfaceStatus>);

impl Interface {
    pub(crate) fn new(status: InterfaceStatus) -> Self {
        Self(Mutex::new(status))
    }

    /// State of the interface.
    pub(crate) fn status(&self) -> InterfaceStatus {
        self.lock().clone()
    }

    /// Takes note of the outcome of a receive. Each change of the state is logged once, not once a queue.
    pub(crate) fn note(&self, received: Result<(), io::ErrorKind>) {
        let state = match received {
            Ok(()) => InterfaceState::Up,
            Err(io::ErrorKind::NetworkDown) => InterfaceState::Down,
            Err(io::ErrorKind::NotFound) => InterfaceState::Removed,
            // Want of memory, and the like.
            Err(_) => return,
        };
        let mut status = self.lock();
        let before = std::mem::replace(&mut status.state, state);
        if before == state {
            return;
        }
        // One that is removed may be seen to go down first.
        status.outages += u64::from(before == InterfaceState::Up);
        let interface = &status.name;
        match state {
            InterfaceState::Up => tracing::info!(interface, "XDP: the interface is up again"),
            InterfaceState::Down => {
                tracing::warn!(
                    interface,
                    "XDP: the interface is down, so no query comes; set it up: ip link set dev {interface} up"
                );
            }
            InterfaceState::Removed => {
                tracing::warn!(
                    interface,
                    "XDP: the interface was removed; if it comes back, its queries come by sockets: restart the \
                     server to have them by XDP"
                );
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, InterfaceStatus> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
