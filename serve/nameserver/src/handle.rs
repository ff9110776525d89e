//! Handles to a server, and the state that its threads share.

use crate::cell::Cell;
use crate::counters::AllCounters;
use crate::status::{Reloaded, Reloads, Stats, Status, ZoneStatus};
use crate::view::View;
use hashlane_dns::respond::Transport;
use mio::Waker;
use std::collections::BTreeMap;
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
    pub(crate) workers: usize,
    pub(crate) counters: AllCounters,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) wakers: Mutex<Vec<Waker>>,
    /// Receives the end of the server: its threads end, or it is stopped.
    pub(crate) ended: Sender<End>,
    pub(crate) requests: Sender<Request>,
    pub(crate) view: Arc<Cell<View>>,
    /// The zones, with their numbers in the counters.
    pub(crate) zones: Mutex<Vec<(usize, ZoneStatus)>>,
    pub(crate) reloads: Mutex<Reloads>,
    /// Reason for which the last reload has refused the configuration.
    pub(crate) refused: Mutex<Option<String>>,
    /// Open TCP connections.
    pub(crate) connections: Arc<AtomicU64>,
}

/// End of a thread, or the request to stop.
pub(crate) enum End {
    Stop,
    Thread(String, io::Result<()>),
}

/// A request for a reload.
pub(crate) struct Request {
    /// Name of the one zone to load.
    pub(crate) zone: Option<String>,
    pub(crate) reply: Sender<io::Result<Reloaded>>,
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
        self.0.requests.send(Request { zone: zone.map(str::to_owned), reply }).map_err(|_| ended())?;
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
            workers: shared.workers,
            connections: shared.connections.load(Ordering::Relaxed),
            reloads: *lock(&shared.reloads),
            refused: lock(&shared.refused).clone(),
            zones: zones
                .into_iter()
                .map(|(number, zone)| ZoneStatus { queries: queries(number), ..zone })
                .collect(),
        }
    }

    /// Counters since the start.
    pub fn stats(&self) -> Stats {
        let status = self.status();
        let zones: BTreeMap<_, _> = status.zones.into_iter().map(|zone| (zone.name, zone.queries)).collect();
        Stats {
            udp: self.0.counters.sums(Transport::Udp),
            tcp: self.0.counters.sums(Transport::Tcp),
            connections: status.connections,
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

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
