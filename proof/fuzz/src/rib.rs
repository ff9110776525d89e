//! Properties of the RIB for any sequence of registrations, removals, expiries and closed faces: the changes
//! make the FIB that the rules of inheritance give, computed from scratch.

use crate::steps::Steps;
use hashlane_forwarder::rib::{FibChange, Rib, RibLimits, Route};
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::mgmt::values::{ROUTE_CAPTURE, ROUTE_CHILD_INHERIT, RouteOrigin};
use std::collections::{BTreeMap, BTreeSet};

/// Components of a name, each one byte.
type Path = Vec<u8>;

/// Next hops of prefixes: costs by face.
pub(crate) type Fib<P> = BTreeMap<P, BTreeMap<u64, u64>>;

/// A route as the rules of inheritance see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    pub(crate) face: u64,
    pub(crate) cost: u64,
    pub(crate) flags: u64,
}

/// The FIB that routes imply, from scratch. Prefixes are lists of components.
///
/// Source: NFD wiki, RibMgmt, Route Inheritance.
pub(crate) fn implied<C: Ord + Clone>(routes: &[(Vec<C>, Kept)]) -> Fib<Vec<C>> {
    let mut at = BTreeMap::<&[C], Vec<Kept>>::new();
    routes.iter().for_each(|(path, route)| at.entry(path).or_default().push(*route));
    let mut fib = Fib::new();
    for path in at.keys() {
        let mut hops = BTreeMap::<u64, u64>::new();
        for len in (0..=path.len()).rev() {
            let Some(routes) = at.get(&path[..len]) else { continue };
            let is_own = len == path.len();
            let mut here = BTreeMap::<u64, u64>::new();
            for route in routes.iter().filter(|route| is_own || route.flags & ROUTE_CHILD_INHERIT != 0) {
                let cost = here.entry(route.face).or_insert(route.cost);
                *cost = route.cost.min(*cost);
            }
            for (face, cost) in here {
                hops.entry(face).or_insert(cost);
            }
            if routes.iter().any(|route| route.flags & ROUTE_CAPTURE != 0) {
                break;
            }
        }
        fib.insert(path.to_vec(), hops);
    }
    fib
}

const FACES: usize = 6;

const ORIGINS: [RouteOrigin; 3] = [RouteOrigin::APP, RouteOrigin::CLIENT, RouteOrigin::STATIC];

/// Room for each next hop that an input may make.
const LARGE: RibLimits =
    RibLimits { routes: 1 << 16, routes_per_face: 1 << 16, next_hops: 1 << 20, name_bytes: 1 << 30 };

/// Limits that inputs reach.
const SMALL: RibLimits = RibLimits { routes: 24, routes_per_face: 10, next_hops: 40, name_bytes: 1 << 30 };

struct Harness {
    rib: Rib,
    limits: RibLimits,
    /// Routes of the model, by prefix, face and origin.
    routes: BTreeMap<(Path, u64, RouteOrigin), Route>,
    /// The FIB as the changes make it.
    fib: Fib<Path>,
    /// Prefixes with a next hop that a command has added or removed.
    touched: BTreeSet<Path>,
    faces: [u64; FACES],
    closed: BTreeSet<u64>,
    now: u64,
}

/// Runs the steps on a RIB with room, or, as the first byte says, on one with small limits.
pub fn check_rib(octets: &[u8]) {
    let mut steps = Steps(octets);
    let limits = if steps.octet() & 1 == 0 { LARGE } else { SMALL };
    let faces = std::array::from_fn(|number| 300 + number as u64);
    let mut bench = Harness {
        rib: Rib::new(limits),
        limits,
        routes: BTreeMap::new(),
        fib: Fib::new(),
        touched: BTreeSet::new(),
        faces,
        closed: BTreeSet::new(),
        now: 1000,
    };
    // A bound on the work for one input.
    for _ in 0..400 {
        if steps.is_empty() {
            break;
        }
        bench.step(&mut steps);
        bench.within_limits();
    }
    bench.settle();
    bench.close_all();
}

