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
mod shares;
mod stream;
mod turns;

use crate::answer::Answerer;
use crate::cell::Reader;
use crate::clock::Clock;
use crate::config::Tcp;
use crate::counters::Counters;
use crate::framing::{MAX_QUEUED, Timeout};
use crate::handle::{Request, lock};
use crate::tls::{Channel, Identity, padding};
use crate::transfers::special::{Received, Reply, Special, Transfer};
use crate::view::View;
use connection::Connection;
use hashlane_dns::query::BATCH;
use hashlane_dns::slices::Parts as _;
use hashlane_hash::scheme::Key;
use hashlane_link::tcp;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token, Waker};
use nix::sys::socket::{setsockopt, sockopt};
use shares::Shares;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use stream::Stream;
use turns::Turns;

/// Interval at which timeouts are checked.
const TICK: Duration = Duration::from_millis(100);

/// Longest wait for an event: the thread then lets go of replaced zones.
const PATIENCE: Duration = Duration::from_millis(250);

/// Connections that one event accepts from a listener, before others have their turn.
const ACCEPTS: usize = 64;

/// Rounds of reading and answering that a connection has in one turn: a query is read, answered, and its
/// response sent.
const ROUNDS: usize = 3;

/// Queries that a round answers of a connection with an event, so that one event costs the others little.
const FIRST: usize = 16;

/// Connections that have a further turn before the thread looks for events.
const FURTHER: usize = 16;

/// Time for handshakes of TLS before the thread looks for events: other connections wait for as long.
const HANDSHAKES: Duration = Duration::from_millis(1);

/// Length of each of the kernel's queues of a connection in bytes. By default the kernel lets a client that
/// does not read occupy megabytes.
const KERNEL_QUEUE: usize = 128 << 10;

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

/// The parts of a worker that it shares with the server.
pub(crate) struct Parts {
    pub(crate) answerer: Box<Answerer>,
    pub(crate) special: Special,
    /// Takes the transfers that have ended.
    pub(crate) requests: Sender<Request>,
    pub(crate) view: Reader<View>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) clock: Clock,
    /// Certificate and key of new connections over TLS, which a reload replaces.
    pub(crate) tls: Arc<Mutex<Option<Identity>>>,
    pub(crate) stop: Arc<AtomicBool>,
    /// Number of open connections, for reports.
    pub(crate) connections: Arc<AtomicU64>,
}

struct Listener {
    listener: TcpListener,
    is_tls: bool,
    /// True until an accept finds nothing.
    is_ready: bool,
}

