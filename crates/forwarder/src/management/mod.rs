//! The management protocol of NFD, as a state machine: Interests under `/localhost/nfd` come in, Data goes out, and what the forwarding
//! threads have to do is asked of a [`Plane`]. It opens no socket and reads no clock.
//!
//! Differences from NFD, all of them on purpose:
//! - Commands other than registrations of an application's own face need a permitted user or a trusted key, and a refusal
//!   names the missing rule ([`access`]).
//! - Routes of the management's own prefixes are refused with 403.
//! - A command that NFD drops without an answer, because it is malformed or unknown, is answered with 400 or 501 and what is wrong.
//! - A route to a face that does not exist is refused with 410; NFD answers 200 and forgets it.
//! - A list is made anew for every Interest that names no version, so that a list behind a command shows what the command did.
//! - `rib/announce` is answered with 501.
//! - An Interest that no Data can answer is sent back with a Nack, so that it does not stay in the PIT.
//!
//! Data that leaves here must not be put into the content store: a cached list is an old one.
//!
//! Source: NFD Management protocol (wiki pages as in [`hashlane_ndn::mgmt`]).

pub mod access;
mod commands;
mod content_store;
mod datasets;
mod events;
mod faces;
mod fib;
mod plane;
mod routes;
mod strategies;
#[cfg(test)]
mod tests;
pub(crate) mod trust;
mod users;

pub(crate) use access::is_management;
pub use access::{Access, Origin, Over, Peer, Verify};
pub use faces::FaceInfo;
pub use plane::{CsConfig, FaceOptions, FaceOutcome, Plane, Ticket};
pub use strategies::StrategyInstance;
pub use users::{Account, Accounts, SystemAccounts};

use crate::rib::{FibChange, Rib, RibLimits};
use access::Replay;
use commands::Verb;
use datasets::Store;
use events::Events;
use fib::Fib;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::mgmt::values::{FaceEventKind, FaceScope};
use hashlane_ndn::mgmt::{Command, CommandError, ControlParameters, ControlResponse, FaceUri, Record, Scope};
use hashlane_ndn::wire::data::APPLICATION_NACK;
use hashlane_ndn::wire::{DataBuilder, Interest, LpHeader, MAX_PACKET, NackReason};
use hashlane_ndn_fw::forward::Counters;
use hashlane_ndn_fw::strategy::StrategyKind;
use std::collections::BTreeMap;
use std::sync::Arc;
use strategies::Strategies;
use users::Users;

/// For how long answers count as fresh, in milliseconds.
const FRESHNESS: u64 = 1000;
/// The longest command, in octets: with it the answer, which holds its name and at most its parameters once more, fits into a packet.
const MAX_COMMAND: usize = 4096;
/// The most commands that wait for a forwarding thread.
const MAX_WAITING: usize = 1024;
/// For how long a command waits, in milliseconds: its client has given up by then.
const MAX_WAIT: u64 = 60_000;

/// The two clocks, at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// Milliseconds of a clock that never goes back.
    pub monotonic: u64,
    /// Milliseconds since 1970.
    pub unix: u64,
}

/// What a [`Manager`] is made with.
#[derive(Clone, Debug)]
pub struct Config {
    /// The version that status/general tells.
    pub version: String,
    /// Who may command.
    pub access: Access,
    /// How many routes there may be.
    pub rib: RibLimits,
    /// The most next hops of the FIB, those put there by fib/add-nexthop included.
    pub max_next_hops: usize,
    /// The most components of a prefix that has a route or a strategy.
    pub max_depth: usize,
    /// The most strategy choices.
    pub max_strategies: usize,
    /// The strategy of `/` at the start.
    pub default_strategy: StrategyKind,
    /// The content store at the start.
    pub cs: CsConfig,
    /// Schemes that faces/create makes faces of.
    pub schemes: Vec<&'static str>,
    /// For how long a UDP face on demand lives without packets, in milliseconds.
    pub udp_idle: u64,
    /// The sockets that faces come from.
    pub channels: Vec<FaceUri>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").into(),
            access: Access::default(),
            rib: RibLimits::default(),
            max_next_hops: 1 << 21,
            max_depth: 32,
            max_strategies: 10_000,
            default_strategy: StrategyKind::BestRoute,
            cs: CsConfig { capacity: 65_536, admit: true, serve: true },
            schemes: vec!["udp4", "udp6", "tcp4", "tcp6"],
            udp_idle: 600_000,
            channels: Vec::new(),
        }
    }
}

