//! Routes that signed prefix announcements make: by the command `rib/announce`, and by Data from neighbours
//! under the strategy self-learning.
//!
//! The command needs the same rights as `rib/register`. In addition, the rules for the signatures of commands
//! must trust the announcement, as if its signer had registered the prefix. Unlike a command it may be
//! repeated: it has no time of signing, and is valid until it expires.
//!
//! An announcement with Data needs the same trust, and no command. Its route ends 10 minutes after its last
//! use, and no later than the announcement.

use super::access::{Distrust, Grant, check_prefix, localhop_grant};
use super::announced::Announced;
use super::clock::Now;
use super::fetch::Missing;
use super::fields::NAME;
use super::manager::Manager;
use super::origin::Origin;
use super::reply::{Done, done, refused};
use super::request::{Plane, Request, TableRequest};
use super::routes::check_share;
use super::verb::{Call, Verb};
use crate::rib::Route;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::mgmt::values::{ROUTE_CHILD_INHERIT, RouteOrigin};
use hashlane_ndn::mgmt::{
    AnnouncementError, CommandError, ControlParameters, ControlResponse, PrefixAnnouncement, Scope,
};
use hashlane_ndn_fw::learning::{Announcement, MAX_ANNOUNCEMENT, RouteEvent};

pub(super) const ANNOUNCE: Verb = Verb { name: "rib/announce", required: NAME, optional: 0, run: announce };

/// Cost of a route that an announcement makes, as in NFD.
const COST: u64 = 2048;

/// Longest lifetime of a learned route after its last use, in milliseconds, as in NFD.
const LEARNED: u64 = 600_000;

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
    let (from, now) = (call.from, call.now);
    if !call.progress.has_waited() {
        manager.check_attempts(from, now)?;
    }
    let fetched = call.progress.certificates();
    let certificates = [manager.fetcher.verified(), &fetched];
    let verified = (manager.verify)(&announcement.command(command.target), &certificates, now);
    if let Err(Distrust { why, missing }) = verified {
        let response = distrusted(&why);
        let Some(key) = missing else { return Err(response) };
        let missing = Missing { key, response };
        return manager.fetch(missing, call.interest, from, call.progress, now, call.plane);
    }
    manager.fetcher.keep(&call.progress, from.peer.owner(), now);
    let offer = Offer { announcement, limit, is_learned: false, grant: call.grant };
    let parameters = manager.add_announced(offer, from, now, call.plane)?;
    done(&parameters)
}

fn distrusted(why: &impl std::fmt::Display) -> ControlResponse {
    let text = format!("not authorized: the signature of the prefix announcement is not trusted: {why}");
    ControlResponse::new(403, text)
}

/// Announcement that asks for a route.
struct Offer<'a> {
    announcement: PrefixAnnouncement<'a>,
    /// Most routes that announcements of one face make.
    limit: usize,
    /// True if it arrived with Data, false if a command brought it.
    is_learned: bool,
    grant: Grant,
}

impl Manager {
    /// Checks that few signatures of a party were refused in this second.
    fn check_attempts(&mut self, from: &Origin, now: Now) -> Result<(), ControlResponse> {
        let peer = &from.peer;
        if self.attempts.admits(peer.owner(), now.monotonic) {
            return Ok(());
        }
        refused(
            403,
            format!(
                "not authorized: too many commands from {peer} were refused in this second: try again later"
            ),
        )
    }

    /// Makes the route of an announcement that is trusted, over the face that it came from. Returns its
    /// parameters.
    fn add_announced(
        &mut self,
        offer: Offer<'_>,
        from: &Origin,
        now: Now,
        plane: &mut dyn Plane,
    ) -> Result<ControlParameters, ControlResponse> {
        let Offer { announcement, limit, is_learned, grant } = offer;
        let (face, owner) = (from.face, from.peer.owner());
        let Some(lifetime) = announcement.lifetime(now.unix).filter(|lifetime| *lifetime > 0) else {
            return refused(403, "not authorized: the prefix announcement has expired, or is not valid yet");
        };
        let name = announcement.prefix();
        check_prefix(name.view(), from)?;
        self.check_depth(name.view())?;
        self.check_face(face)?;
        let origin = RouteOrigin::PREFIXANN;
        let period = if is_learned { lifetime.min(LEARNED) } else { lifetime };
        let parameters = ControlParameters {
            name: Some(name.clone()),
            face_id: Some(face),
            origin: Some(origin),
            cost: Some(COST),
            flags: Some(ROUTE_CHILD_INHERIT),
            expiration: Some(period),
            ..ControlParameters::default()
        };
        if let Grant::OwnFaces(owner) = grant {
            check_share(self, owner, &parameters, origin, from)?;
        }
        if self.rib.announced_of(face) >= limit && self.rib.route(name.view(), face, origin).is_none() {
            let text = format!("face {face} has {limit} announced routes, the limit of a face");
            return refused(507, format!("{text}: see rib.announcements_per_face"));
        }
        // A time past the end of the clock is never reached.
        let end = |period| now.monotonic.checked_add(period);
        self.put_announced(&name, face, end(period), plane)?;
        let packet = announcement.data().as_bytes();
        let announced = Announced { packet: packet.into(), ends: end(lifetime), is_learned };
        let was_kept = self.announced.remove(&name, face);
        let is_kept =
            packet.len() <= MAX_ANNOUNCEMENT && self.announced.insert(&name, face, announced.clone(), owner);
        if was_kept || is_kept {
            let announcement = is_kept.then_some(Announcement { packet: announced.packet, is_learned });
            plane.request(Request::Table(TableRequest::Announce { prefix: name, face, announcement }));
        }
        // An announcement that makes no route may come again and again, from whoever has seen it: its
        // verification counts as one in vain.
        self.attempts.succeeded(owner);
        Ok(parameters)
    }

