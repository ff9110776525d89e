//! Records, in any order, to a zone.

use super::Zone;
use super::check;
use super::entry::Entry;
use super::error::{Cause, Rule, Warnings, ZoneError};
use super::finish::{Contents, finish};
use super::flags::Flags;
use super::intern::{Bare, Interner};
use super::log::Log;
use super::names::{NameId, Names};
use super::queue::Queue;
use crate::wire::RecordType;
use alloc::boxed::Box;
use alloc::vec::Vec;
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{Name, NameBuf};

/// The largest TTL (RFC 2181 §8).
const MAX_TTL: u32 = i32::MAX as u32;

/// Records that are looked up together.
const QUEUE: usize = 32;

/// A record whose names are in the queue.
struct Waiting {
    entry: Entry,
    /// The record's type. In a signature, `entry` has the type that the signature covers.
    rtype: RecordType,
    /// The owner is the same as the previous record's.
    same_owner: bool,
    /// Bytes before the names, and number of names.
    before: u16,
    names: u8,
}

/// A zone that takes records of class IN in any order.
///
/// At its peak it takes about 1.15 times the memory of the finished [`Zone`], if it is large and most of its
/// names are its own: names stand in their final form, and records in blocks that are freed while their sets
/// are written. Two kinds of zones take more. Records of an owner that come in several runs, between other
/// owners' records, take 16 bytes and their data until all other sets are written; a name of another zone,
/// such as the target of an NS record, takes 10 to 17 bytes beside the 8 and its label in the finished zone.
pub struct Builder {
    interner: Interner,
    apex: NameId,
    apex_name: NameBuf,
    log: Log,
    warnings: Warnings,
    /// The owner of the last record, as its successor often has the same.
    owner: Vec<u8>,
    waiting: Vec<Waiting>,
    /// Of each record that waits, its owner, unless the record before has it, and the names in its data.
    queue: Queue,
    /// Data of the records that wait, without the names.
    waiting_data: Vec<u8>,
}

impl Builder {
    /// A zone without records. `key` keys the hashes by which [`Zone::locate`] finds names.
    pub fn new(apex: Name<'_>, key: &Key) -> Self {
        Self::with(apex, key, Bare::Outside)
    }

    /// A zone without records. Names get numbers by `bare`; a [finished](Self::finish) zone needs
    /// [`Bare::Outside`].
    pub(super) fn with(apex: Name<'_>, key: &Key, bare: Bare) -> Self {
        let (interner, id) = Interner::new(apex, key, bare);
        let apex = NameBuf::from(apex);
        Self {
            interner,
            apex: id,
            apex_name: apex,
            log: Log::new(),
            warnings: Warnings::default(),
            owner: apex.as_bytes().to_vec(),
            waiting: Vec::with_capacity(QUEUE),
            queue: Queue::default(),
            waiting_data: Vec::new(),
        }
    }

    /// Adds a record. `ttl` is in seconds, `rdata` in wire form, with names whole.
    ///
    /// # Errors
    /// The owner is not in the zone, no zone has records of this type, or the data are malformed; the record
    /// is then not added. Or the zone has too many names or too much data, which a later call may find.
    pub fn add(
        &mut self,
        owner: Name<'_>,
        rtype: RecordType,
        ttl: u32,
        rdata: &[u8],
    ) -> Result<(), ZoneError> {
        let fail = |rule| Err(ZoneError { owner: Box::new(owner.into()), rtype, rule });
        let known_owner = owner.as_bytes() == self.owner;
        if !known_owner && !owner.is_within(self.apex_name.view()) {
            return fail(Rule::OutOfZone);
        }
        if !check::is_data(rtype) {
            return fail(Rule::NotAType);
        }
        if rtype == RecordType::SOA && !owner.eq_ignore_case(self.apex_name.view()) {
            return fail(Rule::SoaBelowApex);
        }
        if rdata.len() > usize::from(u16::MAX) {
            return fail(Rule::DataTooLong);
        }
        let data = match check::parse(rtype, rdata) {
            Ok(data) => data,
            Err(error) => return fail(Rule::Data(error)),
        };
        let (covered, signs) = match (rtype, rdata.first_chunk()) {
            (RecordType::RRSIG, Some(covered)) => (RecordType(u16::from_be_bytes(*covered)), true),
            _ => (rtype, false),
        };
        let ttl = if ttl > MAX_TTL {
            self.warnings.add(|| owner.into(), rtype, Cause::TtlTooLarge);
            0
        } else {
            ttl
        };
        let names = data.names.iter().flatten().count();
        let (before, after) = (data.before.len(), data.after.len());
        // Within its type: no longer than `rdata`, or four bytes for the root.
        let entry = Entry::new(covered, ttl, signs, (before + 4 * names + after) as u16);
        let same_owner = known_owner && !self.waiting.is_empty();
        self.waiting.push(Waiting { entry, rtype, same_owner, before: before as u16, names: names as u8 });
        self.waiting_data.extend_from_slice(data.before);
        self.waiting_data.extend_from_slice(data.after);
        if !same_owner {
            self.owner.clear();
            self.owner.extend_from_slice(owner.as_bytes());
            self.queue.push(owner);
        }
        data.names.iter().flatten().for_each(|name| self.queue.push(*name));
        if self.waiting.len() < QUEUE { Ok(()) } else { self.flush() }
    }

