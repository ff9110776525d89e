//! The thread that knows when zones are due, and starts the threads that get them.

use super::event::{Done, Event, Secondary};
use super::fetch::{Fetched, Job, Limits, fetch, random};
use super::kept::Kept;
use super::peers::Peer;
use crate::clock::unix_seconds;
use crate::handle::{Handle, Request, lock};
use crate::status::TransferStatus;
use hashlane_dns::zone::Zone;
use hashlane_hash::scheme::Key;
use hashlane_name::dns::NameBuf;
use hashlane_transfer::soa::Soa;
use hashlane_transfer::timers::{Due, Timers};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Longest wait, so that the clocks of zones that come and go are looked at.
const PATIENCE: Duration = Duration::from_secs(1);

/// A zone and its times.
struct Watched {
    apex: NameBuf,
    primaries: Vec<Peer>,
    kept: Kept,
    news: Arc<AtomicBool>,
    timers: Timers,
    /// The newest version, also if it has expired.
    current: Option<Arc<Zone>>,
    is_busy: bool,
    /// Wanted by the operator, in any case.
    is_forced: bool,
    /// Wanted again while it was busy.
    again: bool,
}

/// The thread.
pub(crate) struct Refresher {
    key: Key,
    handle: Handle,
    events: Receiver<Event>,
    begun: Instant,
    zones: HashMap<Vec<u8>, Watched>,
    limits: Limits,
    /// Threads at most, and now.
    parallel: usize,
    busy: usize,
}

fn spelled(apex: &NameBuf) -> Vec<u8> {
    apex.as_bytes().to_ascii_lowercase()
}

impl Refresher {
    pub(crate) fn new(key: &Key, handle: Handle, events: Receiver<Event>) -> Self {
        let limits = Limits { bytes: 0, time: Duration::ZERO };
        let (zones, begun) = (HashMap::new(), Instant::now());
        Self { key: *key, handle, events, begun, zones, limits, parallel: 1, busy: 0 }
    }

