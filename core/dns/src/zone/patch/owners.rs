//! New sets of the owners that change.

use super::changes::Changes;
use super::{NAME, Unpatched};
use crate::slices::Parts as _;
use crate::wire::RecordType;
use crate::zone::entry::Entry;
use crate::zone::names::NameId;
use crate::zone::sets::{Set, Writer};
use crate::zone::{MAX_TYPES, Rule, Zone, nsec3};
use alloc::vec::Vec;

/// Types that a name owns, as far as they make a difference to other names.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Types {
    /// Records that make the name exist: all but NSEC3.
    pub(super) any: bool,
    pub(super) ns: bool,
    pub(super) nsec: bool,
    pub(super) dname: bool,
    nsec3: bool,
    cname: bool,
    /// Types that no CNAME may stand beside.
    others: bool,
}

impl Types {
    pub(super) fn of(zone: &Zone, id: NameId) -> Self {
        let mut types = Self::default();
        zone.sets(id).for_each(|set| types.add(set.rtype));
        types
    }

    fn add(&mut self, rtype: RecordType) {
        self.any |= rtype != RecordType::NSEC3;
        match rtype {
            RecordType::NSEC3 => self.nsec3 = true,
            RecordType::NSEC => self.nsec = true,
            RecordType::CNAME => self.cname = true,
            _ => self.others = true,
        }
        self.ns |= rtype == RecordType::NS;
        self.dname |= rtype == RecordType::DNAME;
    }

    /// Returns true if a CNAME has others beside it, as it may have below a delegation alone.
    pub(super) fn break_alias(self) -> bool {
        self.cname && self.others
    }
}

/// An owner that changes.
pub(super) struct Owner {
    pub(super) id: NameId,
    /// Place of the new sets among those that are written; none without any.
    pub(super) place: Option<u32>,
    pub(super) before: Types,
    /// Records that stay make the name exist.
    pub(super) stays: bool,
    pub(super) after: Types,
}

impl Owner {
    /// Returns true if NSEC3 records may have changed.
    pub(super) fn has_nsec3(&self) -> bool {
        self.before.nsec3 || self.after.nsec3
    }
}

/// The owners, in the order of their numbers, and their sets.
pub(super) struct Rewritten {
    pub(super) owners: Vec<Owner>,
    pub(super) sets: Vec<u8>,
    /// Numbers of records, signatures included.
    pub(super) removed: usize,
    pub(super) added: usize,
    /// Bytes that are without use now, at most.
    pub(super) garbage: usize,
}

/// Writes the sets of all owners that change.
pub(super) fn rewrite(zone: &Zone, changes: &Changes) -> Result<Rewritten, Unpatched> {
    let removed = changes.entries.iter().filter(|entry| changes.is_removed(entry)).count();
    let mut rewriting = Rewriting {
        zone,
        changes,
        writer: Writer::with_capacity(changes.data.len()),
        garbage: removed * NAME,
        records: Vec::new(),
        signatures: Vec::new(),
    };
    let mut owners = Vec::new();
    for entries in changes.entries.chunk_by(|a, b| a.owner == b.owner) {
        owners.extend(rewriting.write_owner(entries)?);
    }
    let Rewriting { writer, garbage, .. } = rewriting;
    let added = changes.entries.len() - removed;
    Ok(Rewritten { owners, sets: writer.finish(), removed, added, garbage })
}

/// The TTL, and the stored form of a record or of a signature.
type Stored<'a> = (u32, &'a [u8]);

struct Rewriting<'a> {
    zone: &'a Zone,
    changes: &'a Changes,
    writer: Writer,
    garbage: usize,
    /// Records of the set that is written; its signatures are beside them.
    records: Vec<Stored<'a>>,
    signatures: Vec<Stored<'a>>,
}

