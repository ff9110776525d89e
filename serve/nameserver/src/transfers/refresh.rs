//! The thread that knows when zones are due, and starts the threads that get them.

use super::ending::Ending;
use super::event::{Done, Event, Secondary, Version, Wanted};
use super::fetch::{Fetched, How, Job, Limits, fetch};
use super::pool::Pool;
use super::random::random;
use super::watched::Watched;
use crate::clock::unix_seconds;
use crate::handle::{Handle, Request, lock};
use crate::zones::unknown_zone;
use hashlane_hash::scheme::Key;
use hashlane_name::dns::NameBuf;
use hashlane_transfer::soa::Soa;
use hashlane_transfer::timers::Due;
use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Longest wait, so that the clocks of zones that come and go are looked at.
const PATIENCE: Duration = Duration::from_secs(1);

/// The thread.
pub(crate) struct Refresher {
    key: Key,
    handle: Handle,
    events: Receiver<Event>,
    begun: Instant,
    zones: HashMap<Vec<u8>, Watched>,
    limits: Limits,
    /// Threads at most, and the names of zones that have one, also if they are not served any more.
    parallel: usize,
    running: HashSet<Vec<u8>>,
    /// Connections that wait for the next zone.
    pool: Arc<Pool>,
}

fn spelled(apex: &NameBuf) -> Vec<u8> {
    apex.as_bytes().to_ascii_lowercase()
}

impl Refresher {
    pub(crate) fn new(key: &Key, handle: Handle, events: Receiver<Event>) -> Self {
        let limits = Limits { bytes: 0, time: Duration::ZERO };
        let (zones, begun, running) = (HashMap::new(), Instant::now(), HashSet::new());
        let pool = Arc::default();
        Self { key: *key, handle, events, begun, zones, limits, parallel: 1, running, pool }
    }

    /// Serves events, and starts what is due.
    pub(crate) fn run(mut self) {
        loop {
            let wait = self.start_due();
            self.pool.close_idle();
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
            Event::Notified(apex, told) => {
                if let Some(zone) = self.zones.get_mut(&spelled(&apex)) {
                    zone.news.clear();
                    zone.told = told.or(zone.told);
                    zone.want(false, zone.soonest(now));
                }
            }
            Event::Wanted(Wanted { apex, is_forced, outcome }, reply) => {
                let found = self.zones.get_mut(&spelled(&apex)).map(|zone| {
                    zone.want(is_forced, now);
                    zone.waiting.extend(outcome);
                    self.limits.time.saturating_mul(zone.primaries.len() as u32)
                });
                // The client may have gone.
                let _ = reply.send(found.ok_or_else(|| unknown_zone(apex.view())));
            }
            Event::Done(apex, done) => self.done(&apex, *done, now),
            Event::Installed(apex, outcome) => self.installed(&apex, outcome, now),
        }
    }

    fn configure(&mut self, zones: Vec<Secondary>, now: u64) {
        let mut old = std::mem::take(&mut self.zones);
        for zone in zones {
            let name = spelled(&zone.apex);
            let known = old.remove(&name).filter(|known| known.id == zone.id);
            self.zones.insert(name, Watched::new(zone, known, now));
        }
        // Threads of zones that are gone end by themselves, and their outcome is not used.
        lock(&self.handle.0.transfers).retain(|name, _| self.zones.contains_key(name));
    }

    /// Starts what is due, and returns the time until the next is.
    fn start_due(&mut self) -> Duration {
        let (now, mut next) = (self.now(), u64::MAX);
        let (mut due, has_room) = (Vec::new(), self.running.len() < self.parallel);
        // Threads by the first primary of their zones.
        let mut asked = HashMap::new();
        for (name, zone) in &mut self.zones {
            let primary = zone.primaries.first().map(|peer| peer.address);
            if zone.is_busy {
                *asked.entry(primary).or_insert(0) += 1;
            }
            match zone.timers.due(now) {
                Due::Expire => {
                    let why = "expired: no primary has answered for as long as the SOA record allows";
                    tracing::error!(zone = %zone.apex, "{why}; queries get SERVFAIL");
                    // The server ends.
                    let _ = self.handle.0.requests.send(Request::Expire(Box::new(zone.apex)));
                    next = now;
                }
                // Two threads would write to one file.
                Due::Refresh if has_room && !zone.is_busy && !self.running.contains(name) => {
                    let is_doubtful = zone.timers.failures() > 0;
                    due.push((!zone.is_wanted, zone.timers.next(), is_doubtful, primary, name.clone()));
                }
                Due::Refresh => {}
                Due::Nothing(at) => next = next.min(at),
            }
        }
        // Wanted ones come first, then those that wait for longest. A primary that has not answered before
        // has half of the threads at most.
        due.sort();
        let most = (self.parallel / 2).max(1);
        for (_, _, is_doubtful, primary, name) in due {
            if self.running.len() >= self.parallel {
                break;
            }
            let asked = asked.entry(primary).or_insert(0);
            if *asked < most || !is_doubtful {
                *asked += 1;
                self.start(&name);
            }
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
            told: zone.told.take(),
            missed: None,
            key: self.key,
            limits: self.limits,
            pool: Arc::clone(&self.pool),
            watched: Arc::downgrade(&zone.life),
        };
        let events = self.handle.0.events.clone();
        let run = move || {
            if let Err(error) = hashlane_link::priority::lower() {
                tracing::debug!(%error, "a transfer runs at the priority of the server");
            }
            let mut ending = Ending::new(&job, events);
            let outcome = fetch(&mut job);
            ending.set(Done { watched: job.watched, outcome, kept: job.kept, missed: job.missed });
        };
        match std::thread::Builder::new().name("transfer".into()).spawn(run) {
            Ok(_) => {
                (zone.is_busy, zone.is_wanted, zone.started) = (true, false, now);
                zone.served.append(&mut zone.waiting);
                self.running.insert(name.to_vec());
            }
            Err(error) => {
                tracing::error!(zone = %zone.apex, %error, "no thread for a transfer");
                zone.timers.failed(now, 0);
            }
        }
    }