    /// Looks up the names that wait, and adds their records.
    fn flush(&mut self) -> Result<(), ZoneError> {
        self.queue.hash(&mut self.interner);
        self.queue.prefetch(&self.interner);
        let mut waiting = core::mem::take(&mut self.waiting);
        let mut failed = None;
        let (mut owner, mut number, mut at) = ((0, NameId::ROOT), 0, 0);
        for record in &waiting {
            if self.add_entry(record, &mut owner, &mut number, &mut at).is_none() {
                failed = Some(record.rtype);
                break;
            }
        }
        waiting.clear();
        self.waiting = waiting;
        self.waiting_data.clear();
        self.queue.clear();
        let fail = |rtype| ZoneError { owner: Box::new(self.apex_name), rtype, rule: Rule::TooLarge };
        failed.map_or(Ok(()), |rtype| Err(fail(rtype)))
    }

    /// Adds a record that waits. `owner` is the number in the queue and the id of the last owner, `number`
    /// the number of the next name in the queue, `at` the offset of the next data. `None` if the zone is too
    /// large.
    fn add_entry(
        &mut self,
        record: &Waiting,
        owner: &mut (usize, NameId),
        number: &mut usize,
        at: &mut usize,
    ) -> Option<()> {
        let Self { interner, queue, log, waiting_data, .. } = self;
        let Waiting { mut entry, rtype, same_owner, before, names } = *record;
        if !same_owner {
            *owner = (*number, queue.intern(*number, interner)?);
            *number += 1;
        }
        entry.owner = owner.1;
        let opaque = usize::from(entry.len) - 4 * usize::from(names);
        // Without names, all data are in one piece.
        let before = if names == 0 { opaque } else { before.into() };
        let (before, after) = waiting_data.get(*at..)?.get(..opaque)?.split_at_checked(before)?;
        *at += opaque;
        let mut ids = [NameId::ROOT; 2];
        let ids = ids.get_mut(..names.into())?;
        for id in &mut *ids {
            *id = queue.intern(*number, interner)?;
            *number += 1;
        }
        if log.last_owner() != Some(entry.owner) {
            interner.names.note_run(entry.owner);
        }
        log.push(entry, before, ids, after)?;
        match rtype {
            RecordType::NS if entry.owner != self.apex => interner.names.add_flags(entry.owner, Flags::CUT),
            RecordType::DNAME => interner.names.add_flags(entry.owner, Flags::DNAME),
            // Neither a hashed owner nor a signature makes a name exist.
            RecordType::NSEC3 | RecordType::RRSIG => return Some(()),
            _ => {}
        }
        interner.exist(entry.owner, queue.name(owner.0))
    }

    /// The zone.
    ///
    /// Duplicate records are merged. Records below a DNAME, which RFC 6672 §2.4 forbids, are ignored with a
    /// warning, as BIND ignores them.
    ///
    /// # Errors
    /// The first rule that the records as a whole break.
    pub fn finish(self) -> Result<Zone, ZoneError> {
        finish(self.into_contents()?)
    }

    /// All that was added.
    pub(super) fn into_contents(mut self) -> Result<Contents, ZoneError> {
        self.flush()?;
        let Self { interner, apex, apex_name, log, warnings, .. } = self;
        Ok(Contents { interner, apex, apex_name, log, warnings })
    }

    /// The names, and the number of records, so far.
    pub(super) fn pause(&mut self) -> Result<(Names, usize), ZoneError> {
        self.flush()?;
        Ok((self.interner.names.clone(), self.log.len()))
    }
}
