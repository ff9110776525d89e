//! The RIB: routes, and the FIB computed from them.
//!
//! An entry of the RIB is a prefix with its registered routes. It leads to one entry of the FIB: its own
//! faces, each at the lowest cost of its routes, and inherited ones. Up from the prefix, each entry
//! contributes the faces of its routes with the flag *child inherit* that no longer prefix has contributed.
//! The walk ends after an entry with a route that has the flag *capture*. An entry with such a route inherits
//! nothing itself.
//!
//! Source: NFD wiki, RibMgmt, Route Inheritance.

use hashlane_name::build::OwnedName;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_name::walk::Walk;
use hashlane_ndn::mgmt::values::{ROUTE_CAPTURE, ROUTE_CHILD_INHERIT, RouteOrigin};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

/// A route. A prefix has at most one for each face and origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Face of the next hop.
    pub face: u64,
    /// Party that has registered it.
    pub origin: RouteOrigin,
    /// Cost.
    pub cost: u64,
    /// Bits [`ROUTE_CHILD_INHERIT`] and [`ROUTE_CAPTURE`].
    pub flags: u64,
    /// Time of expiry, in milliseconds of the clock of [`Rib::expire`]; `None` for no limit.
    pub expires: Option<u64>,
}

/// A next hop to insert into the FIB or to remove from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FibChange {
    /// The prefix.
    pub name: OwnedName<Ndn>,
    /// The face.
    pub face: u64,
    /// New cost; `None` to remove the next hop.
    pub cost: Option<u64>,
}

/// Limits of a RIB.
#[derive(Clone, Copy, Debug)]
pub struct RibLimits {
    /// Most routes.
    pub routes: usize,
    /// Most routes of one face.
    pub routes_per_face: usize,
}

impl Default for RibLimits {
    /// 1,048,576 routes, half of them of one face: a routing daemon may register a large table for one
    /// neighbour.
    fn default() -> Self {
        Self { routes: 1 << 20, routes_per_face: 1 << 19 }
    }
}

/// Limit that a route would exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RibError {
    /// The limit of all routes.
    Full {
        /// The limit.
        limit: usize,
    },
    /// The limit of a face.
    FaceFull {
        /// The face.
        face: u64,
        /// The limit.
        limit: usize,
    },
}

impl fmt::Display for RibError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { limit } => write!(f, "the RIB holds {limit} routes, its limit"),
            Self::FaceFull { face, limit } => {
                write!(f, "face {face} has {limit} routes, the limit of a face")
            }
        }
    }
}

impl std::error::Error for RibError {}

/// The encoded components of a name. In their order, the names below a prefix follow it.
type Key = Box<[u8]>;

/// The next hops of a FIB entry: faces and costs.
type NextHops = BTreeMap<u64, u64>;

struct Entry {
    name: OwnedName<Ndn>,
    routes: Vec<Route>,
    /// Next hops that the FIB has.
    installed: NextHops,
}

/// The routing information base.
#[derive(Default)]
pub struct Rib {
    entries: BTreeMap<Key, Entry>,
    /// Number of routes of each face, in all and for each prefix.
    faces: HashMap<u64, Face>,
    /// Routes that expire, by time.
    ends: BTreeSet<(u64, Key, u64, RouteOrigin)>,
    routes: usize,
    limits: RibLimits,
}

#[derive(Default)]
struct Face {
    routes: usize,
    prefixes: BTreeMap<Key, usize>,
}

