//! Routes and strategies of the configuration, made by the commands that a user would give.
//!
//! If the face of a route cannot be opened, it is tried again for as long as the forwarder runs.

use crate::config::{Config, face_uri, parse_name, strategy_name};
use crate::management::{Manager, Now, Origin, Peer, Plane};
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::mgmt::values::{FaceScope, RouteOrigin};
use hashlane_ndn::mgmt::{CommandBuilder, ControlParameters, ControlResponse, FaceUri, Record, Scope};
use hashlane_ndn::wire::{Data, Interest};
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::strategy::StrategyKind;
use std::collections::HashMap;

/// Pause before a face is tried again, in milliseconds.
const RETRY: u64 = 10_000;

/// A route of the configuration.
#[derive(Clone, Debug)]
struct Route {
    prefix: OwnedName<Ndn>,
    to: FaceUri,
    local: Option<FaceUri>,
    cost: u64,
    state: State,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// Due at this time.
    Due(u64),
    /// Waiting for the answer to the faces/create command of this name.
    Requested(OwnedName<Ndn>),
    /// Registered for the face of this id.
    Up(u64),
}

/// Routes and strategies of the configuration, and their progress.
#[derive(Debug, Default)]
pub(crate) struct Initial {
    routes: Vec<Route>,
    strategies: Vec<(OwnedName<Ndn>, OwnedName<Ndn>)>,
    commands: u64,
}

impl Initial {
    /// Routes and strategies of a checked configuration.
    pub(crate) fn new(config: &Config) -> Self {
        let routes = config.routes.iter().filter_map(|route| {
            let (prefix, to) = (parse_name(&route.prefix)?, face_uri(&route.to).ok()?);
            let local = route.local.as_deref().and_then(|local| face_uri(local).ok());
            Some(Route { prefix, to, local, cost: route.cost, state: State::Due(0) })
        });
        let routes: Vec<_> = routes.collect();
        let strategies = config.strategies.iter();
        let strategies: Vec<_> = strategies
            .filter_map(|(prefix, name)| Some((parse_name(prefix)?, strategy_name(name)?)))
            .collect();
        debug_assert!(
            (routes.len(), strategies.len()) == (config.routes.len(), config.strategies.len()),
            "Config::check has accepted the URIs"
        );
        Self { routes, strategies, commands: 0 }
    }

    /// Gives the commands that are due.
    pub(crate) fn turn(&mut self, manager: &mut Manager, now: Now, plane: &mut impl Plane) {
        for (prefix, strategy) in std::mem::take(&mut self.strategies) {
            let (name, strategy) = (Some(prefix.clone()), Some(strategy));
            let parameters = ControlParameters { name, strategy, ..Default::default() };
            let subject = format!("set the strategy of {prefix}");
            self.command((b"strategy-choice", b"set"), &parameters, &subject, manager, now, plane);
        }
        for at in 0..self.routes.len() {
            let due = |route: &&Route| matches!(route.state, State::Due(at) if at <= now.monotonic);
            let Some(route) = self.routes.get(at).filter(due) else { continue };
            let (uri, local_uri) = (Some(route.to.to_string()), route.local.as_ref().map(FaceUri::to_string));
            let parameters = ControlParameters { uri, local_uri, ..Default::default() };
            let target = Target { scope: Scope::Localhost, module: b"faces", verb: b"create" };
            let Some(command) = self.build(target, &parameters) else { continue };
            let Ok(interest) = Interest::parse(&command) else {
                debug_assert!(false, "a command that was built is an Interest");
                continue;
            };
            self.state(at, State::Requested(OwnedName::from(&interest.name())));
            for data in give(&command, manager, now, plane) {
                self.handle_answer(&data, manager, now, plane);
            }
        }
    }

    /// Handles the answer to a faces/create command of a route, and registers the route. Returns false if
    /// `data` is not such an answer.
    pub(crate) fn handle_answer(
        &mut self,
        data: &[u8],
        manager: &mut Manager,
        now: Now,
        plane: &mut impl Plane,
    ) -> bool {
        let Ok(data) = Data::parse(data) else { return false };
        let requested =
            |route: &Route| matches!(&route.state, State::Requested(name) if name.view() == data.name());
        let mut routes = self.routes.iter().enumerate();
        let Some((at, route)) = routes.find(|(_, route)| requested(route)) else { return false };
        let route = route.clone();
        let response = ControlResponse::parse(data.content()).ok();
        let face =
            response.as_ref().and_then(|response| response.parameters().ok()?.and_then(|made| made.face_id));
        let Some(face) = face else {
            let why = response.map_or_else(|| "the answer is malformed".to_owned(), |response| response.text);
            let to = &route.to;
            tracing::warn!(prefix = %route.prefix, %to, why, "cannot open the face of a configured route; retrying");
            self.state(at, State::Due(now.monotonic + RETRY));
            return true;
        };
        let parameters = ControlParameters {
            name: Some(route.prefix.clone()),
            face_id: Some(face),
            origin: Some(RouteOrigin::STATIC),
            cost: Some(route.cost),
            ..Default::default()
        };
        let subject = format!("set the route of {} to {}", route.prefix, route.to);
        self.command((b"rib", b"register"), &parameters, &subject, manager, now, plane);
        self.state(at, State::Up(face));
        true
    }

