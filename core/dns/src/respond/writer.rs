//! Writing of a response: records of a zone, with names compressed by their numbers.

use super::offsets::Offsets;
use crate::wire::{Class, HEADER_LEN, RecordType, Section};
use crate::zone::{NameId, Record, Set, Zone};

/// No room is left below the limit of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

/// The owner of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner<'n> {
    /// A name that was written at this offset.
    At(u16),
    /// A name of the zone.
    Name(NameId),
    /// Labels below a name of the zone, each after its length.
    Below(&'n [u8], NameId),
}

impl Owner<'_> {
    /// The name of the question.
    pub(super) const QUESTION: Self = Self::At(HEADER_LEN as u16);
}

/// A point of a message to go back to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    len: usize,
    section: Section,
    count: u16,
}

/// The form in which a set of records is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    /// With signatures.
    pub(super) dnssec: bool,
    /// Time to live in seconds at most.
    pub(super) max_ttl: u32,
}

/// A response under construction, in the caller's buffer.
pub(super) struct Writer<'o> {
    out: &'o mut [u8],
    len: usize,
    /// Length of the message at most, without what is reserved.
    limit: usize,
    counts: [u16; 4],
    /// Length with the last entry that is whole.
    whole: usize,
}

impl<'o> Writer<'o> {
    /// Begins after the header. `limit` counts from the header, and is at most the length of `out`.
    pub(super) fn new(out: &'o mut [u8], limit: usize) -> Result<Self, Full> {
        let limit = limit.min(out.len());
        if limit < HEADER_LEN {
            return Err(Full);
        }
        Ok(Self { out, len: HEADER_LEN, limit, counts: [0; 4], whole: HEADER_LEN })
    }

    /// Bytes so far.
    #[inline(always)]
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Bytes that can follow.
    pub(super) const fn room(&self) -> usize {
        self.limit - self.len
    }

    /// Sets bytes apart, which are [released](Self::release) for the last record.
    pub(super) fn reserve(&mut self, bytes: usize) -> Result<(), Full> {
        match self.limit.checked_sub(bytes) {
            Some(limit) if limit >= self.len => {
                self.limit = limit;
                Ok(())
            }
            _ => Err(Full),
        }
    }

    /// Gives bytes that were set apart back.
    pub(super) fn release(&mut self, bytes: usize) {
        self.limit = self.out.len().min(self.limit + bytes);
    }

    /// Entries of a section.
    pub(super) const fn count(&self, section: Section) -> u16 {
        self.counts[section.index()]
    }

    /// Appends bytes.
    #[inline(always)]
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Full> {
        let end = self.len + bytes.len();
        let place = self.out.get_mut(self.len..end).filter(|_| end <= self.limit).ok_or(Full)?;
        place.copy_from_slice(bytes);
        self.len = end;
        Ok(())
    }

    /// Appends two bytes.
    #[inline(always)]
    fn be16(&mut self, number: u16) -> Result<(), Full> {
        self.bytes(&number.to_be_bytes())
    }

    /// Counts an entry of a section, which ends here.
    #[inline(always)]
    pub(super) fn add(&mut self, section: Section) {
        self.whole = self.len;
        let count = &mut self.counts[section.index()];
        *count = count.saturating_add(1);
    }

    /// The length, and the number of entries of a section, to go [back](Self::rollback) to.
    #[inline(always)]
    pub(super) const fn mark(&self, section: Section) -> Mark {
        Mark { len: self.len, section, count: self.count(section) }
    }

    /// Goes back to a mark, after which only entries of its section were written.
    pub(super) fn rollback(&mut self, mark: Mark, offsets: &mut Offsets) {
        (self.len, self.whole) = (mark.len, mark.len);
        self.counts[mark.section.index()] = mark.count;
        offsets.truncate(mark.len);
    }

    /// Removes the part of an entry that had no room.
    pub(super) fn remove_part(&mut self, offsets: &mut Offsets) {
        self.len = self.whole;
        offsets.truncate(self.len);
    }

    /// Appends a name of a zone, compressed.
    #[inline]
    pub(super) fn name(&mut self, zone: &Zone, offsets: &mut Offsets, mut id: NameId) -> Result<(), Full> {
        while id != NameId::ROOT {
            if let Some(at) = offsets.get(id) {
                return self.be16(0xc000 | at);
            }
            let at = self.len;
            self.bytes(zone.label(id))?;
            offsets.insert(id, at);
            id = zone.parent(id);
        }
        self.bytes(&[0])
    }

