//! Getting a zone from its primaries: connections, queries, and the zone that comes.

use super::kept::Kept;
use super::peers::Peer;
use super::stream::Stream;
use crate::clock::unix_seconds;
use crate::tls::failure;
use hashlane_dns::wire::{Flags, Message, Rcode, RecordType, Section};
use hashlane_dns::zone::{Builder, Zone, is_before};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::NameBuf;
use hashlane_transfer::delta::Delta;
use hashlane_transfer::disk::{DiskError, Writer};
use hashlane_transfer::incoming::{Incoming, Progress, Query};
use hashlane_transfer::notify::{soa_query, transfer_query};
use hashlane_transfer::soa::Soa;
use hashlane_transfer::tsig::Verifier;
use hashlane_transfer::zonemd::{self, Zonemd};
use std::fmt::Display;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time for a connection, and for each message to arrive.
const PATIENCE: Duration = Duration::from_secs(10);

/// A zone to get.
pub(crate) struct Job {
    pub(crate) apex: NameBuf,
    /// Servers to ask, in this order.
    pub(crate) primaries: Vec<Peer>,
    /// The version in service, or the expired one.
    pub(crate) current: Option<Arc<Zone>>,
    pub(crate) kept: Kept,
    /// Takes the whole zone whatever its serial number.
    pub(crate) is_forced: bool,
    /// Key of the names of zones.
    pub(crate) key: Key,
    pub(crate) limits: Limits,
}

/// Bounds of a transfer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) bytes: u64,
    pub(crate) time: Duration,
}

/// The answer of a primary.
pub(crate) enum Fetched {
    /// The version in service is the newest.
    Unchanged,
    /// Another version; with the differences that lead to it, if they were sent.
    New(Box<Zone>, Option<Vec<Delta>>),
}

/// Asks the primaries in turn until one answers. Returns its address, too.
///
/// # Errors
/// None has given an answer that is of use: the reasons of all.
pub(crate) fn fetch(job: &mut Job) -> Result<(Fetched, SocketAddr), String> {
    let mut reasons = Vec::new();
    for peer in job.primaries.clone() {
        match ask(job, &peer) {
            Ok(fetched) => {
                if let (Fetched::Unchanged, Some(current)) = (&fetched, &job.current) {
                    job.kept.catch_up(&job.apex, current);
                }
                return Ok((fetched, peer.address));
            }
            Err(error) => {
                tracing::warn!(zone = %job.apex, primary = %peer.address, %error, "no answer of use");
                reasons.push(format!("{}: {error}", peer.address));
            }
        }
    }
    Err(reasons.join("; "))
}

fn ask(job: &mut Job, peer: &Peer) -> Result<Fetched, String> {
    let end = Instant::now() + job.limits.time;
    let mut connection = Connection::open(peer, end)?;
    let ours = job.current.as_deref().map(Zone::serial).filter(|_| !job.is_forced);
    let Some(ours) = ours else { return whole(job, connection) };
    let soa = connection.soa(job)?;
    if soa.serial == ours {
        return Ok(Fetched::Unchanged);
    }
    if is_before(soa.serial, ours) {
        return Err(format!("has serial {}, before {ours}; `dns control retransfer` takes it", soa.serial));
    }
    match differences(job, &mut connection, ours) {
        Ok(fetched) => Ok(fetched),
        Err(error) => {
            tracing::debug!(zone = %job.apex, primary = %peer.address, error, "IXFR failed: AXFR");
            whole(job, Connection::open(peer, end)?)
        }
    }
}

/// The changes since a version: differences, or all.
fn differences(job: &mut Job, connection: &mut Connection<'_>, ours: u32) -> Result<Fetched, String> {
    let (deltas, zone) = match receive(job, connection, Query::Since(ours))? {
        Received::Whole(zone) => return Ok(Fetched::New(zone, None)),
        Received::Unchanged => return Ok(Fetched::Unchanged),
        Received::Deltas(deltas) => {
            let current = job.current.as_deref().ok_or("differences of no version")?;
            let zone = Delta::apply(current, &deltas, &job.key).map_err(text)?;
            check_digest(&zone)?;
            (deltas, Box::new(zone))
        }
    };
    if let Err(error) = job.kept.add(&zone, &deltas) {
        job.kept.failed(&job.apex, &error);
    }
    Ok(Fetched::New(zone, Some(deltas)))
}

fn whole(job: &mut Job, mut connection: Connection<'_>) -> Result<Fetched, String> {
    match receive(job, &mut connection, Query::Whole)? {
        Received::Whole(zone) => Ok(Fetched::New(zone, None)),
        _ => Err("no whole zone".to_owned()),
    }
}

