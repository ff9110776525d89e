//! Queries to a primary over one connection, signed if it has a key.

use super::peers::Peer;
use super::pool::Pool;
use super::stream::Stream;
use crate::clock::unix_seconds;
use crate::tls::failure;
use hashlane_transfer::tsig::Verifier;
use std::fmt::Display;
use std::io;
use std::time::{Duration, Instant};

/// Time for a connection, and for each message to arrive.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection to a primary.
pub(super) struct Connection<'p> {
    stream: Stream,
    peer: &'p Peer,
    /// The end of all patience.
    end: Instant,
    /// It was used before, for another zone.
    is_kept: bool,
    /// A byte was read.
    has_answered: bool,
}

impl<'p> Connection<'p> {
    /// A kept connection to the primary, or a new one.
    pub(super) fn open(peer: &'p Peer, end: Instant, pool: &Pool) -> Result<Self, String> {
        match pool.take(peer) {
            Some(stream) => Ok(Self { stream, peer, end, is_kept: true, has_answered: false }),
            None => Self::new(peer, end),
        }
    }

    pub(super) fn new(peer: &'p Peer, end: Instant) -> Result<Self, String> {
        let stream = Stream::connect(peer, deadline(end))?;
        Ok(Self { stream, peer, end, is_kept: false, has_answered: false })
    }

    /// True for a kept connection that has not answered: a new one may do better.
    pub(super) fn is_stale(&self) -> bool {
        self.is_kept && !self.has_answered
    }

    /// Keeps the connection for the next zone.
    pub(super) fn keep(self, pool: &Pool) {
        pool.put(self.peer, self.stream);
    }

    /// Sends a query, signed if the peer has a key.
    pub(super) fn send(&mut self, mut query: Vec<u8>) -> Result<Option<Verifier>, String> {
        let verifier = self.peer.key.as_ref().map(|key| key.sign(&mut query, unix_seconds()));
        let len = (query.len() as u16).to_be_bytes();
        self.stream.set_deadline(deadline(self.end));
        self.stream.send(&[&len, &query[..]].concat()).map_err(|error| failure(&error))?;
        Ok(verifier)
    }

    /// The next message, verified and without its signature.
    pub(super) fn receive(&mut self, verifier: Option<&mut Verifier>) -> Result<Vec<u8>, String> {
        self.stream.set_deadline(deadline(self.end));
        let mut len = [0; 2];
        self.fill(&mut len)?;
        let mut message = vec![0; u16::from_be_bytes(len).into()];
        self.fill(&mut message)?;
        match verifier {
            None => Ok(message),
            Some(verifier) => verifier.check(&mut message, unix_seconds()).map(|()| message).map_err(text),
        }
    }

    /// Fills a buffer before the message is late.
    fn fill(&mut self, mut buffer: &mut [u8]) -> Result<(), String> {
        while !buffer.is_empty() {
            match self.stream.read(buffer) {
                Ok(0) => return Err("closes the connection before the end".to_owned()),
                Ok(read) => {
                    self.has_answered = true;
                    buffer = buffer.get_mut(read..).unwrap_or_default();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failure(&error)),
            }
        }
        Ok(())
    }
}

/// The time by which the next message must be there.
fn deadline(end: Instant) -> Instant {
    (Instant::now() + PATIENCE).min(end)
}

pub(super) fn text(error: impl Display) -> String {
    error.to_string()
}
