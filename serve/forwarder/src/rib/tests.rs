//! Registrations, expiries and removals against the rules of inheritance, computed from scratch.

use super::*;
use hashlane_ndn::mgmt::values::ROUTE_CHILD_INHERIT;
use proptest::prelude::*;
use std::collections::BTreeMap;

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
    let mut rib = Rib::new(RibLimits::default());
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
    let mut rib = Rib::new(RibLimits::default());
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
    let mut rib = Rib::new(RibLimits::default());
    let mut changes = Vec::new();
    let a = name("/a");
    let ends = |at| Route { expires: Some(at), ..route(1, 0, 1) };
    rib.register(a.view(), ends(100), &mut changes).unwrap();
    rib.register(a.view(), ends(200), &mut changes).unwrap();
    assert_eq!(rib.next_end(), Some(200), "the later registration counts");
    changes.clear();
    rib.step(199, 10, &mut changes);
    assert_eq!((rib.len(), changes.len()), (1, 0));
    rib.step(200, 10, &mut changes);
    assert_eq!((rib.len(), rib.next_end()), (0, None));
    assert_eq!(changes, [FibChange { name: a, face: 1, cost: None }]);
}

#[test]
fn limits_hold() {
    let mut rib = Rib::new(RibLimits { routes: 3, routes_per_face: 2, ..RibLimits::default() });
    let mut register = |uri: &str, face| rib.register(name(uri).view(), route(face, 0, 0), &mut Vec::new());
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
    let mut rib = Rib::new(RibLimits::default());
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
    rib.close_face(7);
    let mut left = ROUTES + 1;
    while rib.next_step().is_some() {
        let mut changes = Vec::new();
        rib.step(0, 256, &mut changes);
        assert!(changes.len() <= 256, "a step is bounded");
        left -= changes.len();
        assert_eq!(apply(changes), left);
    }
    assert!(left == 0 && rib.is_empty() && rib.entries.iter().next().is_none() && rib.faces.is_empty());
    assert_eq!((rib.hops, rib.routable), (0, 0));
}

#[test]
fn names_are_bounded_in_bytes() {
    let mut rib = Rib::new(RibLimits { name_bytes: 10, ..RibLimits::default() });
    let mut register = |uri: &str, face| rib.register(name(uri).view(), route(face, 0, 0), &mut Vec::new());
    assert_eq!(register("/abcd", 1), Ok(()));
    assert_eq!(register("/abcde", 1), Err(RibError::NamesFull { limit: 10 }));
    assert_eq!((register("/ab", 1), register("/ab", 2)), (Ok(()), Ok(())));
    assert_eq!((rib.name_bytes(), rib.name_bytes_of(1), rib.name_bytes_of(2)), (10, 10, 4));
    assert!(rib.unregister(name("/abcd").view(), 1, RouteOrigin::APP, &mut Vec::new()));
    assert_eq!((rib.name_bytes(), rib.name_bytes_of(1)), (4, 4));
}

#[test]
fn what_many_prefixes_inherit_reaches_them_in_steps() {
    const ROUTES: usize = 1000;
    let mut rib = Rib::new(RibLimits { next_hops: ROUTES + ROUTES / 2, ..RibLimits::default() });
    let mut changes = Vec::new();
    for number in 0..ROUTES {
        rib.register(name(&format!("/r/{number}")).view(), route(7, 0, 0), &mut changes).unwrap();
    }
    let registered = |rib: &mut Rib, uri: &str, face| {
        let mut changes = Vec::new();
        rib.register(name(uri).view(), route(face, 0, ROUTE_CHILD_INHERIT), &mut changes).unwrap();
        changes.len()
    };
    assert_eq!(registered(&mut rib, "/", 8), 1, "only the prefix itself at once");
    let mut steps = 0;
    while rib.next_step().is_some() {
        changes.clear();
        rib.step(0, 100, &mut changes);
        assert!(changes.len() <= 100);
        steps += 1;
        // A registration between the steps is done at once.
        assert_eq!(registered(&mut rib, "/s", 7), usize::from(steps == 1) * 2);
    }
    assert_eq!((steps, rib.hops), (11, ROUTES + ROUTES / 2), "the limit of the FIB holds");
    assert_eq!(rib.skipped() as usize, ROUTES / 2 + 3);
    rib.close_face(8);
    rib.step(0, usize::MAX, &mut changes);
    assert_eq!((rib.hops, rib.next_step()), (ROUTES + 1, None));
}

#[test]
fn next_hops_of_commands_stay_until_they_are_removed_or_routed() {
    let mut rib = Rib::new(RibLimits::default());
    let (a, mut changes) = (name("/a"), Vec::new());
    rib.add_hop(a.view(), 1, 9, &mut changes).unwrap();
    rib.add_hop(a.view(), 2, 9, &mut changes).unwrap();
    assert_eq!((rib.fib_len(), rib.entries().count()), (1, 0), "no route");
    rib.register(a.view(), route(1, 5, 0), &mut changes).unwrap();
    rib.remove_hop(a.view(), 1, &mut changes);
    rib.register(a.view(), route(3, 5, 0), &mut changes).unwrap();
    assert_eq!(rib.hops, 3, "the route's next hop comes back");
    assert!(rib.unregister(a.view(), 1, RouteOrigin::APP, &mut changes));
    rib.close_face(2);
    rib.step(0, 10, &mut changes);
    let mut fib = BTreeMap::new();
    for FibChange { face, cost, .. } in changes {
        match cost {
            Some(cost) => drop(fib.insert(face, cost)),
            None => assert!(fib.remove(&face).is_some()),
        }
    }
    assert_eq!((fib, rib.hops, rib.faces.len()), (BTreeMap::from([(3, 5)]), 1, 1));
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
    let register = (uri.clone(), 1..4_u64, origin.clone(), 0..3_u64, 0..4_u64, prop::option::of(1..20_u64))
        .prop_map(|(uri, face, origin, cost, flags, expires)| {
            Step::Register(uri, Route { face, origin, cost, flags, expires })
        });
    let step = prop_oneof![
        6 => register,
        3 => (uri, 1..4_u64, origin).prop_map(|(uri, face, origin)| Step::Unregister(uri, face, origin)),
        1 => (1..4_u64).prop_map(Step::RemoveFace),
        1 => (1..20_u64).prop_map(Step::Expire),
    ];
    prop::collection::vec(step, 0..40)
}