/// Management: what it was told of the forwarder, and what it asked of it.
pub struct Manager {
    config: Config,
    users: Users,
    verify: Box<Verify>,
    replay: Replay,
    started: Now,
    counters: Arc<Counters>,
    faces: BTreeMap<u64, FaceInfo>,
    rib: Rib,
    /// Users of the faces that they have registered prefixes for themselves.
    owners: BTreeMap<u64, u32>,
    fib: Fib,
    strategies: Strategies,
    cs: CsConfig,
    events: Events,
    store: Store,
    waiting: BTreeMap<Ticket, Waiting>,
    next_ticket: u64,
}

/// A command that a forwarding thread has not answered yet.
struct Waiting {
    /// The name of the command, which is that of the answer.
    name: OwnedName<Ndn>,
    /// Since when.
    since: u64,
    /// What is erased, for cs/erase.
    prefix: Option<OwnedName<Ndn>>,
}

/// What comes of a command at once: an answer, or a ticket for one.
type Done = Result<Option<ControlResponse>, ControlResponse>;

/// Outcome of an Interest.
enum Reply {
    /// This Data packet answers it.
    Data(Vec<u8>),
    /// Data answers it later: that of a forwarding thread, or of the next event.
    Later,
    /// Nothing will answer it.
    Nothing,
}

impl From<Option<Vec<u8>>> for Reply {
    fn from(packet: Option<Vec<u8>>) -> Self {
        packet.map_or(Self::Nothing, Self::Data)
    }
}

fn done(parameters: &ControlParameters) -> Done {
    Ok(Some(ControlResponse::with(200, "OK", parameters)))
}

fn refused<T>(code: u64, text: impl Into<String>) -> Result<T, ControlResponse> {
    Err(ControlResponse::new(code, text))
}

impl Manager {
    /// Management of a forwarder without faces and routes. `verify` checks each command that is signed with a key and
    /// that its user may not give.
    pub fn new(config: Config, counters: Arc<Counters>, verify: Box<Verify>, now: Now) -> Self {
        let users = Users::new(Box::new(SystemAccounts));
        Self {
            users,
            verify,
            replay: Replay::new(now.unix),
            started: now,
            counters,
            faces: BTreeMap::new(),
            rib: Rib::new(config.rib),
            owners: BTreeMap::new(),
            fib: Fib::default(),
            strategies: Strategies::new(config.default_strategy),
            cs: config.cs,
            events: Events::default(),
            store: Store::default(),
            waiting: BTreeMap::new(),
            next_ticket: 0,
            config,
        }
    }

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

    fn reply(&mut self, interest: &Interest<'_>, from: &Origin, now: Now, plane: &mut impl Plane) -> Reply {
        let Some(target) = Target::of(interest.name()) else { return Reply::Nothing };
        let verb = Verb::of(target);
        let is_announcement = (target.module, target.verb) == (b"rib", b"announce");
        let is_allowed = match target.scope {
            Scope::Localhost => from.scope == FaceScope::Local,
            Scope::Localhop => is_announcement || verb.is_some_and(Verb::is_registration),
        };
        if !is_allowed {
            return Reply::Nothing;
        }
        if is_announcement {
            let response = ControlResponse::new(501, "rib/announce is not supported: use rib/register");
            return answer(interest.name(), &response).into();
        }
        match (target.module, target.verb) {
            (b"faces", b"events") => self.events.answer(interest, now.monotonic),
            _ => match verb {
                Some(verb) => self.command(verb, interest, from, now, plane),
                None => self.dataset(target, interest, now).into(),
            },
        }
    }

    /// Expires routes and lists. Returns the answers to commands that have waited for too long.
    pub fn tick(&mut self, now: Now, plane: &mut impl Plane) -> Vec<Vec<u8>> {
        self.expire(now, plane);
        let text = format!("the forwarding thread has not answered within {} s; try again", MAX_WAIT / 1000);
        let response = ControlResponse::new(504, text);
        let mut answers = Vec::new();
        // In the order of tickets, which is that of time.
        while let Some(first) = self.waiting.first_entry()
            && now.monotonic.saturating_sub(first.get().since) >= MAX_WAIT
        {
            answers.extend(answer(first.remove().name.view(), &response));
        }
        answers
    }