    /// Appends a name of a zone, whole. Later names may point to it.
    fn whole_name(&mut self, zone: &Zone, offsets: &mut Offsets, mut id: NameId) -> Result<(), Full> {
        while id != NameId::ROOT {
            let at = self.len;
            self.bytes(zone.label(id))?;
            if offsets.get(id).is_none() {
                offsets.insert(id, at);
            }
            id = zone.parent(id);
        }
        self.bytes(&[0])
    }

    /// Appends an owner, compressed.
    #[inline(always)]
    pub(super) fn owner(&mut self, zone: &Zone, offsets: &mut Offsets, owner: Owner<'_>) -> Result<(), Full> {
        match owner {
            Owner::At(at) => self.be16(0xc000 | at),
            Owner::Name(id) => self.name(zone, offsets, id),
            Owner::Below(labels, id) => {
                self.bytes(labels)?;
                self.name(zone, offsets, id)
            }
        }
    }

    /// Appends type, class, time to live and room for the length of the data. Returns the offset of the data.
    #[inline(always)]
    pub(super) fn head(&mut self, rtype: RecordType, class: Class, ttl: u32) -> Result<usize, Full> {
        let ([a, b], [c, d], [e, f, g, h]) =
            (rtype.0.to_be_bytes(), class.0.to_be_bytes(), ttl.to_be_bytes());
        self.bytes(&[a, b, c, d, e, f, g, h, 0, 0])?;
        Ok(self.len)
    }

    /// Appends the data of a record.
    #[inline(always)]
    pub(super) fn data(
        &mut self,
        zone: &Zone,
        offsets: &mut Offsets,
        rtype: RecordType,
        record: &Record<'_>,
    ) -> Result<(), Full> {
        self.bytes(record.before)?;
        for id in record.names.into_iter().flatten() {
            match rtype.compresses() {
                true => self.name(zone, offsets, id)?,
                false => self.whole_name(zone, offsets, id)?,
            }
        }
        self.bytes(record.after)
    }

    /// Sets the length of the data that began at `from`.
    #[inline(always)]
    pub(super) fn end_data(&mut self, from: usize) {
        let len = (self.len - from) as u16;
        if let Some(place) = self.out.get_mut(from - 2..from) {
            place.copy_from_slice(&len.to_be_bytes());
        }
    }

    /// Appends a set of records in a form: all of them, or nothing.
    #[inline]
    pub(super) fn set(
        &mut self,
        section: Section,
        owner: Owner<'_>,
        (zone, offsets): (&Zone, &mut Offsets),
        set: &Set<'_>,
        form: Form,
    ) -> Result<(), Full> {
        let mark = self.mark(section);
        let mut written = self.records(section, owner, (zone, offsets), set, form.max_ttl);
        if form.dnssec && written.is_ok() {
            written = self.signatures(section, owner, (zone, offsets), set, form.max_ttl);
        }
        if written.is_err() {
            self.rollback(mark, offsets);
        }
        written
    }

    #[inline(always)]
    fn records(
        &mut self,
        section: Section,
        owner: Owner<'_>,
        (zone, offsets): (&Zone, &mut Offsets),
        set: &Set<'_>,
        max_ttl: u32,
    ) -> Result<(), Full> {
        for record in set.records() {
            self.owner(zone, offsets, owner)?;
            let data = self.head(set.rtype, Class::IN, set.ttl.min(max_ttl))?;
            self.data(zone, offsets, set.rtype, &record)?;
            self.end_data(data);
            self.add(section);
        }
        Ok(())
    }

    /// Appends the signatures of a set alone. Some of them stay if the rest does not fit.
    pub(super) fn signatures(
        &mut self,
        section: Section,
        owner: Owner<'_>,
        (zone, offsets): (&Zone, &mut Offsets),
        set: &Set<'_>,
        max_ttl: u32,
    ) -> Result<(), Full> {
        for (ttl, data) in set.signatures() {
            self.owner(zone, offsets, owner)?;
            let from = self.head(RecordType::RRSIG, Class::IN, ttl.min(max_ttl))?;
            self.bytes(data)?;
            self.end_data(from);
            self.add(section);
        }
        Ok(())
    }

    /// Writes the header and ends the message. Returns its length.
    pub(super) fn finish(self, header: [u8; 4]) -> usize {
        let Self { out, len, counts, .. } = self;
        if let Some(place) = out.first_chunk_mut::<HEADER_LEN>() {
            let (start, rest) = place.split_at_mut(4);
            start.copy_from_slice(&header);
            for (place, count) in rest.as_chunks_mut::<2>().0.iter_mut().zip(counts) {
                *place = count.to_be_bytes();
            }
        }
        len
    }
}
