//! Queries to a primary over one connection, signed if it has a key.

use super::peers::Peer;
use super::random::random_id;
use super::stream::Stream;
use crate::clock::unix_seconds;
use crate::tls::failure;
use hashlane_dns::wire::{Flags, Message, Rcode, RecordType, Section};
use hashlane_name::dns::Name;
use hashlane_transfer::notify::soa_query;
use hashlane_transfer::soa::Soa;
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
}

impl<'p> Connection<'p> {
    pub(super) fn open(peer: &'p Peer, end: Instant) -> Result<Self, String> {
        Ok(Self { stream: Stream::connect(peer, deadline(end))?, peer, end })
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
                Ok(read) => buffer = buffer.get_mut(read..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failure(&error)),
            }
        }
        Ok(())
    }

    /// The SOA record that the primary has.
    pub(super) fn soa(&mut self, apex: Name<'_>) -> Result<Soa, String> {
        let id = random_id()?;
        let mut verifier = self.send(soa_query(apex, id))?;
        let bytes = self.receive(verifier.as_mut())?;
        let message = Message::parse(&bytes).map_err(text)?;
        let flags = message.header().flags;
        if message.header().id != id || !flags.contains(Flags::RESPONSE) {
            return Err("sends what is no response".to_owned());
        }
        if flags.rcode() != Rcode::NO_ERROR || !flags.contains(Flags::AUTHORITATIVE) {
            return Err(format!("has no authority for the zone: it answers with {}", flags.rcode()));
        }
        let (_, records) = message.questions().map_err(text)?;
        let is_soa = |record: &hashlane_dns::wire::Record| {
            (record.section, record.rtype) == (Section::Answer, RecordType::SOA)
                && record.owner.view().eq_ignore_case(apex)
        };
        let soa = records.filter_map(Result::ok).find(is_soa).and_then(|record| Soa::parse(&record.data));
        soa.ok_or_else(|| "answers without the SOA record of the zone".to_owned())
    }
}

/// The time by which the next message must be there.
fn deadline(end: Instant) -> Instant {
    (Instant::now() + PATIENCE).min(end)
}

pub(super) fn text(error: impl Display) -> String {
    error.to_string()
}
