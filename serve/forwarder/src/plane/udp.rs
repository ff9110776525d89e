//! A UDP socket and its send queue.

use super::calls::{Call, counted};
use hashlane_link::udp::{RecvBatch, SendBatch, UdpSocket};
use hashlane_ndn_fw::face::FaceCounters;
use std::io;
use std::net::SocketAddr;

/// Bytes that the kernel counts for a datagram at most, beside twice its length.
const DATAGRAM_OVERHEAD: usize = 1024;

/// Datagrams of the send queue.
const BATCH: usize = 64;

/// A UDP socket, shared by the faces of its peers, and the datagrams that wait to be sent over it.
pub(crate) struct Udp {
    pub(super) socket: UdpSocket,
    pub(super) local: SocketAddr,
    pub(super) queue: SendBatch,
    /// Bytes that the kernel had not sent at the last request for the queue length, with its own overhead.
    unsent: usize,
    /// Upper bound of the bytes that the kernel holds of the datagrams sent since then.
    sent_since: usize,
    /// True if the next flush asks the kernel for the queue length.
    asks: bool,
    /// Datagrams lost since the last log line, and the error if the socket could send none.
    lost: (usize, Option<String>),
}

impl Udp {
    pub(crate) fn new(socket: UdpSocket, local: SocketAddr) -> Self {
        Self {
            socket,
            local,
            queue: SendBatch::new(BATCH),
            unsent: 0,
            sent_since: 0,
            asks: false,
            lost: (0, None),
        }
    }

    /// Bytes that the kernel had not sent at the last request for the queue length.
    pub(crate) fn unsent(&self) -> usize {
        self.unsent
    }

    /// Replaces the send queue, if it is empty: large datagrams have used more of it than small ones need.
    pub(crate) fn free_memory(&mut self) {
        if self.queue.is_empty() {
            self.queue = SendBatch::new(BATCH);
        }
    }

    /// Receives the datagrams that wait, up to the size of the batch.
    pub(super) fn recv(&self, batch: &mut RecvBatch) -> io::Result<usize> {
        counted(Call::Receive, self.socket.recv(batch))
    }

    /// Queues a datagram. `threshold` is the queue length that matters to its sender; the kernel is asked for
    /// that length only if it may be greater, so that a lone datagram costs no second system call.
    pub(crate) fn push(
        &mut self,
        peer: SocketAddr,
        parts: &[&[u8]],
        threshold: usize,
        counters: &FaceCounters,
    ) {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        self.sent_since = self.sent_since.saturating_add(2 * length + DATAGRAM_OVERHEAD);
        self.asks |= self.unsent.saturating_add(self.sent_since) > threshold;
        if !self.queue.push(peer, parts) {
            self.flush();
            if !self.queue.push(peer, parts) {
                counters.out_drops.add(1);
            }
        }
    }

    /// Sends the queue.
    pub(crate) fn flush(&mut self) {
        if self.queue.is_empty() {
            return;
        }
        let waiting = self.queue.len();
        match self.socket.send(&mut self.queue) {
            Ok(sent) => self.lost.0 += sent.dropped,
            Err(error) => {
                self.lost.0 += waiting;
                self.lost.1 = Some(error.to_string());
            }
        }
        if std::mem::take(&mut self.asks) {
            // Without an answer, no queue is known and no packet is marked: marks are advice.
            self.unsent = counted(Call::Unsent, self.socket.unsent()).unwrap_or(0);
            self.sent_since = 0;
        }
    }

    /// Logs the datagrams lost since the last call, and returns their number. One line for many: a log line
    /// per datagram would add to the load that loses them.
    pub(crate) fn log_lost(&mut self) -> usize {
        let (lost, error) = std::mem::take(&mut self.lost);
        if lost > 0 {
            let why = error.as_deref().unwrap_or("the send queue is full or the peer is unreachable");
            tracing::info!(local = %self.local, lost, why, "cannot send datagrams");
        }
        lost
    }
}
