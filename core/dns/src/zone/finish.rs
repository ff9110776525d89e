//! The last steps of a builder: what is occluded, sets in order, and the index.

use super::entry::{Entries, Entry};
use super::error::{Cause, Rule, Warnings, ZoneError};
use super::flags::Flags;
use super::intern::{Interner, index_of};
use super::log::Log;
use super::names::{NameId, Names};
use super::sets::Writer;
use super::{MAX_TYPES, Zone, nsec3, order};
use crate::slices::Parts as _;
use crate::wire::RecordType;
use alloc::boxed::Box;
use alloc::vec::Vec;
use hashlane_name::dns::NameBuf;

/// Contents of a builder.
pub(super) struct Contents {
    pub(super) interner: Interner,
    pub(super) apex: NameId,
    pub(super) apex_name: NameBuf,
    pub(super) log: Log,
    pub(super) warnings: Warnings,
}

pub(super) fn finish(contents: Contents) -> Result<Zone, ZoneError> {
    let Contents { interner, apex, apex_name, log, mut warnings } = contents;
    let (mut names, hashes) = interner.into_parts();
    names.shrink();
    let wildcards = occlude(&mut names, apex);
    let visible = || names.full().zip(hashes.iter()).filter(|((.., flags), _)| flags.is_visible());
    let visible_names = visible().count();
    let index = index_of(visible().map(|((id, ..), hash)| (hash, id.0)), visible_names);
    drop(hashes);
    let mut writing = Sets::new(&mut names, &mut warnings, apex);
    writing.add_all(log)?;
    let Sets { writer, records, duplicates, mut nsec, nsec3, .. } = writing;
    order::sort(&names, apex, &mut nsec);
    nsec.shrink_to_fit();
    let mut zone = Zone {
        names,
        sets: writer.finish(),
        index,
        apex,
        apex_name,
        apex_labels: apex_name.view().label_count(),
        wildcards,
        nsec,
        nsec3: nsec3::Chain::default(),
        serial: 0,
        records,
        visible_names,
        garbage: 0,
        duplicates,
        warnings: Warnings::default(),
    };
    let fail = |rtype, rule| ZoneError { owner: Box::new(apex_name), rtype, rule };
    let soa = zone.set(apex, RecordType::SOA).ok_or_else(|| fail(RecordType::SOA, Rule::NoSoa))?;
    let serial = soa.records().next().and_then(|soa| soa.after.first_chunk().copied());
    debug_assert!(serial.is_some(), "the builder refuses a SOA record without its numbers");
    zone.serial = serial.map_or(0, u32::from_be_bytes);
    if zone.set(apex, RecordType::NS).is_none() {
        return Err(fail(RecordType::NS, Rule::NoNameServer));
    }
    zone.nsec3 = nsec3::Chain::of(&zone, nsec3, &mut warnings)
        .map_err(|iterations| fail(nsec3::NSEC3PARAM, Rule::Iterations(iterations)))?;
    zone.warnings = warnings;
    Ok(zone)
}

/// Marks names below cuts and DNAMEs, and with a wildcard below them. Returns the wildcards, each after the
/// name above it, in the order of their numbers.
fn occlude(names: &mut Names, apex: NameId) -> Vec<(NameId, NameId)> {
    let mut wildcards = Vec::new();
    let (count, _) = names.counts();
    // A name comes after the one above it.
    for id in (1..count as u32).map(NameId) {
        let parent = names.parent(id);
        let (above, mut flags) = (names.flags(parent), names.flags(id));
        if above.has(Flags::BELOW) || above.has(Flags::CUT) || above.has(Flags::DNAME) {
            flags = flags.with(Flags::BELOW).without(Flags::CUT).without(Flags::DNAME);
            if above.has(Flags::DNAME) || above.has(Flags::BELOW_DNAME) {
                flags = flags.with(Flags::BELOW_DNAME).without(Flags::EXISTS);
            }
        } else if flags.has(Flags::EXISTS) && id != apex && names.label(id) == b"\x01*" {
            names.add_flags(parent, Flags::WILDCARD);
            wildcards.push((parent, id));
        }
        names.set_flags(id, flags);
    }
    wildcards.shrink_to_fit();
    wildcards.sort_unstable();
    wildcards
}

