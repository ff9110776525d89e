//! Backlog of a datagram socket: the kernel's send queue, and the datagrams that were lost.

use hashlane_link::udp::Sent;
use std::fmt::Display;
use std::io;

/// Bytes that the kernel counts for a datagram at most, beside twice its length.
const DATAGRAM_OVERHEAD: usize = 1024;

/// Backlog of a datagram socket.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    /// Bytes that the kernel had not sent at the last request for the queue length, with its own overhead.
    unsent: usize,
    /// Upper bound of the bytes that the kernel holds of the datagrams sent since then.
    sent_since: usize,
    /// True if the next flush asks the kernel for the queue length.
    asks: bool,
    /// Datagrams lost since the last log line, and the error if the socket could send none.
    lost: (usize, Option<String>),
}

impl Backlog {
    /// Bytes that the kernel had not sent at the last request for the queue length.
    pub(super) fn unsent(&self) -> usize {
        self.unsent
    }

    /// Counts a queued datagram. `threshold` is the queue length that matters to its sender; the kernel is
    /// asked for that length only if it may be greater, so that a lone datagram costs no second system call.
    #[inline]
    pub(super) fn count_queued(&mut self, length: usize, threshold: usize) {
        self.sent_since = self.sent_since.saturating_add(2 * length + DATAGRAM_OVERHEAD);
        self.asks |= self.unsent.saturating_add(self.sent_since) > threshold;
    }

    /// Records the outcome of sending a number of datagrams, and asks for the queue length if that matters.
    pub(super) fn record_outcome(
        &mut self,
        datagrams: usize,
        outcome: io::Result<Sent>,
        length: impl FnOnce() -> io::Result<usize>,
    ) {
        match outcome {
            Ok(sent) => self.lost.0 += sent.dropped,
            Err(error) => {
                self.lost.0 += datagrams;
                self.lost.1 = Some(error.to_string());
            }
        }
        if std::mem::take(&mut self.asks) {
            // Without an answer, no queue is known and no packet is marked: marks are advice.
            self.unsent = length().unwrap_or(0);
            self.sent_since = 0;
        }
    }

    /// Logs the datagrams lost since the last call, and returns their number. One line for many: a log line
    /// per datagram would add to the load that loses them.
    pub(super) fn log_lost(&mut self, local: &dyn Display) -> usize {
        let (lost, error) = std::mem::take(&mut self.lost);
        if lost > 0 {
            let why = error.as_deref().unwrap_or("the send queue is full or the peer is unreachable");
            tracing::info!(%local, lost, why, "cannot send datagrams");
        }
        lost
    }
}