    fn expire(&mut self, now: Now, plane: &mut impl Plane) {
        let mut changes = Vec::new();
        self.rib.expire(now.monotonic, &mut changes);
        self.change_fib(changes, plane);
        self.store.forget(now.monotonic);
    }

    /// When [`tick`](Self::tick) has something to do for routes, in milliseconds of the monotonic clock.
    pub fn deadline(&self) -> Option<u64> {
        self.rib.next_end()
    }

    /// Learns of a new face. Returns the event's Data packet.
    pub fn face_up(&mut self, face: FaceInfo, now: Now) -> Vec<Vec<u8>> {
        let event = self.events.post(FaceEventKind::Created, &face, now.monotonic);
        self.faces.insert(face.id, face);
        event.into_iter().collect()
    }

    /// Learns of what is different about a face that it knows.
    pub fn face_changed(&mut self, face: FaceInfo) {
        if let Some(known) = self.faces.get_mut(&face.id) {
            *known = face;
        }
    }

    /// Learns that the link of a face fails or works again. Returns the event's Data packet.
    pub fn face_link(&mut self, id: u64, works: bool, now: Now) -> Vec<Vec<u8>> {
        let kind = if works { FaceEventKind::Up } else { FaceEventKind::Down };
        let face = self.faces.get(&id);
        face.and_then(|face| self.events.post(kind, face, now.monotonic)).into_iter().collect()
    }

    /// Learns that a face is gone; its routes go with it. Returns the event's Data packet.
    pub fn face_down(&mut self, id: u64, now: Now, plane: &mut impl Plane) -> Vec<Vec<u8>> {
        let Some(face) = self.faces.remove(&id) else { return Vec::new() };
        self.owners.remove(&id);
        let mut changes = Vec::new();
        self.rib.remove_face(id, &mut changes);
        self.change_fib(changes, plane);
        for name in self.fib.remove_face(id) {
            plane.unroute(name.view(), id);
        }
        self.events.post(FaceEventKind::Destroyed, &face, now.monotonic).into_iter().collect()
    }

    /// Learns what came of [`Plane::create_face`]; a face that was made has been told of by [`face_up`](Self::face_up) before. Returns the
    /// answer to the command.
    pub fn face_created(&mut self, ticket: Ticket, outcome: FaceOutcome) -> Vec<Vec<u8>> {
        let response = match outcome {
            FaceOutcome::Created(id) => self.created(id, 200, "OK"),
            FaceOutcome::Exists(id) => self.created(id, 409, "Face with remote URI already exists"),
            FaceOutcome::Failed { code, text } => ControlResponse::new(code, text),
        };
        self.answer_waiting(ticket, |_| response)
    }

    /// Learns what came of [`Plane::erase`]: how many packets are gone, and whether there are more. Returns the answer to the command.
    pub fn erased(&mut self, ticket: Ticket, count: u64, more: bool) -> Vec<Vec<u8>> {
        self.answer_waiting(ticket, |waiting| content_store::erased(waiting.prefix.clone(), count, more))
    }

    /// Names of users and groups in the configuration that this host does not have.
    pub fn unknown_accounts(&self) -> Vec<&str> {
        self.users.unknown(&self.config.access)
    }

    /// The faces that it knows, by number.
    pub fn faces(&self) -> impl Iterator<Item = &FaceInfo> {
        self.faces.values()
    }

    fn answer_waiting(
        &mut self,
        ticket: Ticket,
        response: impl FnOnce(&Waiting) -> ControlResponse,
    ) -> Vec<Vec<u8>> {
        let Some(waiting) = self.waiting.remove(&ticket) else { return Vec::new() };
        let response = response(&waiting);
        answer(waiting.name.view(), &response).into_iter().collect()
    }

    fn command(
        &mut self,
        verb: Verb,
        interest: &Interest<'_>,
        from: &Origin,
        now: Now,
        plane: &mut impl Plane,
    ) -> Reply {
        match self.decide(verb, interest, from, now, plane) {
            Ok(None) => Reply::Later,
            Ok(Some(response)) | Err(response) => answer(interest.name(), &response).into(),
        }
    }

