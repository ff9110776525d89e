//! Prefixes of routes of origin *client*, which the NLSR of this host is asked to advertise.
//!
//! Commands are `/localhost/nlsr/rib/register` and `unregister`, signed with their digest: NLSR takes them
//! from every program of its host. One is sent at a time. A prefix is refreshed after [`REFRESH`]; a
//! command that failed is sent again after a pause of [`RETRY_MIN`] to [`RETRY_MAX`], which doubles. All
//! prefixes are advertised when a face registers `/localhost/nlsr`, and nothing is sent while none has.
//!
//! Names under `/localhost` and `/localhop` are not advertised: other hosts cannot use them.
//!
//! Source: NFD, `rib.readvertise_nlsr`; NLSR 24.08, module rib.

use super::clock::Now;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::mgmt::{CommandBuilder, ControlParameters, Scope};
use hashlane_ndn::wire::Interest;
use hashlane_table::share::Owner;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Most prefixes.
const MAX: usize = 4096;
/// Most of them for users without further rights, and neighbours.
const MAX_OWNED: usize = 3072;
/// Most of them for one user or address.
const MAX_OF_ONE: usize = 512;
/// Time until a prefix is advertised again, in milliseconds, as NFD's.
pub(super) const REFRESH: u64 = 3_600_000;
/// First pause after a failure, in milliseconds, as NFD's.
pub(super) const RETRY_MIN: u64 = 50_000;
/// Longest pause after a failure, in milliseconds, as NFD's.
pub(super) const RETRY_MAX: u64 = 3_600_000;
/// InterestLifetime of a command, in milliseconds.
pub(super) const LIFETIME: u64 = 4000;
/// Shortest time between two starts with all prefixes, in milliseconds.
pub(super) const RESTART: u64 = 10_000;
/// Shortest time between two log lines, in milliseconds.
const LOG: u64 = 10_000;

/// An encoded name.
type Key = Arc<[u8]>;

/// Prefixes, and the command that has no answer yet.
#[derive(Debug, Default)]
pub(super) struct Readvertise {
    prefixes: BTreeMap<Key, Prefix>,
    /// Commands to send, by time.
    due: BTreeSet<(u64, Key)>,
    pending: Option<Pending>,
    /// Faces that have registered NLSR's prefix.
    faces: Vec<u64>,
    /// Prefixes of each user or address without further rights.
    held: BTreeMap<Owner, usize>,
    /// Prefixes that had no room since the start.
    left_out: u64,
    /// Time of the last start with all prefixes.
    restarted: Option<u64>,
    /// SignatureTime of the last command.
    signed: u64,
    /// Counts in the last log line, and its time.
    logged: (Counts, u64),
}

#[derive(Debug)]
struct Prefix {
    owner: Option<Owner>,
    /// False if the last route has gone.
    is_wanted: bool,
    /// True if NLSR has accepted it.
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

/// Numbers of prefixes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Accepted by NLSR.
    pub(super) advertised: usize,
    /// To be advertised or withdrawn.
    pub(super) waiting: usize,
    /// Without room, since the start.
    pub(super) left_out: u64,
}

impl Readvertise {
    /// Advertises a prefix, or withdraws it.
    pub(super) fn set(&mut self, prefix: NdnName<'_>, is_wanted: bool, owner: Option<Owner>, now: u64) {
        let key: Key = prefix.as_bytes().into();
        let has_room = self.has_room(owner);
        match self.prefixes.get_mut(&key) {
            Some(entry) if entry.is_wanted == is_wanted => return,
            Some(entry) => (entry.is_wanted, entry.pause) = (is_wanted, RETRY_MIN),
            None if !is_wanted || !is_global(prefix) => return,
            None if !has_room => {
                self.left_out += 1;
                tracing::debug!(%prefix, "no room for one more prefix of NLSR");
                return;
            }
            None => {
                let entry = Prefix { owner, is_wanted, is_advertised: false, pause: RETRY_MIN, due: None };
                self.prefixes.insert(key.clone(), entry);
                owner.into_iter().for_each(|owner| *self.held.entry(owner).or_default() += 1);
            }
        }
        if self.faces.is_empty() {
            if !is_wanted {
                self.remove(&key);
            }
        } else if self.pending.as_ref().is_none_or(|pending| pending.key != key) {
            self.schedule(&key, now);
        }
    }

    fn has_room(&self, owner: Option<Owner>) -> bool {
        let held = |owner| self.held.get(&owner).copied().unwrap_or_default();
        let owned = || self.held.values().sum::<usize>();
        self.prefixes.len() < MAX && owner.is_none_or(|owner| held(owner) < MAX_OF_ONE && owned() < MAX_OWNED)
    }

    fn schedule(&mut self, key: &Key, at: u64) {
        let Some(entry) = self.prefixes.get_mut(key) else { return };
        if let Some(old) = entry.due.replace(at) {
            self.due.remove(&(old, key.clone()));
        }
        self.due.insert((at, key.clone()));
    }

    fn remove(&mut self, key: &Key) {
        let Some(entry) = self.prefixes.remove(key) else { return };
        if let Some(due) = entry.due {
            self.due.remove(&(due, key.clone()));
        }
        if let Some(owner) = entry.owner
            && let Some(held) = self.held.get_mut(&owner)
        {
            *held -= 1;
            if *held == 0 {
                self.held.remove(&owner);
            }
        }
    }

