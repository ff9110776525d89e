//! The messages that carry a zone, or its differences, to a secondary (RFC 5936 §2.2, RFC 1995 §4).

use crate::delta::Delta;
use crate::records::{Record, whole_data};
use hashlane_dns::render::{Framing, Message, Options, RenderError, Renderer, SuffixTable};
use hashlane_dns::respond::{Place, ZoneMessages};
use hashlane_dns::wire::{Class, Flags, Header, Rdata, RecordType, Section};
use hashlane_dns::zone::Zone;
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{Name, NameBuf};
use std::sync::Arc;

pub use hashlane_dns::respond::TooLarge;

/// Bytes of a message of differences, unless one record needs more.
const MESSAGE: usize = 16 << 10;

/// Writers of messages, one for each thread.
pub struct Writers {
    zone: ZoneMessages,
    renderer: Renderer<SuffixTable>,
}

impl Writers {
    /// Writers under a random key.
    pub fn new(key: &Key) -> Self {
        Self { zone: ZoneMessages::new(), renderer: Renderer::new(key) }
    }
}

/// A response to AXFR or IXFR, written message by message.
#[derive(Clone, Debug)]
pub struct Outgoing {
    id: u16,
    question: (NameBuf, RecordType),
    zone: Arc<Zone>,
    deltas: Vec<Arc<Delta>>,
    next: Next,
    messages: u64,
}

/// The next record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// A record of the whole zone.
    Zone(Place),
    /// The SOA record of the version that the differences lead to.
    First,
    /// A record of a difference: its number, its part, and the offset there.
    Delta(usize, Part, usize),
    /// The SOA record at the end.
    Last,
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Removed,
    Added,
}

impl Outgoing {
    /// The whole zone. `rtype` is the type of the question: AXFR, or IXFR from a secondary whose version is
    /// too old.
    pub fn whole(id: u16, question: (Name<'_>, RecordType), zone: Arc<Zone>) -> Self {
        Self { next: Next::Zone(Place::FIRST), ..Self::new(id, question, zone, Vec::new()) }
    }

    /// Differences up to the zone's version; without any, the SOA record alone, which says that there is
    /// nothing new.
    pub fn deltas(id: u16, name: Name<'_>, zone: Arc<Zone>, deltas: Vec<Arc<Delta>>) -> Self {
        let mut outgoing = Self::new(id, (name, RecordType::IXFR), zone, deltas);
        if outgoing.deltas.is_empty() {
            outgoing.next = Next::Last;
        }
        outgoing
    }

    fn new(id: u16, (name, rtype): (Name<'_>, RecordType), zone: Arc<Zone>, deltas: Vec<Arc<Delta>>) -> Self {
        let question = (NameBuf::from(name), rtype);
        Self { id, question, zone, deltas, next: Next::First, messages: 0 }
    }

    /// True once the last message was written.
    pub fn is_ended(&self) -> bool {
        match self.next {
            Next::Zone(place) => place.is_ended(),
            next => next == Next::Ended,
        }
    }

    /// True for differences.
    pub fn is_incremental(&self) -> bool {
        !matches!(self.next, Next::Zone(_))
    }

    /// Messages so far.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// Writes the next message; `reserve` bytes are left for a signature. Returns nothing after the last one.
    ///
    /// # Errors
    /// A record fits into no message.
    pub fn write<'w>(
        &mut self,
        writers: &'w mut Writers,
        reserve: usize,
    ) -> Result<Option<&'w [u8]>, TooLarge> {
        if self.is_ended() {
            return Ok(None);
        }
        let header = Header { id: self.id, flags: Flags::RESPONSE.with(Flags::AUTHORITATIVE) };
        let (name, rtype) = self.question;
        let question = (self.messages == 0).then_some((name.view(), rtype));
        self.messages += 1;
        match &mut self.next {
            Next::Zone(place) => writers.zone.write(&self.zone, header, question, place, reserve).map(Some),
            _ => self.differences(&mut writers.renderer, header, question, reserve).map(Some),
        }
    }

    /// Writes the next message of differences.
    fn differences<'r>(
        &mut self,
        renderer: &'r mut Renderer<SuffixTable>,
        header: Header,
        question: Option<(Name<'_>, RecordType)>,
        reserve: usize,
    ) -> Result<&'r [u8], TooLarge> {
        let options = Options { framing: Framing::Datagram, ..Options::stream() };
        let mut message = renderer.start(header, options);
        let started = message.reserve(reserve).and_then(|()| match question {
            Some((name, rtype)) => message.question(name, rtype, Class::IN),
            None => Ok(()),
        });
        debug_assert!(started.is_ok(), "a message has room for its question and a signature");
        while message.len() < MESSAGE && !self.is_ended() {
            match self.record(&mut message) {
                Ok(()) => {}
                Err(_) if message.count(Section::Answer) == 0 => return Err(TooLarge),
                Err(_) => break,
            }
        }
        Ok(message.finish())
    }

    /// Adds the next record, and goes on to the one after it.
    fn record(&mut self, message: &mut Message<'_, SuffixTable>) -> Result<(), RenderError> {
        match self.next {
            Next::Ended | Next::Zone(_) => Ok(()),
            Next::First | Next::Last => {
                let zone = &self.zone;
                if let Some((ttl, record)) = zone.soa() {
                    let mut data = Vec::new();
                    whole_data(zone, &record, &mut data);
                    let (owner, rtype) = (zone.apex_name(), RecordType::SOA);
                    put(message, &Record { owner, rtype, ttl, data: &data })?;
                }
                let first = Next::Delta(0, Part::Removed, 0);
                self.next = if self.next == Next::First { first } else { Next::Ended };
                Ok(())
            }
            Next::Delta(number, part, offset) => {
                let delta = self.deltas.get(number);
                let records = delta.map(|delta| match part {
                    Part::Removed => delta.removed(),
                    Part::Added => delta.added(),
                });
                match records.and_then(|records| records.at(offset)) {
                    Some((record, after)) => {
                        put(message, &record)?;
                        self.next = Next::Delta(number, part, after);
                    }
                    None => {
                        self.next = match part {
                            Part::Removed => Next::Delta(number, Part::Added, 0),
                            Part::Added if number + 1 < self.deltas.len() => {
                                Next::Delta(number + 1, Part::Removed, 0)
                            }
                            Part::Added => Next::Last,
                        };
                    }
                }
                Ok(())
            }
        }
    }
}

/// Adds a record to the answer.
fn put(message: &mut Message<'_, SuffixTable>, record: &Record<'_>) -> Result<(), RenderError> {
    let Record { owner, rtype, ttl, data } = *record;
    // Data of a zone have the form of their type.
    let rdata = Rdata::parse(rtype, data).unwrap_or_else(|_| Rdata::opaque(data));
    message.record(Section::Answer, owner, rtype, Class::IN, ttl, &rdata)
}
