//! A message under construction.

use super::marks::{Marks, Moment};
use super::writer::Writer;
use super::{Edns, RenderError};
use crate::wire::{Class, Content, Flags, HEADER_LEN, Header, Rdata, Record, RecordType, Section};
use hashlane_dns_compress::Compressor;
use hashlane_name::dns::Name;

/// A message under construction: header, questions, records, section after section.
/// [`Renderer`](super::Renderer) starts one.
///
/// An entry that does not fit is refused whole, and the entries before it stay valid.
#[derive(Debug)]
pub struct Message<'a, C> {
    writer: Writer<'a, C>,
    header: Header,
    counts: [u16; 4],
    section: Section,
    marks: &'a mut Marks,
}

/// A state of the message before something was written.
#[derive(Clone, Copy, Debug)]
struct Point {
    len: usize,
    counts: [u16; 4],
    section: Section,
}

/// A point in a message to go back to; see [`Message::mark`].
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    point: Point,
    taken: Moment,
}

impl<'a, C: Compressor> Message<'a, C> {
    #[inline]
    pub(super) fn new(
        mut writer: Writer<'a, C>,
        header: Header,
        marks: &'a mut Marks,
    ) -> Result<Self, RenderError> {
        writer.bytes(&[0; HEADER_LEN])?;
        marks.start();
        Ok(Self { writer, header, counts: [0; 4], section: Section::Question, marks })
    }

    /// Bytes so far, from the header on.
    #[allow(clippy::len_without_is_empty, reason = "a message has a header from the start")]
    pub const fn len(&self) -> usize {
        self.writer.len()
    }

    /// Entries of a section so far.
    pub const fn count(&self, section: Section) -> u16 {
        self.counts[section.index()]
    }

    /// The header, for changes; it is written at the end.
    pub const fn header_mut(&mut self) -> &mut Header {
        &mut self.header
    }

    /// Reserves `bytes` for later records that must find room, such as OPT and TSIG.
    ///
    /// # Errors
    /// There is no room for them.
    pub fn reserve(&mut self, bytes: usize) -> Result<(), RenderError> {
        self.writer.reserve(bytes)
    }

    /// The state of the message now, to which [`rollback`](Self::rollback) returns.
    pub const fn mark(&self) -> Mark {
        Mark { point: self.point(), taken: self.marks.now() }
    }

    /// Goes back to a mark: removes everything written since. No later name points to a removed name.
    ///
    /// # Errors
    /// [`RenderError::Mark`] if the mark is of another message, or of a part of this one that was rolled
    /// back; the message stays as it is.
    pub fn rollback(&mut self, mark: Mark) -> Result<(), RenderError> {
        let Mark { point, taken } = mark;
        if !self.marks.is_valid(taken, point.len) {
            return Err(RenderError::Mark);
        }
        self.return_to(point);
        self.marks.record_rollback(point.len);
        Ok(())
    }

    #[inline(always)]
    const fn point(&self) -> Point {
        Point { len: self.writer.len(), counts: self.counts, section: self.section }
    }

    /// Goes back to a point after which no mark was taken.
    #[cold]
    fn return_to(&mut self, point: Point) {
        self.writer.truncate(point.len);
        (self.counts, self.section) = (point.counts, point.section);
    }

    /// Adds a question.
    ///
    /// # Errors
    /// There is no room for it, or a record came before.
    #[inline]
    pub fn question(&mut self, name: Name<'_>, rtype: RecordType, class: Class) -> Result<(), RenderError> {
        self.check(Section::Question)?;
        let ([a, b], [c, d]) = (rtype.0.to_be_bytes(), class.0.to_be_bytes());
        let end = self.writer.name_at(self.writer.end(), name);
        let end = end.and_then(|end| self.writer.bytes_at(end, &[a, b, c, d]));
        self.add(Section::Question, end)
    }

    /// Adds a record.
    ///
    /// # Errors
    /// There is no room for it, a record of a later section came before, or its data have more than 65,535
    /// bytes.
    // Always: as a call it takes a tenth more of a record's time.
    #[inline(always)]
    pub fn record(
        &mut self,
        section: Section,
        owner: Name<'_>,
        rtype: RecordType,
        class: Class,
        ttl: u32,
        rdata: &Rdata<'_>,
    ) -> Result<(), RenderError> {
        self.check(section)?;
        let end = self.write_record(owner, rtype, class, ttl, rdata);
        self.add(section, end)
    }

