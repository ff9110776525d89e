//! Datasets that were sent a while ago.

use super::clock::Now;
use super::origin::Origin;
use super::reply::FRESHNESS;
use hashlane_name::build::OwnedName;
use hashlane_name::component::{Component, SEGMENT, VERSION};
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::mgmt::segment::{number, segment, segments, with_number};
use hashlane_table::share::Owner;
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

/// Most datasets kept.
const MAX_DATASETS: usize = 64;
/// Most bytes of kept datasets. The newest is kept in any case.
const MAX_BYTES: usize = 64 << 20;
/// Time for which a dataset is kept, in milliseconds.
const LIFETIME: u64 = 60_000;

/// Time for which Interests for a list share one dataset, in milliseconds.
const SHARED: u64 = 100;
/// Time after the last Interest for a dataset from which it goes before others, in milliseconds.
const STALE: u64 = 1000;
/// Most faces that one dataset counts for.
const MAX_USERS: usize = 256;

/// The last datasets, oldest first. They are kept so that their later segments can be asked for.
///
/// A dataset counts for each face that has asked for it; all closed faces of a user or address count as one.
/// When there are too many, the user or address that has most loses one, of the face that has most of them.
#[derive(Default)]
pub(super) struct Store {
    datasets: VecDeque<Dataset>,
    bytes: usize,
    last_version: u64,
}

struct Dataset {
    /// Name, up to the version.
    name: OwnedName<Ndn>,
    content: Vec<u8>,
    made: u64,
    /// Number of changes of what lists show, when it was made.
    changes: u64,
    /// Faces that have asked for it, and the time of their last Interest.
    users: BTreeMap<User, u64>,
}

/// A face of a user or address; `None` for all of its closed faces.
type User = (Option<Owner>, Option<u64>);

/// The face of an Interest.
fn user(from: &Origin) -> User {
    (from.peer.owner(), Some(from.face))
}

impl Dataset {
    /// The segment with this number; `None` after the last one.
    fn segment(&self, index: u64) -> Option<Vec<u8>> {
        let built = segment(self.name.view(), &self.content, index, FRESHNESS);
        built.ok().invariant("the name of a dataset has room for the number of a segment")?
    }

    /// True if it is one segment.
    fn is_whole(&self) -> bool {
        segments(&self.content) == 1
    }

    /// Counts the dataset for a face that asks for it.
    fn add_user(&mut self, from: &Origin, now: Now) {
        let user = user(from);
        if self.users.len() < MAX_USERS || self.users.contains_key(&user) {
            self.users.insert(user, now.monotonic);
        }
    }

    /// True if nobody has asked for a segment lately.
    fn is_stale(&self, now: Now) -> bool {
        self.users.values().all(|asked| now.monotonic.saturating_sub(*asked) >= STALE)
    }
}

impl Store {
    /// The first segment of a dataset of this name that was made a moment ago, if nothing has changed since.
    pub(super) fn shared(
        &mut self,
        name: NdnName<'_>,
        from: &Origin,
        changes: u64,
        now: Now,
    ) -> Option<Vec<u8>> {
        let is_recent = |dataset: &&mut Dataset| now.monotonic.saturating_sub(dataset.made) < SHARED;
        let mut recent = self.datasets.iter_mut().rev().take_while(is_recent);
        let len = name.len();
        let dataset = recent.find(|dataset| {
            let found = dataset.name.view();
            dataset.changes == changes
                && found.len() == len + 1
                && found.components().take(len).eq(name.components())
        })?;
        dataset.add_user(from, now);
        dataset.segment(0)
    }

    /// Keeps a dataset under a new version. Returns its first segment.
    pub(super) fn keep(
        &mut self,
        name: NdnName<'_>,
        content: Vec<u8>,
        from: &Origin,
        changes: u64,
        now: Now,
    ) -> Option<Vec<u8>> {
        self.last_version = now.unix.max(self.last_version + 1);
        let name = with_number(name, VERSION, self.last_version).ok();
        let name = name.invariant("the name of a dataset has room for its version")?;
        self.bytes += content.len();
        let users = BTreeMap::from([(user(from), now.monotonic)]);
        let dataset = Dataset { name, content, made: now.monotonic, changes, users };
        let first = dataset.segment(0);
        self.datasets.push_back(dataset);
        while self.datasets.len() > MAX_DATASETS || (self.bytes > MAX_BYTES && self.datasets.len() > 1) {
            self.evict(now);
        }
        first
    }

