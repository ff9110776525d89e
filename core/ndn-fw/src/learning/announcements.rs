//! Announcements of the routes of the FIB.

use crate::face::FaceId;
use crate::hashed::HashedName;
use alloc::sync::Arc;
use hashlane_name_map::map::NameMap;
use hashlane_ndn::time::Time;
use smallvec::SmallVec;

/// Prefix announcement of a route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// Data packet of the announcement.
    pub packet: Arc<[u8]>,
    /// True if it arrived with Data, false if a command brought it.
    pub is_learned: bool,
}

/// Announcement of the route of one face.
#[derive(Clone, Debug)]
struct Entry {
    face: FaceId,
    announcement: Announcement,
    /// Time of the next report that the route is used.
    renewal: Time,
}

/// Announcements by prefix and face. The management bounds their number.
#[derive(Clone, Debug, Default)]
pub struct Announcements {
    prefixes: NameMap<SmallVec<[Entry; 1]>>,
}

impl Announcements {
    /// Number of prefixes with an announcement.
    pub fn len(&self) -> usize {
        self.prefixes.len()
    }

    /// True if there are no announcements.
    pub fn is_empty(&self) -> bool {
        self.prefixes.is_empty()
    }

    /// Sets the announcement of the route of a prefix over a face; `None` removes it. The first report that
    /// the route is used is due at `renewal`. A prefix that is longer than any packet's name has none.
    pub(crate) fn set(
        &mut self,
        prefix: &HashedName<'_>,
        face: FaceId,
        announcement: Option<Announcement>,
        renewal: Time,
    ) {
        let entry = announcement.map(|announcement| Entry { face, announcement, renewal });
        match self.prefixes.find_mut(&prefix.key()) {
            Some(entries) => {
                entries.retain(|entry| entry.face != face);
                entries.extend(entry);
                if entries.is_empty() {
                    self.prefixes.remove(&prefix.key());
                }
            }
            None => {
                if let Some(entry) = entry {
                    let _ = self.prefixes.insert(prefix.key(), SmallVec::from_iter([entry]));
                }
            }
        }
    }

    /// Announcement of the longest prefix of `name` with a route over another face than `except`.
    pub(crate) fn find(&self, name: &HashedName<'_>, except: FaceId) -> Option<&Arc<[u8]>> {
        let mut prefixes = self.prefixes.matches(name);
        prefixes.find_map(|found| {
            let entry = found.value.iter().rev().find(|entry| entry.face != except)?;
            Some(&entry.announcement.packet)
        })
    }

    /// Announcement of the longest prefix of `name` with a route over `face`.
    pub(crate) fn find_of(&self, name: &HashedName<'_>, face: FaceId) -> Option<&Arc<[u8]>> {
        self.entry_of(name, face).map(|(.., entry)| &entry.announcement.packet)
    }

    /// Number of components of the longest prefix of `name` with a learned route over `face`.
    pub(crate) fn learned(&self, name: &HashedName<'_>, face: FaceId) -> Option<usize> {
        let (_, len, entry) = self.entry_of(name, face)?;
        entry.announcement.is_learned.then_some(len)
    }

    /// Takes the turn of a report that the learned route of `name` over `face` is used: number of components
    /// of its prefix, if the report is due at `now`. The next one is due at `next`.
    pub(crate) fn take_renewal(
        &mut self,
        name: &HashedName<'_>,
        face: FaceId,
        now: Time,
        next: Time,
    ) -> Option<usize> {
        let (slot, len, entry) = self.entry_of(name, face)?;
        if !entry.announcement.is_learned || entry.renewal > now {
            return None;
        }
        let entries = self.prefixes.at_mut(slot)?;
        entries.iter_mut().filter(|entry| entry.face == face).for_each(|entry| entry.renewal = next);
        Some(len)
    }

    fn entry_of(&self, name: &HashedName<'_>, face: FaceId) -> Option<(u32, usize, &Entry)> {
        let mut prefixes = self.prefixes.matches(name);
        prefixes.find_map(|found| {
            let entry = found.value.iter().find(|entry| entry.face == face)?;
            Some((found.slot, found.components, entry))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hashed::NameHasher;
    use hashlane_hash::scheme::Key;
    use hashlane_name::build::OwnedName;
    use hashlane_name::ndn::Ndn;

    fn with<T>(uri: &str, then: impl FnOnce(&HashedName<'_>) -> T) -> T {
        let name: OwnedName<Ndn> = hashlane_name::uri::parse_uri(uri.as_bytes()).expect("a URI");
        then(&NameHasher::new(&Key::VECTOR).hash_name(&name.view()))
    }

    fn set(table: &mut Announcements, uri: &str, face: u32, packet: Option<u8>) {
        let announcement =
            packet.map(|byte| Announcement { packet: Arc::from([byte]), is_learned: byte < 9 });
        with(uri, |prefix| table.set(prefix, FaceId(face), announcement, Time::default()));
    }

    #[test]
    fn the_longest_prefix_with_a_route_over_the_face_is_found() {
        let mut table = Announcements::default();
        set(&mut table, "/a", 1, Some(1));
        set(&mut table, "/a/b", 2, Some(2));
        let of = |table: &Announcements, uri: &str, face| {
            with(uri, |name| table.find_of(name, FaceId(face)).map(|packet| packet[0]))
        };
        assert_eq!([of(&table, "/a/b/c", 1), of(&table, "/a/b/c", 2)], [Some(1), Some(2)]);
        assert_eq!([of(&table, "/a/c", 2), of(&table, "/b", 1)], [None; 2]);
        let except = |uri, face| with(uri, |name| table.find(name, FaceId(face)).map(|packet| packet[0]));
        assert_eq!([except("/a/b", 3), except("/a/b", 2), except("/a", 1)], [Some(2), Some(1), None]);
        set(&mut table, "/a/b", 2, Some(3));
        assert_eq!((of(&table, "/a/b", 2), table.len()), (Some(3), 2));
        set(&mut table, "/a/b", 2, None);
        set(&mut table, "/a/b", 2, None);
        assert_eq!((of(&table, "/a/b", 2), table.len()), (None, 1));
    }

    #[test]
    fn the_use_of_a_learned_route_is_reported_once_in_an_interval() {
        let mut table = Announcements::default();
        set(&mut table, "/a", 1, Some(1));
        set(&mut table, "/a", 2, Some(9));
        let mut take = |face, now| {
            let now = Time::from_millis(now);
            with("/a/b", |name| table.take_renewal(name, FaceId(face), now, now.after_millis(100)))
        };
        assert_eq!([take(1, 5), take(1, 104), take(1, 105), take(1, 105)], [Some(1), None, Some(1), None]);
        assert_eq!(take(2, 5), None, "a command has made that route");
    }
}
