//! Handles to a server, and the state that its threads share.

use crate::cell::Cell;
use crate::config::ZoneFile;
use crate::counters::AllCounters;
use crate::folder::Folder;
use crate::status::{Reloaded, Reloads, Stats, Status, TransferStatus, ZoneStatus};
use crate::tls::Identity;
use crate::transfers::event::{Event, Version};
use crate::transfers::special::Transfer;
use crate::view::View;
use hashlane_dns::respond::Transport;
use hashlane_name::dns::{NameBuf, text};
use mio::Waker;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Handle to a server, for any thread.
#[derive(Clone)]
pub struct Handle(pub(crate) Arc<Shared>);

/// State of the server that its threads and handles share.
pub(crate) struct Shared {
    pub(crate) begun: Instant,
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) tls_addresses: Vec<SocketAddr>,
    /// Certificate and key of connections over TLS.
    pub(crate) tls: Arc<Mutex<Option<Identity>>>,
    pub(crate) workers: usize,
    pub(crate) counters: AllCounters,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) wakers: Mutex<Vec<Waker>>,
    /// Receives the end of the server: its threads end, or it is stopped.
    pub(crate) ended: Sender<End>,
    pub(crate) requests: Sender<Request>,
    /// Events of the thread that refreshes zones.
    pub(crate) events: Sender<Event>,
    /// State of the zones with primaries, by their names in small letters.
    pub(crate) transfers: Mutex<HashMap<Vec<u8>, TransferStatus>>,
    pub(crate) view: Arc<Cell<View>>,
    /// The zones, with their numbers in the counters.
    pub(crate) zones: Mutex<Vec<(usize, ZoneStatus)>>,
    pub(crate) reloads: Mutex<Reloads>,
    /// Reason for which the last reload has refused the configuration.
    pub(crate) refused: Mutex<Option<String>>,
    /// Open TCP connections.
    pub(crate) connections: Arc<AtomicU64>,
    /// Queries that the queue of dnstap had no room for.
    pub(crate) untapped: Arc<AtomicU64>,
    /// Lock on the folder of received zones.
    pub(crate) folder: Mutex<Folder>,
}

/// End of a thread, or the request to stop.
pub(crate) enum End {
    Stop,
    Thread(String, io::Result<()>),
}

/// A change of the zones beside those of the configuration.
pub(crate) enum Change {
    Add(Box<ZoneFile>),
    Delete(Box<NameBuf>),
}

/// A request to the thread that owns the zones.
pub(crate) enum Request {
    /// A reload of all zones that have changed, or of the one with this name.
    Reload(Option<String>, Sender<io::Result<Reloaded>>),
    /// A received version of a zone; [`Event::Installed`] answers it.
    Install(Box<Version>),
    /// A zone that must not be served any more.
    Expire(Box<NameBuf>),
    /// A change of the zones beside those of the configuration.
    Change(Change, Sender<io::Result<()>>),
    /// News of a zone, again.
    Notify(String, Sender<io::Result<()>>),
    /// The end of a transfer, whose version may be the last of its kind: to free a large one takes long.
    Free(Box<Transfer>),
}

impl Handle {
    /// Stops the server: [`Server::run`](crate::Server::run) returns within a second.
    pub fn stop(&self) {
        self.0.stop.store(true, Ordering::Relaxed);
        for waker in lock(&self.0.wakers).iter() {
            // The thread looks every 250 ms in any case.
            let _ = waker.wake();
        }
        // The server has ended already.
        let _ = self.0.ended.send(End::Stop);
    }

    /// True once the server was stopped, or has ended.
    pub(crate) fn is_stopped(&self) -> bool {
        self.0.stop.load(Ordering::Relaxed)
    }

    /// Reads the configuration again, and loads the zones whose files have changed; only `zone`, if it is
    /// given, but that in any case. Returns once they are in service.
    ///
    /// # Errors
    /// The configuration is refused, or the zone unknown; nothing has changed then. The server has ended.
    pub fn reload(&self, zone: Option<&str>) -> io::Result<Reloaded> {
        let (reply, wait) = channel();
        let ended = || io::Error::other("the server has ended");
        self.0.requests.send(Request::Reload(zone.map(str::to_owned), reply)).map_err(|_| ended())?;
        wait.recv().map_err(|_| ended())?
    }

    /// Has the primaries of a zone asked now; with `retransfer`, the zone is transferred whatever its serial
    /// number. Returns at once: [`status`](Self::status) shows the outcome.
    ///
    /// # Errors
    /// The zone is unknown or has no primaries, or the server has ended.
    pub fn refresh(&self, zone: &str, retransfer: bool) -> io::Result<()> {
        let apex = named(zone)?;
        let (reply, wait) = channel();
        let ended = || io::Error::other("the server has ended");
        self.0.events.send(Event::Wanted(apex, retransfer, reply)).map_err(|_| ended())?;
        wait.recv().map_err(|_| ended())?
    }

