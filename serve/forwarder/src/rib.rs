//! The RIB: routes, and the FIB computed from them.
//!
//! An entry of the RIB is a prefix with its registered routes. It leads to one entry of the FIB: its own
//! faces, each at the lowest cost of its routes, and inherited ones. Up from the prefix, each entry
//! contributes the faces of its routes with the flag *child inherit* that no longer prefix has contributed.
//! The walk ends after an entry with a route that has the flag *capture*. An entry with such a route inherits
//! nothing itself.
//!
//! An entry also has the next hops that `fib/add-nexthop` has made. Each change of a route restores the next
//! hops that routes make for the prefix.
//!
//! One change can affect a million entries: when a face closes, when routes expire together, and below a
//! prefix whose contribution changes. Such changes are made in [steps](Rib::step) of bounded work.
//!
//! Source: NFD wiki, RibMgmt, Route Inheritance.

mod entry;
mod order;
mod table;
mod walk;

pub use entry::Hop;

use entry::{Contribution, Wanted};
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_name::walk::Walk as _;
use hashlane_ndn::invariant::{Invariant as _, part};
use hashlane_ndn::mgmt::values::RouteOrigin;
use hashlane_ndn::tlv::{Elements, write_element};
use hashlane_ndn::wire::NAME;
use order::Order;
use smallvec::SmallVec;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use table::{Id, Table};
use walk::Walks;

/// A route. A prefix has at most one for each face and origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Face of the next hop.
    pub face: u64,
    /// Party that has registered it.
    pub origin: RouteOrigin,
    /// Cost.
    pub cost: u64,
    /// Bits [`ROUTE_CHILD_INHERIT`](hashlane_ndn::mgmt::values::ROUTE_CHILD_INHERIT) and
    /// [`ROUTE_CAPTURE`](hashlane_ndn::mgmt::values::ROUTE_CAPTURE).
    pub flags: u64,
    /// Time of expiry, in milliseconds of the clock of [`Rib::step`]; `None` for no limit.
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
    /// Most next hops of the FIB, including `fib/add-nexthop`'s.
    pub next_hops: usize,
    /// Most bytes of the names of all prefixes.
    pub name_bytes: usize,
}

impl Default for RibLimits {
    /// 1,048,576 routes, half of them of one face: a routing daemon may register a large table for one
    /// neighbour. Twice as many next hops, and 128 MiB of names.
    fn default() -> Self {
        Self { routes: 1 << 20, routes_per_face: 1 << 19, next_hops: 1 << 21, name_bytes: 128 << 20 }
    }
}

/// Limit that a route or a next hop would exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RibError {
    /// The limit of all routes.
    #[error("the RIB holds {limit} routes, its limit")]
    Full {
        /// The limit.
        limit: usize,
    },
    /// The limit of a face.
    #[error("face {face} has {limit} routes, the limit of a face")]
    FaceFull {
        /// The face.
        face: u64,
        /// The limit.
        limit: usize,
    },
    /// The limit of the names of prefixes, in bytes.
    #[error("the prefixes of the RIB take {limit} bytes, their limit")]
    NamesFull {
        /// The limit.
        limit: usize,
    },
    /// The limit of a name.
    #[error("a name of {len} bytes; a prefix has at most 65,535")]
    NameTooLong {
        /// Bytes of its components.
        len: usize,
    },
    /// The limit of the FIB.
    #[error("the FIB would hold more than {limit} next hops, its limit")]
    FibFull {
        /// The limit.
        limit: usize,
    },
}

/// The encoded components of a name. In their order, the names below a prefix follow it.
type Key = Arc<[u8]>;

/// Entries below a prefix that are updated together with it; if there are more, in steps.
const AT_ONCE: usize = 16;

/// The routing information base.
pub struct Rib {
    entries: Table,
    faces: HashMap<u64, Face>,
    /// Routes that expire, by time.
    ends: BTreeSet<(u64, Id, u64, RouteOrigin)>,
    /// Closed faces that still have routes or next hops.
    closed: BTreeSet<u64>,
    walks: Walks,
    /// Removed routes of prefix announcements that [`take_ended`](Self::take_ended) has not returned yet.
    ended: Vec<(Key, u64)>,
    /// Prefixes whose routes are watched; `None` if no changes are.
    watched: Option<Watched>,
    routes: usize,
    hops: usize,
    /// Number of entries with next hops.
    routable: usize,
    /// Next hops that the FIB had no room for.
    skipped: u64,
    limits: RibLimits,
    at_once: usize,
}