impl Rib {
    /// A RIB without routes.
    pub fn new(limits: RibLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Number of routes.
    pub fn len(&self) -> usize {
        self.routes
    }

    /// True if there are no routes.
    pub fn is_empty(&self) -> bool {
        self.routes == 0
    }

    /// Prefixes and their routes, ordered by the bytes of their components.
    pub fn entries(&self) -> impl Iterator<Item = (NdnName<'_>, &[Route])> {
        self.entries.values().map(|entry| (entry.name.view(), &entry.routes[..]))
    }

    /// The route of a prefix with this face and origin.
    pub fn route(&self, name: NdnName<'_>, face: u64, origin: RouteOrigin) -> Option<Route> {
        let entry = self.entries.get(name.walk().bytes())?;
        entry.routes.iter().find(|route| route.face == face && route.origin == origin).copied()
    }

    /// Number of routes of a face.
    pub fn routes_of(&self, face: u64) -> usize {
        self.faces.get(&face).map_or(0, |face| face.routes)
    }

    /// Adds a route, or replaces the one of the same face and origin. Appends the changes of the FIB to
    /// `changes`.
    ///
    /// # Errors
    /// [`RibError`] if a limit is reached; nothing has changed then.
    pub fn register(
        &mut self,
        name: NdnName<'_>,
        route: Route,
        changes: &mut Vec<FibChange>,
    ) -> Result<(), RibError> {
        let key = name.walk().bytes();
        if self.route(name, route.face, route.origin).is_none() {
            self.check_room(route.face)?;
        }
        let before = self.inherited(key);
        let entry = self.entries.entry(key.into()).or_insert_with(|| Entry {
            name: (&name).into(),
            routes: Vec::new(),
            installed: NextHops::new(),
        });
        match entry.routes.iter_mut().find(|old| is_same(old, &route)) {
            Some(old) => {
                if let Some(end) = old.expires {
                    self.ends.remove(&(end, key.into(), route.face, route.origin));
                }
                *old = route;
            }
            None => {
                entry.routes.push(route);
                self.routes += 1;
                let face = self.faces.entry(route.face).or_default();
                face.routes += 1;
                *face.prefixes.entry(key.into()).or_default() += 1;
            }
        }
        if let Some(end) = route.expires {
            self.ends.insert((end, key.into(), route.face, route.origin));
        }
        let mut stale = BTreeSet::new();
        self.mark(key, &before, &mut stale);
        self.install(stale, changes);
        Ok(())
    }

    fn check_room(&self, face: u64) -> Result<(), RibError> {
        let RibLimits { routes, routes_per_face } = self.limits;
        if self.routes >= routes {
            return Err(RibError::Full { limit: routes });
        }
        if self.faces.get(&face).is_some_and(|face| face.routes >= routes_per_face) {
            return Err(RibError::FaceFull { face, limit: routes_per_face });
        }
        Ok(())
    }

    /// Removes a route. Returns false if there is none.
    pub fn unregister(
        &mut self,
        name: NdnName<'_>,
        face: u64,
        origin: RouteOrigin,
        changes: &mut Vec<FibChange>,
    ) -> bool {
        let mut stale = BTreeSet::new();
        let was_there = self.remove(
            name.walk().bytes(),
            |route| route.face == face && route.origin == origin,
            &mut stale,
        );
        self.install(stale, changes);
        was_there
    }

    /// Removes all routes of a face.
    pub fn remove_face(&mut self, face: u64, changes: &mut Vec<FibChange>) {
        // A face without routes has no entry.
        let Some(of_face) = self.faces.get(&face) else { return };
        let keys: Vec<Key> = of_face.prefixes.keys().cloned().collect();
        let mut stale = BTreeSet::new();
        for key in keys {
            self.remove(&key, |route| route.face == face, &mut stale);
        }
        self.install(stale, changes);
    }

    /// Removes the routes that expire at `now` or have expired.
    pub fn expire(&mut self, now: u64, changes: &mut Vec<FibChange>) {
        let mut stale = BTreeSet::new();
        while let Some((_, key, face, origin)) = self.ends.first().filter(|end| end.0 <= now).cloned() {
            self.remove(&key, |route| route.face == face && route.origin == origin, &mut stale);
        }
        self.install(stale, changes);
    }

    /// Time at which the next route expires.
    pub fn next_end(&self) -> Option<u64> {
        self.ends.first().map(|end| end.0)
    }

    /// Removes the routes of one prefix that `which` selects, and marks the entries that this may change.
    fn remove(&mut self, key: &[u8], which: impl Fn(&Route) -> bool, stale: &mut BTreeSet<Key>) -> bool {
        let before = self.inherited(key);
        let Some(entry) = self.entries.get_mut(key) else { return false };
        let taken: Vec<Route> = entry.routes.extract_if(.., |route| which(route)).collect();
        for route in &taken {
            self.routes -= 1;
            if let Some(end) = route.expires {
                self.ends.remove(&(end, key.into(), route.face, route.origin));
            }
            self.uncount(route.face, key);
        }
        if !taken.is_empty() {
            self.mark(key, &before, stale);
        }
        !taken.is_empty()
    }

    /// Removes a route from the numbers of its face.
    fn uncount(&mut self, face: u64, key: &[u8]) {
        let Some(of_face) = self.faces.get_mut(&face) else {
            debug_assert!(false, "each route is counted for its face");
            return;
        };
        of_face.routes -= 1;
        if let Some(count) = of_face.prefixes.get_mut(key) {
            *count -= 1;
            if *count == 0 {
                of_face.prefixes.remove(key);
            }
        }
        if of_face.routes == 0 {
            self.faces.remove(&face);
        }
    }

    /// Next hops that the entry of `key` contributes to those below it, and true if it captures. Without an
    /// entry, there are none.
    fn inherited(&self, key: &[u8]) -> (NextHops, bool) {
        self.entries.get(key).map_or_else(|| (NextHops::new(), false), inherited)
    }

    /// Marks the entry of `key`, and if its contribution is no longer `before`, those below it.
    fn mark(&self, key: &[u8], before: &(NextHops, bool), stale: &mut BTreeSet<Key>) {
        stale.insert(key.into());
        if self.inherited(key) != *before {
            let below =
                self.entries.range::<[u8], _>((std::ops::Bound::Excluded(key), std::ops::Bound::Unbounded));
            stale.extend(below.map(|(key, _)| key).take_while(|below| below.starts_with(key)).cloned());
        }
    }

    /// Computes the changes of the FIB for these entries, and drops those without routes.
    fn install(&mut self, stale: BTreeSet<Key>, changes: &mut Vec<FibChange>) {
        for key in stale {
            let wanted = self.next_hops(&key);
            let Some(entry) = self.entries.get_mut(&key) else { continue };
            let change = |face, cost| FibChange { name: entry.name.clone(), face, cost };
            let gone = entry.installed.keys().filter(|face| !wanted.contains_key(face));
            changes.extend(gone.map(|&face| change(face, None)));
            let new = wanted.iter().filter(|(face, cost)| entry.installed.get(face) != Some(cost));
            changes.extend(new.map(|(&face, &cost)| change(face, Some(cost))));
            entry.installed = wanted;
            if entry.routes.is_empty() {
                self.entries.remove(&key);
            }
        }
    }

    /// Next hops of the entry of `key`; none if it has no routes.
    fn next_hops(&self, key: &[u8]) -> NextHops {
        let mut hops = NextHops::new();
        let Some(entry) = self.entries.get(key).filter(|entry| !entry.routes.is_empty()) else { return hops };
        cheapest(entry.routes.iter(), &mut hops);
        let mut captured = has_capture(entry);
        let mut ends: Vec<usize> = entry.name.view().spans().map(|span| span.start).collect();
        while let Some(end) = ends.pop().filter(|_| !captured) {
            let above = key.get(..end).and_then(|above| self.entries.get(above));
            if let Some((more, captures)) = above.map(inherited) {
                for (face, cost) in more {
                    hops.entry(face).or_insert(cost);
                }
                captured = captures;
            }
        }
        hops
    }
}

fn is_same(one: &Route, other: &Route) -> bool {
    one.face == other.face && one.origin == other.origin
}

fn has_capture(entry: &Entry) -> bool {
    entry.routes.iter().any(|route| route.flags & ROUTE_CAPTURE != 0)
}

/// Next hops that an entry contributes to those below it, and true if it captures.
fn inherited(entry: &Entry) -> (NextHops, bool) {
    let mut hops = NextHops::new();
    cheapest(entry.routes.iter().filter(|route| route.flags & ROUTE_CHILD_INHERIT != 0), &mut hops);
    (hops, has_capture(entry))
}

/// Inserts each face of `routes` at its lowest cost.
fn cheapest<'a>(routes: impl Iterator<Item = &'a Route>, hops: &mut NextHops) {
    for route in routes {
        let cost = hops.entry(route.face).or_insert(route.cost);
        *cost = route.cost.min(*cost);
    }
}

#[cfg(test)]
mod tests;