    /// Serves events, and starts what is due.
    pub(crate) fn run(mut self) {
        loop {
            let wait = self.start_due();
            match self.events.recv_timeout(wait) {
                Ok(event) => self.take(event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if self.handle.is_stopped() {
                return;
            }
        }
    }

    fn now(&self) -> u64 {
        self.begun.elapsed().as_secs()
    }

    fn take(&mut self, event: Event) {
        let now = self.now();
        match event {
            Event::Configured(zones, limits, parallel) => {
                (self.limits, self.parallel) = (limits, parallel);
                self.configure(zones, now);
            }
            Event::Notified(apex) => {
                if let Some(zone) = self.zones.get_mut(&spelled(&apex)) {
                    zone.news.store(false, Ordering::Release);
                    zone.want(false, now);
                }
            }
            Event::Wanted(apex, is_forced, reply) => {
                let found = self.zones.get_mut(&spelled(&apex)).map(|zone| zone.want(is_forced, now));
                let why = || {
                    let why = format!(
                        "no zone {apex} with primaries; `hashlane dns control status` lists the zones"
                    );
                    io::Error::new(io::ErrorKind::NotFound, why)
                };
                // The client may have gone.
                let _ = reply.send(found.ok_or_else(why));
            }
            Event::Done(apex, done) => self.done(&apex, *done, now),
        }
    }

    fn configure(&mut self, zones: Vec<Secondary>, now: u64) {
        let mut old = std::mem::take(&mut self.zones);
        for zone in zones {
            let name = spelled(&zone.apex);
            let Secondary { apex, primaries, kept, news, current } = zone;
            let watched = match old.remove(&name) {
                Some(known) => Watched { primaries, news, ..known },
                None => {
                    let (current, age) = current.map_or((None, 0), |(zone, age)| (Some(zone), age));
                    let timers = Timers::new(current.as_deref().and_then(Soa::of), age, now);
                    let (is_busy, is_forced, again) = (false, false, false);
                    Watched { apex, primaries, kept, news, timers, current, is_busy, is_forced, again }
                }
            };
            self.zones.insert(name, watched);
        }
        // Threads of zones that are gone end by themselves, and their outcome is not used.
        lock(&self.handle.0.transfers).retain(|name, _| self.zones.contains_key(name));
    }

    /// Starts what is due, and returns the time until the next is.
    fn start_due(&mut self) -> Duration {
        let (now, mut next) = (self.now(), u64::MAX);
        let mut due = Vec::new();
        for (name, zone) in &mut self.zones {
            match zone.timers.due(now) {
                Due::Expire => {
                    let why = "expired: no primary has answered for as long as the SOA record allows";
                    tracing::error!(zone = %zone.apex, "{why}; queries get SERVFAIL");
                    // The server ends.
                    let _ = self.handle.0.requests.send(Request::Expire(zone.apex));
                    next = now;
                }
                Due::Refresh if !zone.is_busy => due.push((zone.timers.next(), name.clone())),
                Due::Refresh => {}
                Due::Nothing(at) => next = next.min(at),
            }
        }
        // Those that wait for longest come first.
        due.sort();
        for (_, name) in due {
            if self.busy >= self.parallel {
                break;
            }
            self.start(&name);
        }
        Duration::from_secs(next.saturating_sub(now)).min(PATIENCE)
    }

    /// Starts a thread for a zone.
    fn start(&mut self, name: &[u8]) {
        let now = self.now();
        let Some(zone) = self.zones.get_mut(name) else { return };
        let mut job = Job {
            apex: zone.apex,
            primaries: zone.primaries.clone(),
            current: zone.current.clone(),
            kept: zone.kept.clone(),
            is_forced: std::mem::take(&mut zone.is_forced),
            key: self.key,
            limits: self.limits,
        };
        let (apex, events) = (zone.apex, self.handle.0.events.clone());
        let run = move || {
            if let Err(error) = hashlane_link::priority::lower() {
                tracing::debug!(%error, "a transfer runs at the priority of the server");
            }
            let outcome = fetch(&mut job);
            let done = Done { outcome, kept: job.kept };
            // The server ends.
            let _ = events.send(Event::Done(apex, Box::new(done)));
        };
        match std::thread::Builder::new().name("transfer".into()).spawn(run) {
            Ok(_) => {
                zone.is_busy = true;
                self.busy += 1;
            }
            Err(error) => {
                tracing::error!(zone = %zone.apex, %error, "no thread for a transfer");
                zone.timers.failed(now, 0);
            }
        }
    }

    fn done(&mut self, apex: &NameBuf, Done { outcome, kept }: Done, now: u64) {
        self.busy -= 1;
        let random = random().unwrap_or_default();
        let Some(zone) = self.zones.get_mut(&spelled(apex)) else { return };
        (zone.is_busy, zone.kept) = (false, kept);
        let mut error = None;
        let mut primary = None;
        match outcome {
            Ok((Fetched::Unchanged(soa), from)) => {
                primary = Some(from);
                // The time of expiry is that of the version in service.
                let soa = zone.current.as_deref().and_then(Soa::of).unwrap_or(soa);
                if zone.timers.is_expired()
                    && let Some(current) = &zone.current
                {
                    error = install(&self.handle, *apex, Arc::clone(current), None).err();
                }
                zone.kept.confirm();
                zone.timers.succeeded(soa, now, random);
            }
            Ok((Fetched::New(new, deltas), from)) => {
                primary = Some(from);
                let new = Arc::new(*new);
                let (serial, records) = (new.serial(), new.records());
                let how = if deltas.is_some() { "IXFR" } else { "AXFR" };
                match (install(&self.handle, *apex, Arc::clone(&new), deltas), Soa::of(&new)) {
                    (Ok(()), Some(soa)) => {
                        tracing::info!(zone = %apex, serial, records, primary = %from, how, "zone transferred");
                        zone.current = Some(new);
                        zone.timers.succeeded(soa, now, random);
                    }
                    (outcome, _) => {
                        error = outcome.err();
                        zone.timers.failed(now, random);
                    }
                }
            }
            Err(why) => {
                tracing::warn!(zone = %apex, error = why, "no primary has the zone");
                error = Some(why);
                zone.timers.failed(now, random);
            }
        }
        if std::mem::take(&mut zone.again) {
            zone.timers.hurry(now);
        }
        let at = |time: u64| {
            // The clock of the timers begins with the server.
            (unix_seconds() + time).saturating_sub(now)
        };
        let status = TransferStatus {
            primary: primary.map(|address| address.to_string()),
            checked: primary.map(|_| at(now)),
            next: at(zone.timers.next()),
            expires: zone.timers.expiry().map(at),
            failures: zone.timers.failures().into(),
            error,
        };
        let mut all = lock(&self.handle.0.transfers);
        let place = all.entry(spelled(apex)).or_default();
        *place = TransferStatus {
            primary: status.primary.or_else(|| place.primary.take()),
            checked: status.checked.or(place.checked),
            ..status
        };
    }
}

impl Watched {
    fn want(&mut self, is_forced: bool, now: u64) {
        self.is_forced |= is_forced;
        self.again |= self.is_busy;
        self.timers.hurry(now);
    }
}

/// Puts a version in service.
fn install(
    handle: &Handle,
    apex: NameBuf,
    zone: Arc<Zone>,
    deltas: Option<Vec<hashlane_transfer::delta::Delta>>,
) -> Result<(), String> {
    let (reply, wait) = channel();
    let ended = || "the server has ended".to_owned();
    handle.0.requests.send(Request::Install { apex, zone, deltas, reply }).map_err(|_| ended())?;
    wait.recv().map_err(|_| ended())?.map_err(|error| error.to_string())
}
