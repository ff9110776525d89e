//! Sets of records in one array of bytes.
//!
//! The sets of a name stand in a row, ascending by type, from an offset that is a multiple of [`UNIT`]. Each
//! set:
//!
//! | bytes | field |
//! | --- | --- |
//! | 1 | flags |
//! | 1 | number of records; 0 in a wide set |
//! | 2 | type |
//! | 4 | TTL |
//! | 0, 2 or 4 | length of the rest |
//! | 0 or 2 | number of records of a wide set |
//! | any | records |
//! | 0 or 2 | number of signatures of a signed set |
//! | any | signatures |
//!
//! A set is wide if it has more than 255 records or 65,535 bytes; its length has 4 bytes. A set without
//! signatures, of a type whose data have one length, has no length. A record is its data, after their length
//! in 2 bytes if the type has data of several lengths; names are ids in 4 bytes. A signature has its TTL
//! before its length if any signature's TTL differs from the set's. Numbers are little-endian.

mod stored;
mod writer;

use super::names::NameId;
use crate::slices::Parts as _;
use crate::wire::RecordType;
use core::fmt;

pub(super) use stored::renumber;
pub(super) use writer::Writer;

/// Alignment of the sets of a name, so that 32 bits address 16 GiB.
pub(super) const UNIT: usize = 4;

/// The last set of a name.
const LAST: u8 = 1;
/// Has signatures.
const SIGNED: u8 = 2;
const WIDE: u8 = 4;
/// Each signature has its TTL with it.
const TTLS: u8 = 8;

/// Bytes of a head without a length.
const HEAD: usize = 8;

/// The stored form of the data of a type.
#[derive(Clone, Copy)]
enum Shape {
    /// Bytes, names and bytes.
    Names { before: usize, names: usize, after: usize },
    /// Data of one length.
    Fixed(usize),
    /// Data after their length.
    Variable,
}

impl Shape {
    #[inline(always)]
    fn of(rtype: RecordType) -> Self {
        match rtype {
            RecordType::A => Self::Fixed(4),
            RecordType::AAAA => Self::Fixed(16),
            RecordType::DNAME => Self::Names { before: 0, names: 1, after: 0 },
            _ if !rtype.compresses() => Self::Variable,
            _ => match rtype.layout() {
                Some(layout) => {
                    debug_assert!(
                        layout.after.is_some(),
                        "{rtype}: types that compress end at a known length"
                    );
                    let after = layout.after.unwrap_or_default();
                    Self::Names { before: layout.before, names: layout.names, after }
                }
                None => Self::Variable,
            },
        }
    }

    /// Bytes of every record, if they are the same for all.
    #[inline(always)]
    const fn len(self) -> Option<usize> {
        match self {
            Self::Names { before, names, after } => Some(before + 4 * names + after),
            Self::Fixed(len) => Some(len),
            Self::Variable => None,
        }
    }
}

/// The records of a name that have one type, and their signatures.
#[derive(Clone, Copy)]
pub struct Set<'z> {
    /// The type.
    pub rtype: RecordType,
    /// The TTL of all records, in seconds.
    pub ttl: u32,
    count: u16,
    flags: u8,
    /// The records, and the signatures.
    body: &'z [u8],
}

impl<'z> Set<'z> {
    /// Number of records, at least 1.
    #[inline]
    #[allow(clippy::len_without_is_empty, reason = "no set is empty")]
    pub fn len(&self) -> usize {
        self.count.into()
    }

    /// Returns true if the set has RRSIG records.
    #[inline]
    pub fn is_signed(&self) -> bool {
        self.flags & SIGNED != 0
    }

    /// The records, in the order in which they were added.
    #[inline]
    pub fn records(&self) -> Records<'z> {
        Records { shape: Shape::of(self.rtype), left: self.count, rest: self.body }
    }

    /// The RRSIG records that cover this set: the TTL in seconds and the data of each.
    #[inline]
    pub fn signatures(&self) -> Signatures<'z> {
        if !self.is_signed() {
            return Signatures { left: 0, ttl: self.ttl, own_ttls: false, rest: &[] };
        }
        let mut records = self.records();
        records.by_ref().for_each(drop);
        let mut rest = records.rest;
        let left = take(&mut rest);
        debug_assert!(left.is_some(), "the number of signatures follows the records");
        let left = left.map_or(0, u16::from_le_bytes);
        Signatures { left, ttl: self.ttl, own_ttls: self.flags & TTLS != 0, rest }
    }
}

impl fmt::Debug for Set<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rtype, ttl, count, .. } = self;
        write!(f, "Set({rtype}, ttl {ttl}, {count} records, {} signatures)", self.signatures().left)
    }
}