/// The sets that are written.
struct Sets<'a> {
    names: &'a mut Names,
    warnings: &'a mut Warnings,
    apex: NameId,
    writer: Writer,
    records: usize,
    duplicates: usize,
    /// Owners of NSEC and of NSEC3 records.
    nsec: Vec<NameId>,
    nsec3: Vec<NameId>,
    /// Entries of a set without duplicates, in the order in which they were added.
    unique: [Vec<Entry>; 2],
}

impl<'a> Sets<'a> {
    fn new(names: &'a mut Names, warnings: &'a mut Warnings, apex: NameId) -> Self {
        Self {
            names,
            warnings,
            apex,
            writer: Writer::with_capacity(0),
            records: 0,
            duplicates: 0,
            nsec: Vec::new(),
            nsec3: Vec::new(),
            unique: Default::default(),
        }
    }

    /// Adds all records, owner by owner.
    fn add_all(&mut self, log: Log) -> Result<(), ZoneError> {
        let (mut records, mut run) = (log.into_reader(), Entries::default());
        // Records of owners that come several times.
        let mut scattered = Entries::default();
        while let Some((entry, data)) = records.next() {
            let (owner, rtype) = (entry.owner, entry.rtype);
            let is_scattered = self.names.has_several_runs(owner);
            let pushed = if is_scattered { &mut scattered } else { &mut run }.push(entry, data);
            pushed.ok_or_else(|| fail(self.names, owner, rtype, Rule::TooLarge))?;
            if !is_scattered && records.is_owner_complete() {
                self.add(&mut run.list, &run.data)?;
                run.clear();
            }
        }
        drop(records);
        // Stable, and of little work: names are numbered in the order in which they came.
        scattered.list.sort_by_key(|entry| entry.owner);
        for entries in scattered.list.chunk_by_mut(|a, b| a.owner == b.owner) {
            self.add(entries, &scattered.data)?;
        }
        Ok(())
    }

    /// Adds all entries of a name, in any order of types.
    fn add(&mut self, entries: &mut [Entry], data: &[u8]) -> Result<(), ZoneError> {
        let Some(owner) = entries.first().map(|entry| entry.owner) else { return Ok(()) };
        // A stable sort: data are stored in the order of addition.
        entries.sort_by_key(|entry| (entry.rtype, entry.signs()));
        // The mark of a run.
        self.names.remove_sets(owner);
        let mut place = None;
        let (mut types, mut beside_cname) = (0, 0);
        for entries in entries.chunk_by(|a, b| a.rtype == b.rtype) {
            let rtype = entries.first().map_or(RecordType(0), |entry| entry.rtype);
            if !self.is_kept(owner, entries) {
                continue;
            }
            if place.is_none() {
                place =
                    Some(self.writer.start().ok_or_else(|| fail(self.names, owner, rtype, Rule::TooLarge))?);
            }
            types += 1;
            if types > MAX_TYPES {
                return Err(fail(self.names, owner, rtype, Rule::TooManyTypes));
            }
            self.write(rtype, entries, data).map_err(|rule| fail(self.names, owner, rtype, rule))?;
            match rtype {
                RecordType::NSEC3 => self.nsec3.push(owner),
                // Only these stand beside an alias (RFC 4035 §2.5).
                RecordType::NSEC if self.names.flags(owner).has(Flags::BELOW) => {}
                RecordType::NSEC => self.nsec.push(owner),
                _ => beside_cname += 1,
            }
        }
        if let Some(place) = place {
            self.writer.end();
            self.names.set_sets(owner, place);
        }
        self.check(owner, entries, beside_cname)
    }

