//! The state of management, and the operations that its commands share.

use super::access::Verify;
use super::addresses::{Interface, interfaces};
use super::announced::AnnouncedRoutes;
use super::attempts::Attempts;
use super::clock::Now;
use super::events::Events;
use super::face_info::FaceInfo;
use super::fetch::Fetcher;
use super::origin::Origin;
use super::program::Strategies;
use super::readvertise::Advertisers;
use super::replay::Replay;
use super::reply::{answer, refused};
use super::request::{CsConfig, Plane, Request, TableRequest, Ticket};
use super::store::Store;
use super::traces::Traces;
use super::users::{Access, SystemAccounts, Users};
use crate::rib::{FibChange, Rib, RibLimits};
use crate::totals::Totals;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::mgmt::{ControlResponse, FaceUri};
use hashlane_ndn::wire::Interest;
use hashlane_ndn_fw::strategy::StrategyKind;
use hashlane_table::share::Owner;
use std::collections::BTreeMap;
use std::io;

/// Most commands that wait for a forwarding thread.
pub(super) const MAX_WAITING: usize = 1024;
/// Longest time that a command waits, in milliseconds. Its client has given up by then.
pub(super) const MAX_WAIT: u64 = 60_000;

/// Settings of a [`Manager`].
#[derive(Clone, Debug)]
pub struct Config {
    /// Version that status/general reports.
    pub version: String,
    /// Rights to give commands.
    pub access: Access,
    /// Limits of the RIB.
    pub rib: RibLimits,
    /// Most routes that prefix announcements of one face make; `None` if announcements are refused.
    pub announcements: Option<usize>,
    /// True if certificates that the rules for signatures need are fetched.
    pub fetch: bool,
    /// Most components of a prefix with a route or a strategy.
    pub max_depth: usize,
    /// Most strategy choices.
    pub max_strategies: usize,
    /// Strategy of `/` at the start.
    pub default_strategy: StrategyKind,
    /// Content store at the start.
    pub cs: CsConfig,
    /// Schemes that faces/create accepts.
    pub schemes: Vec<&'static str>,
    /// Idle timeout of an on-demand UDP face, in milliseconds.
    pub udp_idle: u64,
    /// URIs of the listening sockets.
    pub channels: Vec<FaceUri>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").into(),
            access: Access::default(),
            rib: RibLimits::default(),
            announcements: None,
            fetch: false,
            max_depth: 32,
            max_strategies: 10_000,
            default_strategy: StrategyKind::BestRoute,
            cs: CsConfig { capacity: 65_536, admit: true, serve: true },
            schemes: vec!["udp4", "udp6", "tcp4", "tcp6", "ether"],
            udp_idle: 600_000,
            channels: Vec::new(),
        }
    }
}

/// Management of a forwarder: its view of faces, routes, strategies and content store.
pub struct Manager {
    pub(super) config: Config,
    pub(super) users: Users,
    pub(super) verify: Box<Verify>,
    pub(super) attempts: Attempts,
    pub(super) replay: Replay,
    pub(super) fetcher: Fetcher,
    pub(super) started: Now,
    pub(super) counters: Totals,
    pub(super) faces: BTreeMap<u64, FaceInfo>,
    /// Addresses of this host.
    pub(super) interfaces: fn() -> io::Result<Vec<Interface>>,
    pub(super) rib: Rib,
    /// Prefixes that others are asked to advertise.
    pub(super) advertisers: Advertisers,
    /// Announcements of the routes that announcements have made.
    pub(super) announced: AnnouncedRoutes,
    /// Next hops removed in steps since freed memory was last returned to the system.
    pub(super) removed: usize,
    /// Next hops that the FIB had no room for, as logged.
    pub(super) skipped: u64,
    /// Users and neighbours at the faces that have registered prefixes for themselves.
    pub(super) owners: BTreeMap<u64, Owner>,
    pub(super) strategies: Strategies,
    pub(super) cs: CsConfig,
    pub(super) events: Events,
    pub(super) store: Store,
    pub(super) traces: Traces,
    /// Number of changes of the FIB.
    fib_changes: u64,
    /// Number of commands: lists must show their effects at once.
    pub(super) changes: u64,
    /// Number of faces that local applications have opened: lists of faces must show them at once.
    pub(super) opened: u64,
    /// Commands that a forwarding thread has not answered yet, oldest first.
    pub(super) waiting: BTreeMap<Ticket, Waiting>,
    next_ticket: u64,
}

