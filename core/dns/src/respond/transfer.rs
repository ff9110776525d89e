//! The messages that carry all records of a zone (RFC 5936 §2.2), with names compressed by their numbers.

use super::offsets::Offsets;
use super::writer::{Full, Writer};
use crate::MAX_MESSAGE_LEN;
use crate::wire::{Class, HEADER_LEN, Header, RecordType, Section};
use crate::zone::{NameId, Record, Zone};
use alloc::vec;
use alloc::vec::Vec;
use hashlane_name::dns::Name;

/// Bytes of a message, unless one record needs more: the range of compression pointers, beyond which names
/// are no use to later ones.
const MESSAGE: usize = 16 << 10;

/// The next record of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(Next);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// The SOA record at the begin.
    First,
    /// A record of an owner, after as many others of it.
    Of(NameId, usize),
    /// The SOA record at the end.
    Last,
    Ended,
}

impl Place {
    /// The begin.
    pub const FIRST: Self = Self(Next::First);

    /// True after the last record.
    pub fn is_ended(self) -> bool {
        self.0 == Next::Ended
    }

    fn of(owner: Option<NameId>) -> Next {
        owner.map_or(Next::Last, |owner| Next::Of(owner, 0))
    }
}

/// A record that fits into no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a record of the zone fits into no message")]
pub struct TooLarge;

/// Writes the messages of transfers. One for each thread; it allocates nothing after [`new`](Self::new).
pub struct ZoneMessages {
    offsets: Offsets,
    out: Vec<u8>,
}

impl Default for ZoneMessages {
    fn default() -> Self {
        Self::new()
    }
}

impl ZoneMessages {
    /// A writer.
    pub fn new() -> Self {
        Self { offsets: Offsets::new(), out: vec![0; MAX_MESSAGE_LEN] }
    }

    /// Writes the message that begins at a place, and goes on to the next place. It has the question, if one
    /// is given, and some 16 KiB of records; `reserve` bytes below the longest message are left for a
    /// signature.
    ///
    /// # Errors
    /// A record fits into no message.
    pub fn write(
        &mut self,
        zone: &Zone,
        header: Header,
        question: Option<(Name<'_>, RecordType)>,
        place: &mut Place,
        reserve: usize,
    ) -> Result<&[u8], TooLarge> {
        let Self { offsets, out } = self;
        offsets.clear();
        let mut writer =
            Writer::new(out, MAX_MESSAGE_LEN.saturating_sub(reserve)).map_err(|Full| TooLarge)?;
        if let Some((name, rtype)) = question {
            super::responder::write_question(&mut writer, name, rtype, Class::IN).map_err(|Full| TooLarge)?;
            // The name of the question is the zone's.
            offsets.insert(zone.apex(), HEADER_LEN);
        }
        while writer.len() < MESSAGE && !place.is_ended() {
            if step(&mut writer, offsets, zone, &mut place.0).is_err() {
                // The records before are written.
                writer.remove_part(offsets);
                break;
            }
        }
        if writer.count(Section::Answer) == 0 && !place.is_ended() {
            return Err(TooLarge);
        }
        let len = writer.finish(header.to_bytes());
        Ok(out.get(..len).unwrap_or_default())
    }
}

/// Writes the next records, of one owner at most, and goes on behind those that have room.
fn step(writer: &mut Writer<'_>, offsets: &mut Offsets, zone: &Zone, next: &mut Next) -> Result<(), Full> {
    let (owner, mut written) = match *next {
        Next::Ended => return Ok(()),
        Next::First | Next::Last => {
            if let Some((ttl, record)) = zone.soa() {
                put(writer, offsets, zone, zone.apex(), (RecordType::SOA, ttl, &record))?;
            }
            *next = if *next == Next::First { Place::of(zone.owner_after(None)) } else { Next::Ended };
            return Ok(());
        }
        Next::Of(owner, written) => (owner, written),
    };
    for (rtype, ttl, record) in zone.records_of(owner).skip(written) {
        if rtype != RecordType::SOA {
            if writer.len() >= MESSAGE {
                return Ok(());
            }
            put(writer, offsets, zone, owner, (rtype, ttl, &record))?;
        }
        written += 1;
        *next = Next::Of(owner, written);
    }
    *next = Place::of(zone.owner_after(Some(owner)));
    Ok(())
}

/// Writes a record.
#[inline(always)]
fn put(
    writer: &mut Writer<'_>,
    offsets: &mut Offsets,
    zone: &Zone,
    owner: NameId,
    (rtype, ttl, record): (RecordType, u32, &Record<'_>),
) -> Result<(), Full> {
    writer.name(zone, offsets, owner)?;
    let data = writer.head(rtype, Class::IN, ttl)?;
    writer.data(zone, offsets, rtype, record)?;
    writer.end_data(data);
    writer.add(Section::Answer);
    Ok(())
}
