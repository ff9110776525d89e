//! Getting a zone from its primaries: the order in which they are asked, and the zone that comes.

use super::connection::{Connection, text};
use super::kept::Kept;
use super::peers::Peer;
use super::pool::Pool;
use super::random::random_id;
use hashlane_dns::zone::{Builder, Unpatched, Zone};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::NameBuf;
use hashlane_transfer::delta::{Advanced, Delta};
use hashlane_transfer::disk::{DiskError, Writer};
use hashlane_transfer::incoming::Progress;
use hashlane_transfer::session::{Session, Step};
use hashlane_transfer::zonemd::{self, Zonemd};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Weak};
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
    /// The same, after no primary had it.
    pub(crate) missed: Option<Told>,
    /// Key of the names of zones.
    pub(crate) key: Key,
    pub(crate) limits: Limits,
    /// Connections that wait for the next zone.
    pub(crate) pool: Arc<Pool>,
    /// Gone if the zone is not served any more.
    pub(crate) watched: Weak<()>,
}

impl Job {
    /// Tests if the zone is still served.
    fn is_watched(&self) -> bool {
        self.watched.strong_count() > 0
    }
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
    /// Another version.
    New(Box<New>),
}

/// Another version of a zone.
pub(crate) struct New {
    pub(crate) zone: Zone,
    pub(crate) how: How,
}

/// The way of a version from its primary.
pub(crate) enum How {
    /// The whole zone was sent.
    Whole,
    /// Differences were sent, and applied to a copy of the version in service, or built anew for a reason.
    Deltas(Vec<Delta>, Option<Unpatched>),
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
            if !job.is_watched() {
                break;
            }
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
        job.missed = job.missed.or(job.told.take());
        peers = std::mem::take(&mut behind);
    }
    Err(reasons.join("; "))
}

fn ask(job: &mut Job, peer: &Peer) -> Result<Answer, String> {
    let end = Instant::now() + job.limits.time;
    let ours = job.current.as_deref().map(Zone::serial).filter(|_| !job.is_forced);
    let announced = job.told.map(|told| told.serial);
    let mut session = Session::new(job.apex.view(), ours, job.limits.bytes).announced(announced);
    let mut connection = Connection::open(peer, end, &job.pool)?;
    loop {
        match exchange(job, &mut session, &mut connection) {
            Ok(None) => {}
            Ok(Some(answer)) => {
                connection.keep(&job.pool);
                return Ok(answer);
            }
            Err(error) if !job.is_watched() => return Err(error),
            // The primary has closed it meanwhile, or lost it in a restart.
            Err(error) if connection.is_stale() => {
                tracing::debug!(zone = %job.apex, primary = %peer.address, error, "kept connection: a new one");
                connection = Connection::new(peer, end)?;
            }
            Err(error) if session.fall_back() => {
                tracing::debug!(zone = %job.apex, primary = %peer.address, error, "IXFR failed: AXFR");
                connection = Connection::new(peer, end)?;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Sends the next query of a session, and receives the response; `None` if a further query follows. A whole
/// zone is written to its file while it comes.
fn exchange(
    job: &mut Job,
    session: &mut Session,
    connection: &mut Connection<'_>,
) -> Result<Option<Answer>, String> {
    let mut verifier = connection.send(session.query(random_id()?))?;
    let mut builder = Builder::new(job.apex.view(), &job.key);
    // Made by the first record of a whole zone.
    let mut writer: Option<Result<Writer, DiskError>> = None;
    let path = job.kept.path().to_owned();
    let step = loop {
        let message = connection.receive(verifier.as_mut())?;
        if !job.is_watched() {
            return Err("the zone is not served any more".to_owned());
        }
        let step = session.message(&message, &mut |record| {
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
        match step.map_err(text)? {
            Step::More => {}
            step => break step,
        }
    };
    if let Some(verifier) = verifier {
        verifier.done().map_err(text)?;
    }
    match step {
        Step::More | Step::Ask => Ok(None),
        Step::Behind => Ok(Some(Answer::Behind)),
        Step::Done(Progress::More | Progress::Unchanged) => Ok(Some(Answer::Fetched(Fetched::Unchanged))),
        Step::Done(Progress::Deltas(deltas)) => apply(job, deltas).map(Answer::Fetched).map(Some),
        Step::Done(Progress::Whole(_)) => {
            let zone = builder.finish().map_err(text)?;
            check_digest(&zone)?;
            job.kept.note(job.current.as_deref(), &zone, &job.key);
            match writer.map(|writer| writer.and_then(|writer| job.kept.replace(writer))) {
                Some(Ok(())) => {}
                Some(Err(error)) => job.kept.failed(&job.apex, &error),
                None => job.kept = Kept::nothing(path),
            }
            Ok(Some(Answer::Fetched(Fetched::New(Box::new(New { zone, how: How::Whole })))))
        }
    }
}

/// Applies differences to the version in service, and adds them to its file.
fn apply(job: &mut Job, deltas: Vec<Delta>) -> Result<Fetched, String> {
    let current = job.current.as_deref().ok_or("differences of no version")?;
    let Advanced { zone, unpatched } = Delta::advance(current, &deltas, &job.key).map_err(text)?;
    check_digest(&zone)?;
    if let Err(error) = job.kept.add(&zone, &deltas) {
        job.kept.failed(&job.apex, &error);
    }
    Ok(Fetched::New(Box::new(New { zone, how: How::Deltas(deltas, unpatched) })))
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