    /// Serves another zone, and keeps it in `transfer.folder` beside those of the configuration.
    ///
    /// # Errors
    /// There is such a zone, it is not valid, or it cannot be kept; or the server has ended.
    pub fn add(&self, zone: ZoneFile) -> io::Result<()> {
        self.change(Change::Add(Box::new(zone)))
    }

    /// Serves a zone no more that was [added](Self::add).
    ///
    /// # Errors
    /// It was not added, or the change cannot be kept; or the server has ended.
    pub fn delete(&self, zone: &str) -> io::Result<()> {
        self.change(Change::Delete(Box::new(named(zone)?)))
    }

    fn change(&self, change: Change) -> io::Result<()> {
        let (reply, wait) = channel();
        let ended = || io::Error::other("the server has ended");
        self.0.requests.send(Request::Change(change, reply)).map_err(|_| ended())?;
        wait.recv().map_err(|_| ended())?
    }

    /// Tells the secondaries of a zone again that it has changed.
    ///
    /// # Errors
    /// The zone is unknown, has no data, or nobody is to be told; or the server has ended.
    pub fn notify(&self, zone: &str) -> io::Result<()> {
        let (reply, wait) = channel();
        let ended = || io::Error::other("the server has ended");
        self.0.requests.send(Request::Notify(zone.to_owned(), reply)).map_err(|_| ended())?;
        wait.recv().map_err(|_| ended())?
    }

    /// State of the server and of its zones.
    pub fn status(&self) -> Status {
        let shared = &self.0;
        let counters = shared.view.load().counters.clone();
        let queries = |number| counters.iter().map(|counters| counters.sum(number)).sum();
        let zones = lock(&shared.zones).clone();
        Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            uptime_s: shared.begun.elapsed().as_secs(),
            listen: shared.addresses.clone(),
            listen_tls: shared.tls_addresses.clone(),
            certificate_expires: lock(&shared.tls).as_ref().and_then(|identity| identity.expires),
            workers: shared.workers,
            connections: shared.connections.load(Ordering::Relaxed),
            reloads: *lock(&shared.reloads),
            refused: lock(&shared.refused).clone(),
            zones: zones
                .into_iter()
                .map(|(number, zone)| {
                    let transfer = zone.transfer.is_some().then(|| self.transfer(&zone.name)).flatten();
                    let error = zone.error.clone().or_else(|| lacking(&zone, transfer.as_ref()));
                    ZoneStatus { queries: queries(number), transfer, error, ..zone }
                })
                .collect(),
        }
    }

    /// State of the transfers of a zone.
    fn transfer(&self, zone: &str) -> Option<TransferStatus> {
        let apex = text::parse(zone.as_bytes()).ok()?;
        let transfers = lock(&self.0.transfers);
        Some(transfers.get(&apex.as_bytes().to_ascii_lowercase()).cloned().unwrap_or_default())
    }

    /// Counters since the start.
    pub fn stats(&self) -> Stats {
        let status = self.status();
        let zones: BTreeMap<_, _> = status.zones.into_iter().map(|zone| (zone.name, zone.queries)).collect();
        Stats {
            udp: self.0.counters.sums(Transport::Udp),
            tcp: self.0.counters.sums(Transport::Tcp),
            connections: status.connections,
            dnstap_lost: self.0.untapped.load(Ordering::Relaxed),
            zones,
            reloads: status.reloads,
        }
    }

    /// Counters in the text format of Prometheus.
    pub fn metrics(&self) -> String {
        crate::metrics::text(&self.status(), &self.stats())
    }

    /// Counters of the turns of each thread that answers: all of them rise several times a second.
    pub fn beats(&self) -> Vec<u64> {
        self.0.counters.0.iter().map(|counters| counters.turns.get()).collect()
    }
}

/// The fault of a zone with primaries that has no data, or none on the disk.
fn lacking(zone: &ZoneStatus, transfer: Option<&TransferStatus>) -> Option<String> {
    let transfer = transfer?;
    match (zone.serial, &transfer.error, &transfer.not_kept) {
        (None, Some(error), _) => Some(format!("not received yet: {error}")),
        (None, None, _) => Some("not received yet".to_owned()),
        (Some(_), _, Some(error)) => Some(format!("in service, but not on the disk: {error}")),
        _ => None,
    }
}

/// The name of a zone.
fn named(zone: &str) -> io::Result<NameBuf> {
    text::parse(zone.as_bytes()).map_err(|error| {
        let why = format!("{zone:?} is not the name of a zone: {error}");
        io::Error::new(io::ErrorKind::InvalidInput, why)
    })
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
