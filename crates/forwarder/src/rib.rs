//! Routes, and the FIB that they make.
//!
//! An entry of the RIB is a prefix with the routes that somebody registered for it. It makes one entry of the FIB: its own faces, each at the
//! lowest cost of its routes, and those that it inherits. Going up from the prefix, each entry gives the faces of its routes with the flag
//! *child inherit* that no entry nearer has given, and the walk ends behind an entry with a route that has the flag *capture*. An entry with
//! such a route inherits nothing itself.
//!
//! Source: NFD wiki, RibMgmt, Route Inheritance.

use hashlane_name::build::OwnedName;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_name::walk::Walk;
use hashlane_ndn::mgmt::values::{ROUTE_CAPTURE, ROUTE_CHILD_INHERIT, RouteOrigin};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

/// A route. A prefix has one at most for each face and origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Where to.
    pub face: u64,
    /// Who made it.
    pub origin: RouteOrigin,
    /// What it costs.
    pub cost: u64,
    /// [`ROUTE_CHILD_INHERIT`] and [`ROUTE_CAPTURE`].
    pub flags: u64,
    /// When it ends, in milliseconds of the clock that [`Rib::expire`] is given.
    pub expires: Option<u64>,
}

/// A next hop that has to be put into the FIB or taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FibChange {
    /// The prefix.
    pub name: OwnedName<Ndn>,
    /// The face.
    pub face: u64,
    /// Its new cost; `None` where it is to be taken out.
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
    /// 1,048,576 routes, and half of them of one face: a routing daemon may register a large table on one
    /// neighbour.
    fn default() -> Self {
        Self { routes: 1 << 20, routes_per_face: 1 << 19 }
    }
}

/// Which limit keeps a route out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RibError {
    /// That of all routes.
    Full {
        /// The limit.
        limit: usize,
    },
    /// That of the face.
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

/// The components of a name, encoded: in the order of these, the names below a prefix follow it.
type Key = Box<[u8]>;

/// The next hops of a FIB entry: faces and costs.
type NextHops = BTreeMap<u64, u64>;

struct Entry {
    name: OwnedName<Ndn>,
    routes: Vec<Route>,
    /// What the FIB has been told.
    installed: NextHops,
}

/// All routes.
#[derive(Default)]
pub struct Rib {
    entries: BTreeMap<Key, Entry>,
    /// How many routes each face has for each prefix.
    faces: HashMap<u64, Face>,
    /// Routes that end, by when.
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

    /// How many routes there are.
    pub fn len(&self) -> usize {
        self.routes
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.routes == 0
    }

    /// Every prefix with its routes, in canonical order but for the lengths of components.
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

    /// Puts a route in, or changes the one of the same face and origin. What the FIB has to do is appended to `changes`.
    ///
    /// # Errors
    /// [`RibError`] where there is no room for one more; nothing has then changed.
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
        let before = self.gives(key);
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

    /// Takes a route out; returns whether it was there.
    pub fn unregister(
        &mut self,
        name: NdnName<'_>,
        face: u64,
        origin: RouteOrigin,
        changes: &mut Vec<FibChange>,
    ) -> bool {
        let mut stale = BTreeSet::new();
        let was_there =
            self.take(name.walk().bytes(), |route| route.face == face && route.origin == origin, &mut stale);
        self.install(stale, changes);
        was_there
    }

    /// Takes all routes of a face out.
    pub fn remove_face(&mut self, face: u64, changes: &mut Vec<FibChange>) {
        let keys: Vec<Key> =
            self.faces.get(&face).map(|face| face.prefixes.keys().cloned().collect()).unwrap_or_default();
        let mut stale = BTreeSet::new();
        for key in keys {
            self.take(&key, |route| route.face == face, &mut stale);
        }
        self.install(stale, changes);
    }

    /// Takes out the routes that end at `now` or have ended.
    pub fn expire(&mut self, now: u64, changes: &mut Vec<FibChange>) {
        let mut stale = BTreeSet::new();
        while let Some((_, key, face, origin)) = self.ends.first().filter(|end| end.0 <= now).cloned() {
            self.take(&key, |route| route.face == face && route.origin == origin, &mut stale);
        }
        self.install(stale, changes);
    }

    /// When the next route ends.
    pub fn next_end(&self) -> Option<u64> {
        self.ends.first().map(|end| end.0)
    }

