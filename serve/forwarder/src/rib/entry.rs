//! Entry of a prefix: its routes, and the next hops that the FIB has for it.

use super::Route;
use hashlane_ndn::mgmt::values::{ROUTE_CAPTURE, ROUTE_CHILD_INHERIT};
use smallvec::SmallVec;

/// Next hop of the FIB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The face.
    pub face: u64,
    /// The cost.
    pub cost: u64,
    /// True if routes of this prefix or of shorter ones have made it, false if `fib/add-nexthop` has.
    pub(super) routed: bool,
}

/// Routes and next hops of a prefix. Most prefixes have one of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) routes: SmallVec<[Route; 1]>,
    /// Next hops, by face.
    pub(super) hops: SmallVec<[Hop; 1]>,
}

/// Next hops that an entry contributes to those below it, by face, and true if it captures.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Contribution {
    hops: SmallVec<[(u64, u64); 4]>,
    captures: bool,
}

impl Entry {
    pub(super) fn is_empty(&self) -> bool {
        self.routes.is_empty() && self.hops.is_empty()
    }

    /// True if a face has a route here, or a next hop that a command added.
    pub(super) fn is_of(&self, face: u64) -> bool {
        self.routes.iter().any(|route| route.face == face)
            || self.hops.iter().any(|hop| hop.face == face && !hop.routed)
    }

    /// The next hop of a face: its place, or the place to insert it.
    pub(super) fn hop(&self, face: u64) -> Result<usize, usize> {
        self.hops.binary_search_by_key(&face, |hop| hop.face)
    }

    pub(super) fn captures(&self) -> bool {
        self.routes.iter().any(|route| route.flags & ROUTE_CAPTURE != 0)
    }

    /// The contribution of this entry to those below it.
    pub(super) fn contribution(&self) -> Contribution {
        let inherited = self.routes.iter().filter(|route| route.flags & ROUTE_CHILD_INHERIT != 0);
        let mut hops: SmallVec<[(u64, u64); 4]> = inherited.map(|route| (route.face, route.cost)).collect();
        hops.sort_unstable();
        hops.dedup_by_key(|hop| hop.0);
        Contribution { hops, captures: self.captures() }
    }
}

/// Next hops of an entry as they are gathered, from the entry itself up to the shortest prefix.
#[derive(Default)]
pub(super) struct Wanted {
    /// Face, number of entries between, and cost.
    found: SmallVec<[(u64, usize, u64); 8]>,
    entries: usize,
}

impl Wanted {
    /// The next hops of the entry's own routes.
    pub(super) fn of(entry: &Entry) -> Self {
        let found = entry.routes.iter().map(|route| (route.face, 0, route.cost)).collect();
        Self { found, entries: 0 }
    }

    /// Adds the next hops that an entry above contributes. Returns true if it captures.
    pub(super) fn inherit(&mut self, above: &Entry) -> bool {
        self.entries += 1;
        let Contribution { hops, captures } = above.contribution();
        self.found.extend(hops.into_iter().map(|(face, cost)| (face, self.entries, cost)));
        captures
    }

    /// Faces and costs, by face: for each face the nearest entry that has it, at the lowest cost.
    pub(super) fn finish(mut self) -> impl Iterator<Item = (u64, u64)> {
        self.found.sort_unstable();
        self.found.dedup_by_key(|hop| hop.0);
        self.found.into_iter().map(|(face, _, cost)| (face, cost))
    }
}
