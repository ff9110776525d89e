//! Handles to a server, and the state that its threads share.

use crate::cell::Cell;
use crate::config::ZoneFile;
use crate::counters::{AllCounters, Sums, ZoneCounters};
use crate::folder::Folder;
use crate::interface::Interface;
use crate::status::{
    Loading, NotifyStatus, Reloaded, Reloads, Stats, Status, TransferStatus, Transfers, ZoneStatus,
};
use crate::tls::Identity;
use crate::transfers::counts::Counts;
use crate::transfers::event::{Event, Version};
use crate::transfers::notifier::Answer;
use crate::transfers::receipt::{Outcome, Recipient};
use crate::transfers::special::Transfer;
use crate::view::View;
use crate::zones::{Listed, Membership};
use hashlane_dns::respond::Transport;
use hashlane_name::dns::{Name, NameBuf, text};
use mio::Waker;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
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
    /// Interfaces that were opened for XDP.
    pub(crate) interfaces: Vec<Arc<Interface>>,
    pub(crate) counters: AllCounters,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) wakers: Mutex<Vec<Waker>>,
    /// Receives the end of the server: its threads end, or it is stopped.
    pub(crate) ended: Sender<End>,
    pub(crate) requests: Sender<Request>,
    /// Events of the thread that refreshes zones.
    pub(crate) events: Sender<Event>,
    /// Clients that wait for an outcome.
    pub(crate) waiting: AtomicUsize,
    /// Outcomes of transfers from primaries, and of NOTIFY to secondaries.
    pub(crate) received: Arc<Counts>,
    /// State of the zones with primaries, by their names in small letters.
    pub(crate) transfers: Mutex<HashMap<Vec<u8>, TransferStatus>>,
    pub(crate) view: Arc<Cell<View>>,
    pub(crate) zones: Mutex<Vec<Listed>>,
    /// Zones that were loaded so far, until all are.
    pub(crate) loading: Mutex<Option<Loading>>,
    pub(crate) reloads: Mutex<Reloads>,
    /// Reason for which the last reload has refused the configuration.
    pub(crate) refused: Mutex<Option<String>>,
    /// Open TCP connections.
    pub(crate) connections: Arc<AtomicU64>,
    /// Queries that the dnstap collector did not get.
    pub(crate) untapped: Arc<AtomicU64>,
    /// Lock on the folder of received zones.
    pub(crate) folder: Mutex<Folder>,
}

/// End of a thread, or the request to stop.
pub(crate) enum End {
    Stop,
    Thread(String, io::Result<()>),
}

/// A change of the zones beside the configured ones.
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
    /// A change of the zones beside the configured ones.
    Change(Change, Sender<io::Result<()>>),
    /// News of a zone, again. The first sender gets the servers that are told, the second, if there is one,
    /// their answers.
    Notify(Box<NameBuf>, Sender<io::Result<Vec<SocketAddr>>>, Option<Sender<Answer>>),
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

    /// State of the server and of its zones.
    pub fn status(&self) -> Status {
        let shared = &self.0;
        let counters = shared.view.load().counters.clone();
        let zones = lock(&shared.zones).clone();
        let loading = *lock(&shared.loading);
        Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            uptime_s: shared.begun.elapsed().as_secs(),
            listen: shared.addresses.clone(),
            listen_tls: shared.tls_addresses.clone(),
            certificate_expires: lock(&shared.tls).as_ref().and_then(|identity| identity.expires),
            workers: shared.workers,
            interfaces: shared.interfaces.iter().map(|interface| interface.status()).collect(),
            connections: shared.connections.load(Ordering::Relaxed),
            reloads: *lock(&shared.reloads),
            refused: lock(&shared.refused).clone(),
            loading,
            zones: zones.into_iter().map(|zone| self.completed(zone, &counters)).collect(),
        }
    }

    /// State of one zone; `None` if there is no such zone.
    pub(crate) fn zone(&self, apex: Name<'_>) -> Option<ZoneStatus> {
        let is = |zone: &ZoneStatus| {
            text::parse(zone.name.as_bytes()).is_ok_and(|name| name.view().eq_ignore_case(apex))
        };
        let zone = lock(&self.0.zones).iter().find(|zone| is(&zone.status)).cloned()?;
        Some(self.completed(zone, &self.0.view.load().counters))
    }

    /// The state of a zone, with what other threads know of it.
    fn completed(&self, listed: Listed, counters: &[Arc<ZoneCounters>]) -> ZoneStatus {
        let Listed { number, status: zone, servers } = listed;
        let notify = servers.secondaries.iter().filter_map(notified).collect();
        let primaries = servers.primaries.iter().map(ToString::to_string).collect();
        let (catalog, group) = match &servers.member {
            Some(Membership { catalog, group }) => (catalog.clone(), group.clone()),
            None => Default::default(),
        };
        let queries = counters.iter().map(|counters| counters.sum(number)).sum();
        let transfer = zone.transfer.is_some().then(|| self.transfer(&zone.name)).flatten();
        // The primaries are asked once all zones are loaded.
        let is_loading = lock(&self.0.loading).is_some();
        let lacking = || lacking(&zone, transfer.as_ref()).filter(|_| !is_loading);
        let error = zone.error.clone().or_else(lacking);
        ZoneStatus { queries, transfer, error, notify, primaries, catalog, group, ..zone }
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
        let [udp, tcp] = [Transport::Udp, Transport::Tcp].map(|transport| self.0.counters.sums(transport));
        let both = |of: fn(&Sums) -> u64| of(&udp) + of(&tcp);
        let transfers = Transfers {
            sent: both(|sums| sums.completed_transfers),
            broken: both(|sums| sums.broken_transfers),
            refused: both(|sums| sums.refused_transfers),
            ..self.0.received.sums()
        };
        Stats {
            udp,
            tcp,
            transfers,
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

/// The outcome of the last NOTIFY to a secondary.
fn notified(Recipient { address, receipt }: &Recipient) -> Option<NotifyStatus> {
    let Outcome { serial, rcode } = receipt.get()?;
    let answer = rcode.map(|rcode| rcode.to_string());
    Some(NotifyStatus { secondary: address.to_string(), serial, answer })
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

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