    /// Takes the routes of one prefix out that `which` picks, and marks the entries that this may change.
    fn take(&mut self, key: &[u8], which: impl Fn(&Route) -> bool, stale: &mut BTreeSet<Key>) -> bool {
        let before = self.gives(key);
        let Some(entry) = self.entries.get_mut(key) else { return false };
        let taken: Vec<Route> = entry.routes.extract_if(.., |route| which(route)).collect();
        for route in &taken {
            self.routes -= 1;
            if let Some(end) = route.expires {
                self.ends.remove(&(end, key.into(), route.face, route.origin));
            }
            if let Some(face) = self.faces.get_mut(&route.face) {
                face.routes -= 1;
                if let Some(count) = face.prefixes.get_mut(key) {
                    *count -= 1;
                    if *count == 0 {
                        face.prefixes.remove(key);
                    }
                }
                if face.routes == 0 {
                    self.faces.remove(&route.face);
                }
            }
        }
        if !taken.is_empty() {
            self.mark(key, &before, stale);
        }
        !taken.is_empty()
    }

    /// What the entry of `key` gives to those below it, and whether it keeps from them what comes from above.
    fn gives(&self, key: &[u8]) -> (NextHops, bool) {
        self.entries.get(key).map(gives).unwrap_or_default()
    }

    /// Marks the entry of `key`, and those below it where what it gives is no longer `before`.
    fn mark(&self, key: &[u8], before: &(NextHops, bool), stale: &mut BTreeSet<Key>) {
        stale.insert(key.into());
        if self.gives(key) != *before {
            let below =
                self.entries.range::<[u8], _>((std::ops::Bound::Excluded(key), std::ops::Bound::Unbounded));
            stale.extend(below.map(|(key, _)| key).take_while(|below| below.starts_with(key)).cloned());
        }
    }

    /// Brings what the FIB has been told of these entries up to date, and drops those without routes.
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

