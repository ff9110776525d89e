//! Records, in any order, to a zone.

use super::Zone;
use super::check;
use super::error::{Cause, Rule, Warnings, ZoneError};
use super::intern::Interner;
use super::names::{Flags, NameId};
use crate::wire::RecordType;
use alloc::boxed::Box;
use alloc::vec::Vec;
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{Name, NameBuf};

/// The largest TTL (RFC 2181 §8).
const MAX_TTL: u32 = i32::MAX as u32;

/// A record, or the signature of records.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    /// Offset of the data.
    pub(super) at: u64,
    pub(super) ttl: u32,
    pub(super) owner: NameId,
    /// The type; of a signature, the type that it covers.
    pub(super) rtype: RecordType,
    pub(super) signs: bool,
    pub(super) len: u16,
}

/// A zone that takes records of class IN in any order.
///
/// While it grows it needs some three times the memory of the finished [`Zone`].
pub struct Builder {
    pub(super) interner: Interner,
    pub(super) apex: NameId,
    pub(super) apex_name: NameBuf,
    pub(super) entries: Vec<Entry>,
    /// Data of the entries; names are ids.
    pub(super) data: Vec<u8>,
    pub(super) warnings: Warnings,
    /// The owner of the last record, as its successor often has the same.
    owner: (NameBuf, NameId),
}

impl Builder {
    /// A zone without records. `key` is that of the hashes by which [`Zone::locate`] finds names.
    pub fn new(apex: Name<'_>, key: &Key) -> Self {
        let mut interner = Interner::new(key);
        // The first name and labels are never too many.
        let id = interner.intern(apex).unwrap_or(NameId::ROOT);
        interner.names.add_flags(id, Flags::EXISTS);
        let apex = NameBuf::from(apex);
        Self {
            interner,
            apex: id,
            apex_name: apex,
            entries: Vec::new(),
            data: Vec::new(),
            warnings: Warnings::default(),
            owner: (apex, id),
        }
    }

    /// Adds a record. `ttl` is in seconds, `rdata` in wire form, with names whole.
    ///
    /// # Errors
    /// The owner is not in the zone, no zone has records of this type, the data are malformed, or there are too
    /// many. The zone is then unchanged.
    pub fn add(
        &mut self,
        owner: Name<'_>,
        rtype: RecordType,
        ttl: u32,
        rdata: &[u8],
    ) -> Result<(), ZoneError> {
        let fail = |rule| ZoneError { owner: Box::new(owner.into()), rtype, rule };
        if owner != self.owner.0.view() && !owner.is_within(self.apex_name.view()) {
            return Err(fail(Rule::OutOfZone));
        }
        if !check::is_data(rtype) {
            return Err(fail(Rule::NotAType));
        }
        if rtype == RecordType::SOA && !owner.eq_ignore_case(self.apex_name.view()) {
            return Err(fail(Rule::SoaBelowApex));
        }
        if rdata.len() > usize::from(u16::MAX) {
            return Err(fail(Rule::DataTooLong));
        }
        let data = check::parse(rtype, rdata).map_err(|error| fail(Rule::Data(error)))?;
        let id = self.owner(owner).ok_or_else(|| fail(Rule::TooLarge))?;
        let (covered, signs) = match (rtype, rdata.first_chunk()) {
            (RecordType::RRSIG, Some(covered)) => (RecordType(u16::from_be_bytes(*covered)), true),
            _ => (rtype, false),
        };
        let at = self.data.len();
        self.data.extend_from_slice(data.before);
        for name in data.names.iter().flatten() {
            let name = self.interner.intern(*name).ok_or_else(|| fail(Rule::TooLarge))?;
            self.data.extend_from_slice(&name.0.to_le_bytes());
        }
        self.data.extend_from_slice(data.after);
        let len = u16::try_from(self.data.len() - at).map_err(|_| fail(Rule::DataTooLong))?;
        let ttl = if ttl > MAX_TTL {
            self.warnings.add(|| owner.into(), rtype, Cause::TtlTooLarge);
            0
        } else {
            ttl
        };
        self.entries.push(Entry { at: at as u64, ttl, owner: id, rtype: covered, signs, len });
        self.mark(id, owner, rtype).ok_or_else(|| fail(Rule::TooLarge))
    }

    fn owner(&mut self, owner: Name<'_>) -> Option<NameId> {
        if owner != self.owner.0.view() {
            self.owner = (owner.into(), self.interner.intern(owner)?);
        }
        Some(self.owner.1)
    }

    /// Notes what a record of `rtype` makes of its owner.
    fn mark(&mut self, id: NameId, owner: Name<'_>, rtype: RecordType) -> Option<()> {
        let names = &mut self.interner.names;
        match rtype {
            RecordType::NS if id != self.apex => names.add_flags(id, Flags::CUT),
            RecordType::DNAME => names.add_flags(id, Flags::DNAME),
            // Neither a hashed owner nor a signature makes a name exist.
            RecordType::NSEC3 | RecordType::RRSIG => return Some(()),
            _ => {}
        }
        self.interner.exist(id, owner)
    }

    /// The zone.
    ///
    /// Duplicate records are merged. Records below a DNAME are ignored, with a warning (RFC 6672 §2.4 forbids
    /// them; BIND ignores them, too).
    ///
    /// # Errors
    /// The first rule that the records as a whole break.
    pub fn finish(self) -> Result<Zone, ZoneError> {
        super::finish::finish(self)
    }
}
