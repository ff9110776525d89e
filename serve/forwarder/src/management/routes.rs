//! Commands of the modules fib and rib.

use super::access::{Grant, check_prefix, is_gateway};
use super::fields::{COST, EXPIRATION, FACE_ID, FLAGS, NAME, ORIGIN};
use super::manager::Manager;
use super::origin::Origin;
use super::reply::{Done, done, refused};
use super::verb::{Call, Verb};
use crate::rib::Route;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::values::{FaceScope, ROUTE_CHILD_INHERIT, RouteOrigin};
use hashlane_ndn::mgmt::{ControlParameters, ControlResponse};
use hashlane_table::share::Owner;

pub(super) const ADD_NEXT_HOP: Verb =
    Verb { name: "fib/add-nexthop", required: NAME, optional: FACE_ID | COST, run: add_next_hop };
pub(super) const REMOVE_NEXT_HOP: Verb =
    Verb { name: "fib/remove-nexthop", required: NAME, optional: FACE_ID, run: remove_next_hop };
pub(super) const REGISTER: Verb = Verb {
    name: "rib/register",
    required: NAME,
    optional: FACE_ID | ORIGIN | COST | FLAGS | EXPIRATION,
    run: register,
};
pub(super) const UNREGISTER: Verb =
    Verb { name: "rib/unregister", required: NAME, optional: FACE_ID | ORIGIN, run: unregister };

/// Period of a route that does not expire, in milliseconds: the largest of ndn-cxx, which NLSR sends.
const NEVER: u64 = i64::MAX as u64;

fn add_next_hop(manager: &mut Manager, call: Call<'_>) -> Done {
    let mut parameters = call.parameters;
    let cost = *parameters.cost.get_or_insert(0);
    let (name, face) = prefix_and_face(&mut parameters, call.from, call.grant, manager)?;
    manager.check_depth(name.view())?;
    manager.check_face(face)?;
    let mut changes = Vec::new();
    let added = manager.rib.add_hop(name.view(), face, cost, &mut changes);
    manager.change_fib(changes, call.plane);
    added.map_err(|error| ControlResponse::new(507, error.to_string()))?;
    done(&parameters)
}

fn remove_next_hop(manager: &mut Manager, call: Call<'_>) -> Done {
    let mut parameters = call.parameters;
    let (name, face) = prefix_and_face(&mut parameters, call.from, call.grant, manager)?;
    let mut changes = Vec::new();
    manager.rib.remove_hop(name.view(), face, &mut changes);
    manager.change_fib(changes, call.plane);
    done(&parameters)
}

fn register(manager: &mut Manager, call: Call<'_>) -> Done {
    let mut parameters = call.parameters;
    let origin = *parameters.origin.get_or_insert(RouteOrigin::APP);
    let cost = *parameters.cost.get_or_insert(0);
    let flags = *parameters.flags.get_or_insert(ROUTE_CHILD_INHERIT);
    if let Grant::OwnFaces(owner) = call.grant {
        check_share(manager, owner, &parameters, origin, call.from)?;
    }
    let (name, face) = prefix_and_face(&mut parameters, call.from, call.grant, manager)?;
    manager.check_depth(name.view())?;
    manager.check_face(face)?;
    let period = parameters.expiration.filter(|period| *period < NEVER);
    let expires = period.map(|period| call.now.monotonic.saturating_add(period));
    let route = Route { face, origin, cost, flags, expires };
    let mut changes = Vec::new();
    let added = manager.rib.register(name.view(), route, &mut changes);
    manager.change_fib(changes, call.plane);
    added.map_err(|error| ControlResponse::new(507, error.to_string()))?;
    done(&parameters)
}

/// Refuses one more route to a user without further rights, or a neighbour, that has its share of the RIB, an
/// eighth, once the RIB is more than half full: one party must not use up the room of the others.
pub(super) fn check_share(
    manager: &mut Manager,
    owner: Owner,
    parameters: &ControlParameters,
    origin: RouteOrigin,
    from: &Origin,
) -> Result<(), ControlResponse> {
    manager.owners.insert(from.face, owner);
    let (limits, rib) = (manager.config.rib, &manager.rib);
    let has_it = |name: &OwnedName<Ndn>| rib.route(name.view(), from.face, origin).is_some();
    let is_half_full = rib.len() >= limits.routes / 2 || rib.name_bytes() >= limits.name_bytes / 2;
    if !is_half_full || parameters.name.as_ref().is_some_and(has_it) {
        return Ok(());
    }
    let faces = || manager.owners.iter().filter(|(_, other)| **other == owner).map(|(face, _)| *face);
    let held: usize = faces().map(|face| rib.routes_of(face)).sum();
    let bytes: usize = faces().map(|face| rib.name_bytes_of(face)).sum();
    if held >= limits.routes / 8 || bytes >= limits.name_bytes / 8 {
        return refused(
            507,
            format!("{} has {held} routes, its share of a RIB that is half full", from.peer),
        );
    }
    Ok(())
}

fn unregister(manager: &mut Manager, call: Call<'_>) -> Done {
    let mut parameters = call.parameters;
    let origin = *parameters.origin.get_or_insert(RouteOrigin::APP);
    let (name, face) = prefix_and_face(&mut parameters, call.from, call.grant, manager)?;
    let mut changes = Vec::new();
    manager.rib.unregister(name.view(), face, origin, &mut changes);
    manager.change_fib(changes, call.plane);
    done(&parameters)
}

/// The prefix and the face of a command. Without a face, or with face 0, it is about the face that it came
/// from. Refuses prefixes that may not be routed.
fn prefix_and_face(
    parameters: &mut ControlParameters,
    from: &Origin,
    grant: Grant,
    manager: &Manager,
) -> Result<(OwnedName<Ndn>, u64), ControlResponse> {
    let face = parameters.face_id.filter(|&face| face != 0).unwrap_or(from.face);
    parameters.face_id = Some(face);
    let Some(name) = parameters.name.clone() else {
        debug_assert!(false, "required fields have been checked");
        return refused(400, "Name is required");
    };
    let is_neighbour = manager.faces.get(&face).is_some_and(|face| face.scope == FaceScope::NonLocal);
    let may_route = from.scope == FaceScope::Local && grant == Grant::Full && is_neighbour;
    match is_gateway(name.view()) {
        true if may_route => {}
        true => {
            let why = "not authorized: /localhop/nfd belongs to the management of the forwarder: a route of it needs \
                       a user with all rights, and a face of another host, the gateway";
            return refused(403, why);
        }
        false => check_prefix(name.view(), from)?,
    }
    Ok((name, face))
}