    /// Returns false for entries of a type that are ignored.
    fn is_kept(&mut self, owner: NameId, entries: &[Entry]) -> bool {
        let Some(first) = entries.first() else { return false };
        let cause = if first.signs() {
            Cause::NothingSigned
        } else if first.rtype != RecordType::NSEC3 && self.names.flags(owner).has(Flags::BELOW_DNAME) {
            Cause::BelowDname
        } else {
            return true;
        };
        self.warnings.add(|| self.names.name(owner), first.rtype, cause);
        false
    }

    fn write(&mut self, rtype: RecordType, entries: &[Entry], data: &[u8]) -> Result<(), Rule> {
        let Self { names, warnings, writer, unique: [records, signatures], .. } = self;
        let (all, signing) = entries.split_at(entries.partition_point(|entry| !entry.signs()));
        let records = unique(data, all, records);
        let signatures = unique(data, signing, signatures);
        let stored = records.len() + signatures.len();
        self.records += stored;
        self.duplicates += entries.len() - stored;
        debug_assert!(!all.is_empty(), "a set has a record");
        let ttl = all.iter().map(|entry| entry.ttl()).min().unwrap_or_default();
        if let Some(entry) = all.iter().find(|entry| entry.ttl() != ttl) {
            warnings.add(|| names.name(entry.owner), rtype, Cause::TtlsDiffer);
        }
        if records.len() > 1 {
            match rtype {
                RecordType::SOA => return Err(Rule::SeveralSoa),
                RecordType::CNAME => return Err(Rule::SeveralCname),
                RecordType::DNAME => return Err(Rule::SeveralDname),
                _ => {}
            }
        }
        if records.len().max(signatures.len()) > usize::from(u16::MAX) {
            return Err(Rule::TooManyRecords);
        }
        let records = records.iter().map(|entry| bytes(data, entry));
        let signatures = signatures.iter().map(|entry| (entry.ttl(), bytes(data, entry)));
        writer.set(rtype, ttl, records, signatures).ok_or(Rule::TooLarge)
    }

    /// Checks the types of a name. `beside_cname` counts its types that no CNAME may stand beside, CNAME
    /// included.
    fn check(&self, owner: NameId, entries: &[Entry], beside_cname: usize) -> Result<(), ZoneError> {
        let has = |rtype| entries.iter().any(|entry| entry.rtype == rtype && !entry.signs());
        let fail = |rtype, rule| Err(fail(self.names, owner, rtype, rule));
        let flags = self.names.flags(owner);
        if flags.has(Flags::BELOW) {
            return Ok(());
        }
        if beside_cname > 1 && has(RecordType::CNAME) {
            return fail(RecordType::CNAME, Rule::BesideCname);
        }
        if flags.has(Flags::DNAME) && flags.has(Flags::CUT) && owner != self.apex {
            return fail(RecordType::DNAME, Rule::DnameBesideNs);
        }
        Ok(())
    }
}

fn fail(names: &Names, owner: NameId, rtype: RecordType, rule: Rule) -> ZoneError {
    ZoneError { owner: Box::new(names.name(owner)), rtype, rule }
}

fn bytes<'a>(data: &'a [u8], entry: &Entry) -> &'a [u8] {
    data.part(entry.range())
}

/// The entries, those with equal data once, in their order. `out` takes them, if they are several.
fn unique<'a>(data: &[u8], entries: &'a [Entry], out: &'a mut Vec<Entry>) -> &'a [Entry] {
    if entries.len() < 2 {
        return entries;
    }
    out.clear();
    out.extend_from_slice(entries);
    out.sort_by_key(|entry| bytes(data, entry));
    out.dedup_by_key(|entry| bytes(data, entry));
    // Data are stored in the order of addition.
    out.sort_by_key(|entry| entry.range().start);
    out
}
