//! The management protocol of NFD, as a state machine: Interests under `/localhost/nfd` come in, Data goes
//! out, and the forwarding thread, a [`Plane`], gets [requests](Request). Time is an argument ([`Now`]), and no
//! socket carries a packet here. The state of the host is read when a command needs it: users and groups
//! ([`Accounts`]), and the addresses of the interfaces, with which the remote address of a new face is
//! compared.
//!
//! To add a command: its `Verb` and handler in the file of its module, one entry in the list `VERBS`, and if
//! it changes a table of the forwarder, a [`TableRequest`].
//!
//! Deliberate differences from NFD:
//! - Commands other than registrations of an application's own face need a permitted user or a trusted key,
//!   and a refusal names the missing rule ([`access`]).
//! - Routes of the management's own prefixes are refused with 403.
//! - A malformed or unknown command, which NFD drops without an answer, is answered with 400 or 501 and the
//!   rule that it breaks.
//! - A route to a face that does not exist is refused with 410; NFD answers 200 and forgets it.
//! - A dataset is made anew for an Interest without a version, so that one after a command shows its effect.
//!   Interests that come within 100 ms, without a command between them, share it; of the lists of faces,
//!   those without a new face of this host between them.
//! - Traces, [`trace/start`](hashlane_ndn::mgmt::trace) and `trace/read`, are commands that NFD does not have.
//! - `rib/announce` is refused unless the configuration accepts prefix announcements.
//! - A command waits for a certificate that is fetched, at most for the lifetime of its Interest.
//! - An Interest that no Data can answer is returned with a Nack, so that it does not stay in the PIT.
//!
//! Data from here must not be put into the content store: a cached dataset is an outdated one.
//!
//! Source: NFD Management protocol (wiki pages as in [`hashlane_ndn::mgmt`]).

pub mod access;
mod addresses;
mod announced;
mod announcements;
mod attempts;
mod clock;
mod configure;
mod content_store;
mod datasets;
mod deferral;
mod events;
mod face_info;
mod faces;
mod fetch;
mod fields;
mod manager;
mod origin;
mod program;
mod readvertise;
mod replay;
mod reply;
mod request;
mod routes;
mod store;
mod strategies;
#[cfg(test)]
mod tests;
mod trace;
mod traces;
pub(crate) mod trust;
mod users;
mod verb;

pub use access::{Distrust, Verify};
pub(crate) use access::{is_gateway, is_management};
pub use clock::Now;
pub use face_info::{FaceInfo, FaceOptions};
pub use fetch::FetchCounts;
pub use manager::{Config, Manager};
pub use origin::{Origin, Over, Peer};
pub use program::StrategyInstance;
pub use readvertise::{Counts as AdvertisedCounts, Identity, Propagation};
pub(crate) use reply::nack;
pub use request::{CsConfig, FaceOutcome, FaceRequest, Plane, Report, Request, TableRequest, Ticket};
pub(crate) use request::{erased, face_id};
pub use users::{Access, Account, Accounts, Open, SystemAccounts};

use access::{Denial, Keys};
use fetch::{Missing, Progress};
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::mgmt::values::{FaceEventKind, FaceScope};
use hashlane_ndn::mgmt::{Command, CommandError, ControlResponse, PrefixAnnouncement, Scope};
use hashlane_ndn::wire::{Interest, NackReason};
use manager::MAX_WAIT;
use reply::{Done, Reply, answer, refused};
use verb::{Call, Verb};

/// All commands.
const VERBS: [&Verb; 14] = [
    &faces::CREATE,
    &faces::UPDATE,
    &faces::DESTROY,
    &routes::ADD_NEXT_HOP,
    &routes::REMOVE_NEXT_HOP,
    &routes::REGISTER,
    &routes::UNREGISTER,
    &announcements::ANNOUNCE,
    &strategies::SET,
    &strategies::UNSET,
    &content_store::CONFIG,
    &content_store::ERASE,
    &trace::START,
    &trace::READ,
];

/// Prefixes that are updated at once when routes are removed with their face, expire together, or are
/// inherited by many prefixes.
const STEP: usize = 256;

/// Next hops removed in steps after which freed memory is returned to the system.
const RELEASE: usize = 10_000;

