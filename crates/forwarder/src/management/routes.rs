//! Modules fib and rib.

use super::access::{Grant, check_prefix};
use super::{Done, Manager, Now, Origin, Plane, done, refused};
use crate::rib::Route;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::values::RouteOrigin;
use hashlane_ndn::mgmt::{ControlParameters, ControlResponse};

impl Manager {
    pub(super) fn add_next_hop(
        &mut self,
        parameters: ControlParameters,
        from: &Origin,
        plane: &mut impl Plane,
    ) -> Done {
        let (name, face, parameters) = self.prefix_and_face(parameters, from)?;
        self.check_depth(name.view())?;
        self.check_face(face)?;
        let limit = self.config.max_next_hops;
        if self.fib.hops() >= limit && !self.fib.contains(name.view(), face) {
            return refused(507, format!("the FIB holds {limit} next hops, its limit"));
        }
        let cost = parameters.cost.unwrap_or(0);
        self.fib.insert(name.view(), face, cost);
        plane.route(name.view(), face, cost);
        done(&parameters)
    }

    pub(super) fn remove_next_hop(
        &mut self,
        parameters: ControlParameters,
        from: &Origin,
        plane: &mut impl Plane,
    ) -> Done {
        let (name, face, parameters) = self.prefix_and_face(parameters, from)?;
        if self.fib.remove(name.view(), face) {
            plane.unroute(name.view(), face);
        }
        done(&parameters)
    }

    pub(super) fn register(
        &mut self,
        parameters: ControlParameters,
        from: &Origin,
        now: Now,
        plane: &mut impl Plane,
    ) -> Done {
        let (name, face, parameters) = self.prefix_and_face(parameters, from)?;
        self.check_depth(name.view())?;
        self.check_face(face)?;
        let route = Route {
            face,
            origin: parameters.origin.unwrap_or(RouteOrigin::APP),
            cost: parameters.cost.unwrap_or(0),
            flags: parameters.flags.unwrap_or(0),
            // A time past the end of the clock is for ever.
            expires: parameters.expiration.and_then(|period| now.monotonic.checked_add(period)),
        };
        let old = self.rib.route(name.view(), face, route.origin);
        let mut changes = Vec::new();
        self.rib
            .register(name.view(), route, &mut changes)
            .map_err(|error| ControlResponse::new(507, error.to_string()))?;
        // What is inherited can be many next hops for one route. Taking the route back undoes the changes,
        // which nobody has seen.
        let limit = self.config.max_next_hops;
        if !changes.is_empty() && self.fib.hops() + self.fib.more(&changes) > limit {
            let mut undone = Vec::new();
            match old {
                Some(old) => self
                    .rib
                    .register(name.view(), old, &mut undone)
                    .map_err(|error| ControlResponse::new(507, error.to_string()))?,
                None => {
                    self.rib.unregister(name.view(), face, route.origin, &mut undone);
                }
            }
            return refused(507, format!("the FIB would hold more than {limit} next hops, its limit"));
        }
        self.change_fib(changes, plane);
        done(&parameters)
    }

    /// Refuses one more route to a user without further rights that has its share of the RIB, an eighth,
    /// where the RIB is more than half full: one user must not use up what others need.
    pub(super) fn check_share(
        &mut self,
        grant: Grant,
        parameters: &ControlParameters,
        from: &Origin,
    ) -> Result<(), ControlResponse> {
        let (Grant::OwnFaces(uid), Some(name)) = (grant, &parameters.name) else { return Ok(()) };
        self.owners.insert(from.face, uid);
        let (limit, origin) = (self.config.rib.routes, parameters.origin.unwrap_or(RouteOrigin::APP));
        if self.rib.len() < limit / 2 || self.rib.route(name.view(), from.face, origin).is_some() {
            return Ok(());
        }
        let faces = self.owners.iter().filter(|(_, owner)| **owner == uid);
        let held: usize = faces.map(|(face, _)| self.rib.routes_of(*face)).sum();
        if held >= limit / 8 {
            return refused(
                507,
                format!("user {uid} has {held} routes, its share of a RIB that is half full"),
            );
        }
        Ok(())
    }

    pub(super) fn unregister(
        &mut self,
        parameters: ControlParameters,
        from: &Origin,
        plane: &mut impl Plane,
    ) -> Done {
        let (name, face, parameters) = self.prefix_and_face(parameters, from)?;
        let mut changes = Vec::new();
        let origin = parameters.origin.unwrap_or(RouteOrigin::APP);
        self.rib.unregister(name.view(), face, origin, &mut changes);
        self.change_fib(changes, plane);
        done(&parameters)
    }

    /// The prefix, and the face: where none or 0 is given, that of the command. Refuses prefixes that may not
    /// be routed.
    fn prefix_and_face(
        &self,
        mut parameters: ControlParameters,
        from: &Origin,
    ) -> Result<(OwnedName<Ndn>, u64, ControlParameters), ControlResponse> {
        let face = parameters.face_id.filter(|&face| face != 0).unwrap_or(from.face);
        parameters.face_id = Some(face);
        let name =
            parameters.name.clone().unwrap_or_else(|| hashlane_name::build::NameBuilder::new().finish());
        check_prefix(name.view(), from)?;
        Ok((name, face, parameters))
    }

    fn check_face(&self, face: u64) -> Result<(), ControlResponse> {
        if self.faces.contains_key(&face) { Ok(()) } else { refused(410, format!("Face {face} not found")) }
    }
}