    /// Handles that a face has closed.
    pub(super) fn close_face(&mut self, face: u64) {
        for Dataset { users, .. } in &mut self.datasets {
            let user = users.keys().find(|(_, user)| *user == Some(face)).copied();
            if let Some((user, asked)) = user.and_then(|user| users.remove_entry(&user)) {
                let closed = users.entry((user.0, None)).or_default();
                *closed = asked.max(*closed);
            }
        }
    }

    /// Makes room; the newest dataset stays.
    ///
    /// - Datasets of one segment and those that nobody has asked for lately go; others only if there are none
    ///   of these.
    /// - The holder that has most gives way: the face of it that has most gives up its oldest dataset of one
    ///   segment, or else the oldest one of the holder that nobody has asked for lately is dropped, or else
    ///   the face gives up its oldest.
    /// - A dataset that a face gives up is dropped if it counts for no other face.
    fn evict(&mut self, now: Now) {
        let mut holders = BTreeMap::<Option<Owner>, usize>::new();
        // Weight, and time of the last Interest.
        let mut faces = BTreeMap::<User, (usize, u64)>::new();
        let older = self.datasets.len().saturating_sub(1);
        // Long ones that are being read go only if there are no others.
        let is_idle = |dataset: &Dataset| dataset.is_whole() || dataset.is_stale(now);
        let are_all_read = !self.datasets.iter().take(older).any(is_idle);
        let goes = |dataset: &Dataset| are_all_read || is_idle(dataset);
        let mut candidates =
            self.datasets.iter().take(older).enumerate().filter(|(_, dataset)| goes(dataset));
        for (_, dataset) in candidates.clone() {
            // Each counts as much as the limit of their number allows.
            let weight = dataset.content.len().max(MAX_BYTES / MAX_DATASETS);
            for (user, asked) in &dataset.users {
                *holders.entry(user.0).or_default() += weight;
                let (of_face, last) = faces.entry(*user).or_default();
                (*of_face, *last) = (*of_face + weight, (*last).max(*asked));
            }
        }
        let largest = holders.into_iter().max_by_key(|(_, weight)| *weight).map(|(holder, _)| holder);
        let of_largest = faces.into_iter().filter(|((holder, _), _)| Some(*holder) == largest);
        // Of equal ones the face that has asked for nothing for the longest time: another one may be reading.
        let user = of_largest.max_by_key(|(_, (weight, last))| (*weight, Reverse(*last)));
        let Some((user, _)) = user else {
            debug_assert!(false, "a dataset has been asked for");
            return self.drop_oldest();
        };
        let its = |dataset: &Dataset| dataset.users.contains_key(&user);
        // Nobody asks for more of a dataset of one segment.
        let whole = candidates.clone().find(|(_, dataset)| its(dataset) && dataset.is_whole());
        let of_holder = |dataset: &Dataset| dataset.users.keys().all(|(holder, _)| *holder == user.0);
        let stale = candidates.clone().find(|(_, dataset)| of_holder(dataset) && dataset.is_stale(now));
        if whole.is_none()
            && let Some((at, _)) = stale
        {
            return self.drop_at(at);
        }
        let Some((at, _)) = whole.or_else(|| candidates.find(|(_, dataset)| its(dataset))) else {
            debug_assert!(false, "the face with most datasets has one");
            return;
        };
        if let Some(dataset) = self.datasets.get_mut(at) {
            dataset.users.remove(&user);
            if dataset.users.is_empty() {
                self.drop_at(at);
            }
        }
    }

    fn drop_at(&mut self, at: usize) {
        if let Some(dataset) = self.datasets.remove(at) {
            self.bytes -= dataset.content.len();
        }
    }

    /// Drops the datasets whose lifetime is over.
    pub(super) fn expire(&mut self, now: u64) {
        while self.datasets.front().is_some_and(|dataset| now.saturating_sub(dataset.made) >= LIFETIME) {
            self.drop_oldest();
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.datasets.len()
    }

    fn drop_oldest(&mut self) {
        self.drop_at(0);
    }

    /// The segment with this name; `None` if it does not exist. The dataset counts for the face from then on:
    /// its first Interest may have been aggregated with another face's.
    pub(super) fn find(&mut self, name: NdnName<'_>, from: &Origin, now: Now) -> Option<Vec<u8>> {
        let (last, versioned) = split(name)?;
        let index = number(last, SEGMENT)?;
        let dataset = self.datasets.iter_mut().find(|dataset| dataset.name == versioned)?;
        dataset.add_user(from, now);
        dataset.segment(index)
    }
}

/// The last component of a name, and the name before it.
fn split(name: NdnName<'_>) -> Option<(Component<'_>, OwnedName<Ndn>)> {
    let last = name.components().last()?;
    let rest = OwnedName::from_components(name.components().take(name.len() - 1)).ok()?;
    Some((last, rest))
}