/// Longest command, in bytes. Its answer, with the name and at most the parameters once more, fits in a
/// packet.
const MAX_COMMAND: usize = 4096;

impl Manager {
    /// Handles an Interest for management. Returns the link packet that answers it: Data, or a Nack if no
    /// Data can. None is returned if the answer follows later.
    pub fn interest(
        &mut self,
        interest: &Interest<'_>,
        from: &Origin,
        now: Now,
        plane: &mut impl Plane,
    ) -> Vec<Vec<u8>> {
        self.expire(now, plane);
        match self.reply(interest, from, now, plane) {
            Reply::Data(packet) => vec![packet],
            Reply::Later => Vec::new(),
            Reply::Nothing => vec![nack(interest.as_bytes(), NackReason::NO_ROUTE)],
        }
    }

    fn reply(&mut self, interest: &Interest<'_>, from: &Origin, now: Now, plane: &mut dyn Plane) -> Reply {
        let Some(target) = Target::of(interest.name()) else { return Reply::Nothing };
        let verb = VERBS.into_iter().find(|verb| verb.is(target.module, target.verb));
        let is_allowed = match target.scope {
            Scope::Localhost => from.scope == FaceScope::Local,
            Scope::Localhop => verb.is_some_and(|verb| access::is_registration(verb.name)),
        };
        if !is_allowed {
            return Reply::Nothing;
        }
        match (target.module, target.verb) {
            (b"faces", b"events") => self.events.answer(interest, now.monotonic),
            _ => match verb {
                Some(verb) => {
                    match self.command(verb, interest, from, Progress::starting(interest, now), now, plane) {
                        Ok(None) => Reply::Later,
                        Ok(Some(response)) | Err(response) => answer(interest.name(), &response).into(),
                    }
                }
                None => self.dataset(target, interest, from, now).into(),
            },
        }
    }

    fn command(
        &mut self,
        verb: &Verb,
        interest: &Interest<'_>,
        from: &Origin,
        mut progress: Progress,
        now: Now,
        plane: &mut dyn Plane,
    ) -> Done {
        if interest.as_bytes().len() > MAX_COMMAND {
            return refused(414, format!("the command is longer than {MAX_COMMAND} bytes"));
        }
        let command = if verb.name == announcements::ANNOUNCE.name {
            PrefixAnnouncement::parse_command(interest).map_err(announcements::malformed)?.0
        } else {
            Command::parse(interest).map_err(|error| {
                let code = if error == CommandError::Unsigned { 403 } else { 400 };
                ControlResponse::new(code, error.to_string())
            })?
        };
        let grant = match progress.granted {
            Some(grant) => grant,
            None => {
                let Self { config, users, verify, attempts, replay, fetcher, .. } = self;
                let fetched = progress.certificates();
                let certificates = [fetcher.verified(), &fetched];
                let keys = Keys { verify, certificates: &certificates, has_waited: progress.has_waited() };
                let granted =
                    config.access.check(verb.name, &command, from, users, keys, (attempts, replay), now);
                match granted {
                    Ok(grant) => {
                        fetcher.keep(&progress, from.peer.owner(), now);
                        progress = progress.granted(grant);
                        grant
                    }
                    Err(Denial { response, missing: None }) => return Err(response),
                    Err(Denial { response, missing: Some(key) }) => {
                        return self.fetch(Missing { key, response }, interest, from, progress, now, plane);
                    }
                }
            }
        };
        verb.check(&command.parameters)?;
        // A list that is requested after this command shows its effect.
        self.changes += 1;
        (verb.run)(self, Call { parameters: command.parameters, interest, from, grant, progress, now, plane })
    }

    /// Makes the changes of routes that are due, and expires datasets. Returns the answers to commands that
    /// have waited too long.
    pub fn tick(&mut self, now: Now, plane: &mut impl Plane) -> Vec<Vec<u8>> {
        self.expire(now, plane);
        self.traces.expire(now, plane);
        self.tick_readvertise(now, plane);
        let mut answers = self.tick_fetches(now, plane);
        let text = format!("the forwarding thread has not answered within {} s; try again", MAX_WAIT / 1000);
        let response = ControlResponse::new(504, text);
        // Tickets are in the order of time.
        while let Some(first) = self.waiting.first_entry()
            && now.monotonic.saturating_sub(first.get().since) >= MAX_WAIT
        {
            answers.extend(answer(first.remove().name.view(), &response));
        }
        answers
    }