impl<'a> Rewriting<'a> {
    /// Writes the sets of an owner with these changes, in the order of types.
    fn write_owner(&mut self, entries: &[Entry]) -> Result<Option<Owner>, Unpatched> {
        let Some(id) = entries.first().map(|entry| entry.owner) else { return Ok(None) };
        let zone = self.zone;
        let before = Types::of(zone, id);
        let mut owner = Owner { id, place: None, before, stays: false, after: Types::default() };
        let mut types = 0;
        let mut changed = entries.chunk_by(|a, b| a.rtype == b.rtype).peekable();
        let mut old = zone.sets(id).peekable();
        let type_of = |entries: &&[Entry]| entries.first().map(|entry| entry.rtype);
        loop {
            let rtype = match (old.peek().map(|set| set.rtype), changed.peek().and_then(type_of)) {
                (None, None) => break,
                (Some(one), None) | (None, Some(one)) => one,
                (Some(one), Some(other)) => one.min(other),
            };
            let set = old.next_if(|set| set.rtype == rtype);
            let entries = changed.next_if(|entries| type_of(entries) == Some(rtype)).unwrap_or_default();
            self.garbage += set.map_or(0, |set| set.bytes());
            let stays = self.merge(rtype, set, entries)?;
            owner.stays |= stays && rtype != RecordType::NSEC3;
            let Some((ttl, _)) = self.records.first().copied() else { continue };
            let too_large = || zone.broken(rtype, Rule::TooLarge);
            if owner.place.is_none() {
                owner.place = Some(self.writer.start().ok_or_else(too_large)?);
            }
            let records = self.records.iter().map(|(_, data)| *data);
            let signatures = self.signatures.iter().copied();
            self.writer.set(rtype, ttl, records, signatures).ok_or_else(too_large)?;
            owner.after.add(rtype);
            types += 1;
        }
        if owner.place.is_some() {
            self.writer.end();
        }
        if types > MAX_TYPES {
            return Err(zone.broken(RecordType::ANY, Rule::TooManyTypes));
        }
        Ok(Some(owner))
    }

    /// Merges a set with its changes into `records` and `signatures`. Returns true if records stay.
    fn merge(
        &mut self,
        rtype: RecordType,
        set: Option<Set<'a>>,
        entries: &[Entry],
    ) -> Result<bool, Unpatched> {
        let Self { zone, changes, records, signatures, .. } = self;
        let (zone, changes) = (*zone, *changes);
        let group = |removed, signs| {
            let group = entries
                .iter()
                .filter(move |entry| changes.is_removed(entry) == removed && entry.signs() == signs);
            group.map(|entry| (entry.ttl(), changes.data.part(entry.range())))
        };
        let others = entries.iter().any(|entry| !entry.signs());
        match rtype {
            RecordType::DNAME if others => return Err(Unpatched::Dname),
            nsec3::NSEC3PARAM if others => return Err(Unpatched::Nsec3),
            _ => {}
        }
        let old = set.into_iter().flat_map(|set| set.stored().map(move |data| (set.ttl, data)));
        let stay = merge(old, group(true, false), group(false, false), records)?;
        let old = set.into_iter().flat_map(|set| set.signatures());
        merge(old, group(true, true), group(false, true), signatures)?;
        // A builder warns of several TTLs, and of signatures of nothing.
        let ttl = records.first().map(|(ttl, _)| *ttl);
        if records.iter().any(|(own, _)| Some(*own) != ttl) || records.is_empty() && !signatures.is_empty() {
            return Err(Unpatched::Warnings);
        }
        let rule = match rtype {
            _ if records.len().max(signatures.len()) > usize::from(u16::MAX) => Some(Rule::TooManyRecords),
            RecordType::SOA => Some(Rule::SeveralSoa),
            RecordType::CNAME => Some(Rule::SeveralCname),
            _ => None,
        };
        match rule.filter(|_| records.len() > 1) {
            Some(rule) => Err(zone.broken(rtype, rule)),
            None => Ok(stay > 0),
        }
    }
}

/// Writes the old records without the removed ones to `out`, and the added ones behind them. Returns how many
/// of the old stay.
fn merge<'a>(
    old: impl Iterator<Item = Stored<'a>>,
    removed: impl Iterator<Item = Stored<'a>>,
    added: impl Iterator<Item = Stored<'a>> + Clone,
    out: &mut Vec<Stored<'a>>,
) -> Result<usize, Unpatched> {
    out.clear();
    let sorted = |mut all: Vec<&'a [u8]>| {
        all.sort_unstable();
        all
    };
    let removed = sorted(removed.map(|(_, data)| data).collect());
    let new = sorted(added.clone().map(|(_, data)| data).collect());
    let is_twice = |all: &[&[u8]]| all.windows(2).any(|pair| pair.first() == pair.last());
    let mut found = 0;
    for (ttl, data) in old {
        if removed.binary_search(&data).is_ok() {
            found += 1;
        } else if new.binary_search(&data).is_ok() {
            return Err(Unpatched::Present);
        } else {
            out.push((ttl, data));
        }
    }
    if found < removed.len() {
        return Err(Unpatched::Missing);
    }
    if is_twice(&new) {
        return Err(Unpatched::Present);
    }
    let stay = out.len();
    out.extend(added);
    Ok(stay)
}
