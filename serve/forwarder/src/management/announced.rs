//! Announcements of the routes that prefix announcements have made.
//!
//! The forwarder attaches them to Data that answers discovery Interests. A route whose announcement has no
//! room here works, but nobody learns it from this forwarder, and its use does not prolong it.

use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_table::share::Owner;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most announcements: up to 16 MiB.
const MAX: usize = 1 << 14;
/// Most announcements of one user or address.
const MAX_OF_OWNER: usize = MAX / 8;

/// Announcement of a route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Announced {
    /// Data packet of the announcement.
    pub(super) packet: Arc<[u8]>,
    /// Time at which it expires, in milliseconds of the monotonic clock; `None` if never.
    pub(super) ends: Option<u64>,
    /// True if it arrived with Data, false if a command brought it.
    pub(super) is_learned: bool,
}

/// Prefix, and face of the route.
type Key = (Box<[u8]>, u64);

/// Announcements by prefix and face.
#[derive(Default)]
pub(super) struct AnnouncedRoutes {
    routes: BTreeMap<Key, (Announced, Option<Owner>)>,
    /// Number of announcements of each user or address.
    held: BTreeMap<Option<Owner>, usize>,
}

fn key(prefix: &OwnedName<Ndn>, face: u64) -> Key {
    (prefix.as_bytes().into(), face)
}

impl AnnouncedRoutes {
    /// Finds the announcement of a route.
    pub(super) fn find(&self, prefix: &OwnedName<Ndn>, face: u64) -> Option<&Announced> {
        self.routes.get(&key(prefix, face)).map(|(announced, _)| announced)
    }

    /// Adds the announcement of a route, or replaces it. Returns false if there is no room for it; the one
    /// before is then removed.
    pub(super) fn insert(
        &mut self,
        prefix: &OwnedName<Ndn>,
        face: u64,
        announced: Announced,
        owner: Option<Owner>,
    ) -> bool {
        self.remove(prefix, face);
        let held = self.held.get(&owner).copied().unwrap_or_default();
        if self.routes.len() >= MAX || held >= MAX_OF_OWNER {
            return false;
        }
        self.routes.insert(key(prefix, face), (announced, owner));
        self.held.insert(owner, held + 1);
        true
    }

    /// Removes the announcement of a route. Returns false if it had none.
    pub(super) fn remove(&mut self, prefix: &OwnedName<Ndn>, face: u64) -> bool {
        let Some((_, owner)) = self.routes.remove(&key(prefix, face)) else { return false };
        if let Some(held) = self.held.get_mut(&owner) {
            *held -= 1;
            if *held == 0 {
                self.held.remove(&owner);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_neighbour_leaves_room_for_the_announcements_of_others() {
        let mut routes = AnnouncedRoutes::default();
        let prefix: OwnedName<Ndn> = hashlane_name::uri::parse_uri(b"/a").unwrap();
        let announced = Announced { packet: Arc::from([1]), ends: None, is_learned: true };
        let mut add = |face: u64, owner| routes.insert(&prefix, face, announced.clone(), Some(owner));
        let added = (0..MAX as u64).filter(|face| add(*face, Owner::Ipv4(1))).count();
        assert_eq!(added, MAX_OF_OWNER);
        assert!(add(1 << 20, Owner::Ipv4(2)) && add(1 << 20, Owner::Ipv4(2)));
        assert_eq!(routes.held.get(&Some(Owner::Ipv4(2))), Some(&1));
        assert!(routes.remove(&prefix, 1 << 20) && !routes.remove(&prefix, 1 << 20));
        assert_eq!((routes.find(&prefix, 1 << 20), routes.held.len()), (None, 1));
    }
}