    /// Adds a set of records, all of them or none (RFC 2181 §5). If they do not fit, it sets TC, except for
    /// the additional section (RFC 2181 §9), and returns [`RenderError::Full`]; smaller sets may still fit.
    /// For glue that a referral cannot do without, see [`required_glue`](Self::required_glue).
    ///
    /// # Errors
    /// As [`record`](Self::record).
    pub fn rrset<'d>(
        &mut self,
        section: Section,
        owner: Name<'_>,
        rtype: RecordType,
        class: Class,
        ttl: u32,
        data: impl IntoIterator<Item = Rdata<'d>>,
    ) -> Result<(), RenderError> {
        let before = self.point();
        for rdata in data {
            if let Err(error) = self.record(section, owner, rtype, class, ttl, &rdata) {
                self.return_to(before);
                if error == RenderError::Full && section != Section::Additional {
                    self.set_truncated();
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Adds addresses of a name server to the additional section, all of them or none. If they do not fit, it
    /// sets TC: a referral has all glue of its in-domain name servers, or TC (RFC 9471 §3.1). Addresses of
    /// sibling name servers go through [`rrset`](Self::rrset), which leaves TC alone (§3.2).
    ///
    /// # Errors
    /// As [`record`](Self::record).
    pub fn required_glue<'d>(
        &mut self,
        owner: Name<'_>,
        rtype: RecordType,
        class: Class,
        ttl: u32,
        data: impl IntoIterator<Item = Rdata<'d>>,
    ) -> Result<(), RenderError> {
        let added = self.rrset(Section::Additional, owner, rtype, class, ttl, data);
        if added == Err(RenderError::Full) {
            self.set_truncated();
        }
        added
    }

    fn set_truncated(&mut self) {
        self.header.flags = self.header.flags.with(Flags::TRUNCATED);
    }

    /// Adds the OPT record (RFC 6891), which uses up the [reserved](Self::reserve) bytes first.
    ///
    /// # Errors
    /// There is no room for it, or its options have more than 65,535 bytes.
    pub fn edns(&mut self, edns: &Edns<'_>) -> Result<(), RenderError> {
        let reserved = self.writer.reserved();
        self.reserve(reserved.saturating_sub(edns.len()))?;
        let rdata = Rdata::opaque(edns.options);
        let class = Class(edns.payload);
        let written =
            self.record(Section::Additional, Name::ROOT, RecordType::OPT, class, edns.ttl(), &rdata);
        if written.is_err() {
            self.reserve(reserved)?;
        }
        written
    }

    /// Adds all questions and records of `content`; `rdata` is the result of [`Content::rdata`].
    ///
    /// # Errors
    /// [`RenderError::Full`] at the first record without room; the records before it stay.
    #[inline]
    pub fn content(&mut self, content: &Content, rdata: &[Rdata<'_>]) -> Result<(), RenderError> {
        for question in &content.questions {
            self.question(question.name.view(), question.rtype, question.class)?;
        }
        for (record, rdata) in content.records.iter().zip(rdata) {
            let Record { section, owner, rtype, class, ttl, .. } = record;
            self.record(*section, owner.view(), *rtype, *class, *ttl, rdata)?;
        }
        Ok(())
    }

    /// Ends the message: its bytes, with the two bytes of length before them on a stream.
    #[inline]
    pub fn finish(mut self) -> &'a [u8] {
        let mut header = [0; HEADER_LEN];
        header[..4].copy_from_slice(&self.header.to_bytes());
        for (place, count) in header[4..].as_chunks_mut().0.iter_mut().zip(self.counts) {
            *place = count.to_be_bytes();
        }
        self.writer.patch_start(header);
        self.writer.finish()
    }

    /// Refuses an entry for which the section has no place.
    #[inline(always)]
    fn check(&self, section: Section) -> Result<(), RenderError> {
        if section < self.section {
            return Err(RenderError::SectionOrder { section, after: self.section });
        }
        if self.count(section) == u16::MAX {
            return Err(RenderError::TooManyRecords { section });
        }
        Ok(())
    }

    /// Counts an entry that was written up to that end, or forgets its names.
    #[inline(always)]
    fn add(&mut self, section: Section, end: Result<usize, RenderError>) -> Result<(), RenderError> {
        match end {
            Ok(end) => {
                self.writer.end_at(end);
                self.section = section;
                self.counts[section.index()] += 1;
                Ok(())
            }
            Err(error) => {
                self.writer.truncate(self.writer.len());
                Err(error)
            }
        }
    }

    /// Writes a record behind the message, and returns the end of it.
    #[inline(always)]
    fn write_record(
        &mut self,
        owner: Name<'_>,
        rtype: RecordType,
        class: Class,
        ttl: u32,
        rdata: &Rdata<'_>,
    ) -> Result<usize, RenderError> {
        let end = self.writer.name_at(self.writer.end(), owner)?;
        let mut fixed = [0; 10];
        fixed[..2].copy_from_slice(&rtype.0.to_be_bytes());
        fixed[2..4].copy_from_slice(&class.0.to_be_bytes());
        fixed[4..8].copy_from_slice(&ttl.to_be_bytes());
        if rdata.names[0].is_none() {
            let len = u16::try_from(rdata.before.len()).map_err(|_| RenderError::RdataTooLong)?;
            fixed[8..].copy_from_slice(&len.to_be_bytes());
            let end = self.writer.bytes_at(end, &fixed)?;
            return self.writer.bytes_at(end, rdata.before);
        }
        let start = self.writer.bytes_at(end, &fixed)?;
        let mut end = self.writer.bytes_at(start, rdata.before)?;
        for name in rdata.names.iter().flatten() {
            end = match rtype.compresses() {
                true => self.writer.name_at(end, *name)?,
                false => self.writer.bytes_at(end, name.as_bytes())?,
            };
        }
        let end = self.writer.bytes_at(end, rdata.after)?;
        let len = u16::try_from(end - start).map_err(|_| RenderError::RdataTooLong)?;
        self.writer.patch(start - 2, len.to_be_bytes());
        Ok(end)
    }
}
