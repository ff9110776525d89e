//! Getting a zone from its primaries: the order in which they are asked, and the zone that comes.

use super::connection::{Connection, text};
use super::kept::Kept;
use super::peers::Peer;
use super::random::random_id;
use hashlane_dns::zone::{Builder, Zone, is_before};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::NameBuf;
use hashlane_transfer::delta::Delta;
use hashlane_transfer::disk::{DiskError, Writer};
use hashlane_transfer::incoming::{Incoming, Progress, Query};
use hashlane_transfer::notify::transfer_query;
use hashlane_transfer::zonemd::{self, Zonemd};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

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
    /// The version that a NOTIFY has named.
    pub(crate) told: Option<Told>,
    /// Key of the names of zones.
    pub(crate) key: Key,
    pub(crate) limits: Limits,
}

/// A version that a NOTIFY names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) serial: u32,
    /// Sender of the NOTIFY.
    pub(crate) from: IpAddr,
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

/// The answer of a primary, before anything is transferred from one that lacks a version.
enum Answer {
    Fetched(Fetched),
    /// It does not have the version that a NOTIFY has named.
    Behind,
}

/// Asks the primaries in turn until one answers. Returns its address, too. If a NOTIFY has named a version,
/// its sender comes first, and one that has the version before those that lack it.
///
/// # Errors
/// None has given an answer that is of use: the reasons of all.
pub(crate) fn fetch(job: &mut Job) -> Result<(Fetched, SocketAddr), String> {
    let mut peers = job.primaries.clone();
    if let Some(told) = job.told {
        // A stable sort: the others stay in order.
        peers.sort_by_key(|peer| peer.address.ip() != told.from);
    }
    let (mut reasons, mut behind) = (Vec::new(), Vec::new());
    while !peers.is_empty() {
        for peer in std::mem::take(&mut peers) {
            match ask(job, &peer) {
                Ok(Answer::Fetched(fetched)) => {
                    for reason in &reasons {
                        tracing::warn!(zone = %job.apex, error = reason, "a primary has not answered; another has");
                    }
                    if let (Fetched::Unchanged, Some(current)) = (&fetched, &job.current) {
                        job.kept.catch_up(&job.apex, current);
                    }
                    return Ok((fetched, peer.address));
                }
                Ok(Answer::Behind) => behind.push(peer),
                Err(error) => reasons.push(format!("{}: {error}", peer.address)),
            }
        }
        // No primary has the version: an answer without it is one.
        job.told = None;
        peers = std::mem::take(&mut behind);
    }
    Err(reasons.join("; "))
}

fn ask(job: &mut Job, peer: &Peer) -> Result<Answer, String> {
    let end = Instant::now() + job.limits.time;
    let mut connection = Connection::open(peer, end)?;
    let ours = job.current.as_deref().map(Zone::serial).filter(|_| !job.is_forced);
    let Some(ours) = ours else { return whole(job, connection).map(Answer::Fetched) };
    let soa = connection.soa(job.apex.view())?;
    if job.told.is_some_and(|told| is_before(ours, told.serial) && is_before(soa.serial, told.serial)) {
        return Ok(Answer::Behind);
    }
    if soa.serial == ours {
        return Ok(Answer::Fetched(Fetched::Unchanged));
    }
    if is_before(soa.serial, ours) {
        return Err(format!("has serial {}, before {ours}; `dns control retransfer` takes it", soa.serial));
    }
    let fetched = differences(job, &mut connection, ours).or_else(|error| {
        tracing::debug!(zone = %job.apex, primary = %peer.address, error, "IXFR failed: AXFR");
        whole(job, Connection::open(peer, end)?)
    });
    fetched.map(Answer::Fetched)
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
