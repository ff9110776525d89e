//! A secondary with its file: the timers, sessions with its primaries in order, and the version in service.

use crate::primary::{Primary, Stream, key};
use crate::versions::{KEY, Versions, apex};
use crate::{Dice, Network, TIMEOUT};
use hashlane_dns::zone::{Builder, Zone};
use hashlane_transfer::delta::Delta;
use hashlane_transfer::disk::{self, Writer};
use hashlane_transfer::incoming::Progress;
use hashlane_transfer::notify;
use hashlane_transfer::session::{Session, Step};
use hashlane_transfer::soa::Soa;
use hashlane_transfer::timers::{Due, Timers};
use hashlane_transfer::tsig::Verifier;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

/// Most bytes of the records of a transfer: the whole zone, but not all differences.
const MOST: u64 = 32 << 10;

/// Most bytes of the messages of a response: records with their frames, and a message beyond.
pub(crate) const MOST_RECEIVED: u64 = 2 * MOST + 65_535;

/// Messages that come in a second.
const MESSAGES: usize = 50;

pub(crate) struct Secondary {
    path: PathBuf,
    /// Bytes of the file.
    len: u64,
    timers: Timers,
    current: Option<Arc<Zone>>,
    /// The second at which a primary has last confirmed the version.
    confirmed: Option<u64>,
    asking: Option<Asking>,
    most_received: u64,
}

/// A session with a primary.
struct Asking {
    number: usize,
    session: Session,
    stream: Stream,
    verifier: Option<Verifier>,
    builder: Builder,
    writer: Option<Writer>,
    received: u64,
    /// Second at which the next message comes, and at which all patience ends.
    next: u64,
    end: u64,
}

impl Secondary {
    /// Starts with what is on the disk.
    pub(crate) fn start(folder: &Path, now: u64) -> Self {
        let path = disk::path(folder, apex().view());
        let loaded = disk::load(&path, apex().view(), &KEY).unwrap();
        let (current, len, confirmed) = match loaded {
            None => (None, 0, None),
            Some(loaded) => {
                let checked = loaded.checked.duration_since(UNIX_EPOCH).unwrap().as_secs();
                (Some(Arc::new(loaded.zone)), loaded.len, Some(checked))
            }
        };
        let age = confirmed.map_or(0, |confirmed| now - confirmed);
        let timers = Timers::new(current.as_deref().and_then(Soa::of), age, now);
        Self { path, len, timers, current, confirmed, asking: None, most_received: 0 }
    }

    /// Ends and starts again, perhaps in the middle of a write.
    pub(crate) fn kill(&mut self, now: u64, dice: &mut Dice) {
        let folder = self.path.parent().unwrap().to_owned();
        if self.current.is_some() && dice.once_in(2) {
            // The begin of a difference that did not reach the disk whole.
            let mut bytes = std::fs::read(&self.path).unwrap();
            let len = bytes.len();
            bytes.extend_from_within(len / 2..len / 2 + dice.below(len / 2));
            std::fs::write(&self.path, bytes).unwrap();
            self.stamp(self.confirmed.unwrap());
        }
        let serial = self.current.as_ref().map(|zone| zone.serial());
        let received = self.most_received;
        // Before the next one: its unfinished file is removed.
        self.asking = None;
        *self = Self { most_received: received, ..Self::start(&folder, now) };
        assert_eq!(self.current.as_ref().map(|zone| zone.serial()), serial, "a version is lost");
    }

    /// The version in service.
    pub(crate) fn served(&self) -> Option<&Arc<Zone>> {
        self.current.as_ref().filter(|_| !self.timers.is_expired())
    }

    /// The second from which on the version must not be served; 0 without one.
    pub(crate) fn expiry(&self) -> u64 {
        let soa = self.current.as_deref().and_then(Soa::of);
        soa.zip(self.confirmed).map_or(0, |(soa, confirmed)| confirmed + u64::from(soa.expire))
    }

    pub(crate) fn has_data(&self) -> bool {
        self.current.is_some()
    }

    pub(crate) fn most_received(&self) -> u64 {
        self.most_received
    }

    /// Takes a NOTIFY.
    pub(crate) fn notified(&mut self, message: &[u8], now: u64) {
        let notify = notify::parse(message).unwrap();
        assert!(notify.apex.view().eq_ignore_case(apex().view()));
        if notify.serial != self.current.as_ref().map(|zone| zone.serial()) {
            self.timers.hurry(now);
        }
    }