    /// Adds the route of an announcement, or sets the time at which it expires.
    fn put_announced(
        &mut self,
        name: &OwnedName<Ndn>,
        face: u64,
        expires: Option<u64>,
        plane: &mut dyn Plane,
    ) -> Result<(), ControlResponse> {
        let origin = RouteOrigin::PREFIXANN;
        let route = Route { face, origin, cost: COST, flags: ROUTE_CHILD_INHERIT, expires };
        let mut changes = Vec::new();
        let added = self.rib.register(name.view(), route, &mut changes);
        self.change_fib(changes, plane);
        added.map_err(|error| ControlResponse::new(507, error.to_string()))
    }

    /// Handles an event of a route over the face `from.face`.
    pub fn route_event(&mut self, event: &RouteEvent, from: &Origin, now: Now, plane: &mut impl Plane) {
        self.expire(now, plane);
        match event {
            RouteEvent::Announced(packet) => {
                if let Err(ControlResponse { text, .. }) = self.learn(packet, from, now, plane) {
                    tracing::debug!(face = from.face, %text, "no route from an announcement");
                }
            }
            RouteEvent::Used(prefix) => self.prolong(prefix, from.face, now, plane),
            RouteEvent::Broken(prefix) => {
                if self.announced.find(prefix, from.face).is_some_and(|announced| announced.is_learned) {
                    let mut changes = Vec::new();
                    let origin = RouteOrigin::PREFIXANN;
                    self.rib.unregister(prefix.view(), from.face, origin, &mut changes);
                    self.change_fib(changes, plane);
                }
            }
        }
    }

    /// Makes the route of an announcement that arrived with Data.
    fn learn(
        &mut self,
        packet: &[u8],
        from: &Origin,
        now: Now,
        plane: &mut dyn Plane,
    ) -> Result<(), ControlResponse> {
        let Some(limit) = self.config.announcements else {
            return refused(403, "prefix announcements are not accepted: see rib.prefix_announcements");
        };
        let announcement = PrefixAnnouncement::parse(packet).map_err(malformed)?;
        // Data may bring it again before its route is in use: its signature is verified once.
        let prefix = announcement.prefix();
        if let Some(known) = self.announced.find(&prefix, from.face)
            && (!known.is_learned || *known.packet == *packet)
        {
            self.prolong(&prefix, from.face, now, plane);
            return Ok(());
        }
        let target = Target { scope: Scope::Localhop, module: b"rib", verb: PrefixAnnouncement::VERB };
        self.check_attempts(from, now)?;
        // Data waits for no certificate: it brings the announcement again.
        let certificates = [self.fetcher.verified()];
        (self.verify)(&announcement.command(target), &certificates, now)
            .map_err(|Distrust { why, .. }| distrusted(&why))?;
        let offer = Offer { announcement, limit, is_learned: true, grant: localhop_grant(from) };
        self.changes += 1;
        self.add_announced(offer, from, now, plane).map(drop)
    }

    /// Prolongs a learned route that is used, within the lifetime of its announcement.
    fn prolong(&mut self, prefix: &OwnedName<Ndn>, face: u64, now: Now, plane: &mut dyn Plane) {
        let Some(announced) = self.announced.find(prefix, face).filter(|announced| announced.is_learned)
        else {
            return;
        };
        let until = now.monotonic.saturating_add(LEARNED);
        let expires = announced.ends.map_or(until, |ends| ends.min(until));
        // A route that was replaced by a command stays as it is.
        let route = self.rib.route(prefix.view(), face, RouteOrigin::PREFIXANN);
        if route.is_some_and(|route| route.cost == COST && route.expires.is_some_and(|at| at < expires)) {
            let _ = self.put_announced(prefix, face, Some(expires), plane);
        }
    }

    /// Removes the announcements of routes that have ended.
    pub(super) fn withdraw_announced(&mut self, plane: &mut dyn Plane) {
        for (prefix, face) in self.rib.take_ended() {
            if self.announced.remove(&prefix, face) {
                let request = TableRequest::Announce { prefix, face, announcement: None };
                plane.request(Request::Table(request));
            }
        }
    }
}
