//! Observation of a running forwarder: metrics for Prometheus, and the status page.
//!
//! The management samples counters every [`INTERVAL`] and publishes a [`Snapshot`], which the threads of HTTP
//! clients read: they never touch a table. Names come from one packet in [`SAMPLED`], which forwarding
//! threads hand over through a bounded queue. All memory is bounded: points of an hour, and heavy hitters of
//! twelve windows.
//!
//! Without a listener for metrics, nothing of this runs.

mod chart;
mod history;
mod html;
mod metrics;
mod page;
mod snapshot;
mod windows;

use crate::management::{FaceInfo, Manager, TableRequest};
use crate::totals::Totals;
use hashlane_daemon::metrics::Page;
use hashlane_ndn::mgmt::values::FaceScope;
use hashlane_ndn_fw::face::{Counter, FaceCounters};
use hashlane_ndn_fw::trace::{Sample, Sampling};
use history::History;
use snapshot::{Neighbour, Snapshot};
use std::collections::{BTreeMap, HashMap};
use std::sync::mpsc::{Receiver, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use windows::Windows;

/// Interval of the samples.
pub(crate) const INTERVAL: Duration = Duration::from_secs(5);

/// One packet in so many is a sample of its name.
const SAMPLED: u32 = 256;

/// Samples that wait for the management: of 4 million packets between two looks. More are lost.
const QUEUE: usize = 1 << 14;

/// Neighbours in a snapshot, those with most traffic.
const NEIGHBOURS: usize = 24;

/// Observation of a forwarder, from any thread.
#[derive(Clone, Debug)]
pub struct Observation {
    counters: Totals,
    latest: Arc<Mutex<Arc<Snapshot>>>,
}

impl Observation {
    /// The metrics in the text format of Prometheus.
    pub fn metrics(&self) -> String {
        metrics::text(&self.counters, &self.latest())
    }

    /// The page at a path: the status page at `/`.
    pub fn page(&self, path: &str) -> Option<Page> {
        (path == "/").then(|| page::page(&self.counters, &self.latest()))
    }

    fn latest(&self) -> Arc<Snapshot> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Traffic of a face, in packets and bytes since it was opened.
#[derive(Clone, Copy, Debug, Default)]
struct Traffic {
    in_bytes: u64,
    out_bytes: u64,
    in_interests: u64,
    in_data: u64,
    drops: u64,
}

impl Traffic {
    fn of(face: &FaceInfo) -> Self {
        let sum = |counter: fn(&FaceCounters) -> &Counter| {
            face.counters.iter().map(|shard| counter(shard).value()).sum()
        };
        Self {
            in_bytes: sum(|all| &all.in_bytes),
            out_bytes: sum(|all| &all.out_bytes),
            in_interests: sum(|all| &all.in_interests),
            in_data: sum(|all| &all.in_data),
            drops: sum(|all| &all.in_drops) + sum(|all| &all.out_drops),
        }
    }

    fn since(self, before: Self) -> Self {
        Self {
            in_bytes: self.in_bytes.saturating_sub(before.in_bytes),
            out_bytes: self.out_bytes.saturating_sub(before.out_bytes),
            in_interests: self.in_interests.saturating_sub(before.in_interests),
            in_data: self.in_data.saturating_sub(before.in_data),
            drops: self.drops.saturating_sub(before.drops),
        }
    }
}

/// The sampling end, on the thread of the management.
pub(crate) struct Observer {
    samples: Receiver<Sample>,
    observation: Observation,
    start: Instant,
    /// Time of the last sample.
    taken: Option<Instant>,
    faces: HashMap<u64, Traffic>,
    history: History,
    windows: Windows,
    /// Number of changes of the FIB, and the time at which the last one was seen.
    fib_changed: (u64, Duration),
}

impl Observer {
    /// Begins to observe. Returns also the request that makes the forwarding threads sample names.
    pub(crate) fn new(counters: Totals, start: Instant) -> (Self, TableRequest) {
        let (sender, samples) = sync_channel(QUEUE);
        let sink =
            Arc::new(move |sample| !matches!(sender.try_send(sample), Err(TrySendError::Disconnected(_))));
        let observation = Observation { counters, latest: Arc::default() };
        let observer = Self {
            samples,
            observation,
            start,
            taken: None,
            faces: HashMap::new(),
            history: History::default(),
            windows: Windows::default(),
            fib_changed: Default::default(),
        };
        (observer, TableRequest::Sample(Sampling { every: SAMPLED, sink }))
    }

    /// Observation for other threads.
    pub(crate) fn observation(&self) -> Observation {
        self.observation.clone()
    }

    /// Takes the samples of names that have come. Takes a sample of the counters, and publishes a snapshot,
    /// if it is due.
    pub(crate) fn observe(&mut self, manager: &Manager, now: Instant) {
        for sample in self.samples.try_iter().take(QUEUE) {
            self.windows.add_prefix(&sample.prefix, SAMPLED.into());
        }
        let passed = self.taken.map(|taken| now.saturating_duration_since(taken));
        if passed.is_some_and(|passed| passed < INTERVAL) {
            return;
        }
        self.taken = Some(now);
        let seconds = passed.unwrap_or_default().as_secs_f64();
        let since = now.saturating_duration_since(self.start);
        self.windows.turn(since);
        if self.fib_changed.0 != manager.fib_changes() {
            self.fib_changed = (manager.fib_changes(), since);
        }
        let (neighbours, faces) = self.observe_faces(manager, seconds);
        let counters = &self.observation.counters;
        self.history.add(counters, since, seconds);
        self.windows.add_drops(counters);
        let snapshot = Snapshot {
            since,
            taken: SystemTime::now(),
            faces,
            neighbours,
            prefixes: self.windows.prefixes(),
            peers: self.windows.peers(),
            drops: self.windows.drops(),
            points: self.history.points(),
            fib_age: since.saturating_sub(self.fib_changed.1),
            advertised: manager.advertised().collect(),
            fetches: manager.fetch_counts(),
            page: Default::default(),
        };
        let latest = Arc::new(snapshot);
        *self.observation.latest.lock().unwrap_or_else(PoisonError::into_inner) = latest;
    }

    /// Neighbours with most traffic since the last sample, and numbers of faces by scheme and scope. Adds the
    /// traffic of each peer.
    fn observe_faces(
        &mut self,
        manager: &Manager,
        seconds: f64,
    ) -> (Vec<Neighbour>, BTreeMap<(&'static str, &'static str), u64>) {
        let (mut counts, mut traffic) = (BTreeMap::<_, u64>::new(), Vec::new());
        let mut known = HashMap::with_capacity(self.faces.len());
        for face in manager.faces() {
            let is_local = face.scope == FaceScope::Local;
            let scope = if is_local { "local" } else { "non-local" };
            *counts.entry((face.remote.scheme(), scope)).or_default() += 1;
            let total = Traffic::of(face);
            let before = self.faces.get(&face.id).copied().unwrap_or_default();
            known.insert(face.id, total);
            let passed = total.since(before);
            self.windows.add_peer(&snapshot::peer(face), passed.in_bytes + passed.out_bytes);
            if !is_local {
                traffic.push((passed.in_bytes + passed.out_bytes, face, passed, total));
            }
        }
        // Closed faces are forgotten.
        self.faces = known;
        traffic.sort_unstable_by_key(|(bytes, face, ..)| (std::cmp::Reverse(*bytes), face.id));
        let rate = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
        let neighbours = traffic.into_iter().take(NEIGHBOURS).map(|(_, face, passed, total)| Neighbour {
            face: face.id,
            remote: face.remote.to_string(),
            local: face.local.to_string(),
            received: rate(passed.in_bytes),
            sent: rate(passed.out_bytes),
            interests: rate(passed.in_interests),
            data: rate(passed.in_data),
            drops: total.drops,
        });
        (neighbours.collect(), counts)
    }
}