    /// A second: what is due, and the messages that come. Returns the reason for which a primary is given up.
    pub(crate) fn tick(
        &mut self,
        now: u64,
        (primaries, versions): (&[Primary], &Versions),
        network: Network,
        dice: &mut Dice,
    ) -> Option<String> {
        let mut due = self.timers.due(now);
        if due == Due::Expire {
            due = self.timers.due(now);
        }
        if due == Due::Refresh && self.asking.is_none() {
            self.asking = Some(Asking::new(0, self.current.as_deref(), now));
            self.ask((primaries, versions), network, now, dice);
        }
        for _ in 0..MESSAGES {
            let Some(asking) = &mut self.asking else { return None };
            if asking.next > now && asking.end > now {
                return None;
            }
            let outcome = match asking.end <= now || network.is_down {
                true => Err("takes too long".to_owned()),
                false => asking.receive(&self.path, now, network, dice),
            };
            self.most_received = self.most_received.max(asking.received);
            match outcome.and_then(|step| self.step(step, now)) {
                Ok(true) => self.ask((primaries, versions), network, now, dice),
                Ok(false) => {}
                Err(why) => {
                    self.give_up((primaries, versions), network, now, dice);
                    return Some(why);
                }
            }
        }
        None
    }

    /// Sends the next query.
    fn ask(
        &mut self,
        (primaries, versions): (&[Primary], &Versions),
        network: Network,
        now: u64,
        dice: &mut Dice,
    ) {
        let Some(asking) = &mut self.asking else { return };
        let mut query = asking.session.query(dice.below(1 << 16) as u16);
        asking.verifier = Some(key().sign(&mut query, now));
        (asking.builder, asking.writer, asking.received) = (Builder::new(apex().view(), &KEY), None, 0);
        asking.stream = primaries[asking.number].respond(query, versions, now, dice);
        asking.next = now + network.wait(dice);
    }

    /// Asks for the whole zone after differences, or the next primary.
    fn give_up(&mut self, others: (&[Primary], &Versions), network: Network, now: u64, dice: &mut Dice) {
        let Some(mut asking) = self.asking.take() else { return };
        let next = asking.number + 1;
        if asking.end > now && asking.session.fall_back() {
            self.asking = Some(asking);
        } else if next < others.0.len() {
            self.asking = Some(Asking::new(next, self.current.as_deref(), now));
        } else {
            return self.timers.failed(now, dice.below(1 << 31) as u32);
        }
        self.ask(others, network, now, dice);
    }

    /// Takes a step of the session. Returns true if the next query follows.
    fn step(&mut self, step: Step, now: u64) -> Result<bool, String> {
        let deltas = match step {
            Step::More => return Ok(false),
            Step::Ask => return Ok(true),
            Step::Behind => unreachable!("nothing was announced"),
            Step::Done(Progress::Deltas(deltas)) => deltas,
            Step::Done(Progress::Whole(_)) => {
                let Asking { builder, writer, .. } = self.asking.take().unwrap();
                let zone = builder.finish().map_err(|error| error.to_string())?;
                self.len = writer.unwrap().finish().unwrap();
                self.current = Some(Arc::new(zone));
                return self.confirm(now);
            }
            Step::Done(_) => return self.confirm(now),
        };
        let current = self.current.as_deref().unwrap();
        let zone = Delta::advance(current, &deltas, &KEY).map_err(|error| error.to_string())?.zone;
        for delta in &deltas {
            self.len = disk::append(&self.path, self.len, delta).unwrap();
        }
        self.current = Some(Arc::new(zone));
        self.confirm(now)
    }

    /// A primary has confirmed the version.
    fn confirm(&mut self, now: u64) -> Result<bool, String> {
        (self.asking, self.confirmed) = (None, Some(now));
        self.timers.succeeded(self.current.as_deref().and_then(Soa::of).unwrap(), now, 1 << 31);
        self.stamp(now);
        Ok(false)
    }

    /// Sets the time in the file.
    fn stamp(&self, now: u64) {
        disk::confirm(&self.path, UNIX_EPOCH + Duration::from_secs(now)).unwrap();
    }
}

impl Asking {
    fn new(number: usize, current: Option<&Zone>, now: u64) -> Self {
        Self {
            number,
            session: Session::new(apex().view(), current.map(Zone::serial), MOST),
            stream: Stream::default(),
            verifier: None,
            builder: Builder::new(apex().view(), &KEY),
            writer: None,
            received: 0,
            next: now,
            end: now + TIMEOUT,
        }
    }

    /// Takes the next message.
    fn receive(&mut self, path: &Path, now: u64, network: Network, dice: &mut Dice) -> Result<Step, String> {
        let Self { session, stream, verifier, builder, writer, received, next, .. } = self;
        let mut message = stream.next().ok_or("closes the connection before the end")?;
        *received += message.len() as u64;
        *next = now + network.wait(dice);
        let checked = verifier.as_mut().unwrap().check(&mut message, now);
        checked.map_err(|error| error.to_string())?;
        let step = session.message(&message, &mut |record| {
            writer.get_or_insert_with(|| Writer::create(path).unwrap()).push(record).unwrap();
            let added = builder.add(record.owner, record.rtype, record.ttl, record.data);
            added.map_err(|error| error.to_string())
        });
        let step = step.map_err(|error| error.to_string())?;
        if step != Step::More {
            let verifier = verifier.take().unwrap();
            verifier.done().map_err(|error| error.to_string())?;
        }
        Ok(step)
    }
}
