//! Connections that come, and those that give way to others.

use super::Worker;
use super::connection::Connection;
use hashlane_link::tcp;
use mio::net::TcpStream;
use mio::{Interest, Token};
use nix::sys::socket::{setsockopt, sockopt};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Connections that one event accepts from a listener, before others have their turn.
const ACCEPTS: usize = 64;

/// Length of each of the kernel's queues of a connection in bytes. By default the kernel lets a client that
/// does not read occupy megabytes.
const KERNEL_QUEUE: usize = 128 << 10;

impl Worker {
    /// Accepts connections of a listener.
    pub(super) fn accept(&mut self, number: usize, now: Instant) {
        for _ in 0..ACCEPTS {
            let Some(listener) = self.listeners.get_mut(number).filter(|listener| listener.is_ready) else {
                return;
            };
            match listener.listener.accept() {
                Ok((stream, peer)) => {
                    let is_tls = listener.is_tls;
                    self.open(stream, peer, is_tls, now);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => listener.is_ready = false,
                // The client has closed the connection already.
                Err(error)
                    if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted) => {}
                // No descriptor is left: the next tick tries again.
                Err(error) => {
                    tracing::debug!(%error, "cannot accept a TCP connection");
                    return;
                }
            }
        }
    }

    fn open(&mut self, stream: TcpStream, peer: SocketAddr, is_tls: bool, now: Instant) {
        self.parts.counters.accepted.add(1);
        // Without an option the connection works, too.
        let _ = tcp::prepare(&stream, Duration::from_millis(self.limits.write_timeout_ms));
        let _ = setsockopt(&stream, sockopt::SndBuf, &KERNEL_QUEUE);
        let _ = setsockopt(&stream, sockopt::RcvBuf, &KERNEL_QUEUE);
        let Some(mut stream) = self.parts.stream(stream, is_tls, now) else { return };
        let number = self.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.connections.len() - 1
        });
        let both = Interest::READABLE | Interest::WRITABLE;
        if let Err(error) = self.poll.registry().register(stream.socket(), Token(number), both) {
            tracing::debug!(%error, "cannot wait for a TCP connection");
            self.free.push(number);
            return;
        }
        let holder = self.shares.acquire(peer.ip());
        if let Some(victim) = self.shares.excess_of(holder) {
            self.close_for_another(victim);
        }
        let items = self.shares.add(holder, number);
        let mut connection = Connection::new((stream, peer), holder, items, now);
        connection.is_pending = true;
        if let Some(place) = self.connections.get_mut(number) {
            *place = Some(connection);
        }
        match is_tls {
            false => self.turns.add(number),
            true => self.turns.add_handshake(holder, number),
        }
        self.shed();
    }

    /// Closes connections until there are not too many, nor too many bytes.
    pub(super) fn shed(&mut self) {
        while let Some(victim) = self.shares.excess() {
            self.close_for_another(victim);
        }
    }

    fn close_for_another(&mut self, number: usize) {
        self.parts.counters.closed_for_others.add(1);
        self.close(number);
    }

    pub(super) fn close(&mut self, number: usize) {
        let Some(mut connection) = self.connections.get_mut(number).and_then(Option::take) else {
            debug_assert!(false, "a connection is closed once");
            return;
        };
        self.shares.remove(connection.holder, (connection.place, connection.bytes));
        if let Some(transfer) = &connection.transfer {
            self.parts.counters.broken_transfers.add(1);
            transfer.log_end();
        }
        self.parts.free(connection.transfer.take());
        self.parts.counters.failed_handshakes.add(u64::from(connection.stream.handshake().is_some()));
        connection.stream.end();
        // Closing the descriptor deregisters it, too.
        let _ = self.poll.registry().deregister(connection.stream.socket());
        // Its number may still stand among those that have work left, where it costs a turn without work.
        self.free.push(number);
    }
}
