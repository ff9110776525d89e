//! Properties of the framing of DNS over TCP.

use crate::steps::Steps;
use hashlane_nameserver::config::Tcp;
use hashlane_nameserver::framing::{Framing, MAX_QUEUED, Timeout};
use std::time::{Duration, Instant};

/// The longest message with its length.
const LONGEST: usize = 2 + 65_535;

/// Queries that are answered at one time.
const BATCH: usize = 32;

/// Bytes from which on an input ends.
const MAX_RECEIVED: usize = 1 << 20;

/// Bytes that one step receives at most.
const READ: usize = 16 << 10;

/// A client sends bytes, takes bytes and lets time pass, in any order; a server reads, answers each query
/// with its bytes in reverse, and sends. The queries are those that the bytes hold, in their order; the
/// client gets their responses; the queues stay within their bounds; a connection is closed for a reason that
/// it has.
pub fn check_stream(octets: &[u8]) {
    let mut peer = Peer::new(Instant::now());
    let mut steps = Steps(octets);
    while !steps.is_empty() && peer.received.len() < MAX_RECEIVED {
        let kind = steps.octet();
        match kind & 7 {
            0 | 1 => {
                let len = usize::from(steps.octet());
                peer.receive(steps.octets(len));
            }
            // A message of any length, whose bytes are not taken from the input.
            2 => {
                let len = steps.number() as usize;
                peer.receive(&[&(len as u16).to_be_bytes()[..], &vec![kind; len]].concat());
            }
            3 => peer.answer(1 + usize::from(kind >> 3)),
            4 => peer.send(1 + steps.number() as usize),
            5 => peer.framing.block(peer.now),
            6 => peer.wait(Duration::from_millis(steps.number())),
            _ if kind == 0xff => peer.framing.end(),
            _ => peer.answer(BATCH),
        }
        peer.check();
    }
    while peer.framing.messages().next().is_some() {
        peer.answer(BATCH);
        peer.send(usize::MAX);
    }
    peer.send(usize::MAX);
    peer.check();
    assert!(peer.framing.unsent().is_empty() && peer.framing.has_room());
    let (queries, rest) = split(&peer.received);
    assert_eq!(peer.queries, queries.len());
    let responses: Vec<u8> = queries.into_iter().flat_map(response).collect();
    assert_eq!(peer.sent, responses);
    assert!(rest.len() < LONGEST);
}

/// A connection, and what it should hold.
struct Peer {
    framing: Framing,
    now: Instant,
    received: Vec<u8>,
    sent: Vec<u8>,
    /// Queries that are answered.
    queries: usize,
    /// Times of the last query, of the first byte of the next one, and since which responses wait.
    active: Instant,
    begun: Option<Instant>,
}

impl Peer {
    fn new(now: Instant) -> Self {
        let (received, sent) = (Vec::new(), Vec::new());
        Self { framing: Framing::new(now), now, received, sent, queries: 0, active: now, begun: None }
    }

    /// Reads as the server does: while no query is complete.
    fn receive(&mut self, bytes: &[u8]) {
        for bytes in bytes.chunks(READ) {
            while self.framing.messages().next().is_some() {
                self.answer(BATCH);
                self.send(usize::MAX);
            }
            if !self.framing.is_ended() {
                self.framing.receive(bytes, self.now);
                self.received.extend_from_slice(bytes);
                self.begun.get_or_insert(self.now);
            }
        }
    }

    /// Answers queries, at most `most`, while there is room.
    fn answer(&mut self, most: usize) {
        if !self.framing.has_room() || self.framing.messages().next().is_none() {
            return;
        }
        let mut output = self.framing.take_output();
        let (sent, mut consumed) = (self.framing.sent(), 0);
        for query in self.framing.messages().take(most) {
            output.extend(response(query));
            consumed += 2 + query.len();
            self.queries += 1;
            if output.len() - sent >= MAX_QUEUED {
                break;
            }
        }
        self.framing.put_output(output);
        self.framing.consume(consumed, self.now);
        self.active = self.now;
        let (_, rest) = split(&self.received);
        let is_left = self.framing.messages().next().is_some() || !rest.is_empty();
        self.begun = is_left.then_some(self.now);
    }

    fn send(&mut self, most: usize) {
        let unsent = self.framing.unsent();
        let len = unsent.len().min(most);
        self.sent.extend_from_slice(&unsent[..len]);
        if len > 0 {
            self.framing.advance(len);
        }
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
        let limits = Tcp::default();
        let passed = |since: Instant, millis| self.now - since >= Duration::from_millis(millis);
        let idle = passed(self.active, limits.idle_timeout_ms);
        let slow = self.begun.is_some_and(|since| passed(since, limits.message_timeout_ms));
        let waits = !self.framing.unsent().is_empty();
        match self.framing.timeout(self.now, &limits) {
            Some(Timeout::Idle) => assert!(idle && !slow && !waits),
            Some(Timeout::SlowQuery) => assert!(slow && !waits),
            Some(Timeout::SlowReader) => assert!(waits),
            None => assert!(waits || !idle && !slow),
        }
    }

    fn check(&self) {
        // A buffer grows to twice its length.
        assert!(self.framing.memory() <= 2 * (LONGEST + READ) + 4 * (MAX_QUEUED + LONGEST));
        let (queries, _) = split(&self.received);
        let waiting = queries.get(self.queries..).expect("no more queries than were received");
        assert!(self.framing.messages().eq(waiting.iter().copied()));
    }
}

/// The response to a query, with its length.
fn response(query: &[u8]) -> Vec<u8> {
    let len = (query.len() as u16).to_be_bytes();
    len.into_iter().chain(query.iter().rev().copied()).collect()
}

/// The messages in a stream, and the bytes after them.
fn split(mut stream: &[u8]) -> (Vec<&[u8]>, &[u8]) {
    let mut messages = Vec::new();
    while let [high, low, rest @ ..] = stream
        && let len = usize::from(u16::from_be_bytes([*high, *low]))
        && len <= rest.len()
    {
        messages.push(&rest[..len]);
        stream = &rest[len..];
    }
    (messages, stream)
}