/// The data of a record: bytes, at most two names, bytes.
///
/// The names of types that [may be compressed](RecordType::compresses) and the target of a DNAME are ids; a
/// name in the data of any other type is bytes like all others. The writer of a message must not compress the
/// target of a DNAME (RFC 6672 §2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'z> {
    /// Before the names.
    pub before: &'z [u8],
    /// The names, in their order.
    pub names: [Option<NameId>; 2],
    /// After the names.
    pub after: &'z [u8],
}

/// The records of a [`Set`].
#[derive(Clone, Debug)]
pub struct Records<'z> {
    shape: Shape,
    left: u16,
    rest: &'z [u8],
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.len(), f)
    }
}

impl<'z> Iterator for Records<'z> {
    type Item = Record<'z>;

    #[inline]
    fn next(&mut self) -> Option<Record<'z>> {
        self.left = self.left.checked_sub(1)?;
        let rest = &mut self.rest;
        let opaque = |data| Record { before: data, names: [None; 2], after: &[] };
        match self.shape {
            Shape::Fixed(len) => split(rest, len).map(opaque),
            Shape::Variable => {
                let len = take(rest).map(u16::from_le_bytes)?;
                split(rest, len.into()).map(opaque)
            }
            Shape::Names { before, names: count, after } => {
                let before = split(rest, before)?;
                let mut names = [None; 2];
                for name in names.iter_mut().take(count) {
                    *name = Some(NameId(u32::from_le_bytes(take(rest)?)));
                }
                Some(Record { before, names, after: split(rest, after)? })
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left.into(), Some(self.left.into()))
    }
}

impl ExactSizeIterator for Records<'_> {}

/// The signatures of a [`Set`].
#[derive(Clone, Debug)]
pub struct Signatures<'z> {
    left: u16,
    ttl: u32,
    own_ttls: bool,
    rest: &'z [u8],
}

impl<'z> Iterator for Signatures<'z> {
    type Item = (u32, &'z [u8]);

    #[inline]
    fn next(&mut self) -> Option<(u32, &'z [u8])> {
        self.left = self.left.checked_sub(1)?;
        let rest = &mut self.rest;
        let ttl = if self.own_ttls { u32::from_le_bytes(take(rest)?) } else { self.ttl };
        let len = u16::from_le_bytes(take(rest)?);
        Some((ttl, split(rest, len.into())?))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left.into(), Some(self.left.into()))
    }
}

impl ExactSizeIterator for Signatures<'_> {}

/// The sets of a name.
#[derive(Clone, Debug)]
pub struct Sets<'z> {
    /// From a head on; empty after the last set.
    rest: &'z [u8],
}

impl<'z> Sets<'z> {
    pub(super) const NONE: Self = Self { rest: &[] };

    /// The sets at a place, which [`Writer::start`] gave.
    #[inline(always)]
    pub(super) fn at(arena: &'z [u8], place: u32) -> Self {
        Self { rest: arena.part(place as usize * UNIT..) }
    }
}

impl<'z> Iterator for Sets<'z> {
    type Item = Set<'z>;

    #[inline]
    fn next(&mut self) -> Option<Set<'z>> {
        let (head, rest) = self.rest.split_first_chunk::<HEAD>()?;
        let [flags, count, t0, t1, ttl @ ..] = *head;
        let rtype = RecordType(u16::from_le_bytes([t0, t1]));
        let mut rest = rest;
        let mut count = u16::from(count);
        let len = if flags & WIDE != 0 {
            let len = u32::from_le_bytes(take(&mut rest)?);
            count = u16::from_le_bytes(take(&mut rest)?);
            len as usize
        } else {
            match Shape::of(rtype).len() {
                Some(len) if flags & SIGNED == 0 => len * usize::from(count),
                _ => u16::from_le_bytes(take(&mut rest)?).into(),
            }
        };
        let body = split(&mut rest, len)?;
        self.rest = if flags & LAST == 0 { rest } else { &[] };
        Some(Set { rtype, ttl: u32::from_le_bytes(ttl), count, flags, body })
    }
}

#[inline(always)]
fn take<const LEN: usize>(rest: &mut &[u8]) -> Option<[u8; LEN]> {
    let (bytes, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*bytes)
}

#[inline(always)]
fn split<'a>(rest: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (bytes, after) = rest.split_at_checked(len)?;
    *rest = after;
    Some(bytes)
}

/// Prefetches the first sets at a place.
#[inline(always)]
pub(super) fn prefetch(arena: &[u8], place: u32) {
    let at = place as usize * UNIT;
    hashlane_table::prefetch_bytes(arena.part(at..arena.len().min(at + 64)));
}
