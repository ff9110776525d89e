//! Prefixes of this forwarder that another program is asked to advertise.
//!
//! A [`Policy`] says which routes are advertised, where, and by which commands. At most [`Timing::window`]
//! commands wait for an answer, one for each prefix. A prefix is sent again after [`Timing::refresh`]; a
//! command that failed after a pause of [`Timing::retry_min`] to [`Timing::retry_max`], which doubles. All
//! prefixes are sent when a face newly leads to the destination, and nothing is sent while none does.
//!
//! Names under `/localhost` and `/localhop` are not advertised: other hosts cannot use them.
//!
//! Source: NFD, `rib.readvertise_nlsr` and `rib.auto_prefix_propagate`; NLSR 24.08, module rib.

mod advertisers;
mod gateway;
mod outcome;
mod policy;
mod sources;
mod turn;

pub(super) use advertisers::Advertisers;
pub use gateway::{Identity, Propagation};
pub use outcome::Counts;

use super::clock::Now;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_table::share::Owner;
use outcome::Outcome;
use policy::{Policy, Sent, time_of_signing};
use sources::{Source, Sources};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Shortest time between two starts with all prefixes, in milliseconds.
pub(super) const RESTART: u64 = 10_000;
/// Shortest time between two log lines of one kind, in milliseconds.
const LOG: u64 = 10_000;
/// Characters of a refusal in the log.
const MAX_TEXT: usize = 200;

/// An encoded name.
type Key = Arc<[u8]>;

/// Times of commands, in milliseconds, and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timing {
    /// Time until a prefix is sent again.
    pub(super) refresh: u64,
    /// First pause after a failure.
    pub(super) retry_min: u64,
    /// Longest pause after a failure.
    pub(super) retry_max: u64,
    /// InterestLifetime of a command.
    pub(super) lifetime: u64,
    /// Most commands without an answer.
    pub(super) window: usize,
}

impl Timing {
    /// Times of NFD.
    pub(super) const NLSR: Self =
        Self { refresh: 3_600_000, retry_min: 50_000, retry_max: 3_600_000, lifetime: 4000, window: 1 };
}

/// Prefixes, and the commands that have no answer yet.
#[derive(Debug)]
pub(super) struct Readvertise {
    policy: Policy,
    sources: Sources,
    /// Prefixes that are advertised or withdrawn.
    targets: BTreeMap<Key, Target>,
    /// Commands to send, by time.
    due: BTreeSet<(u64, Key)>,
    pending: Vec<Pending>,
    /// Faces that lead to the destination.
    faces: Vec<u64>,
    /// Time of the last start with all prefixes.
    restarted: Option<u64>,
    /// SignatureTime of the last command.
    signed: u64,
    /// Numbers since the start.
    left_out: u64,
    refused: u64,
    unanswered: u64,
    /// Counts in the last log line, and its time.
    logged: (Counts, u64),
    /// Time of the last log line about a failure.
    warned: Option<u64>,
}

#[derive(Debug)]
struct Target {
    /// Prefixes with routes for which it is advertised. Without one it is withdrawn.
    sources: usize,
    /// Party of the last such prefix, whose place it keeps while it is withdrawn.
    place: Option<Option<Owner>>,
    /// True if the destination has accepted it.
    is_advertised: bool,
    /// Pause after the next failure.
    pause: u64,
    /// Time in [`Readvertise::due`].
    due: Option<u64>,
}

#[derive(Debug)]
struct Pending {
    key: Key,
    /// Name of the command.
    name: OwnedName<Ndn>,
    registers: bool,
    ends: u64,
}

impl Readvertise {
    fn new(policy: Policy) -> Self {
        Self {
            policy,
            sources: Sources::default(),
            targets: BTreeMap::new(),
            due: BTreeSet::new(),
            pending: Vec::new(),
            faces: Vec::new(),
            restarted: None,
            signed: 0,
            left_out: 0,
            refused: 0,
            unanswered: 0,
            logged: Default::default(),
            warned: None,
        }
    }

    /// Notes that a prefix has routes to be advertised, or none. `owner` is the party that has made them.
    fn set(&mut self, prefix: NdnName<'_>, is_wanted: bool, owner: Option<Owner>, now: u64) {
        if is_wanted == self.sources.contains(prefix.as_bytes()) {
            return;
        }
        if !is_wanted {
            if let Some(source) = self.sources.remove(prefix.as_bytes()) {
                self.release(source, now);
            }
            return;
        }
        let Some(key) = self.policy.target(prefix) else { return };
        // A prefix that is being withdrawn gives its place back first.
        let place = self.targets.get_mut(&key).and_then(|target| target.place.take());
        place.into_iter().for_each(|owner| self.sources.free_place(owner));
        let source = Source { owner, target: key.clone() };
        if !self.sources.insert(prefix.as_bytes().into(), source) {
            self.left_out += 1;
            let destination = self.policy.name();
            tracing::debug!(%prefix, destination, "no room for one more prefix to advertise");
            if let Some(owner) = place {
                let is_taken = self.sources.take_place(owner);
                debug_assert!(is_taken, "it was free");
                self.targets.get_mut(&key).into_iter().for_each(|target| target.place = Some(owner));
            }
            return;
        }
        let pause = self.policy.timing().retry_min;
        let target = self.targets.entry(key.clone()).or_insert(Target {
            sources: 0,
            place: None,
            is_advertised: false,
            pause,
            due: None,
        });
        target.sources += 1;
        if target.sources == 1 {
            target.pause = pause;
            self.send_soon(&key, now);
        }
    }