/// Prefixes whose routes are watched.
#[derive(Default)]
struct Watched {
    /// True if all routes are watched.
    is_all: bool,
    /// Prefixes whose routes are all watched.
    prefixes: Vec<Key>,
    /// Prefixes whose watched routes have changed.
    changed: Vec<Key>,
}

/// Prefixes of a face: with routes to it, and with next hops that commands added for it.
#[derive(Default)]
struct Face {
    routes: usize,
    /// Routes that prefix announcements have made.
    announced: usize,
    prefixes: Order,
    /// Bytes of the prefixes.
    name_bytes: usize,
}

impl Face {
    fn add(&mut self, id: Id, key: &[u8]) {
        if self.prefixes.insert(id, |other| other.cmp(&id)) {
            self.name_bytes += key.len();
        }
    }

    fn remove(&mut self, id: Id, key: &[u8]) {
        if self.prefixes.remove(|other| other.cmp(&id)) {
            self.name_bytes -= key.len();
        }
    }
}

impl Rib {
    /// A RIB without routes.
    pub fn new(limits: RibLimits) -> Self {
        Self {
            entries: Table::new(),
            faces: HashMap::new(),
            ends: BTreeSet::new(),
            closed: BTreeSet::new(),
            walks: Walks::default(),
            ended: Vec::new(),
            watched: None,
            routes: 0,
            hops: 0,
            routable: 0,
            skipped: 0,
            limits,
            at_once: AT_ONCE,
        }
    }

    /// Number of routes.
    pub fn len(&self) -> usize {
        self.routes
    }

    /// True if there are no routes.
    pub fn is_empty(&self) -> bool {
        self.routes == 0
    }

    /// Number of prefixes in the FIB.
    pub fn fib_len(&self) -> usize {
        self.routable
    }

    /// Number of next hops that a [step](Self::step) has left out since the start, because the FIB was full.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Prefixes and their routes, ordered by the bytes of their components.
    pub fn entries(&self) -> impl Iterator<Item = (OwnedName<Ndn>, SmallVec<[Route; 1]>)> {
        let entries = self.entries.iter().filter(|(_, entry)| !entry.routes.is_empty());
        entries.filter_map(|(key, entry)| Some((name(key)?, entry.into_owned().routes)))
    }

    /// Prefixes of the FIB and their next hops, ordered by the bytes of their components.
    pub fn fib(&self) -> impl Iterator<Item = (OwnedName<Ndn>, SmallVec<[Hop; 1]>)> {
        let entries = self.entries.iter().filter(|(_, entry)| !entry.hops.is_empty());
        entries.filter_map(|(key, entry)| Some((name(key)?, entry.into_owned().hops)))
    }

    /// The route of a prefix with this face and origin.
    pub fn route(&self, name: NdnName<'_>, face: u64, origin: RouteOrigin) -> Option<Route> {
        let entry = self.entries.get(name.walk().bytes())?;
        entry.routes.iter().find(|route| route.face == face && route.origin == origin).copied()
    }

    /// Bytes of the names of all prefixes.
    pub fn name_bytes(&self) -> usize {
        self.entries.name_bytes()
    }

    /// Bytes of the names of the prefixes of a face.
    pub fn name_bytes_of(&self, face: u64) -> usize {
        self.faces.get(&face).map_or(0, |face| face.name_bytes)
    }

    /// Number of routes of a face.
    pub fn routes_of(&self, face: u64) -> usize {
        self.faces.get(&face).map_or(0, |face| face.routes)
    }

    /// Number of routes of a face that prefix announcements have made.
    pub fn announced_of(&self, face: u64) -> usize {
        self.faces.get(&face).map_or(0, |face| face.announced)
    }

    /// Prefixes and faces of the removed routes that prefix announcements had made, since the last call. Call
    /// it after each change.
    pub fn take_ended(&mut self) -> impl Iterator<Item = (OwnedName<Ndn>, u64)> + use<> {
        let ended = std::mem::take(&mut self.ended);
        ended.into_iter().filter_map(|(key, face)| Some((name(&key)?, face)))
    }

