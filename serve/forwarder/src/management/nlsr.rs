//! Routes of clients that are given to NLSR, and its answers.

use super::clock::Now;
use super::manager::Manager;
use super::readvertise::Readvertise;
use super::request::{Plane, Request};
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::mgmt::values::RouteOrigin;
use hashlane_ndn::mgmt::{ControlResponse, Record as _};

impl Manager {
    /// Asks NLSR to advertise the prefixes of clients, or no longer. It keeps those that it advertises then.
    pub fn set_readvertise(&mut self, is_on: bool, now: Now) {
        if is_on == self.readvertise.is_some() {
            return;
        }
        self.rib.watch_clients(is_on);
        self.readvertise = is_on.then(Readvertise::default);
        let Some(readvertise) = &mut self.readvertise else { return };
        for (prefix, routes) in self.rib.entries() {
            if let Some(route) = routes.iter().find(|route| route.origin == RouteOrigin::CLIENT) {
                let owner = self.owners.get(&route.face).copied();
                readvertise.set(prefix.view(), true, owner, now.monotonic);
            }
        }
    }

    /// Takes changes of routes, and sends the command that is due.
    pub(super) fn tick_readvertise(&mut self, now: Now, plane: &mut dyn Plane) {
        let Some(readvertise) = &mut self.readvertise else { return };
        let nlsr = hashlane_name::uri::parse_uri(b"/localhost/nlsr").ok();
        let faces = nlsr.map(|nlsr: OwnedName<Ndn>| self.rib.routes(nlsr.view())).unwrap_or_default();
        let mut faces: Vec<u64> = faces.iter().map(|route| route.face).collect();
        faces.retain(|face| self.faces.contains_key(face));
        readvertise.set_faces(faces, now.monotonic);
        for prefix in self.rib.take_watched() {
            let routes = self.rib.routes(prefix.view());
            let route = routes.iter().find(|route| route.origin == RouteOrigin::CLIENT);
            let owner = route.and_then(|route| self.owners.get(&route.face).copied());
            readvertise.set(prefix.view(), route.is_some(), owner, now.monotonic);
        }
        if let Some(packet) = readvertise.tick(now) {
            plane.request(Request::Interest(packet));
        }
        readvertise.log(now.monotonic);
    }

    /// Handles an answer of NLSR: the content of Data; `None` for a Nack. Returns false if the name is of
    /// no command for NLSR.
    pub(super) fn readvertised(&mut self, name: NdnName<'_>, content: Option<&[u8]>, now: Now) -> bool {
        let Some(readvertise) = &mut self.readvertise else { return false };
        let response = content.and_then(|content| ControlResponse::parse(content).ok());
        // 204 is its answer for a prefix that it advertises already.
        let is_accepted = response.as_ref().is_some_and(|response| (200..400).contains(&response.code));
        let is_known = readvertise.answer(name, is_accepted, now.monotonic);
        if is_known && !is_accepted {
            let (code, text) = response.map(|response| (response.code, response.text)).unwrap_or_default();
            tracing::debug!(code, text, "NLSR has refused a command");
        }
        is_known
    }
}