    /// Withdraws the prefix that was advertised for a source, if that was its last one.
    fn release(&mut self, Source { owner, target: key }: Source, now: u64) {
        let pause = self.policy.timing().retry_min;
        let target = self.targets.get_mut(&key).filter(|target| target.sources > 0);
        match target {
            Some(target) if target.sources == 1 => {
                (target.sources, target.pause, target.place) = (0, pause, Some(owner));
                if self.faces.is_empty() {
                    return self.remove(&key);
                }
                self.send_soon(&key, now);
            }
            Some(target) => {
                target.sources -= 1;
                self.sources.free_place(owner);
            }
            None => self.sources.free_place(owner),
        }
    }

    /// Schedules a command for a prefix that has changed, unless one is pending.
    fn send_soon(&mut self, key: &Key, now: u64) {
        if !self.faces.is_empty() && self.pending.iter().all(|pending| pending.key != *key) {
            self.schedule(key, now);
        }
    }

    /// Forgets all prefixes with routes, which [`set`](Self::set) gives again, before
    /// [`end_scan`](Self::end_scan).
    fn begin_scan(&mut self) {
        self.sources = Sources::default();
        self.targets.values_mut().for_each(|target| (target.sources, target.place) = (0, None));
    }

    /// Withdraws the prefixes that no routes need any longer.
    fn end_scan(&mut self, now: u64) {
        let unwanted = self.targets.iter().filter(|(_, target)| target.sources == 0);
        let unwanted: Vec<Key> = unwanted.map(|(key, _)| key.clone()).collect();
        for key in unwanted {
            if self.faces.is_empty() {
                self.remove(&key);
            } else {
                self.send_soon(&key, now);
            }
        }
    }

    /// True if the destination was removed from the configuration, and all prefixes are withdrawn.
    fn is_over(&self) -> bool {
        matches!(&self.policy, Policy::Gateway(gateway) if !gateway.is_on()) && self.targets.is_empty()
    }

    fn schedule(&mut self, key: &Key, at: u64) {
        let Some(target) = self.targets.get_mut(key) else { return };
        if let Some(old) = target.due.replace(at) {
            self.due.remove(&(old, key.clone()));
        }
        self.due.insert((at, key.clone()));
    }

    fn remove(&mut self, key: &Key) {
        let Some(target) = self.targets.remove(key) else { return };
        if let Some(due) = target.due {
            self.due.remove(&(due, key.clone()));
        }
        target.place.into_iter().for_each(|owner| self.sources.free_place(owner));
    }

    /// Takes the faces that lead to the destination. Starts with all prefixes if one is new.
    fn set_faces(&mut self, faces: Vec<u64>, now: u64) {
        let is_new = faces.iter().any(|face| !self.faces.contains(face));
        let has_gone = faces.is_empty() && !self.faces.is_empty();
        self.faces = faces;
        if is_new || has_gone {
            self.restart(now);
        }
    }

    /// Starts with all prefixes; without a face, forgets what was sent.
    fn restart(&mut self, now: u64) {
        self.pending.clear();
        self.due.clear();
        if self.faces.is_empty() {
            let unwanted = self.targets.iter().filter(|(_, target)| target.sources == 0);
            let unwanted: Vec<Key> = unwanted.map(|(key, _)| key.clone()).collect();
            unwanted.iter().for_each(|key| self.remove(key));
        }
        // A start that is due has not been made yet.
        let first =
            self.restarted.map_or(now, |last| if last > now { last } else { now.max(last + RESTART) });
        let pause = self.policy.timing().retry_min;
        for (key, target) in &mut self.targets {
            (target.is_advertised, target.pause, target.due) = (false, pause, None);
            if !self.faces.is_empty() {
                target.due = Some(first);
                self.due.insert((first, key.clone()));
            }
        }
        if !self.faces.is_empty() {
            self.restarted = Some(first);
        }
    }

