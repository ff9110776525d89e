//! Prefix announcements with Data, and events of learned routes.

use super::forwarder::Forwarder;
use crate::face::FaceId;
use crate::hashed::HashedName;
use crate::learning::{
    Announcement, Announcements, MAX_ANNOUNCEMENT, RENEWAL, Reported, RouteEvent, RouteEvents,
};
use crate::pit::{CachedLookup, Key, Pit, Records};
use crate::strategy::ChoiceTable;
use alloc::sync::Arc;
use alloc::vec::Vec;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::mgmt::PrefixAnnouncement;
use hashlane_ndn::time::Time;
use hashlane_ndn::tlv::write_element;
use hashlane_ndn::wire::{MAX_LINK_HEADER, MAX_PACKET, NAME};
use hashlane_table::share::Holder;
use smallvec::SmallVec;

/// Announcement that the downstreams of an entry get with Data, if their Interests were discovery ones.
#[derive(Clone, Debug)]
pub(super) enum Attached {
    /// The announcement that the Data has brought, if any.
    Received,
    /// The announcement of the route that the Data has come over.
    OfRoute(Arc<[u8]>),
    /// None.
    Nothing,
}

impl Attached {
    /// The announcement to send with a packet of so many bytes; empty if none. `received` is the one that the
    /// Data has brought.
    #[inline(always)]
    pub(super) fn bytes<'a>(&'a self, received: &'a [u8], packet: usize) -> &'a [u8] {
        match self {
            Self::Received => received,
            Self::OfRoute(announcement) => fitting(announcement, packet),
            Self::Nothing => &[],
        }
    }
}

/// The announcement, if it may be sent with a packet of so many bytes; else empty.
#[inline(always)]
pub(super) fn fitting(announcement: &[u8], packet: usize) -> &[u8] {
    let fits = announcement.is_empty()
        || announcement.len() <= MAX_ANNOUNCEMENT
            && announcement.len() + MAX_LINK_HEADER + packet <= MAX_PACKET;
    if fits { announcement } else { &[] }
}

/// True if `announcement` is well formed and announces a prefix of `data`.
fn announces(announcement: &[u8], data: &HashedName<'_>) -> bool {
    announcement.len() <= MAX_ANNOUNCEMENT
        && PrefixAnnouncement::parse(announcement).is_ok_and(|announcement| {
            let prefix = announcement.prefix();
            data.components.starts_with(crate::hashed::components(prefix.as_bytes()))
        })
}

/// Calls `then` with the name of the Interest of an entry, which Data of the name `data` satisfies.
pub(super) fn with_entry_name<T>(
    key: &Key,
    data: &HashedName<'_>,
    then: impl FnOnce(&HashedName<'_>) -> T,
) -> T {
    // The Interest's name is a prefix of the Data's, or that name and the digest of the packet.
    let mut hashes: SmallVec<[u64; 16]> = SmallVec::new();
    let name = if key.name_len() > data.len() {
        hashes.extend_from_slice(data.hashes);
        hashes.push(key.name_hash());
        HashedName { components: key.components(), root: data.root, hashes: &hashes }
    } else {
        data.truncated(key.name_len(), key.components())
    };
    then(&name)
}

/// Announcement for an Interest from `from` that the content store answers.
#[cold]
#[inline(never)]
pub(super) fn of_stored(
    choice: &mut ChoiceTable,
    announcements: &Announcements,
    name: &HashedName<'_>,
    from: FaceId,
) -> Option<Arc<[u8]>> {
    choice.find(name).filter(|strategy| strategy.learns())?;
    announcements.find(name, from).cloned()
}

/// The name with the first `len` of these components.
fn leading(components: &[u8], len: usize) -> Option<OwnedName<Ndn>> {
    let mut bytes = Vec::with_capacity(components.len() + 4);
    write_element(NAME, components, &mut bytes);
    let name = NdnName::parse(&bytes).ok().invariant("the name was checked")?;
    OwnedName::from_components(name.components().take(len)).ok()
}

impl<P: Pit> Forwarder<P> {
    /// Sets the announcement of the route of a prefix over a face; `None` removes it. The management removes
    /// it with the route.
    pub fn announce(&mut self, prefix: &NdnName<'_>, face: FaceId, announcement: Option<Announcement>) {
        self.announcements.set(&self.hasher.hash_name(prefix), face, announcement, Time::default());
    }

    /// Announcements of routes.
    pub fn announcements(&self) -> &Announcements {
        &self.announcements
    }

    /// True if [`take_route_events`](Self::take_route_events) has some.
    #[inline(always)]
    pub fn has_route_events(&self) -> bool {
        !self.route_events.is_empty()
    }

    /// Takes the events of learned routes since the last call, at most
    /// [`MAX_EVENTS`](crate::learning::MAX_EVENTS).
    pub fn take_route_events(&mut self) -> Vec<Reported> {
        self.route_events.take()
    }

    /// Notes what Data from `from` says about routes, for an entry that it satisfies. Returns the
    /// announcement for the downstreams.
    #[cold]
    #[inline(never)]
    pub(super) fn learn(
        &mut self,
        slot: u32,
        data: &HashedName<'_>,
        from: FaceId,
        received: &[u8],
        now: Time,
    ) -> Attached {
        let lookup = self.pit.cached_lookup(slot).filter(|lookup| lookup.tables == self.generation);
        let Some((key, records)) = self.pit.entry(slot).invariant("the entry matched") else {
            return Attached::Nothing;
        };
        let choice = &mut self.choice;
        let learns = match lookup {
            Some(CachedLookup { strategy, .. }) => choice.at(strategy).is_some_and(|found| found.learns()),
            None => with_entry_name(key, data, |name| choice.find(name).is_some_and(|found| found.learns())),
        };
        if !learns {
            return Attached::Received;
        }
        let Some(out) = records.out_record(from) else { return Attached::Nothing };
        let Some(holder) = self.faces.find(from).map(|face| face.holder) else { return Attached::Nothing };
        let (announcements, events) = (&mut self.announcements, &mut self.route_events);
        if !out.non_discovery {
            if received.is_empty() || !announces(received, data) {
                return Attached::Nothing;
            }
            let event = RouteEvent::Announced(received.into());
            events.add(Reported { face: from, holder, event });
            return Attached::Received;
        }
        if let Some(len) = announcements.take_renewal(data, from, now, now.after_millis(RENEWAL))
            && let Some(prefix) = leading(data.components, len)
        {
            events.add(Reported { face: from, holder, event: RouteEvent::Used(prefix) });
        }
        if !wants_announcement(records, now) {
            return Attached::Nothing;
        }
        announcements.find_of(data, from).map_or(Attached::Nothing, |found| Attached::OfRoute(found.clone()))
    }
}

/// Notes that a face has no route for an Interest that was sent to it over a learned route.
#[cold]
pub(super) fn note_broken(
    announcements: &Announcements,
    events: &mut RouteEvents,
    name: &HashedName<'_>,
    (face, holder): (FaceId, Holder),
) {
    let len = announcements.learned(name, face);
    if let Some(prefix) = len.and_then(|len| leading(name.components, len)) {
        events.add(Reported { face, holder, event: RouteEvent::Broken(prefix) });
    }
}

/// True if a downstream waits for an announcement.
fn wants_announcement(records: &Records, now: Time) -> bool {
    records.ins.iter().any(|record| record.expires > now && !record.non_discovery)
}
