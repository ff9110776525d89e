//! A zone with primaries, as the thread that refreshes zones sees it.

use super::event::Secondary;
use super::fetch::Told;
use super::inbox::Inbox;
use super::kept::Kept;
use super::peers::Peer;
use crate::status::Refreshed;
use hashlane_dns::zone::Zone;
use hashlane_name::dns::NameBuf;
use hashlane_transfer::soa::Soa;
use hashlane_transfer::timers::Timers;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// Least time in seconds between two questions that NOTIFY brings, if the first brought no version.
const LEAST: u64 = 2;

/// Further questions for a version that a NOTIFY has named and no primary has, 2, 4, 8 and 16 seconds apart.
const FURTHER: u32 = 4;

/// A zone and its times.
pub(super) struct Watched {
    pub(super) apex: NameBuf,
    pub(super) id: Vec<u8>,
    pub(super) primaries: Vec<Peer>,
    pub(super) kept: Kept,
    pub(super) news: Arc<Inbox>,
    /// Lives as long as this zone is watched: a thread that asks for it ends without it.
    pub(super) life: Arc<()>,
    pub(super) timers: Timers,
    /// The newest version, also if it has expired.
    pub(super) current: Option<Arc<Zone>>,
    /// A version that is put in service, and the primary that has sent it.
    pub(super) coming: Option<(Arc<Zone>, SocketAddr)>,
    pub(super) is_busy: bool,
    /// Start of the last thread.
    pub(super) started: u64,
    /// A primary or the operator wants it asked, before those whose time has come.
    pub(super) is_wanted: bool,
    /// The last question brought no version.
    pub(super) was_futile: bool,
    /// Wanted by the operator, in any case.
    pub(super) is_forced: bool,
    /// Wanted again while it was busy.
    pub(super) again: bool,
    /// The version that the last NOTIFY has named.
    pub(super) told: Option<Told>,
    /// The version that no primary had, and the questions in a row without it.
    pub(super) missed: Option<Told>,
    pub(super) misses: u32,
    /// The way of the last transfer, `AXFR` or `IXFR`; none if the primaries have nothing new.
    pub(super) how: Option<&'static str>,
    /// Those who wait for the outcome of the next thread, and of the one that runs.
    pub(super) waiting: Vec<Sender<Refreshed>>,
    pub(super) served: Vec<Sender<Refreshed>>,
}

impl Watched {
    /// A zone with primaries, new or with other ones. One that was not watched is asked for at once.
    pub(super) fn new(zone: Secondary, known: Option<Self>, now: u64) -> Self {
        let Secondary { apex, id, primaries, kept, news, current } = zone;
        if let Some(known) = known {
            news.set_failing(known.needs_answer());
            return Self { primaries, news, ..known };
        }
        let (current, age) = current.map_or((None, 0), |(zone, age)| (Some(zone), age));
        // One that came before the zone was watched.
        news.clear();
        Self {
            apex,
            id,
            primaries,
            kept,
            news,
            life: Arc::default(),
            timers: Timers::new(current.as_deref().and_then(Soa::of), age, now),
            current,
            coming: None,
            is_busy: false,
            started: 0,
            is_wanted: false,
            was_futile: false,
            is_forced: false,
            again: false,
            told: None,
            missed: None,
            misses: 0,
            how: None,
            waiting: Vec::new(),
            served: Vec::new(),
        }
    }

    /// True if an answer of a primary would end a failure, also one without a new version.
    pub(super) fn needs_answer(&self) -> bool {
        self.timers.failures() > 0 || self.kept.error().is_some()
    }

    /// The next time at which NOTIFY may bring a question: forged ones cost a question in [`LEAST`], no more.
    pub(super) fn soonest(&self, now: u64) -> u64 {
        let waits = self.was_futile && !self.is_forced;
        if waits { now.max(self.started + LEAST) } else { now }
    }

    /// Has the primaries asked at a time.
    pub(super) fn want(&mut self, is_forced: bool, now: u64) {
        self.is_forced |= is_forced;
        self.is_wanted = true;
        self.again |= self.is_busy;
        self.timers.hurry(now);
    }

    /// Takes the version that a NOTIFY has named and no primary had, if there is one.
    pub(super) fn miss(&mut self, missed: Option<Told>) {
        self.misses = if missed.is_some() { self.misses.saturating_add(1) } else { 0 };
        self.missed = missed;
    }

    /// Has the primaries asked again, after answers without the version that a NOTIFY has named: several
    /// servers behind one address get it one after the other. Else the zone would be old until its refresh.
    pub(super) fn ask_for_missed(&mut self, now: u64) {
        let Some(told) = self.missed.take().filter(|_| self.misses <= FURTHER) else { return };
        let at = now + (LEAST << (self.misses - 1));
        tracing::info!(zone = %self.apex, serial = told.serial, "no primary has the version that a NOTIFY names yet");
        self.told = self.told.or(Some(told));
        if at < self.timers.next() {
            self.timers.hurry(at);
        }
    }

    /// Tells those who wait for it of an outcome: the primary that has answered.
    pub(super) fn tell(&mut self, outcome: Result<SocketAddr, &String>) {
        if self.served.is_empty() {
            return;
        }
        let current = self.current.as_deref().filter(|_| !self.timers.is_expired());
        let refreshed = Refreshed {
            serial: current.map(Zone::serial),
            primary: outcome.ok().map(|primary| primary.to_string()),
            how: self.how.map(str::to_owned),
            error: outcome.err().cloned(),
            not_kept: self.kept.error(),
        };
        for client in self.served.drain(..) {
            // It may have gone.
            let _ = client.send(refreshed.clone());
        }
    }
}