    /// Handles an answer to a command. Returns false if it answers none.
    fn answer(&mut self, name: NdnName<'_>, outcome: &Outcome, now: u64) -> bool {
        let Some(at) = self.pending.iter().position(|pending| pending.name.view() == name) else {
            return false;
        };
        let pending = self.pending.swap_remove(at);
        self.end(&pending, outcome, now);
        true
    }

    fn end(&mut self, pending: &Pending, outcome: &Outcome, now: u64) {
        let Pending { key, registers, .. } = pending;
        let Timing { refresh, retry_min, retry_max, .. } = self.policy.timing();
        let Some(target) = self.targets.get_mut(key) else { return };
        let is_accepted = *outcome == Outcome::Accepted;
        if is_accepted {
            (target.is_advertised, target.pause) = (*registers, retry_min);
        }
        let mut pause = None;
        let at = match (*registers == (target.sources > 0), is_accepted) {
            // A route has come or gone meanwhile.
            (false, _) => now,
            (true, true) if *registers => now.saturating_add(refresh),
            (true, true) => return self.remove(key),
            (true, false) => {
                pause = Some(target.pause);
                let at = now.saturating_add(target.pause);
                target.pause = retry_max.min(target.pause.saturating_mul(2));
                at
            }
        };
        self.schedule(key, at);
        self.count_failure(pending, outcome, pause, now);
    }

    /// Counts a failure, and logs it unless another one was logged a moment ago.
    fn count_failure(&mut self, pending: &Pending, outcome: &Outcome, pause: Option<u64>, now: u64) {
        let (why, code) = match outcome {
            Outcome::Accepted => return,
            Outcome::Refused { code, text } => {
                self.refused += 1;
                (text.chars().take(MAX_TEXT).collect(), *code)
            }
            Outcome::Unanswered => {
                self.unanswered += 1;
                ("no answer".to_owned(), 0)
            }
        };
        if self.warned.is_some_and(|last| now < last + LOG) {
            return;
        }
        self.warned = Some(now);
        let Some(prefix) = NdnName::parse(&pending.key).ok() else { return };
        let (destination, verb) =
            (self.policy.name(), if pending.registers { "register" } else { "unregister" });
        let retry_s = pause.unwrap_or_default() / 1000;
        tracing::warn!(destination, verb, %prefix, code, ?why, retry_s, "a prefix was not advertised; trying again");
    }

    /// Ends commands without an answer. Returns the next one to send; call it until it returns `None`.
    fn tick(&mut self, now: Now) -> Option<Vec<u8>> {
        while let Some(at) = self.pending.iter().position(|pending| pending.ends <= now.monotonic) {
            let late = self.pending.swap_remove(at);
            self.end(&late, &Outcome::Unanswered, now.monotonic);
        }
        let Timing { window, lifetime, .. } = self.policy.timing();
        if self.pending.len() >= window || self.faces.is_empty() {
            return None;
        }
        while self.due.first().is_some_and(|(at, _)| *at <= now.monotonic) {
            let (_, key) = self.due.pop_first()?;
            let target = self.targets.get_mut(&key)?;
            target.due = None;
            let registers = target.sources > 0;
            self.signed = time_of_signing(self.signed, now.unix);
            if let Some(Sent { packet, name }) =
                self.policy.command(&key, registers, &self.faces, self.signed)
            {
                let ends = now.monotonic.saturating_add(lifetime);
                self.pending.push(Pending { key, name, registers, ends });
                return Some(packet);
            }
            // The prefix is too long for the name of a command.
            self.left_out += 1;
            self.remove(&key);
        }
        None
    }

    /// Time at which [`tick`](Self::tick) is due.
    fn next_due(&self) -> Option<u64> {
        let ends = self.pending.iter().map(|pending| pending.ends).min();
        let has_room = self.pending.len() < self.policy.timing().window;
        let due = self.due.first().filter(|_| has_room).map(|(at, _)| *at);
        ends.into_iter().chain(due).min()
    }

    /// Numbers of prefixes and commands.
    fn counts(&self) -> Counts {
        let Self { left_out, refused, unanswered, .. } = *self;
        let is_advertised = |target: &&Target| target.is_advertised && target.sources > 0;
        let advertised = self.targets.values().filter(is_advertised).count();
        let (waiting, pending) = (self.targets.len() - advertised, self.pending.len());
        Counts { advertised, waiting, pending, left_out, refused, unanswered }
    }

    /// Logs the numbers of prefixes if they have changed.
    fn log(&mut self, now: u64) {
        if now < self.logged.1 + LOG {
            return;
        }
        let counts = Counts { pending: 0, refused: 0, unanswered: 0, ..self.counts() };
        if counts != self.logged.0 {
            let Counts { advertised, waiting, left_out, .. } = counts;
            let destination = self.policy.name();
            tracing::info!(destination, advertised, waiting, left_out, "prefixes that are advertised");
        }
        self.logged = (counts, now);
    }
}