    /// The next hops that the routes make for the entry of `key`; none where it has no routes.
    fn next_hops(&self, key: &[u8]) -> NextHops {
        let mut hops = NextHops::new();
        let Some(entry) = self.entries.get(key).filter(|entry| !entry.routes.is_empty()) else { return hops };
        cheapest(entry.routes.iter(), &mut hops);
        let mut captured = has_capture(entry);
        let mut ends: Vec<usize> = entry.name.view().spans().map(|span| span.start).collect();
        while let Some(end) = ends.pop().filter(|_| !captured) {
            let above = key.get(..end).and_then(|above| self.entries.get(above));
            if let Some((given, captures)) = above.map(gives) {
                for (face, cost) in given {
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

/// What an entry gives to those below it, and whether it keeps from them what comes from above.
fn gives(entry: &Entry) -> (NextHops, bool) {
    let mut hops = NextHops::new();
    cheapest(entry.routes.iter().filter(|route| route.flags & ROUTE_CHILD_INHERIT != 0), &mut hops);
    (hops, has_capture(entry))
}

/// Each face of `routes` at its lowest cost.
fn cheapest<'a>(routes: impl Iterator<Item = &'a Route>, hops: &mut NextHops) {
    for route in routes {
        let cost = hops.entry(route.face).or_insert(route.cost);
        *cost = route.cost.min(*cost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name(uri: &str) -> OwnedName<Ndn> {
        hashlane_name::uri::parse_uri(format!("ndn:{uri}").as_bytes()).unwrap()
    }

    fn route(face: u64, cost: u64, flags: u64) -> Route {
        Route { face, origin: RouteOrigin::APP, cost, flags, expires: None }
    }

    /// The FIB as the changes make it.
    type Fib = BTreeMap<String, BTreeMap<u64, u64>>;

    fn apply(fib: &mut Fib, changes: Vec<FibChange>) {
        for FibChange { name, face, cost } in changes {
            let entry = fib.entry(name.to_string()).or_default();
            match cost {
                Some(cost) => {
                    assert_ne!(entry.insert(face, cost), Some(cost), "a change that changes nothing")
                }
                None => assert!(entry.remove(&face).is_some(), "taken out twice"),
            }
            if entry.is_empty() {
                fib.remove(&name.to_string());
            }
        }
    }

    /// The FIB of some routes, by the rules as they stand in the wiki, from scratch.
    fn scratch(routes: &[(OwnedName<Ndn>, Route)]) -> Fib {
        let mut fib = Fib::new();
        for (name, _) in routes {
            let path: Vec<_> = name.view().components().collect();
            let mut hops = BTreeMap::<u64, u64>::new();
            for len in (0..=path.len()).rev() {
                let is_own = len == path.len();
                let at: Vec<&Route> = routes
                    .iter()
                    .filter(|(other, _)| other.view().components().eq(path[..len].iter().copied()))
                    .map(|(_, route)| route)
                    .collect();
                for route in at.iter().filter(|route| is_own || route.flags & 1 != 0) {
                    let same = at.iter().filter(|r| r.face == route.face && (is_own || r.flags & 1 != 0));
                    let lowest = same.map(|route| route.cost).min().unwrap();
                    hops.entry(route.face).or_insert(lowest);
                }
                if at.iter().any(|route| route.flags & 2 != 0) {
                    break;
                }
            }
            fib.insert(name.to_string(), hops);
        }
        fib
    }

    fn fib_of(routes: &[(&str, Route)]) -> Fib {
        let mut rib = Rib::default();
        let mut fib = Fib::new();
        for (uri, route) in routes {
            let mut changes = Vec::new();
            rib.register(name(uri).view(), *route, &mut changes).unwrap();
            apply(&mut fib, changes);
        }
        fib
    }

    #[test]
    fn children_inherit_what_is_to_be_inherited() {
        let fib = fib_of(&[("/a/b", route(1, 10, 0)), ("/", route(2, 20, 1)), ("/a", route(3, 30, 0))]);
        assert_eq!(fib["/a/b"], BTreeMap::from([(1, 10), (2, 20)]));
        assert_eq!(fib["/a"], BTreeMap::from([(2, 20), (3, 30)]));
        assert_eq!(fib["/"], BTreeMap::from([(2, 20)]));
    }

    #[test]
    fn the_nearest_ancestor_gives_the_cost() {
        let fib = fib_of(&[("/a/b/c", route(1, 10, 0)), ("/", route(2, 1, 1)), ("/a", route(2, 30, 1))]);
        assert_eq!(fib["/a/b/c"], BTreeMap::from([(1, 10), (2, 30)]));
    }

    #[test]
    fn capture_keeps_out_what_comes_from_above() {
        let fib = fib_of(&[("/a/b", route(1, 10, 0)), ("/", route(2, 20, 1)), ("/a", route(3, 30, 1 | 2))]);
        assert_eq!(fib["/a/b"], BTreeMap::from([(1, 10), (3, 30)]));
        assert_eq!(fib["/a"], BTreeMap::from([(3, 30)]));
    }

    #[test]
    fn a_face_has_its_lowest_cost_of_all_origins() {
        let mut rib = Rib::default();
        let mut fib = Fib::new();
        let a = name("/a");
        for (origin, cost) in [(RouteOrigin::APP, 10), (RouteOrigin::STATIC, 5), (RouteOrigin::NLSR, 7)] {
            let mut changes = Vec::new();
            rib.register(a.view(), Route { origin, ..route(1, cost, 1) }, &mut changes).unwrap();
            apply(&mut fib, changes);
        }
        assert_eq!(fib["/a"], BTreeMap::from([(1, 5)]));
        let mut changes = Vec::new();
        assert!(rib.unregister(a.view(), 1, RouteOrigin::STATIC, &mut changes));
        assert!(!rib.unregister(a.view(), 1, RouteOrigin::STATIC, &mut changes));
        apply(&mut fib, changes);
        assert_eq!(fib["/a"], BTreeMap::from([(1, 7)]));
    }

    #[test]
    fn routes_end_when_they_say() {
        let mut rib = Rib::default();
        let mut changes = Vec::new();
        let a = name("/a");
        let ends = |at| Route { expires: Some(at), ..route(1, 0, 1) };
        rib.register(a.view(), ends(100), &mut changes).unwrap();
        rib.register(a.view(), ends(200), &mut changes).unwrap();
        assert_eq!(rib.next_end(), Some(200), "the later registration counts");
        changes.clear();
        rib.expire(199, &mut changes);
        assert_eq!((rib.len(), changes.len()), (1, 0));
        rib.expire(200, &mut changes);
        assert_eq!((rib.len(), rib.next_end()), (0, None));
        assert_eq!(changes, [FibChange { name: a, face: 1, cost: None }]);
    }

    #[test]
    fn limits_hold() {
        let mut rib = Rib::new(RibLimits { routes: 3, routes_per_face: 2 });
        let mut register =
            |uri: &str, face| rib.register(name(uri).view(), route(face, 0, 0), &mut Vec::new());
        assert_eq!(register("/a", 1), Ok(()));
        assert_eq!(register("/b", 1), Ok(()));
        assert_eq!(register("/c", 1), Err(RibError::FaceFull { face: 1, limit: 2 }));
        assert_eq!(register("/b", 1), Ok(()), "a change needs no room");
        assert_eq!(register("/c", 2), Ok(()));
        assert_eq!(register("/d", 3), Err(RibError::Full { limit: 3 }));
    }

    #[test]
    fn a_face_holds_more_than_65_536_routes_and_takes_them_along() {
        const ROUTES: usize = 100_000;
        let mut rib = Rib::default();
        let mut fib = HashMap::new();
        let mut apply = |changes: Vec<FibChange>| {
            for FibChange { name, face, cost } in changes {
                match cost {
                    Some(cost) => assert_eq!(fib.insert((name, face), cost), None),
                    None => assert!(fib.remove(&(name, face)).is_some()),
                }
            }
            fib.len()
        };
        // The prefix of all is inherited by none of them: each has the face already.
        for number in 0..=ROUTES {
            let uri = if number == 0 { "/r".into() } else { format!("/r/{}/{number}", number % 300) };
            let mut changes = Vec::new();
            rib.register(name(&uri).view(), route(7, 0, ROUTE_CHILD_INHERIT), &mut changes).unwrap();
            assert_eq!((changes.len(), apply(changes)), (1, number + 1), "one change for a route");
        }
        let mut changes = Vec::new();
        rib.remove_face(7, &mut changes);
        assert_eq!((changes.len(), apply(changes)), (ROUTES + 1, 0));
        assert!(rib.is_empty() && rib.entries.is_empty() && rib.faces.is_empty());
    }

    #[derive(Clone, Debug)]
    enum Step {
        Register(String, Route),
        Unregister(String, u64, RouteOrigin),
        RemoveFace(u64),
        Expire(u64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let uri = prop::sample::select(vec!["/", "/a", "/a/b", "/a/b/c", "/a/bb", "/b", "/b/c/d", "/a/b/d"]);
        let uri = uri.prop_map(String::from);
        let origin = prop::sample::select(vec![RouteOrigin::APP, RouteOrigin::STATIC]);
        let register =
            (uri.clone(), 1..4_u64, origin.clone(), 0..3_u64, 0..4_u64, prop::option::of(0..20_u64))
                .prop_map(|(uri, face, origin, cost, flags, expires)| {
                    Step::Register(uri, Route { face, origin, cost, flags, expires })
                });
        let step = prop_oneof![
            6 => register,
            3 => (uri, 1..4_u64, origin).prop_map(|(uri, face, origin)| Step::Unregister(uri, face, origin)),
            1 => (1..4_u64).prop_map(Step::RemoveFace),
            1 => (0..20_u64).prop_map(Step::Expire),
        ];
        prop::collection::vec(step, 0..40)
    }

    proptest! {
        #[test]
        fn changes_add_up_to_what_is_computed_from_scratch(steps in steps()) {
            let mut rib = Rib::default();
            let mut fib = Fib::new();
            let mut routes: Vec<(OwnedName<Ndn>, Route)> = Vec::new();
            for step in steps {
                let mut changes = Vec::new();
                match step {
                    Step::Register(uri, route) => {
                        let name = name(&uri);
                        routes.retain(|(other, old)| *other != name || !is_same(old, &route));
                        rib.register(name.view(), route, &mut changes).unwrap();
                        routes.push((name, route));
                    }
                    Step::Unregister(uri, face, origin) => {
                        let name = name(&uri);
                        rib.unregister(name.view(), face, origin, &mut changes);
                        routes.retain(|(other, old)| *other != name || old.face != face || old.origin != origin);
                    }
                    Step::RemoveFace(face) => {
                        rib.remove_face(face, &mut changes);
                        routes.retain(|(_, route)| route.face != face);
                    }
                    Step::Expire(now) => {
                        rib.expire(now, &mut changes);
                        routes.retain(|(_, route)| route.expires.is_none_or(|end| end > now));
                    }
                }
                apply(&mut fib, changes);
                prop_assert_eq!(&fib, &scratch(&routes));
                prop_assert_eq!(rib.len(), routes.len());
                prop_assert_eq!(rib.entries().map(|(_, routes)| routes.len()).sum::<usize>(), routes.len());
                prop_assert_eq!(rib.next_end(), routes.iter().filter_map(|(_, route)| route.expires).min());
            }
        }
    }
}
