//! The command `rib/announce`: a route that a signed prefix announcement makes.
//!
//! The command needs the same rights as `rib/register`. In addition, the rules for the signatures of commands
//! must trust the announcement, as if its signer had registered the prefix. Unlike a command it may be
//! repeated: it has no time of signing, and is valid until it expires.

use super::access::{Grant, check_prefix};
use super::fields::NAME;
use super::manager::Manager;
use super::reply::{Done, done, refused};
use super::routes::check_share;
use super::verb::{Call, Verb};
use crate::rib::Route;
use hashlane_ndn::mgmt::values::{ROUTE_CHILD_INHERIT, RouteOrigin};
use hashlane_ndn::mgmt::{
    AnnouncementError, CommandError, ControlParameters, ControlResponse, PrefixAnnouncement,
};

pub(super) const ANNOUNCE: Verb = Verb { name: "rib/announce", required: NAME, optional: 0, run: announce };

/// Cost of a route that an announcement makes, as in NFD.
const COST: u64 = 2048;

/// Response to an Interest that is not a well-formed announcement.
pub(super) fn malformed(error: AnnouncementError) -> ControlResponse {
    let is_unsigned = error == AnnouncementError::Command(CommandError::Unsigned);
    ControlResponse::new(if is_unsigned { 403 } else { 400 }, error.to_string())
}

fn announce(manager: &mut Manager, call: Call<'_>) -> Done {
    let Some(limit) = manager.config.announcements else {
        return refused(
            403,
            "not authorized: prefix announcements are not accepted: set rib.prefix_announcements = \"trusted\"",
        );
    };
    let (command, announcement) = PrefixAnnouncement::parse_command(call.interest).map_err(malformed)?;
    let (face, now) = (call.from.face, call.now);
    let owner = call.from.peer.owner();
    if !manager.attempts.admits(owner, now.monotonic) {
        let peer = &call.from.peer;
        return refused(
            403,
            format!(
                "not authorized: too many commands from {peer} were refused in this second: try again later"
            ),
        );
    }
    (manager.verify)(&announcement.command(command.target), now).map_err(|reason| {
        let text =
            format!("not authorized: the signature of the prefix announcement is not trusted: {reason}");
        ControlResponse::new(403, text)
    })?;
    manager.attempts.succeeded(owner);
    let Some(lifetime) = announcement.lifetime(now.unix).filter(|lifetime| *lifetime > 0) else {
        return refused(403, "not authorized: the prefix announcement has expired, or is not valid yet");
    };
    let name = announcement.prefix();
    check_prefix(name.view(), call.from)?;
    manager.check_depth(name.view())?;
    manager.check_face(face)?;
    let origin = RouteOrigin::PREFIXANN;
    let parameters = ControlParameters {
        name: Some(name.clone()),
        face_id: Some(face),
        origin: Some(origin),
        cost: Some(COST),
        flags: Some(ROUTE_CHILD_INHERIT),
        expiration: Some(lifetime),
        ..ControlParameters::default()
    };
    if let Grant::OwnFaces(owner) = call.grant {
        check_share(manager, owner, &parameters, origin, call.from)?;
    }
    if manager.rib.announced_of(face) >= limit && manager.rib.route(name.view(), face, origin).is_none() {
        let text = format!("face {face} has {limit} announced routes, the limit of a face");
        return refused(507, format!("{text}: see rib.announcements_per_face"));
    }
    // A time past the end of the clock is never reached.
    let expires = now.monotonic.checked_add(lifetime);
    let route = Route { face, origin, cost: COST, flags: ROUTE_CHILD_INHERIT, expires };
    let mut changes = Vec::new();
    let added = manager.rib.register(name.view(), route, &mut changes);
    manager.change_fib(changes, call.plane);
    added.map_err(|error| ControlResponse::new(507, error.to_string()))?;
    done(&parameters)
}
