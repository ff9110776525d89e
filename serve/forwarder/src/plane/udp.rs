//! A UDP socket and its send queue.

use super::backlog::Backlog;
use super::calls::{Call, counted};
use hashlane_link::udp::{RecvBatch, SendBatch, UdpSocket};
use hashlane_ndn_fw::face::{FaceCounters, FaceId};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

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

    /// Address from which datagrams to `peer` are sent. A socket of all addresses has the one that the routes
    /// of this host choose now, or none without a route.
    pub(super) fn local_to(&self, peer: SocketAddr) -> SocketAddr {
        let mut local = self.local;
        if local.ip().is_unspecified() {
            local = route_to(peer).unwrap_or(local);
            local.set_port(self.local.port());
        }
        local
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

/// Local end of a connection to `peer`. Sends nothing.
fn route_to(peer: SocketAddr) -> io::Result<SocketAddr> {
    let any: IpAddr =
        if peer.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let probe = std::net::UdpSocket::bind((any, 0))?;
    probe.connect(peer)?;
    probe.local_addr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_local_end_is_the_address_that_datagrams_have() {
        let local = |bound: &str, peer: &str| {
            let socket = UdpSocket::bind(bound.parse().unwrap()).unwrap();
            let udp = Udp::new(socket, bound.parse::<SocketAddr>().unwrap());
            udp.local_to(peer.parse().unwrap()).ip().to_string()
        };
        assert_eq!(local("0.0.0.0:0", "127.0.0.1:9"), "127.0.0.1");
        assert_eq!(local("127.0.0.2:0", "127.0.0.1:9"), "127.0.0.2");
        // No host has this address, and no route leads to it.
        assert_eq!(local("0.0.0.0:0", "255.255.255.255:9"), "0.0.0.0");
    }
}