/// A path of up to three letters of four, from one byte.
fn path(octet: u8) -> Path {
    (0..octet >> 6).map(|number| b'a' + (octet >> (2 * number) & 3)).collect()
}

fn name(path: &[u8]) -> OwnedName<Ndn> {
    let parts: Vec<_> = path.iter().map(std::slice::from_ref).map(Component::generic).collect();
    OwnedName::from_components(parts).expect("a short name")
}

/// The path of a name.
fn path_of(name: NdnName<'_>) -> Path {
    name.components().flat_map(|component| component.value).copied().collect()
}

impl Harness {
    fn step(&mut self, steps: &mut Steps<'_>) {
        let step = steps.octet();
        let at = path(steps.octet());
        let number = usize::from(step >> 4) % FACES;
        let face = self.faces[number];
        match step & 15 {
            0..=5 => self.register(&at, face, steps.octet(), steps.octet()),
            6 => {
                // So many below one prefix that a change there takes several steps.
                let (how, ends) = (steps.octet(), steps.octet());
                for below in 0..20 {
                    let longer = [&at[..], &[b'a' + below]].concat();
                    self.register(&longer, self.faces[usize::from(below) % FACES], how, ends);
                }
            }
            7 | 8 => {
                let origin = ORIGINS[usize::from(steps.octet() % 3)];
                let mut changes = Vec::new();
                let removed = self.rib.unregister(name(&at).view(), face, origin, &mut changes);
                assert_eq!(removed, self.routes.remove(&(at, face, origin)).is_some());
                self.apply(changes);
            }
            9 => {
                let mut changes = Vec::new();
                let added =
                    self.rib.add_hop(name(&at).view(), face, u64::from(steps.octet()), &mut changes).is_ok();
                assert!(added || changes.is_empty());
                self.apply(changes);
                self.touched.insert(at);
            }
            10 => {
                let mut changes = Vec::new();
                self.rib.remove_hop(name(&at).view(), face, &mut changes);
                self.apply(changes);
                assert!(self.fib.get(&at).is_none_or(|hops| !hops.contains_key(&face)));
                self.touched.insert(at);
            }
            11 => {
                self.rib.close_face(face);
                self.closed.insert(face);
                // An id is not used again.
                self.faces[number] += FACES as u64;
            }
            12 => self.now += u64::from(steps.octet()) * 10,
            13 => self.work(steps.octet().into()),
            _ => self.settle(),
        }
    }

    /// Registers a route with the origin, flags and cost of `how`, that ends as `ends` says.
    fn register(&mut self, at: &[u8], face: u64, how: u8, ends: u8) {
        let origin = ORIGINS[usize::from(how & 3) % 3];
        let expires = (ends & 1 != 0).then(|| self.now + u64::from(ends >> 1) * 20);
        let (cost, flags) = (u64::from(how >> 4), u64::from(how >> 2 & 3));
        let route = Route { face, origin, cost, flags, expires };
        let (mut changes, key) = (Vec::new(), (at.to_vec(), face, origin));
        match self.rib.register(name(at).view(), route, &mut changes) {
            Ok(()) => {
                self.apply(changes);
                self.routes.insert(key, route);
            }
            Err(_) => {
                assert_eq!(self.limits.routes, SMALL.routes, "refused although there is room");
                // Of a full FIB, what other prefixes inherit may have been left out meanwhile.
                self.apply(changes);
                let kept = self.rib.route(name(at).view(), face, origin);
                assert_eq!(kept, self.routes.get(&key).copied(), "a refused route changes the RIB");
            }
        }
    }

