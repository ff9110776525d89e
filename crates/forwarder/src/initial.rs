//! The routes and strategies of the configuration: the forwarder gives itself the commands that a user would.
//!
//! A face that cannot be made is tried again, for as long as the forwarder runs.

use crate::config::{Config, face_uri, region_name, strategy_name};
use crate::management::{Manager, Now, Origin, Peer, Plane};
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::mgmt::values::{FaceScope, RouteOrigin};
use hashlane_ndn::mgmt::{CommandBuilder, ControlParameters, ControlResponse, FaceUri, Record, Scope};
use hashlane_ndn::wire::{Data, Interest};
use hashlane_ndn_fw::face::FaceId;

/// Milliseconds until a face that could not be made is tried again.
const AGAIN: u64 = 10_000;

/// A route of the configuration.
#[derive(Clone, Debug)]
struct Route {
    prefix: OwnedName<Ndn>,
    to: FaceUri,
    cost: u64,
    state: State,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// To be tried at that time.
    Due(u64),
    /// The command of this name asks for its face.
    Asked(OwnedName<Ndn>),
    /// It stands; its face has this number.
    Up(u64),
}

/// What is yet to be done of the configuration, and what has to be done again.
#[derive(Debug, Default)]
pub(crate) struct Initial {
    routes: Vec<Route>,
    strategies: Vec<(OwnedName<Ndn>, OwnedName<Ndn>)>,
    commands: u64,
}

impl Initial {
    /// That of a checked configuration.
    pub(crate) fn new(config: &Config) -> Self {
        let routes = config.routes.iter().filter_map(|route| {
            let (prefix, to) = (region_name(&route.prefix)?, face_uri(&route.to).ok()?);
            Some(Route { prefix, to, cost: route.cost, state: State::Due(0) })
        });
        let strategies = config.strategies.iter();
        let strategies =
            strategies.filter_map(|(prefix, name)| Some((region_name(prefix)?, strategy_name(name)?)));
        Self { routes: routes.collect(), strategies: strategies.collect(), commands: 0 }
    }

    /// Gives the commands that are due.
    pub(crate) fn turn(&mut self, manager: &mut Manager, now: Now, plane: &mut impl Plane) {
        for (prefix, strategy) in std::mem::take(&mut self.strategies) {
            let parameters = ControlParameters {
                name: Some(prefix.clone()),
                strategy: Some(strategy),
                ..Default::default()
            };
            let target = Target { scope: Scope::Localhost, module: b"strategy-choice", verb: b"set" };
            let data = self.build(target, &parameters).map(|command| give(&command, manager, now, plane));
            tell(&format!("the strategy of {prefix}"), data);
        }
        for at in 0..self.routes.len() {
            let due = |route: &&Route| matches!(route.state, State::Due(at) if at <= now.monotonic);
            let Some(route) = self.routes.get(at).filter(due) else { continue };
            let parameters = ControlParameters { uri: Some(route.to.to_string()), ..Default::default() };
            let target = Target { scope: Scope::Localhost, module: b"faces", verb: b"create" };
            let Some(command) = self.build(target, &parameters) else { continue };
            let Ok(interest) = Interest::parse(&command) else { continue };
            self.state(at, State::Asked(OwnedName::from(&interest.name())));
            for data in give(&command, manager, now, plane) {
                self.answered(&data, manager, now, plane);
            }
        }
    }

    /// Whether Data answers one of these commands; what follows from it is done.
    pub(crate) fn answered(
        &mut self,
        data: &[u8],
        manager: &mut Manager,
        now: Now,
        plane: &mut impl Plane,
    ) -> bool {
        let Ok(data) = Data::parse(data) else { return false };
        let asked = |route: &Route| matches!(&route.state, State::Asked(name) if name.view() == data.name());
        let Some(at) = self.routes.iter().position(asked) else { return false };
        let Some(route) = self.routes.get(at).cloned() else { return false };
        let response = ControlResponse::parse(data.content()).ok();
        let face =
            response.as_ref().and_then(|response| response.parameters().ok()?.and_then(|made| made.face_id));
        let Some(face) = face else {
            let why = response.map_or_else(String::new, |response| response.text);
            tracing::warn!(prefix = %route.prefix, to = %route.to, why, "no face for a configured route; it is tried again");
            self.state(at, State::Due(now.monotonic + AGAIN));
            return true;
        };
        let parameters = ControlParameters {
            name: Some(route.prefix.clone()),
            face_id: Some(face),
            origin: Some(RouteOrigin::STATIC),
            cost: Some(route.cost),
            ..Default::default()
        };
        let target = Target { scope: Scope::Localhost, module: b"rib", verb: b"register" };
        let data = self.build(target, &parameters).map(|command| give(&command, manager, now, plane));
        tell(&format!("the route of {} to {}", route.prefix, route.to), data);
        self.state(at, State::Up(face));
        true
    }

    /// A face is gone: its routes have to be made again.
    pub(crate) fn face_down(&mut self, face: u64, now: Now) {
        for route in self.routes.iter_mut().filter(|route| route.state == State::Up(face)) {
            route.state = State::Due(now.monotonic + AGAIN);
        }
    }

    fn state(&mut self, at: usize, state: State) {
        if let Some(route) = self.routes.get_mut(at) {
            route.state = state;
        }
    }

    /// A command, unlike all others.
    fn build(&mut self, target: Target<'_>, parameters: &ControlParameters) -> Option<Vec<u8>> {
        self.commands += 1;
        let builder = CommandBuilder {
            target,
            parameters,
            nonce: 0,
            lifetime: 1000,
            signature_nonce: *b"initial\0",
            time: self.commands,
        };
        builder.build().ok()
    }
}

/// Gives the management a command; what it says at once.
fn give(command: &[u8], manager: &mut Manager, now: Now, plane: &mut impl Plane) -> Vec<Vec<u8>> {
    let Ok(interest) = Interest::parse(command) else { return Vec::new() };
    let from = Origin { face: FaceId::MANAGEMENT.0.into(), scope: FaceScope::Local, peer: Peer::Internal };
    manager.interest(&interest, &from, now, plane)
}

/// Says in the log what came of a command.
fn tell(what: &str, data: Option<Vec<Vec<u8>>>) {
    let data = data.unwrap_or_default();
    let data = data.first().and_then(|data| Data::parse(data).ok());
    match data.and_then(|data| ControlResponse::parse(data.content()).ok()) {
        Some(response) if response.is_ok() => tracing::info!("{what} is set"),
        Some(response) => tracing::warn!(why = response.text, "{what} cannot be set"),
        None => tracing::warn!("{what} cannot be set"),
    }
}
