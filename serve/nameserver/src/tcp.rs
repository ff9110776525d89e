//! The TCP thread: connections of all clients on one event loop (RFC 7766), with and without TLS (RFC 7858).
//!
//! The loop is `mio`'s, not an executor's: a connection is two buffers and a few times, a turn of it is
//! bounded, and which connection gives way is decided in one place. TCP carries the few answers that UDP
//! truncates, so that one thread suffices; UDP does not wait for it.
//!
//! Bounds: connections and bytes, in all and by the address of the peer ([`shares`]); the time for a
//! handshake of TLS, for a query to arrive, for responses to be taken, and between queries
//! ([`crate::framing`]). A connection with 64 KiB of responses in its queue is not read until they are sent.

mod connection;
mod parts;
mod places;
mod serving;
mod shares;
mod stream;
mod turns;

pub(crate) use parts::Parts;

use crate::config::Tcp;
use crate::framing::Timeout;
use connection::Connection;
use hashlane_dns::query::BATCH;
use hashlane_hash::scheme::Key;
use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token, Waker};
use serving::{Turn, serve};
use shares::Shares;
use std::io::{self, ErrorKind};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use turns::Turns;

/// Interval at which timeouts are checked.
const TICK: Duration = Duration::from_millis(100);

/// Longest wait for an event: the thread then lets go of replaced zones.
const PATIENCE: Duration = Duration::from_millis(250);

/// Queries that a round answers of a connection with an event, so that one event costs the others little.
const FIRST: usize = 16;

/// Connections that have a further turn before the thread looks for events.
const FURTHER: usize = 16;

/// Time for handshakes of TLS before the thread looks for events: other connections wait for as long.
const HANDSHAKES: Duration = Duration::from_millis(1);

/// Times that a secondary has to take what was sent of a zone, beside other clients.
const TRANSFER_PATIENCE: u64 = 6;

/// Bytes of a read.
const READ: usize = 16 << 10;

/// Token of the waker; listeners have the numbers below it, connections those from 0.
const WAKER: Token = Token(usize::MAX);

/// The TCP thread.
pub(crate) struct Worker {
    poll: Poll,
    listeners: Vec<Listener>,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    /// Connections that have work left.
    turns: Turns,
    shares: Shares,
    limits: Tcp,
    scratch: Vec<u8>,
    parts: Parts,
}

struct Listener {
    listener: TcpListener,
    is_tls: bool,
    /// True until an accept finds nothing.
    is_ready: bool,
}