    fn apply(&mut self, changes: Vec<FibChange>) {
        for FibChange { name, face, cost } in changes {
            let path = path_of(name.view());
            let hops = self.fib.entry(path.clone()).or_default();
            match cost {
                Some(cost) => drop(hops.insert(face, cost)),
                None => assert!(hops.remove(&face).is_some(), "a next hop is removed once"),
            }
            if hops.is_empty() {
                self.fib.remove(&path);
            }
        }
    }

    /// Makes some of the changes that are due.
    fn work(&mut self, most: usize) {
        let mut changes = Vec::new();
        self.rib.step(self.now, most, &mut changes);
        self.apply(changes);
        // The RIB says which routes are left; the others must have been due.
        let left: BTreeSet<_> = self
            .rib
            .entries()
            .flat_map(|(name, routes)| {
                let path = path_of(name.view());
                routes.iter().map(move |route| (path.clone(), route.face, route.origin)).collect::<Vec<_>>()
            })
            .collect();
        let (now, closed) = (self.now, &self.closed);
        self.routes.retain(|key, route| {
            let is_due = closed.contains(&route.face) || route.expires.is_some_and(|end| end <= now);
            assert!(is_due || left.contains(key), "a route is gone before its time");
            left.contains(key)
        });
        assert_eq!(self.routes.len(), left.len(), "a route from nowhere");
    }

    /// Makes all changes that are due, and compares the FIB with the one computed from scratch.
    fn settle(&mut self) {
        let mut rounds = 0;
        while self.rib.next_step().is_some_and(|at| at <= self.now) {
            self.work(64);
            rounds += 1;
            assert!(rounds < 10_000, "changes without end");
        }
        let is_due = |route: &Route| {
            self.closed.contains(&route.face) || route.expires.is_some_and(|end| end <= self.now)
        };
        assert!(!self.routes.values().any(is_due), "a route outlived its face or its time");
        let listed: Fib<Path> = self
            .rib
            .fib()
            .map(|(name, hops)| (path_of(name.view()), hops.iter().map(|hop| (hop.face, hop.cost)).collect()))
            .collect();
        assert_eq!(self.fib, listed, "the changes make another FIB than the RIB has");
        let closed = |hops: &BTreeMap<u64, u64>| hops.keys().any(|face| self.closed.contains(face));
        assert!(!self.fib.values().any(closed), "a next hop of a closed face");
        if self.limits.routes == SMALL.routes {
            return;
        }
        let routes: Vec<_> = self
            .routes
            .iter()
            .map(|((path, ..), Route { face, cost, flags, .. })| {
                (path.clone(), Kept { face: *face, cost: *cost, flags: *flags })
            })
            .collect();
        let (mut fib, mut expected) = (self.fib.clone(), implied(&routes));
        fib.retain(|path, _| !self.touched.contains(path));
        expected.retain(|path, _| !self.touched.contains(path));
        assert_eq!(fib, expected, "another FIB than the routes imply");
    }

    fn within_limits(&self) {
        let hops: usize = self.fib.values().map(BTreeMap::len).sum();
        assert!(hops <= self.limits.next_hops && self.rib.len() <= self.limits.routes);
        assert_eq!(self.rib.len(), self.routes.len());
        assert_eq!(self.rib.fib_len(), self.fib.len());
        assert_eq!(self.rib.next_end(), self.routes.values().filter_map(|route| route.expires).min());
        for face in self.faces {
            let count = self.routes.values().filter(|route| route.face == face).count();
            assert_eq!(self.rib.routes_of(face), count);
            assert!(count <= self.limits.routes_per_face);
        }
    }

    /// Closes all faces, after which nothing is left.
    fn close_all(&mut self) {
        for face in self.faces {
            self.rib.close_face(face);
            self.closed.insert(face);
        }
        self.touched.clear();
        self.settle();
        assert!(self.fib.is_empty() && self.rib.is_empty() && self.rib.next_step().is_none());
        assert_eq!((self.rib.fib_len(), self.rib.entries().count()), (0, 0));
    }
}