    /// Gives the commands for the differences between the routes and strategies of two configurations. Those
    /// that only commands have made stay, and so do the faces of routes that are removed.
    pub(crate) fn reload(
        &mut self,
        old: &Config,
        new: &Config,
        manager: &mut Manager,
        now: Now,
        plane: &mut impl Plane,
    ) {
        for prefix in old.strategies.keys().filter(|prefix| !new.strategies.contains_key(*prefix)) {
            let Some(name) = parse_name(prefix) else { continue };
            if name.view().is_empty() {
                // The strategy of all names can only be replaced.
                self.strategies.push((name, StrategyKind::BestRoute.full_name()));
                continue;
            }
            let parameters = ControlParameters { name: Some(name), ..Default::default() };
            let subject = format!("unset the strategy of {prefix}");
            self.command((b"strategy-choice", b"unset"), &parameters, &subject, manager, now, plane);
        }
        let changed =
            new.strategies.iter().filter(|(prefix, name)| old.strategies.get(*prefix) != Some(name));
        let changed = changed.filter_map(|(prefix, name)| Some((parse_name(prefix)?, strategy_name(name)?)));
        self.strategies.extend(changed);
        let key = |route: &Route| (route.prefix.to_string(), route.to.to_string(), route.local.clone());
        let before = std::mem::take(&mut self.routes).into_iter();
        let mut before: HashMap<_, _> = before.map(|route| (key(&route), route)).collect();
        for mut route in Self::new(new).routes {
            if let Some(old) = before.remove(&key(&route)) {
                // A changed cost is registered again, for the face that is open.
                let is_changed = old.cost != route.cost && matches!(old.state, State::Up(_));
                route.state = if is_changed { State::Due(now.monotonic) } else { old.state };
            }
            self.routes.push(route);
        }
        for Route { prefix, to, state, .. } in before.into_values() {
            let State::Up(face) = state else { continue };
            let subject = format!("remove the route of {prefix} to {to}");
            let parameters = ControlParameters {
                name: Some(prefix),
                face_id: Some(face),
                origin: Some(RouteOrigin::STATIC),
                ..Default::default()
            };
            self.command((b"rib", b"unregister"), &parameters, &subject, manager, now, plane);
        }
    }

    /// Schedules the routes of a closed face.
    pub(crate) fn face_down(&mut self, face: u64, now: Now) {
        for route in self.routes.iter_mut().filter(|route| route.state == State::Up(face)) {
            route.state = State::Due(now.monotonic + RETRY);
        }
    }

    fn state(&mut self, at: usize, state: State) {
        match self.routes.get_mut(at) {
            Some(route) => route.state = state,
            None => debug_assert!(false, "no route is removed in between"),
        }
    }

    /// Gives a command, and logs its outcome.
    fn command(
        &mut self,
        (module, verb): (&[u8], &[u8]),
        parameters: &ControlParameters,
        subject: &str,
        manager: &mut Manager,
        now: Now,
        plane: &mut impl Plane,
    ) {
        let target = Target { scope: Scope::Localhost, module, verb };
        if let Some(command) = self.build(target, parameters) {
            log_outcome(subject, &give(&command, manager, now, plane));
        }
    }

    /// A command with a new time of signing. `None`, and a log line, if its parameters are too long.
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
        builder
            .build()
            .inspect_err(|error| tracing::warn!(%error, "cannot give a command of the configuration"))
            .ok()
    }
}

/// Gives a command to the management. Returns the answers that come at once.
fn give(command: &[u8], manager: &mut Manager, now: Now, plane: &mut impl Plane) -> Vec<Vec<u8>> {
    let Ok(interest) = Interest::parse(command) else {
        debug_assert!(false, "a command that was built is an Interest");
        return Vec::new();
    };
    let from = Origin { face: FaceId::MANAGEMENT.0.into(), scope: FaceScope::Local, peer: Peer::Internal };
    manager.interest(&interest, &from, now, plane)
}

/// Logs the outcome of a command.
fn log_outcome(subject: &str, answers: &[Vec<u8>]) {
    let data = answers.first().and_then(|data| Data::parse(data).ok());
    match data.and_then(|data| ControlResponse::parse(data.content()).ok()) {
        Some(response) if response.is_ok() => tracing::info!("done: {subject}"),
        Some(response) => tracing::warn!(why = response.text, "cannot {subject}"),
        None => tracing::warn!(why = "the answer is malformed", "cannot {subject}"),
    }
}