    /// Takes the faces that have registered NLSR's prefix. Starts with all prefixes if one is new.
    pub(super) fn set_faces(&mut self, faces: Vec<u64>, now: u64) {
        let is_new = faces.iter().any(|face| !self.faces.contains(face));
        let has_gone = faces.is_empty() && !self.faces.is_empty();
        self.faces = faces;
        if !is_new && !has_gone {
            return;
        }
        self.pending = None;
        let unwanted = self.prefixes.iter().filter(|(_, entry)| !entry.is_wanted);
        let unwanted: Vec<Key> = unwanted.map(|(key, _)| key.clone()).collect();
        if has_gone {
            unwanted.iter().for_each(|key| self.remove(key));
        }
        self.due.clear();
        let first = self.restarted.map_or(now, |last| now.max(last + RESTART));
        for (key, entry) in &mut self.prefixes {
            (entry.is_advertised, entry.pause, entry.due) = (false, RETRY_MIN, None);
            if is_new {
                entry.due = Some(first);
                self.due.insert((first, key.clone()));
            }
        }
        if is_new {
            self.restarted = Some(first);
        }
    }

    /// Handles an answer to a command. Returns false if it answers none.
    pub(super) fn answer(&mut self, name: NdnName<'_>, is_accepted: bool, now: u64) -> bool {
        match self.pending.take_if(|pending| pending.name.view() == name) {
            Some(pending) => {
                self.end(&pending, is_accepted, now);
                true
            }
            None => false,
        }
    }

    fn end(&mut self, Pending { key, registers, .. }: &Pending, is_accepted: bool, now: u64) {
        let Some(entry) = self.prefixes.get_mut(key) else { return };
        if is_accepted {
            (entry.is_advertised, entry.pause) = (*registers, RETRY_MIN);
        }
        let at = match (*registers == entry.is_wanted, is_accepted) {
            // A route has come or gone meanwhile.
            (false, _) => now,
            (true, true) if *registers => now + REFRESH,
            (true, true) => return self.remove(key),
            (true, false) => {
                let pause = entry.pause;
                entry.pause = RETRY_MAX.min(pause * 2);
                now + pause
            }
        };
        self.schedule(key, at);
    }

    /// Ends a command without an answer. Returns the next one to send.
    pub(super) fn tick(&mut self, now: Now) -> Option<Vec<u8>> {
        if let Some(late) = self.pending.take_if(|pending| pending.ends <= now.monotonic) {
            self.end(&late, false, now.monotonic);
        }
        if self.pending.is_some() || self.faces.is_empty() {
            return None;
        }
        let (at, _) = self.due.first()?;
        if *at > now.monotonic {
            return None;
        }
        let (_, key) = self.due.pop_first()?;
        let entry = self.prefixes.get_mut(&key)?;
        entry.due = None;
        let registers = entry.is_wanted;
        self.signed = now.unix.max(self.signed + 1);
        let packet = command(&key, registers, self.signed);
        let name =
            packet.as_deref().and_then(|packet| Some(OwnedName::from(&Interest::parse(packet).ok()?.name())));
        let Some(name) = name else {
            // The prefix is too long for the name of a command.
            self.left_out += 1;
            self.remove(&key);
            return None;
        };
        self.pending = Some(Pending { key, name, registers, ends: now.monotonic + LIFETIME });
        packet
    }

    /// Time at which [`tick`](Self::tick) is due.
    pub(super) fn next_due(&self) -> Option<u64> {
        match &self.pending {
            Some(pending) => Some(pending.ends),
            None => self.due.first().map(|(at, _)| *at),
        }
    }

    /// Numbers of prefixes.
    pub(super) fn counts(&self) -> Counts {
        let advertised =
            self.prefixes.values().filter(|entry| entry.is_advertised && entry.is_wanted).count();
        Counts { advertised, waiting: self.prefixes.len() - advertised, left_out: self.left_out }
    }

    /// Logs the numbers if they have changed.
    pub(super) fn log(&mut self, now: u64) {
        if now < self.logged.1 + LOG {
            return;
        }
        let counts = self.counts();
        if counts != self.logged.0 {
            let Counts { advertised, waiting, left_out } = counts;
            tracing::info!(advertised, waiting, left_out, "prefixes that NLSR is asked to advertise");
        }
        self.logged = (counts, now);
    }
}

/// The command for a prefix; `None` if it is too long for one.
fn command(key: &Key, registers: bool, time: u64) -> Option<Vec<u8>> {
    let prefix = OwnedName::from(&NdnName::parse(key).ok()?);
    let verb: &[u8] = if registers { b"register" } else { b"unregister" };
    let builder = CommandBuilder {
        target: Target { scope: Scope::Localhost, module: b"rib", verb },
        parameters: &ControlParameters { name: Some(prefix), ..ControlParameters::default() },
        nonce: time as u32,
        lifetime: LIFETIME,
        signature_nonce: time.to_be_bytes(),
        time,
    };
    builder.build_for(b"nlsr").ok()
}

/// True unless the names below a prefix stay on a host, or between neighbours.
fn is_global(prefix: NdnName<'_>) -> bool {
    let first = prefix.components().next();
    first.is_none_or(|first| first.value != b"localhost" && first.value != b"localhop")
}
