//! Changes of routes that are passed on, and the answers to the commands about them.

use super::advertisers::Advertiser;
use super::gateway::{Gateway, Propagation};
use super::policy::Policy;
use super::{Counts, Outcome, Readvertise};
use crate::management::clock::Now;
use crate::management::manager::Manager;
use crate::management::request::{Plane, Request};
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::mgmt::{ControlResponse, Record as _};

impl Manager {
    /// Asks NLSR to advertise the prefixes of clients, or no longer. It keeps those that it advertises then.
    pub fn set_readvertise(&mut self, is_on: bool, now: Now) {
        let found = self.advertisers.position(Policy::NLSR);
        match found {
            None if is_on => self.add_advertiser(Policy::Nlsr, now),
            Some(at) if !is_on => drop(self.advertisers.all.remove(at)),
            _ => return,
        }
        self.watch_routes();
    }

    /// Propagates the prefixes of local applications to the gateway, or no longer. Prefixes of identities
    /// that are removed are withdrawn.
    pub fn set_propagation(&mut self, propagation: Propagation, now: Now) {
        let Some(at) = self.advertisers.position(Policy::GATEWAY) else {
            if !propagation.identities.is_empty() {
                self.add_advertiser(Policy::Gateway(Gateway::new(propagation)), now);
                self.watch_routes();
            }
            return;
        };
        let mut one = self.advertisers.all.remove(at);
        let Readvertise { policy, targets, .. } = &mut one.readvertise;
        if let Policy::Gateway(gateway) = policy
            && gateway.configure(propagation, |prefix| targets.contains_key(prefix))
        {
            one.readvertise.begin_scan();
            self.scan_routes(&mut one, now);
            one.readvertise.end_scan(now.monotonic);
        }
        self.advertisers.all.push(one);
    }

    fn add_advertiser(&mut self, policy: Policy, now: Now) {
        let uris = policy.destinations().iter();
        let destinations: Vec<OwnedName<Ndn>> =
            uris.filter_map(|uri| hashlane_name::uri::parse_uri(uri.as_bytes()).ok()).collect();
        debug_assert!(destinations.len() == policy.destinations().len(), "URIs of names");
        let readvertise = Readvertise::new(policy);
        let mut one = Advertiser { readvertise, destinations, is_stale: true };
        self.scan_routes(&mut one, now);
        self.advertisers.all.push(one);
    }

    /// Passes all routes to an advertiser.
    fn scan_routes(&self, one: &mut Advertiser, now: Now) {
        for (prefix, routes) in self.rib.entries() {
            let selects = |route: &&_| one.readvertise.policy.selects(route, &self.faces);
            if let Some(route) = routes.iter().find(selects) {
                let owner = self.owners.get(&route.face).copied();
                one.readvertise.set(prefix.view(), true, owner, now.monotonic);
            }
        }
    }

    /// Notes from now on the routes that any advertiser needs.
    fn watch_routes(&mut self) {
        let destinations = self.advertisers.all.iter().flat_map(|one| &one.destinations);
        let destinations: Vec<_> = destinations.map(OwnedName::view).collect();
        match self.advertisers.all.is_empty() {
            true => self.rib.unwatch(),
            false => {
                let is_all = self.advertisers.position(Policy::GATEWAY).is_some();
                self.rib.watch(is_all, &destinations);
            }
        }
    }

    /// Takes changes of routes, and sends the commands that are due.
    pub(in crate::management) fn tick_readvertise(&mut self, now: Now, plane: &mut dyn Plane) {
        let Self { advertisers, rib, faces, owners, .. } = self;
        if advertisers.all.is_empty() {
            return;
        }
        let changed: Vec<OwnedName<Ndn>> = rib.take_watched().collect();
        let mut is_over = false;
        for one in &mut advertisers.all {
            let Advertiser { readvertise, destinations, is_stale } = one;
            *is_stale |= changed.iter().any(|prefix| destinations.contains(prefix));
            if std::mem::take(is_stale) {
                let found = readvertise.policy.faces(destinations, rib, faces);
                readvertise.set_faces(found, now.monotonic);
            }
            for prefix in &changed {
                let routes = rib.routes(prefix.view());
                let route = routes.iter().find(|route| readvertise.policy.selects(route, faces));
                let owner = route.and_then(|route| owners.get(&route.face).copied());
                readvertise.set(prefix.view(), route.is_some(), owner, now.monotonic);
            }
            while let Some(packet) = readvertise.tick(now) {
                plane.request(Request::Interest(packet));
            }
            readvertise.log(now.monotonic);
            is_over |= readvertise.is_over();
        }
        if is_over {
            advertisers.all.retain(|one| !one.readvertise.is_over());
            self.watch_routes();
        }
    }

    /// Handles an answer to a command: the content of Data; `None` for a Nack. Returns false if the name is
    /// of no command that was sent.
    pub(in crate::management) fn readvertised(
        &mut self,
        name: NdnName<'_>,
        content: Option<&[u8]>,
        now: Now,
    ) -> bool {
        if self.advertisers.all.is_empty() {
            return false;
        }
        let outcome = match content.map(ControlResponse::parse) {
            // 204 is NLSR's answer for a prefix that it advertises already.
            Some(Ok(response)) if (200..400).contains(&response.code) => Outcome::Accepted,
            Some(Ok(ControlResponse { code, text, .. })) => Outcome::Refused { code, text },
            Some(Err(_)) => Outcome::Refused { code: 0, text: "the answer is malformed".into() },
            None => Outcome::Unanswered,
        };
        self.advertisers.all.iter_mut().any(|one| one.readvertise.answer(name, &outcome, now.monotonic))
    }

    /// Numbers of the prefixes that others are asked to advertise, by the destination.
    pub fn advertised(&self) -> impl Iterator<Item = (&'static str, Counts)> {
        self.advertisers.counts()
    }
}