    fn decide(
        &mut self,
        verb: Verb,
        interest: &Interest<'_>,
        from: &Origin,
        now: Now,
        plane: &mut impl Plane,
    ) -> Done {
        if interest.as_bytes().len() > MAX_COMMAND {
            return refused(414, format!("the command is longer than {MAX_COMMAND} octets"));
        }
        let command = Command::parse(interest).map_err(|error| {
            let code = if error == CommandError::Unsigned { 403 } else { 400 };
            ControlResponse::new(code, error.to_string())
        })?;
        let Self { config, users, verify, replay, .. } = self;
        let grant = config.access.check(verb, &command, from, users, verify, replay, now)?;
        let parameters = verb.check(command.parameters)?;
        match verb {
            Verb::FaceCreate => self.create_face(&parameters, interest, now, plane),
            Verb::FaceUpdate => self.update_face(&parameters, from, plane),
            Verb::FaceDestroy => self.destroy_face(parameters, plane),
            Verb::FibAddNextHop => self.add_next_hop(parameters, from, plane),
            Verb::FibRemoveNextHop => self.remove_next_hop(parameters, from, plane),
            Verb::RibRegister => {
                self.check_share(grant, &parameters, from)?;
                self.register(parameters, from, now, plane)
            }
            Verb::RibUnregister => self.unregister(parameters, from, plane),
            Verb::StrategySet => self.set_strategy(parameters, plane),
            Verb::StrategyUnset => self.unset_strategy(parameters, plane),
            Verb::CsConfig => self.configure_cs(&parameters, plane),
            Verb::CsErase => self.erase(parameters, interest, now, plane),
        }
    }

    /// A ticket for the answer to `interest`.
    fn wait(
        &mut self,
        interest: &Interest<'_>,
        now: Now,
        prefix: Option<OwnedName<Ndn>>,
    ) -> Result<Ticket, ControlResponse> {
        if self.waiting.len() >= MAX_WAITING {
            return refused(503, format!("{MAX_WAITING} commands wait for the forwarder already"));
        }
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        let name = OwnedName::from(&interest.name());
        self.waiting.insert(ticket, Waiting { name, since: now.monotonic, prefix });
        Ok(ticket)
    }

    /// Does what the RIB asks for.
    fn change_fib(&mut self, changes: Vec<FibChange>, plane: &mut impl Plane) {
        for FibChange { name, face, cost } in changes {
            match cost {
                Some(cost) => {
                    self.fib.insert(name.view(), face, cost);
                    plane.route(name.view(), face, cost);
                }
                // fib/remove-nexthop may have taken it out before.
                None if self.fib.remove(name.view(), face) => plane.unroute(name.view(), face),
                None => {}
            }
        }
    }

    fn check_depth(&self, name: NdnName<'_>) -> Result<(), ControlResponse> {
        let limit = self.config.max_depth;
        if name.len() > limit {
            return refused(414, format!("the prefix has {} components, more than {limit}", name.len()));
        }
        Ok(())
    }
}

/// The link packet that sends an Interest back.
pub(crate) fn nack(interest: &[u8], reason: NackReason) -> Vec<u8> {
    let header = LpHeader { nack: Some(reason), ..LpHeader::default() };
    [header.wrapped(interest.len()).as_bytes(), interest].concat()
}

/// The Data packet with the answer to the command of this name; none where the name leaves no room for it.
fn answer(name: NdnName<'_>, response: &ControlResponse) -> Option<Vec<u8>> {
    packet(&DataBuilder::new(name, &response.to_bytes()))
}

/// The Data packet that tells why there is no list of this name; none where the name leaves no room for it.
fn no_dataset(name: NdnName<'_>, response: &ControlResponse) -> Option<Vec<u8>> {
    packet(&DataBuilder { content_type: APPLICATION_NACK, ..DataBuilder::new(name, &response.to_bytes()) })
}

fn packet(data: &DataBuilder<'_>) -> Option<Vec<u8>> {
    let packet = DataBuilder { freshness: Some(FRESHNESS), ..data.clone() }.build();
    (packet.len() <= MAX_PACKET).then_some(packet)
}