proptest! {
    #[test]
    fn changes_add_up_to_what_is_computed_from_scratch(steps in steps(), work in 1..4_usize) {
        let mut rib = Rib::new(RibLimits::default());
        rib.at_once = work % 2;
        let mut fib = Fib::new();
        let mut routes: Vec<(OwnedName<Ndn>, Route)> = Vec::new();
        let mut time = 0;
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
                    rib.close_face(face);
                    routes.retain(|(_, route)| route.face != face);
                }
                Step::Expire(now) => {
                    time = now;
                    routes.retain(|(_, route)| route.expires.is_none_or(|end| end > now));
                }
            }
            while rib.next_step().is_some_and(|at| at <= time) {
                rib.step(time, work, &mut changes);
            }
            time = 0;
            apply(&mut fib, changes);
            prop_assert_eq!(&fib, &scratch(&routes));
            prop_assert_eq!(rib.fib().map(|(_, hops)| hops.len()).sum::<usize>(), rib.hops);
            prop_assert_eq!((rib.fib().count(), rib.skipped()), (rib.fib_len(), 0));
            prop_assert_eq!(rib.name_bytes(), rib.entries.iter().map(|(key, _)| key.len()).sum::<usize>());
            prop_assert_eq!(rib.len(), routes.len());
            prop_assert_eq!(rib.entries().map(|(_, routes)| routes.len()).sum::<usize>(), routes.len());
            prop_assert_eq!(rib.next_end(), routes.iter().filter_map(|(_, route)| route.expires).min());
        }
    }
}

#[test]
fn a_refused_route_leaves_the_next_hops_of_commands() {
    let limits = RibLimits { next_hops: 3, ..RibLimits::default() };
    let mut rib = Rib::new(limits);
    let (mut fib, mut changes) = (Fib::new(), Vec::new());
    let (a, b) = (name("/a"), name("/a/b"));
    rib.add_hop(a.view(), 1, 7, &mut changes).unwrap();
    rib.register(b.view(), route(2, 0, 0), &mut changes).unwrap();
    rib.add_hop(name("/c").view(), 3, 0, &mut changes).unwrap();
    apply(&mut fib, std::mem::take(&mut changes));
    let before = fib.clone();
    // It replaces the next hop of /a, and has no room at /a/b.
    let refused = rib.register(a.view(), route(1, 9, ROUTE_CHILD_INHERIT), &mut changes);
    assert_eq!(refused, Err(RibError::FibFull { limit: 3 }));
    apply(&mut fib, changes);
    assert_eq!(fib, before);
}

#[test]
fn a_refused_route_leaves_the_next_hops_of_prefixes_below() {
    let mut rib = Rib::new(RibLimits { next_hops: 10, ..RibLimits::default() });
    let (mut fib, mut changes) = (Fib::new(), Vec::new());
    let inherited = |face| route(face, 0, ROUTE_CHILD_INHERIT);
    for (uri, route) in [
        ("/", inherited(3)),
        ("/a", inherited(1)),
        ("/a/b", route(2, 0, 0)),
        ("/a/c", route(3, 0, 0)),
        ("/a/d", route(3, 0, 0)),
    ] {
        rib.register(name(uri).view(), route, &mut changes).unwrap();
    }
    apply(&mut fib, std::mem::take(&mut changes));
    let before = fib.clone();
    // It removes a next hop of /a/b, adds one to /a/c, and has no room at /a/d.
    let capture = route(2, 0, ROUTE_CHILD_INHERIT | 2);
    let refused = rib.register(name("/a").view(), capture, &mut changes);
    assert_eq!(refused, Err(RibError::FibFull { limit: 10 }));
    apply(&mut fib, changes);
    assert_eq!(fib, before);
}

#[test]
fn a_next_hop_that_a_route_has_replaced_is_no_longer_its_face_s() {
    let mut rib = Rib::new(RibLimits::default());
    let (above, below) = (name("/a"), name("/a/b"));
    let mut changes = Vec::new();
    rib.register(below.view(), route(2, 0, 0), &mut changes).unwrap();
    rib.add_hop(below.view(), 1, 7, &mut changes).unwrap();
    assert!(rib.name_bytes_of(1) > 0);
    // The route above makes the same next hop.
    rib.register(above.view(), route(1, 5, ROUTE_CHILD_INHERIT), &mut changes).unwrap();
    assert_eq!(rib.name_bytes_of(1), above.view().walk().bytes().len());
    assert!(rib.unregister(below.view(), 2, RouteOrigin::APP, &mut changes));
    rib.close_face(1);
    rib.step(0, 10, &mut changes);
    let mut fib = Fib::new();
    apply(&mut fib, changes);
    assert!(fib.is_empty() && rib.entries.iter().next().is_none() && rib.faces.is_empty());
}