/// The outcome of a transfer.
enum Received {
    Unchanged,
    Whole(Box<Zone>),
    Deltas(Vec<Delta>),
}

/// Receives a transfer. A whole zone is written to its file while it comes.
fn receive(job: &mut Job, connection: &mut Connection<'_>, query: Query) -> Result<Received, String> {
    let id = random_id()?;
    let mut verifier = connection.send(transfer_query(job.apex.view(), id, query))?;
    let mut incoming = Incoming::new(job.apex.view(), id, query, job.limits.bytes);
    let mut builder = Builder::new(job.apex.view(), &job.key);
    // Made by the first record of a whole zone.
    let mut writer: Option<Result<Writer, DiskError>> = None;
    let path = job.kept.path().to_owned();
    let progress = loop {
        let message = connection.receive(verifier.as_mut())?;
        let progress = incoming.message(&message, &mut |record| {
            let writer = writer.get_or_insert_with(|| Writer::create(&path));
            if let Ok(out) = writer
                && let Err(error) = out.push(record)
            {
                *writer = Err(error);
            }
            builder
                .add(record.owner, record.rtype, record.ttl, record.data)
                .map_err(|error| error.to_string())
        });
        match progress.map_err(text)? {
            Progress::More => {}
            progress => break progress,
        }
    };
    if let Some(verifier) = verifier {
        verifier.done().map_err(text)?;
    }
    match progress {
        Progress::More | Progress::Unchanged => Ok(Received::Unchanged),
        Progress::Deltas(deltas) => Ok(Received::Deltas(deltas)),
        Progress::Whole(_) => {
            let zone = builder.finish().map_err(text)?;
            check_digest(&zone)?;
            match writer.map(|writer| writer.and_then(Writer::finish)) {
                Some(Ok(len)) => job.kept.replaced(len),
                Some(Err(error)) => job.kept.failed(&job.apex, &error),
                None => job.kept = Kept::nothing(path),
            }
            Ok(Received::Whole(Box::new(zone)))
        }
    }
}

/// Refuses a zone whose digest differs from the one that it has (ZONEMD, RFC 8976).
fn check_digest(zone: &Zone) -> Result<(), String> {
    match zonemd::verify(zone) {
        Zonemd::Differs { is_altered: false, .. } => {
            Err("the zone differs from its digest (ZONEMD, RFC 8976)".to_owned())
        }
        _ => Ok(()),
    }
}

/// A connection to a primary.
struct Connection<'p> {
    stream: Stream,
    peer: &'p Peer,
    /// The end of all patience.
    end: Instant,
}

impl<'p> Connection<'p> {
    fn open(peer: &'p Peer, end: Instant) -> Result<Self, String> {
        Ok(Self { stream: Stream::connect(peer, deadline(end))?, peer, end })
    }

    /// Sends a query, signed if the peer has a key.
    fn send(&mut self, mut query: Vec<u8>) -> Result<Option<Verifier>, String> {
        let verifier = self.peer.key.as_ref().map(|key| key.sign(&mut query, unix_seconds()));
        let len = (query.len() as u16).to_be_bytes();
        self.stream.set_deadline(deadline(self.end));
        self.stream.send(&[&len, &query[..]].concat()).map_err(|error| failure(&error))?;
        Ok(verifier)
    }

    /// The next message, verified and without its signature.
    fn receive(&mut self, verifier: Option<&mut Verifier>) -> Result<Vec<u8>, String> {
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
    fn soa(&mut self, job: &Job) -> Result<Soa, String> {
        let id = random_id()?;
        let mut verifier = self.send(soa_query(job.apex.view(), id))?;
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
                && record.owner.view().eq_ignore_case(job.apex.view())
        };
        let soa = records.filter_map(Result::ok).find(is_soa).and_then(|record| Soa::parse(&record.data));
        soa.ok_or_else(|| "answers without the SOA record of the zone".to_owned())
    }
}

/// The time by which the next message must be there.
fn deadline(end: Instant) -> Instant {
    (Instant::now() + PATIENCE).min(end)
}

fn text(error: impl Display) -> String {
    error.to_string()
}

/// A random identifier of a query.
pub(crate) fn random_id() -> Result<u16, String> {
    Ok(random()? as u16)
}

/// A random number.
pub(crate) fn random() -> Result<u32, String> {
    getrandom::u32().map_err(|error| format!("no random numbers: {error}"))
}