    /// Takes the outcome of a thread. A version is put in service by another thread, and the zone stays busy
    /// until then.
    fn done(&mut self, apex: &NameBuf, Done { watched, outcome, kept, missed }: Done, now: u64) {
        let name = spelled(apex);
        self.running.remove(&name);
        let is_same =
            |zone: &&mut Watched| watched.upgrade().is_some_and(|life| Arc::ptr_eq(&life, &zone.life));
        let Some(zone) = self.zones.get_mut(&name).filter(is_same) else {
            // Another zone of this name has no file yet: its thread waits for this one.
            return kept.remove(apex);
        };
        (zone.kept, zone.was_futile, zone.how) = (kept, true, None);
        zone.miss(missed);
        let (version, how, primary) = match outcome {
            Ok((Fetched::Unchanged, primary)) => {
                zone.kept.confirm();
                match zone.current.clone().filter(|_| zone.timers.is_expired()) {
                    // It has expired, and is in service again.
                    Some(current) => (current, How::Whole, primary),
                    None => return self.finish(apex, Ok(primary), now),
                }
            }
            Ok((Fetched::New(new), primary)) => (Arc::new(new.zone), new.how, primary),
            Err(why) => {
                tracing::warn!(zone = %apex, error = why, "no primary has the zone");
                return self.finish(apex, Err(why), now);
            }
        };
        let (serial, records) = (version.serial(), version.records());
        let (how, deltas) = match how {
            How::Whole => ("AXFR", None),
            How::Deltas(deltas, unpatched) => {
                self.handle.0.received.applied(unpatched.is_none());
                if let Some(why) = unpatched {
                    tracing::info!(zone = %apex, %why, "the zone is built anew, not patched");
                }
                ("IXFR", Some(deltas))
            }
        };
        tracing::info!(zone = %apex, serial, records, %primary, how, "zone transferred");
        (zone.was_futile, zone.how) = (false, Some(how));
        zone.coming = Some((Arc::clone(&version), primary));
        let version = Version { apex: *apex, id: zone.id.clone(), zone: version, deltas };
        // The server ends.
        let _ = self.handle.0.requests.send(Request::Install(Box::new(version)));
    }

    /// Takes the outcome of an installation.
    fn installed(&mut self, apex: &NameBuf, outcome: Result<(), String>, now: u64) {
        let Some(zone) = self.zones.get_mut(&spelled(apex)) else { return };
        let Some((version, primary)) = zone.coming.take() else { return };
        let outcome = outcome.map(|()| {
            zone.current = Some(version);
            primary
        });
        self.finish(apex, outcome, now);
    }

    /// Sets the time of the next question, and reports the outcome: the primary that has answered.
    fn finish(&mut self, apex: &NameBuf, outcome: Result<SocketAddr, String>, now: u64) {
        let random = random().unwrap_or_default();
        let Some(zone) = self.zones.get_mut(&spelled(apex)) else { return };
        zone.is_busy = false;
        match (&outcome, zone.current.as_deref().and_then(Soa::of)) {
            (Ok(_), Some(soa)) => zone.timers.succeeded(soa, now, random),
            _ => zone.timers.failed(now, random),
        }
        zone.news.set_failing(zone.needs_answer());
        if std::mem::take(&mut zone.again) {
            zone.timers.hurry(zone.soonest(now));
        }
        if outcome.is_ok() {
            zone.ask_for_missed(now);
        }
        match &outcome {
            Ok(_) if zone.how.is_some() => self.handle.0.received.received(),
            Ok(_) => {}
            Err(_) => self.handle.0.received.failed(),
        }
        let at = |time: u64| {
            // The clock of the timers begins with the server.
            (unix_seconds() + time).saturating_sub(now)
        };
        let mut all = lock(&self.handle.0.transfers);
        let place = all.entry(spelled(apex)).or_default();
        if let Ok(primary) = &outcome {
            (place.primary, place.checked) = (Some(primary.to_string()), Some(at(now)));
        }
        place.error = outcome.as_ref().err().cloned();
        place.next = at(zone.timers.next());
        place.expires = zone.timers.expiry().map(at);
        place.failures = zone.timers.failures().into();
        place.not_kept = zone.kept.error();
        drop(all);
        // The status shows the outcome before those who wait for it ask for it.
        zone.tell(outcome.as_ref().copied());
    }
}