/// A command that a forwarding thread has not answered yet.
pub(super) struct Waiting {
    /// Name of the command, and of its answer.
    pub(super) name: OwnedName<Ndn>,
    /// Time of the command, in milliseconds.
    pub(super) since: u64,
    /// User or address that gave it.
    owner: Option<Owner>,
}

impl Manager {
    /// Management of a forwarder without faces and routes. `verify` checks each command that is signed with a
    /// key and that its user may not give.
    pub fn new(config: Config, counters: Totals, verify: Box<Verify>, now: Now) -> Self {
        Self {
            users: Users::new(Box::new(SystemAccounts)),
            verify,
            attempts: Attempts::default(),
            replay: Replay::new(now),
            fetcher: Fetcher::default(),
            started: now,
            counters,
            faces: BTreeMap::new(),
            interfaces,
            rib: Rib::new(config.rib),
            advertisers: Advertisers::default(),
            announced: AnnouncedRoutes::default(),
            removed: 0,
            skipped: 0,
            owners: BTreeMap::new(),
            strategies: Strategies::new(config.default_strategy),
            cs: config.cs,
            events: Events::default(),
            store: Store::default(),
            traces: Traces::default(),
            fib_changes: 0,
            changes: 0,
            opened: 0,
            waiting: BTreeMap::new(),
            next_ticket: 0,
            config,
        }
    }

    /// A ticket for the answer to `interest`. If too many commands wait, the user or address with most of
    /// them has its oldest answered.
    pub(super) fn wait(
        &mut self,
        interest: &Interest<'_>,
        from: &Origin,
        now: Now,
        plane: &mut dyn Plane,
    ) -> Result<Ticket, ControlResponse> {
        if self.waiting.len() >= MAX_WAITING {
            let crowded = ControlResponse::new(503, format!("{MAX_WAITING} commands wait for the forwarder"));
            let displaced = self.displace().ok_or_else(|| crowded.clone())?;
            if let Some(data) = answer(displaced.name.view(), &crowded) {
                plane.request(Request::Data(data));
            }
        }
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        let (name, owner) = (OwnedName::from(&interest.name()), from.peer.owner());
        self.waiting.insert(ticket, Waiting { name, since: now.monotonic, owner });
        Ok(ticket)
    }

    /// Takes the oldest command of the party with most, the forwarder's own excepted.
    fn displace(&mut self) -> Option<Waiting> {
        let mut counts = BTreeMap::<Option<Owner>, usize>::new();
        let owners = self.waiting.values().map(|waiting| waiting.owner);
        owners.for_each(|owner| *counts.entry(owner).or_default() += 1);
        counts.remove(&None);
        let (largest, _) = counts.into_iter().max_by_key(|(_, count)| *count)?;
        let oldest = self.waiting.iter().find(|(_, waiting)| waiting.owner == largest);
        let ticket = oldest.map(|(ticket, _)| *ticket)?;
        self.waiting.remove(&ticket)
    }

    /// The packet that answers the command with this ticket; none if it has waited too long and was answered.
    pub(super) fn respond(&mut self, ticket: Ticket, response: &ControlResponse) -> Vec<Vec<u8>> {
        // A command that waits too long is answered with an error, and its ticket ends.
        let Some(waiting) = self.waiting.remove(&ticket) else { return Vec::new() };
        answer(waiting.name.view(), response).into_iter().collect()
    }

    /// Number of changes of the FIB.
    pub(crate) fn fib_changes(&self) -> u64 {
        self.fib_changes
    }

    /// Hands over the changes that the RIB makes to the FIB, and withdraws the announcements of ended routes.
    pub(super) fn change_fib(&mut self, changes: Vec<FibChange>, plane: &mut dyn Plane) {
        self.fib_changes += changes.len() as u64;
        for FibChange { name: prefix, face, cost } in changes {
            let request = match cost {
                Some(cost) => TableRequest::AddNextHop { prefix, face, cost },
                None => TableRequest::RemoveNextHop { prefix, face },
            };
            plane.request(Request::Table(request));
        }
        self.withdraw_announced(plane);
    }

    /// Refuses a prefix of too many components.
    pub(super) fn check_depth(&self, name: NdnName<'_>) -> Result<(), ControlResponse> {
        let limit = self.config.max_depth;
        if name.len() > limit {
            return refused(414, format!("the prefix has {} components, more than {limit}", name.len()));
        }
        Ok(())
    }

    /// Refuses a face that is not open.
    pub(super) fn check_face(&self, face: u64) -> Result<(), ControlResponse> {
        if self.faces.contains_key(&face) { Ok(()) } else { refused(410, format!("Face {face} not found")) }
    }
}