    /// Notes from now on the prefixes whose routes change: all, or those with changed routes of origin
    /// *client*, and these prefixes.
    pub fn watch(&mut self, is_all: bool, prefixes: &[NdnName<'_>]) {
        let watched = self.watched.get_or_insert_default();
        watched.is_all = is_all;
        watched.prefixes = prefixes.iter().map(|prefix| key(*prefix)).collect();
    }

    /// Ends [`watch`](Self::watch).
    pub fn unwatch(&mut self) {
        self.watched = None;
    }

    /// Prefixes whose watched routes have changed since the last call.
    pub fn take_watched(&mut self) -> impl Iterator<Item = OwnedName<Ndn>> + use<> {
        let changed = self.watched.as_mut().map(|watched| std::mem::take(&mut watched.changed));
        changed.unwrap_or_default().into_iter().filter_map(|key| name(&key))
    }

    /// The routes of a prefix.
    pub fn routes(&self, name: NdnName<'_>) -> SmallVec<[Route; 1]> {
        self.entries.get(name.walk().bytes()).map(|entry| entry.into_owned().routes).unwrap_or_default()
    }

    /// Adds a route, or replaces the one of the same face and origin. Appends the changes of the FIB to
    /// `changes`.
    ///
    /// # Errors
    /// [`RibError`] if a limit is reached; the routes have not changed then, and the changes cancel out.
    pub fn register(
        &mut self,
        name: NdnName<'_>,
        route: Route,
        changes: &mut Vec<FibChange>,
    ) -> Result<(), RibError> {
        let old = self.route(name, route.face, route.origin);
        if old.is_none() {
            self.check_room(route.face)?;
        }
        let key = key(name);
        self.check_name(&key)?;
        let before = self.contribution(&key);
        self.put(&key, route);
        let below = self.entries_below(&key, &before);
        let own = self.own_hops(&key, below.as_deref().unwrap_or_default());
        let limit = self.limits.next_hops;
        if self.update(&key, below.as_deref(), changes) {
            if below.is_none() {
                self.walks.add(key);
            }
            return Ok(());
        }
        match old {
            Some(old) => self.put(&key, old),
            None => drop(self.take(&key, |other| is_same(other, &route))),
        }
        let is_whole = self.update(&key, below.as_deref(), changes);
        self.restore(own, changes);
        if !is_whole {
            // The next hops that have gone now make room for those that come back.
            self.update(&key, below.as_deref(), changes);
        }
        Err(RibError::FibFull { limit })
    }

    /// Next hops of an entry and of some below it that `fib/add-nexthop` has made.
    fn own_hops(&self, key: &Key, below: &[Key]) -> Vec<(Key, Hop)> {
        let entries = [key].into_iter().chain(below);
        let entries = entries.filter_map(|key| Some((key, self.entries.get(key)?)));
        let hops =
            entries.flat_map(|(key, entry)| entry.into_owned().hops.into_iter().map(move |hop| (key, hop)));
        hops.filter(|(_, hop)| !hop.routed).map(|(key, hop)| (key.clone(), hop)).collect()
    }

    /// Restores next hops that routes have replaced and then left.
    fn restore(&mut self, own: Vec<(Key, Hop)>, changes: &mut Vec<FibChange>) {
        for (key, hop) in own {
            let Some(name) = name(&key) else { continue };
            let is_known = self.entries.get(&key).is_some_and(|entry| entry.hop(hop.face).is_ok());
            if !is_known && self.add_hop(name.view(), hop.face, hop.cost, changes).is_err() {
                self.skipped += 1;
            }
        }
    }

    fn check_room(&self, face: u64) -> Result<(), RibError> {
        let RibLimits { routes, routes_per_face, .. } = self.limits;
        if self.routes >= routes {
            return Err(RibError::Full { limit: routes });
        }
        if self.routes_of(face) >= routes_per_face {
            return Err(RibError::FaceFull { face, limit: routes_per_face });
        }
        Ok(())
    }

    /// Refuses the entry of a new prefix if the names of prefixes take too much memory.
    fn check_name(&self, key: &Key) -> Result<(), RibError> {
        let limit = self.limits.name_bytes;
        if key.len() > Table::MAX_KEY {
            return Err(RibError::NameTooLong { len: key.len() });
        }
        if self.name_bytes() + key.len() > limit && self.entries.find(key).is_none() {
            return Err(RibError::NamesFull { limit });
        }
        Ok(())
    }

    /// Removes a route. Returns false if it does not exist.
    pub fn unregister(
        &mut self,
        name: NdnName<'_>,
        face: u64,
        origin: RouteOrigin,
        changes: &mut Vec<FibChange>,
    ) -> bool {
        let which = |route: &Route| route.face == face && route.origin == origin;
        self.remove(&key(name), which, changes) > 0
    }

    /// Adds a next hop to the FIB, or sets its cost.
    ///
    /// # Errors
    /// [`RibError::FibFull`], [`RibError::NamesFull`], [`RibError::NameTooLong`].
    pub fn add_hop(
        &mut self,
        name: NdnName<'_>,
        face: u64,
        cost: u64,
        changes: &mut Vec<FibChange>,
    ) -> Result<(), RibError> {
        let key = key(name);
        self.check_name(&key)?;
        let limit = self.limits.next_hops;
        let full = RibError::FibFull { limit };
        let Some(id) = self.entries.find_or_add(&key) else { return Err(full) };
        let has_room = self.hops < limit;
        let added = self.entries.edit(id, |entry| match entry.hop(face) {
            Ok(at) => {
                entry.hops[at].cost = cost;
                Ok(None)
            }
            Err(at) if has_room => {
                entry.hops.insert(at, Hop { face, cost, routed: false });
                Ok(Some(entry.hops.len()))
            }
            Err(_) => Err(full),
        });
        match added.unwrap_or(Err(full)) {
            Ok(None) => {}
            Ok(Some(hops)) => {
                self.hops += 1;
                self.routable += usize::from(hops == 1);
                self.faces.entry(face).or_default().add(id, &key);
            }
            Err(full) => {
                self.drop_if_empty(&key);
                return Err(full);
            }
        }
        changes.push(FibChange { name: (&name).into(), face, cost: Some(cost) });
        Ok(())
    }

    /// Removes a next hop from the FIB. It comes back with the next change of a route that makes it.
    pub fn remove_hop(&mut self, name: NdnName<'_>, face: u64, changes: &mut Vec<FibChange>) {
        let key = key(name);
        let Some(id) = self.entries.find(&key) else { return };
        let removed = self.entries.edit(id, |entry| {
            let at = entry.hop(face).ok()?;
            entry.hops.remove(at);
            Some(entry.hops.is_empty())
        });
        if let Some(is_last) = removed.flatten() {
            self.hops -= 1;
            self.routable -= usize::from(is_last);
            self.forget(face, 0, &key);
            self.drop_if_empty(&key);
            changes.push(FibChange { name: (&name).into(), face, cost: None });
        }
    }

    /// Removes all routes and next hops of a face in the next steps.
    pub fn close_face(&mut self, face: u64) {
        if self.faces.contains_key(&face) {
            self.closed.insert(face);
        }
    }

    /// Makes some of the changes that are due at `now`: routes of closed faces, routes that expire at `now`
    /// or have expired, and entries below a prefix that has changed. `work` is the number of prefixes to
    /// visit; each may update a few below it.
    pub fn step(&mut self, now: u64, work: usize, changes: &mut Vec<FibChange>) {
        for _ in 0..work {
            if !(self.withdraw(changes) || self.expire(now, changes) || self.walk(changes)) {
                break;
            }
        }
    }

    /// Time at which the next step is due: now if one is under way, else when the next route expires.
    pub fn next_step(&self) -> Option<u64> {
        if self.closed.is_empty() && self.walks.is_empty() { self.next_end() } else { Some(0) }
    }

    /// Time at which the next route expires.
    pub fn next_end(&self) -> Option<u64> {
        self.ends.first().map(|end| end.0)
    }

    /// Removes a closed face from one prefix. Returns false if nothing is left to remove.
    fn withdraw(&mut self, changes: &mut Vec<FibChange>) -> bool {
        let Some(&face) = self.closed.first() else { return false };
        let Some(id) = self.faces.get(&face).and_then(|face| face.prefixes.first()) else {
            return self.closed.remove(&face);
        };
        let key = Key::from(self.entries.key(id));
        let removed = self.entries.edit(id, |entry| {
            let before = entry.hops.len();
            entry.hops.retain(|hop| hop.face != face || hop.routed);
            (entry.hops.len() < before).then_some(entry.hops.is_empty())
        });
        if let Some(is_last) = removed.flatten() {
            self.hops -= 1;
            self.routable -= usize::from(is_last);
            changes.extend(name(&key).map(|name| FibChange { name, face, cost: None }));
        }
        self.remove(&key, |route| route.face == face, changes);
        self.forget(face, 0, &key);
        self.drop_if_empty(&key);
        true
    }

    /// Removes one route that has expired. Returns false if no route has.
    fn expire(&mut self, now: u64, changes: &mut Vec<FibChange>) -> bool {
        let Some(&(_, id, face, origin)) = self.ends.first().filter(|end| end.0 <= now) else {
            return false;
        };
        let key = Key::from(self.entries.key(id));
        self.remove(&key, |route| route.face == face && route.origin == origin, changes) > 0
    }

    /// Updates the next entry of a walk. Returns false if there is no walk.
    fn walk(&mut self, changes: &mut Vec<FibChange>) -> bool {
        let Some(walk) = self.walks.next() else { return false };
        let key = self.entries.after(walk.start()).next().filter(|key| walk.visits(key)).map(Key::from);
        self.walks.advance(key.clone());
        if let Some(key) = key {
            self.skipped += self.install(&key, changes);
        }
        true
    }

    /// Removes the routes of one prefix that `which` selects, and updates the FIB. Returns their number.
    fn remove(&mut self, key: &Key, which: impl Fn(&Route) -> bool, changes: &mut Vec<FibChange>) -> usize {
        let before = self.contribution(key);
        let taken = self.take(key, which);
        if taken > 0 {
            let below = self.entries_below(key, &before);
            self.update(key, below.as_deref(), changes);
            if below.is_none() {
                self.walks.add(key.clone());
            }
        }
        taken
    }

    /// Adds a route to an entry, or replaces the one of the same face and origin.
    fn put(&mut self, key: &Key, route: Route) {
        let id = self.entries.find_or_add(key).invariant("a table has room for the limit of names");
        let Some(id) = id else { return };
        let old =
            self.entries.edit(id, |entry| match entry.routes.iter_mut().find(|old| is_same(old, &route)) {
                Some(old) => Some(std::mem::replace(old, route)),
                None => {
                    entry.routes.push(route);
                    None
                }
            });
        self.note_change(key, &route);
        match old.flatten() {
            Some(old) => {
                if let Some(end) = old.expires {
                    self.ends.remove(&(end, id, route.face, route.origin));
                }
            }
            None => {
                self.routes += 1;
                let face = self.faces.entry(route.face).or_default();
                face.routes += 1;
                face.announced += usize::from(route.origin == RouteOrigin::PREFIXANN);
                face.add(id, key);
            }
        }
        if let Some(end) = route.expires {
            self.ends.insert((end, id, route.face, route.origin));
        }
    }

    /// Removes the routes of an entry that `which` selects. Returns their number.
    fn take(&mut self, key: &Key, which: impl Fn(&Route) -> bool) -> usize {
        let Some(id) = self.entries.find(key) else { return 0 };
        let mut taken = SmallVec::<[Route; 4]>::new();
        self.entries.edit(id, |entry| {
            entry.routes.retain(|route| {
                let goes = which(route);
                taken.extend(goes.then_some(*route));
                !goes
            });
            entry.routes.shrink_to_fit();
        });
        for route in &taken {
            self.note_change(key, route);
            self.routes -= 1;
            if let Some(end) = route.expires {
                self.ends.remove(&(end, id, route.face, route.origin));
            }
            if route.origin == RouteOrigin::PREFIXANN {
                self.ended.push((key.clone(), route.face));
                if let Some(face) = self.faces.get_mut(&route.face) {
                    face.announced -= 1;
                }
            }
            self.forget(route.face, 1, key);
        }
        taken.len()
    }

    fn note_change(&mut self, key: &Key, route: &Route) {
        if let Some(watched) = &mut self.watched
            && (watched.is_all || route.origin == RouteOrigin::CLIENT || watched.prefixes.contains(key))
        {
            watched.changed.push(key.clone());
        }
    }

    /// Subtracts routes from a face, and removes a prefix from it that has nothing of it left.
    fn forget(&mut self, face: u64, routes: usize, key: &Key) {
        // A next hop that routes of a shorter prefix have made is not counted for its face.
        let Some(of_face) = self.faces.get_mut(&face) else { return };
        of_face.routes -= routes;
        if let Some(id) = self.entries.find(key)
            && !self.entries.at(id).is_some_and(|entry| entry.is_of(face))
        {
            of_face.remove(id, key);
        }
        if of_face.routes == 0 && of_face.prefixes.is_empty() {
            self.faces.remove(&face);
        }
    }

    fn drop_if_empty(&mut self, key: &Key) {
        if let Some(id) = self.entries.find(key)
            && self.entries.at(id).is_some_and(|entry| entry.is_empty())
        {
            self.entries.remove(id);
        }
    }

    /// The contribution of an entry; empty without an entry.
    fn contribution(&self, key: &[u8]) -> Contribution {
        self.entries.get(key).map_or_else(Contribution::default, |entry| entry.contribution())
    }

    /// Entries below a prefix whose contribution was `before`, none if it still is; `None` if they are too
    /// many to be updated at once.
    fn entries_below(&self, key: &Key, before: &Contribution) -> Option<Vec<Key>> {
        if self.contribution(key) == *before {
            return Some(Vec::new());
        }
        let below = self.entries.after(key).take_while(|below| below.starts_with(key));
        let below: Vec<Key> = below.take(self.at_once + 1).map(Key::from).collect();
        (below.len() <= self.at_once).then_some(below)
    }

    /// Updates the FIB for an entry and those below it. Returns false if it had no room for a next hop.
    fn update(&mut self, key: &Key, below: Option<&[Key]>, changes: &mut Vec<FibChange>) -> bool {
        let keys = [key].into_iter().chain(below.into_iter().flatten());
        keys.map(|key| self.install(key, changes)).sum::<u64>() == 0
    }

    /// Updates the FIB for an entry, and drops the entry if it is empty. Returns the number of next hops that
    /// the FIB had no room for.
    fn install(&mut self, key: &Key, changes: &mut Vec<FibChange>) -> u64 {
        let (Some(wanted), Some(name)) = (self.wanted(key), name(key)) else { return 0 };
        let Some(id) = self.entries.find(key) else { return 0 };
        let Self { entries, hops: installed, routable, limits, .. } = self;
        let mut change = |face, cost| changes.push(FibChange { name: name.clone(), face, cost });
        let mut replaced = SmallVec::<[u64; 4]>::new();
        let skipped = entries.edit(id, |entry| {
            let was_routable = !entry.hops.is_empty();
            let hops = &mut entry.hops;
            hops.retain(|hop| {
                let stays = !hop.routed || wanted.binary_search_by_key(&hop.face, |hop| hop.0).is_ok();
                if !stays {
                    *installed -= 1;
                    change(hop.face, None);
                }
                stays
            });
            let (known, mut skipped) = (hops.len(), 0);
            for (face, cost) in wanted {
                match hops[..known].binary_search_by_key(&face, |hop| hop.face) {
                    Ok(at) => {
                        let old = std::mem::replace(&mut hops[at], Hop { face, cost, routed: true });
                        if old.cost != cost {
                            change(face, Some(cost));
                        }
                        replaced.extend((!old.routed).then_some(face));
                    }
                    Err(_) if *installed >= limits.next_hops => skipped += 1,
                    Err(_) => {
                        hops.push(Hop { face, cost, routed: true });
                        *installed += 1;
                        change(face, Some(cost));
                    }
                }
            }
            hops.sort_unstable_by_key(|hop| hop.face);
            hops.shrink_to_fit();
            match (was_routable, !hops.is_empty()) {
                (false, true) => *routable += 1,
                (true, false) => *routable -= 1,
                _ => {}
            }
            skipped
        });
        // Next hops of commands that routes have replaced are no longer their faces'.
        replaced.into_iter().for_each(|face| self.forget(face, 0, key));
        self.drop_if_empty(key);
        skipped.unwrap_or(0)
    }

    /// Faces and costs of the next hops that routes make for an entry, by face; `None` without an entry.
    fn wanted(&self, key: &Key) -> Option<SmallVec<[(u64, u64); 8]>> {
        let entry = self.entries.get(key)?;
        let mut wanted = Wanted::of(&entry);
        if !entry.routes.is_empty() && !entry.captures() {
            let mut starts = SmallVec::<[usize; 32]>::new();
            let mut components = Elements::new(key);
            while let Ok(Some(component)) = components.next() {
                starts.push(component.at);
            }
            while let Some(end) = starts.pop() {
                let above = self.entries.get(part(key, ..end));
                if above.is_some_and(|above| wanted.inherit(&above)) {
                    break;
                }
            }
        }
        Some(wanted.finish().collect())
    }
}

fn is_same(one: &Route, other: &Route) -> bool {
    one.face == other.face && one.origin == other.origin
}

/// The key of a name.
fn key(name: NdnName<'_>) -> Key {
    name.walk().bytes().into()
}

/// The name of a key.
fn name(key: &[u8]) -> Option<OwnedName<Ndn>> {
    let mut bytes = Vec::with_capacity(key.len() + 10);
    write_element(NAME, key, &mut bytes);
    let name = NdnName::parse(&bytes).map(|name| OwnedName::from(&name)).ok();
    name.invariant("a key has the components of a checked name")
}

#[cfg(test)]
mod tests;
