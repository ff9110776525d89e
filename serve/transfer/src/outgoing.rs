//! The messages that carry a zone, or its differences, to a secondary (RFC 5936 §2.2, RFC 1995 §4).

use crate::delta::Delta;
use crate::records::{Record, whole_data};
use hashlane_dns::render::{Message, Options, RenderError, Renderer, SuffixTable};
use hashlane_dns::wire::{Class, Flags, Header, Rdata, RecordType, Section};
use hashlane_dns::zone::{NameId, Zone};
use hashlane_name::dns::{Case, Name, NameBuf};
use std::sync::Arc;

/// Bytes of a message, unless one record needs more: the range of compression pointers, beyond which names
/// are no use to later ones.
const MESSAGE: usize = 16 << 10;

/// A response to AXFR or IXFR, written message by message.
#[derive(Clone, Debug)]
pub struct Outgoing {
    id: u16,
    question: (NameBuf, RecordType),
    zone: Arc<Zone>,
    deltas: Vec<Arc<Delta>>,
    next: Next,
    messages: u64,
    /// Data of the record being written.
    data: Vec<u8>,
}

/// The next record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// The SOA record of the version that is sent.
    First,
    /// A record of a name: the number of its records that were sent.
    Zone(NameId, usize),
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

/// A record that is larger than a message with the rest that it must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a record of the zone fits into no message")]
pub struct TooLarge;

impl Outgoing {
    /// The whole zone. `rtype` is the type of the question: AXFR, or IXFR from a secondary whose version is
    /// too old.
    pub fn whole(id: u16, question: (Name<'_>, RecordType), zone: Arc<Zone>) -> Self {
        Self::new(id, question, zone, Vec::new())
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
        Self { id, question, zone, deltas, next: Next::First, messages: 0, data: Vec::new() }
    }

    /// True once the last message was written.
    pub fn is_ended(&self) -> bool {
        self.next == Next::Ended
    }

    /// Messages so far.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// Writes the next message, after two bytes of length; `reserve` bytes are left for a signature. Returns
    /// nothing after the last one.
    ///
    /// # Errors
    /// A record fits into no message.
    pub fn write<'r>(
        &mut self,
        renderer: &'r mut Renderer<SuffixTable>,
        reserve: usize,
    ) -> Result<Option<&'r [u8]>, TooLarge> {
        if self.is_ended() {
            return Ok(None);
        }
        let header = Header { id: self.id, flags: Flags::RESPONSE.with(Flags::AUTHORITATIVE) };
        let mut message = renderer.start(header, Options { case: Case::Ignored, ..Options::stream() });
        let started = message.reserve(reserve).and_then(|()| match self.messages {
            0 => message.question(self.question.0.view(), self.question.1, Class::IN),
            _ => Ok(()),
        });
        debug_assert!(started.is_ok(), "a message has room for its question and a signature");
        while message.len() < MESSAGE && !self.is_ended() {
            match self.record(&mut message) {
                Ok(()) => {}
                Err(_) if message.count(Section::Answer) == 0 => return Err(TooLarge),
                Err(_) => break,
            }
        }
        self.messages += 1;
        Ok(Some(message.finish()))
    }

    /// Adds the next record, and goes on to the one after it.
    fn record(&mut self, message: &mut Message<'_, SuffixTable>) -> Result<(), RenderError> {
        let zone = &self.zone;
        match self.next {
            Next::Ended => Ok(()),
            Next::First | Next::Last => {
                let soa = zone.records_of(zone.apex()).find(|(rtype, ..)| *rtype == RecordType::SOA);
                debug_assert!(soa.is_some(), "a zone has a SOA record");
                if let Some((rtype, ttl, record)) = soa {
                    whole_data(zone, &record, &mut self.data);
                    put(message, &Record { owner: zone.apex_name(), rtype, ttl, data: &self.data })?;
                }
                self.next = match self.next {
                    Next::Last => Next::Ended,
                    _ if self.deltas.is_empty() => self.owner_from(zone.owner_after(None)),
                    _ => Next::Delta(0, Part::Removed, 0),
                };
                Ok(())
            }
            Next::Zone(id, sent) => self.of_name(message, id, sent),
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

    /// Adds records of a name, but for the zone's SOA record, from number `sent` on.
    fn of_name(
        &mut self,
        message: &mut Message<'_, SuffixTable>,
        id: NameId,
        sent: usize,
    ) -> Result<(), RenderError> {
        let zone = &self.zone;
        let owner = zone.name(id);
        let mut written = sent;
        for (rtype, ttl, record) in zone.records_of(id).skip(sent) {
            if rtype != RecordType::SOA {
                whole_data(zone, &record, &mut self.data);
                let put = put(message, &Record { owner: owner.view(), rtype, ttl, data: &self.data });
                if put.is_err() || message.len() >= MESSAGE {
                    written += usize::from(put.is_ok());
                    self.next = Next::Zone(id, written);
                    return put;
                }
            }
            written += 1;
        }
        self.next = self.owner_from(zone.owner_after(Some(id)));
        Ok(())
    }

    fn owner_from(&self, id: Option<NameId>) -> Next {
        id.map_or(Next::Last, |id| Next::Zone(id, 0))
    }
}

/// Adds a record to the answer.
fn put(message: &mut Message<'_, SuffixTable>, record: &Record<'_>) -> Result<(), RenderError> {
    let Record { owner, rtype, ttl, data } = *record;
    // Data of a zone have the form of their type.
    let rdata = Rdata::parse(rtype, data).unwrap_or_else(|_| Rdata::opaque(data));
    message.record(Section::Answer, owner, rtype, Class::IN, ttl, &rdata)
}
