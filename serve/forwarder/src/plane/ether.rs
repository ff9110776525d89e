//! The Ethernet of an interface: its socket and send queue.

use super::backlog::Backlog;
use super::calls::{Call, counted};
use hashlane_link::packet::{FrameBatch, PacketSocket};
use hashlane_link::udp::SendBatch;
use hashlane_ndn_fw::face::{FaceCounters, FaceId};
use std::io;

/// Ethernet type of NDN.
pub(super) const ETHERTYPE: u16 = 0x8624;

/// Frames of the send queue.
const BATCH: usize = 64;

/// The Ethernet of an interface, shared by the faces of its hosts, and the frames that wait to be sent over
/// it.
pub(super) struct Ether {
    pub(super) socket: PacketSocket,
    /// Name of the interface.
    pub(super) interface: String,
    /// Longest payload of a frame, in bytes.
    pub(super) mtu: usize,
    /// Face of the group.
    pub(super) group: Option<FaceId>,
    /// True while the interface is down: nothing is sent.
    pub(super) is_down: bool,
    queue: SendBatch,
    backlog: Backlog,
}

impl Ether {
    pub(super) fn new(socket: PacketSocket, interface: String, mtu: usize) -> Self {
        let (queue, backlog) = (SendBatch::new(BATCH), Backlog::default());
        Self { socket, interface, mtu, group: None, is_down: false, queue, backlog }
    }

    /// Ethernet address of the interface.
    pub(super) fn own_address(&self) -> [u8; 6] {
        self.socket.own_address()
    }

    /// Bytes that the kernel had not sent at the last request for the queue length.
    pub(super) fn unsent(&self) -> usize {
        self.backlog.unsent()
    }

    /// Replaces the send queue, if it is empty: large frames have used more of it than small ones need.
    pub(super) fn free_memory(&mut self) {
        if self.queue.is_empty() {
            self.queue = SendBatch::new(BATCH);
        }
    }

    /// Receives the frames that wait, up to the size of the batch.
    pub(super) fn recv(&self, batch: &mut FrameBatch) -> io::Result<usize> {
        counted(Call::Receive, self.socket.recv(batch))
    }

    /// Queues a frame. `threshold` is the queue length that matters to its sender.
    pub(super) fn push(&mut self, peer: [u8; 6], parts: &[&[u8]], threshold: usize, counters: &FaceCounters) {
        if self.is_down {
            return counters.out_drops.add(1);
        }
        let length: usize = parts.iter().map(|part| part.len()).sum();
        self.backlog.count_queued(length, threshold);
        if !self.socket.push(&mut self.queue, peer, parts) {
            self.flush();
            if !self.socket.push(&mut self.queue, peer, parts) {
                counters.out_drops.add(1);
            }
        }
    }

    /// Sends the queue.
    pub(super) fn flush(&mut self) {
        if self.queue.is_empty() {
            return;
        }
        let waiting = self.queue.len();
        let outcome = self.socket.send(&mut self.queue);
        self.backlog.record_outcome(waiting, outcome, || counted(Call::Unsent, self.socket.unsent()));
    }

    /// Logs the frames lost since the last call, and returns their number.
    pub(super) fn log_lost(&mut self) -> usize {
        self.backlog.log_lost(&self.interface)
    }
}
