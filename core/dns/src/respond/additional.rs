//! Addresses of the servers that a response names (RFC 1034 §4.3.2, RFC 9471).

use super::answer::Answer;
use super::servers::{Naming, whole_name};
use super::writer::Owner;
use crate::wire::{RecordType, Section};
use crate::zone::{NameId, Record, Set, Zone};
use hashlane_name::dns::Name;

/// A server, and the name whose records are its addresses.
#[derive(Clone, Copy)]
struct Server<'z> {
    owner: Owner<'z>,
    /// The server, or the wildcard that stands for it.
    source: NameId,
    /// Tells it from other servers.
    mark: u64,
}

impl Server<'_> {
    /// A name of the zone with its own records.
    fn of(id: NameId) -> Self {
        Self { owner: Owner::Name(id), source: id, mark: id.index() as u64 }
    }
}

/// The server of a name of the zone, whose addresses a wildcard may have.
#[inline]
fn target<'z>(zone: &Zone, id: NameId) -> Server<'z> {
    let server = Server::of(id);
    if !zone.has_wildcards() || zone.sets(id).next().is_some() {
        return server;
    }
    let source = zone.locate_id(id).and_then(|located| zone.source(&located));
    Server { source: source.unwrap_or(id), ..server }
}

/// True if `name` is `ancestor` or below it.
fn is_within(zone: &Zone, mut name: NameId, ancestor: NameId) -> bool {
    while name != ancestor {
        if name == NameId::ROOT {
            return false;
        }
        name = zone.parent(name);
    }
    true
}

impl Answer<'_, '_> {
    /// The server in the data of a type whose names are not compressed and so stored as bytes, if the zone
    /// has records of it, or a wildcard.
    #[cold]
    fn whole_target<'z>(&mut self, zone: &Zone, set: &Set<'_>, record: &Record<'z>) -> Option<Server<'z>> {
        let target = Name::parse_first(record.before.get(whole_name(set.rtype)?..)?).ok()?;
        if !target.is_within(zone.apex_name()) {
            return None;
        }
        let suffixes = self.scratch.hash.name(target);
        let located = zone.locate(suffixes, target);
        if located.below == 0 {
            return located.cut.is_none().then(|| Server::of(located.node));
        }
        let source = zone.source(&located)?;
        let above = target.labels_from(located.below).as_bytes().len();
        let labels = target.as_bytes().get(..target.len() - above)?;
        // Numbers of names are smaller.
        let mark = suffixes.first()? | 1 << 63;
        Some(Server { owner: Owner::Below(labels, located.node), source, mark })
    }

    /// Writes the additional section. Addresses of servers at or below the cut of a referral must find room,
    /// or the message is truncated (RFC 9471 §3); others are left out.
    #[inline]
    pub(super) fn write_additional(&mut self) {
        for at in 0..self.scratch.servers.len {
            let Some(&naming) = self.scratch.servers.sets.get(at) else { return };
            self.enter(naming.zone as usize);
            if naming.is_referral && !self.write_addresses(naming, Some(true)) {
                self.is_truncated = true;
                return;
            }
            self.write_addresses(naming, naming.is_referral.then_some(false));
        }
    }

    /// Writes the addresses of the servers of a set: all, or only those within the node or only those outside
    /// of it. Returns false if some had no room.
    fn write_addresses(&mut self, naming: Naming, within: Option<bool>) -> bool {
        let zones = self.zones;
        let Some(zone) = zones.zone(naming.zone as usize) else { return true };
        let Some(set) = zone.set(naming.node, RecordType(naming.rtype)) else { return true };
        let (mut all_fit, mut done) = (true, 0);
        for record in set.records() {
            let server = match record.names[0] {
                Some(id) => {
                    let is_elsewhere = |within| is_within(zone, id, naming.node) != within;
                    // Addresses below a cut are the zone below's to give, except in a referral to it.
                    let is_below = !naming.is_referral && zone.is_occluded(id);
                    (!within.is_some_and(is_elsewhere) && !is_below).then(|| target(zone, id))
                }
                None => self.whole_target(zone, &set, &record),
            };
            let Some(Server { owner, source, mark }) = server else { continue };
            if self.scratch.servers.done.get(..done).is_some_and(|done| done.contains(&mark)) {
                continue;
            }
            if let Some(place) = self.scratch.servers.done.get_mut(done) {
                *place = mark;
                done += 1;
            }
            for rtype in [RecordType::A, RecordType::AAAA] {
                if let Some(set) = zone.set(source, rtype) {
                    let form = self.form();
                    all_fit &= self.write(Section::Additional, owner, zone, &set, form).is_ok();
                }
            }
        }
        all_fit
    }
}
