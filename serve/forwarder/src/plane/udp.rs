//! A UDP socket and its send queue.

use super::backlog::Backlog;
use super::calls::{Call, counted};
use hashlane_link::udp::{RecvBatch, SendBatch, UdpSocket};
use hashlane_ndn_fw::face::{FaceCounters, FaceId};
use std::io;
use std::net::SocketAddr;

/// Datagrams of the send queue.
const BATCH: usize = 64;

/// A UDP socket, shared by the faces of its peers, and the datagrams that wait to be sent over it.
pub(crate) struct Udp {
    pub(super) socket: UdpSocket,
    /// Bound address: the group's, if the socket is of a multicast group.
    pub(super) local: SocketAddr,
    /// Face of all peers, if the socket is of a multicast group.
    pub(super) group: Option<FaceId>,
    /// True while the interface of the group is down: nothing is sent.
    pub(super) is_down: bool,
    pub(super) queue: SendBatch,
    backlog: Backlog,
}

impl Udp {
    pub(crate) fn new(socket: UdpSocket, local: SocketAddr) -> Self {
        Self {
            socket,
            local,
            group: None,
            is_down: false,
            queue: SendBatch::new(BATCH),
            backlog: Backlog::default(),
        }
    }

    /// True for the socket of a multicast group.
    pub(super) fn is_of_group(&self) -> bool {
        self.local.ip().is_multicast()
    }

    /// Bytes that the kernel had not sent at the last request for the queue length.
    pub(crate) fn unsent(&self) -> usize {
        self.backlog.unsent()
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

    /// Queues a datagram. `threshold` is the queue length that matters to its sender.
    pub(crate) fn push(
        &mut self,
        peer: SocketAddr,
        parts: &[&[u8]],
        threshold: usize,
        counters: &FaceCounters,
    ) {
        if self.is_down {
            return counters.out_drops.add(1);
        }
        let length: usize = parts.iter().map(|part| part.len()).sum();
        self.backlog.count_queued(length, threshold);
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
        let outcome = self.socket.send(&mut self.queue);
        self.backlog.record_outcome(waiting, outcome, || counted(Call::Unsent, self.socket.unsent()));
    }

    /// Logs the datagrams lost since the last call, and returns their number.
    pub(crate) fn log_lost(&mut self) -> usize {
        self.backlog.log_lost(&self.local)
    }
}