    fn expire(&mut self, now: Now, plane: &mut dyn Plane) {
        // Changes that no command waits for are made while the forwarding thread keeps up.
        if !plane.is_busy() {
            let mut changes = Vec::new();
            self.rib.step(now.monotonic, STEP, &mut changes);
            self.removed += changes.iter().filter(|change| change.cost.is_none()).count();
            self.change_fib(changes, plane);
            if self.rib.next_step().is_none_or(|at| at > now.monotonic) {
                self.settled();
            }
        }
        self.store.expire(now.monotonic);
    }

    /// Ends a series of steps of the RIB.
    fn settled(&mut self) {
        if self.removed >= RELEASE {
            self.removed = 0;
            hashlane_link::memory::release_freed();
        }
        let skipped = self.rib.skipped() - std::mem::replace(&mut self.skipped, self.rib.skipped());
        if skipped > 0 {
            tracing::warn!(skipped, "the FIB is full: inherited next hops were left out");
        }
    }

    /// Time at which [`tick`](Self::tick) is due, in milliseconds of the monotonic clock: when the next route
    /// expires, at once while routes are removed in steps, when a certificate has not arrived in time, or
    /// when a command about an advertised prefix is due.
    pub fn deadline(&self) -> Option<u64> {
        let due = [self.rib.next_step(), self.fetcher.next_due(), self.advertisers.next_due()];
        due.into_iter().flatten().min()
    }

    /// Adds a new face. Returns the Data packet of the event.
    pub fn face_up(&mut self, face: FaceInfo, now: Now) -> Vec<Vec<u8>> {
        let event = self.events.post(FaceEventKind::Created, &face, now.monotonic);
        // An application finds itself in the list of faces. Other hosts come and go too often for that.
        self.opened += u64::from(face.scope == FaceScope::Local);
        self.faces.insert(face.id, face);
        event.into_iter().collect()
    }

    /// Replaces the properties of a face that is open.
    pub fn face_changed(&mut self, face: FaceInfo) {
        if let Some(known) = self.faces.get_mut(&face.id) {
            *known = face;
        }
    }

    /// Handles that the connection of a face is lost, or works again. Returns the Data packet of the event.
    pub fn face_link(&mut self, id: u64, works: bool, now: Now) -> Vec<Vec<u8>> {
        let kind = if works { FaceEventKind::Up } else { FaceEventKind::Down };
        if works {
            self.advertisers.face_works(id, now);
        }
        let face = self.faces.get(&id);
        face.and_then(|face| self.events.post(kind, face, now.monotonic)).into_iter().collect()
    }

    /// Removes a closed face. Its routes are removed by the next calls of [`tick`](Self::tick). Returns the
    /// Data packet of the event.
    pub fn face_down(&mut self, id: u64, now: Now, plane: &mut impl Plane) -> Vec<Vec<u8>> {
        let Some(face) = self.faces.remove(&id) else { return Vec::new() };
        self.owners.remove(&id);
        self.fetcher.close_face(id);
        self.advertisers.face_down(id);
        self.traces.stop(id, plane);
        if face.scope == FaceScope::Local {
            self.store.close_face(id);
        }
        self.rib.close_face(id);
        self.expire(now, plane);
        self.events.post(FaceEventKind::Destroyed, &face, now.monotonic).into_iter().collect()
    }

    /// Passes on the response of a forwarding thread to a command. Returns the answer.
    pub fn responded(&mut self, ticket: Ticket, response: &ControlResponse) -> Vec<Vec<u8>> {
        self.changes += 1;
        self.respond(ticket, response)
    }

    /// Names of users and groups in the configuration that this host does not have.
    pub fn unknown_accounts(&self) -> Vec<&str> {
        self.users.unknown(&self.config.access)
    }

    /// The open faces, by id.
    pub fn faces(&self) -> impl Iterator<Item = &FaceInfo> {
        self.faces.values()
    }
}