impl Worker {
    /// A thread for these listeners; true stands for TLS. Returns the waker, by which the thread sees that it
    /// should stop. `key` should be random.
    ///
    /// # Errors
    /// No file descriptors are left.
    pub(crate) fn new(
        listeners: Vec<(TcpListener, bool)>,
        limits: Tcp,
        key: &Key,
        parts: Parts,
    ) -> io::Result<(Self, Waker)> {
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), WAKER)?;
        let mut worker = Self {
            shares: Shares::new(key, &limits),
            poll,
            listeners: Vec::new(),
            connections: Vec::new(),
            free: Vec::new(),
            turns: Turns::default(),
            limits,
            scratch: vec![0; READ],
            parts,
        };
        for (number, (mut listener, is_tls)) in listeners.into_iter().enumerate() {
            worker.poll.registry().register(&mut listener, listener_token(number), Interest::READABLE)?;
            worker.listeners.push(Listener { listener, is_tls, is_ready: true });
        }
        Ok((worker, waker))
    }

    /// Serves connections until the server stops.
    ///
    /// # Errors
    /// The event loop fails.
    pub(crate) fn run(mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(1024);
        let mut checked = Instant::now();
        while !self.parts.stop.load(Ordering::Relaxed) {
            self.parts.counters.turns.add(1);
            let timeout = match () {
                () if !self.turns.is_empty() => Duration::ZERO,
                () if self.shares.len() > 0 => TICK,
                () => PATIENCE,
            };
            match self.poll.poll(&mut events, Some(timeout)) {
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            self.parts.view.refresh();
            let now = Instant::now();
            for event in &events {
                let Token(token) = event.token();
                if let Some(listener) =
                    listener_number(token).and_then(|number| self.listeners.get_mut(number))
                {
                    listener.is_ready = true;
                } else if let Some(Some(connection)) = self.connections.get_mut(token) {
                    connection.is_readable |=
                        event.is_readable() || event.is_read_closed() || event.is_error();
                    if !std::mem::replace(&mut connection.is_pending, true) {
                        match connection.stream.handshake() {
                            None => self.turns.add(token),
                            Some(_) => self.turns.add_handshake(connection.holder, token),
                        }
                    }
                }
            }
            (0..self.listeners.len()).for_each(|number| self.accept(number, now));
            while let Some(number) = self.turns.next_event() {
                self.turn(number, FIRST, now);
            }
            for _ in 0..FURTHER {
                let Some(number) = self.turns.next_again() else { break };
                self.turn(number, BATCH, now);
            }
            self.shake_hands(now);
            self.parts.connections.store(self.shares.len() as u64, Ordering::Relaxed);
            if now.saturating_duration_since(checked) >= TICK {
                checked = now;
                self.check_timeouts(now);
            }
        }
        Ok(())
    }

    /// Gives handshakes turns for a while.
    fn shake_hands(&mut self, now: Instant) {
        let begun = Instant::now();
        while let Some(number) = self.turns.next_handshake() {
            self.turn(number, FIRST, now);
            if begun.elapsed() >= HANDSHAKES {
                return;
            }
        }
    }

    /// Reads, answers and sends for a connection, a bounded number of times.
    /// A round answers at most `queries`.
    fn turn(&mut self, number: usize, queries: usize, now: Instant) {
        let Some(Some(connection)) = self.connections.get_mut(number) else { return };
        connection.is_pending = false;
        let (turn, was_active) = serve(connection, &mut self.parts, &mut self.scratch, (queries, now));
        if connection.stream.has_shaken_hands() {
            self.parts.counters.handshakes.add(1);
        }
        let items = (connection.place, connection.bytes);
        match turn {
            Turn::Close => return self.close(number),
            Turn::Again => {
                connection.is_pending = true;
                match connection.stream.handshake() {
                    None => self.turns.add_again(number),
                    Some(_) => self.turns.add_handshake(connection.holder, number),
                }
            }
            Turn::Wait => {}
        }
        let memory = connection.memory();
        self.shares.set_bytes(items.1, memory);
        if was_active {
            self.shares.renew(items);
        }
        self.shed();
    }

    fn check_timeouts(&mut self, now: Instant) {
        // The kernel reports room once a large part of its queue was taken.
        let of_transfers = Tcp {
            write_timeout_ms: self.limits.write_timeout_ms.saturating_mul(TRANSFER_PATIENCE),
            ..self.limits.clone()
        };
        for number in 0..self.connections.len() {
            let Some(Some(connection)) = self.connections.get(number) else { continue };
            let counters = &self.parts.counters;
            let patience = Duration::from_millis(self.limits.message_timeout_ms);
            let handshake = connection.stream.handshake();
            if handshake.is_some_and(|since| now.saturating_duration_since(since) >= patience) {
                self.close(number);
                continue;
            }
            let limits = if connection.transfer.is_some() { &of_transfers } else { &self.limits };
            match connection.framing.timeout(now, limits) {
                None => continue,
                // Its next message has not been written yet.
                Some(Timeout::Idle) if connection.transfer.is_some() => continue,
                Some(Timeout::Idle) => counters.closed_idle.add(1),
                Some(Timeout::SlowQuery) => counters.closed_slow_query.add(1),
                Some(Timeout::SlowReader) => counters.closed_slow_reader.add(1),
            }
            self.close(number);
        }
    }
}

/// Token of a listener.
fn listener_token(number: usize) -> Token {
    Token(usize::MAX - 1 - number)
}

/// Number of a listener, if the token belongs to one.
fn listener_number(token: usize) -> Option<usize> {
    (usize::MAX - 1).checked_sub(token)
}