/// Result of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// An event reports more.
    Wait,
    /// More is to be done at once.
    Again,
    Close,
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

    /// Accepts connections of a listener.
    fn accept(&mut self, number: usize, now: Instant) {
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
    fn shed(&mut self) {
        while let Some(victim) = self.shares.excess() {
            self.close_for_another(victim);
        }
    }

    fn close_for_another(&mut self, number: usize) {
        self.parts.counters.closed_for_others.add(1);
        self.close(number);
    }

    fn close(&mut self, number: usize) {
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

/// Serves a connection. Returns true, too, if a query was answered.
fn serve(
    connection: &mut Connection,
    parts: &mut Parts,
    scratch: &mut [u8],
    (queries, now): (usize, Instant),
) -> (Turn, bool) {
    let mut was_active = false;
    for _ in 0..ROUNDS {
        match connection.flush(now) {
            Ok(true) => {}
            Ok(false) if !connection.framing.has_room() => return (Turn::Wait, was_active),
            Ok(false) => {}
            Err(_) => return (Turn::Close, was_active),
        }
        if connection.transfer.is_some() {
            was_active = true;
            connection.framing.renew(now);
            go_on(connection, parts);
            continue;
        }
        if answer(connection, parts, queries, now) {
            was_active = true;
            continue;
        }
        match connection.read(scratch, now) {
            Ok(true) => {}
            Ok(false) if connection.framing.is_ended() => {
                let turn = if connection.is_flushed() { Turn::Close } else { Turn::Wait };
                return (turn, was_active);
            }
            Ok(false) => return (Turn::Wait, was_active),
            Err(_) => return (Turn::Close, was_active),
        }
    }
    (Turn::Again, was_active)
}

/// Queues the next messages of a transfer.
#[cold]
fn go_on(connection: &mut Connection, parts: &mut Parts) {
    let Some(transfer) = &mut connection.transfer else { return };
    let mut output = connection.framing.take_output();
    let (sent, before) = (connection.framing.sent(), output.len());
    let more = parts.special.send(transfer, sent + MAX_QUEUED, &mut output);
    parts.counters.sent_bytes.add((output.len() - before) as u64);
    connection.framing.put_output(output);
    if !more {
        let is_complete = transfer.is_complete();
        parts.counters.completed_transfers.add(u64::from(is_complete));
        parts.counters.broken_transfers.add(u64::from(!is_complete));
        parts.free(connection.transfer.take());
    }
}

impl Parts {
    /// The stream of a new connection; `None` if TLS has no certificate.
    fn stream(&self, socket: TcpStream, is_tls: bool, now: Instant) -> Option<Stream> {
        if !is_tls {
            return Some(Stream::Plain(socket));
        }
        let identity = lock(&self.tls).clone()?;
        Stream::tls(socket, identity.config, now).inspect_err(|error| tracing::debug!(%error, "TLS")).ok()
    }

    /// Hands a transfer that has ended to the thread that frees zones.
    fn free(&self, transfer: Option<Box<Transfer>>) {
        if let Some(transfer) = transfer {
            // The server ends.
            let _ = self.requests.send(Request::Free(transfer));
        }
    }
}

/// Answers complete messages, at most `most`, and at most a batch of them. Returns true if there were any.
fn answer(connection: &mut Connection, parts: &mut Parts, most: usize, now: Instant) -> bool {
    let Parts { answerer, special, view, counters, clock, .. } = parts;
    if connection.framing.messages().next().is_none() {
        return false;
    }
    let mut output = connection.framing.take_output();
    let sent = connection.framing.sent();
    let (peer, channel) = (connection.peer, connection.stream.channel());
    let (mut messages, mut received) = ([(peer, &[][..]); BATCH], 0);
    for (place, message) in messages.iter_mut().take(most).zip(connection.framing.messages()) {
        *place = (peer, message);
        received += 1;
    }
    let messages = messages.part(..received);
    let (mut answered, mut is_query, mut is_special) = (0, true, false);
    let seconds = clock.now().seconds;
    answerer.run(view, counters, (seconds, channel.into()), messages, |number, response| {
        let len = response.message.len();
        if response.reply.is_special {
            is_special = true;
            return false;
        }
        answered += 1;
        if len == 0 {
            // What is no query would be followed by more of it.
            is_query = false;
            return false;
        }
        counters.rcode(response.reply.rcode);
        counters.truncated.add(u64::from(response.reply.truncated));
        counters.sent.add(1);
        // A response is at most 65,535 bytes.
        output.extend_from_slice(&(len as u16).to_be_bytes());
        let start = output.len();
        output.extend_from_slice(response.message);
        if channel != Channel::Clear
            && let Some((_, query)) = messages.get(number)
        {
            padding::pad(query, &mut output, len);
        }
        counters.sent_bytes.add((output.len() - start) as u64);
        output.len() - sent < MAX_QUEUED
    });
    if let Some((from, message)) = messages.get(answered).copied().filter(|_| is_special) {
        answered += 1;
        match special.reply(answerer, view, counters, Received { message, from, channel, seconds }) {
            Reply::Transfer(transfer) => connection.transfer = Some(transfer),
            Reply::Message(response) => {
                counters.sent.add(1);
                counters.sent_bytes.add(response.len() as u64);
                // A response is at most 65,535 bytes.
                output.extend_from_slice(&(response.len() as u16).to_be_bytes());
                output.extend_from_slice(&response);
            }
        }
    }
    let consumed: usize = connection.framing.messages().take(answered).map(|message| 2 + message.len()).sum();
    connection.framing.put_output(output);
    if answered > 0 {
        connection.framing.consume(consumed, now);
    }
    if !is_query {
        connection.framing.end();
    }
    answered > 0
}

/// Token of a listener.
fn listener_token(number: usize) -> Token {
    Token(usize::MAX - 1 - number)
}

/// Number of a listener, if the token belongs to one.
fn listener_number(token: usize) -> Option<usize> {
    (usize::MAX - 1).checked_sub(token)
}
