//! NOTIFY: a primary tells its secondaries that a zone has changed (RFC 1996).

use hashlane_dns::wire::{Class, Flags, Header, Message, Opcode, Rcode, RecordType, Section};
use hashlane_name::dns::{Name, NameBuf};

/// Tries, with waits of 2, 4, 8, 16 and 32 seconds after them.
pub const TRIES: u32 = 5;

/// Seconds to wait for a response after a try, counted from 0.
pub fn patience(tried: u32) -> u64 {
    2 << tried.min(TRIES - 1)
}

/// A NOTIFY that was received, well-formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notify {
    /// Name of the zone.
    pub apex: NameBuf,
    /// Serial number of the zone at the sender, if it is told.
    pub serial: Option<u32>,
}

/// Reads a NOTIFY, without its signature. `None` if it is malformed, or not about a SOA record of class IN.
pub fn parse(message: &[u8]) -> Option<Notify> {
    let message = Message::parse(message).ok()?;
    let flags = message.header().flags;
    if flags.opcode() != Opcode::NOTIFY || flags.contains(Flags::RESPONSE) {
        return None;
    }
    let (questions, records) = message.questions().ok()?;
    let [question] = &questions[..] else { return None };
    if (question.rtype, question.class) != (RecordType::SOA, Class::IN) {
        return None;
    }
    let mut serial = None;
    for record in records {
        let record = record.ok()?;
        if record.section == Section::Answer && record.rtype == RecordType::SOA {
            serial = crate::soa::Soa::parse(&record.data).map(|soa| soa.serial);
        }
    }
    Some(Notify { apex: question.name, serial })
}

/// The response to a message with one question, or with a malformed one: its identifier, opcode and, where
/// it can be read, its question.
pub fn response(message: &[u8], rcode: Rcode) -> Vec<u8> {
    let Ok(parsed) = Message::parse(message) else { return Vec::new() };
    let header = parsed.header();
    let mut flags = Flags::RESPONSE.with_opcode(header.flags.opcode()).with_rcode(rcode);
    if rcode == Rcode::NO_ERROR {
        flags = flags.with(Flags::AUTHORITATIVE);
    }
    let questions = parsed.questions().ok().map(|(questions, _)| questions).unwrap_or_default();
    let question = questions.first().map(|question| (question.name.view(), question.rtype, question.class));
    with_question(Header { id: header.id, flags }, question)
}

/// A NOTIFY about a zone, with the SOA record's TTL and data, which say the serial number.
pub fn request(apex: Name<'_>, id: u16, soa: Option<(u32, &[u8])>) -> Vec<u8> {
    let flags = Flags::AUTHORITATIVE.with_opcode(Opcode::NOTIFY);
    let mut message = with_question(Header { id, flags }, Some((apex, RecordType::SOA, Class::IN)));
    if let Some((ttl, data)) = soa {
        append(&mut message, Section::Answer, apex, ttl, data);
    }
    message
}

/// A query for the SOA record of a zone.
pub fn soa_query(apex: Name<'_>, id: u16) -> Vec<u8> {
    with_question(Header::query(id), Some((apex, RecordType::SOA, Class::IN)))
}

/// A query for a transfer: of the whole zone, or of what has changed since a serial number.
pub fn transfer_query(apex: Name<'_>, id: u16, query: crate::incoming::Query) -> Vec<u8> {
    use crate::incoming::Query;
    match query {
        Query::Whole => with_question(Header::query(id), Some((apex, RecordType::AXFR, Class::IN))),
        Query::Since(serial) => {
            let mut message = with_question(Header::query(id), Some((apex, RecordType::IXFR, Class::IN)));
            // The numbers but the serial, and the names, are not read (RFC 1995 §3).
            let mut soa = [0; 22];
            if let Some(place) = soa.get_mut(2..6) {
                place.copy_from_slice(&serial.to_be_bytes());
            }
            append(&mut message, Section::Authority, apex, 0, &soa);
            message
        }
    }
}

fn with_question(header: Header, question: Option<(Name<'_>, RecordType, Class)>) -> Vec<u8> {
    let mut message = header.to_bytes().to_vec();
    message.extend_from_slice(&[0, u8::from(question.is_some()), 0, 0, 0, 0, 0, 0]);
    if let Some((name, rtype, class)) = question {
        message.extend_from_slice(name.as_bytes());
        message.extend_from_slice(&rtype.0.to_be_bytes());
        message.extend_from_slice(&class.0.to_be_bytes());
    }
    message
}

/// Appends a SOA record to a message without records.
fn append(message: &mut Vec<u8>, section: Section, owner: Name<'_>, ttl: u32, data: &[u8]) {
    message.extend_from_slice(owner.as_bytes());
    message.extend_from_slice(&RecordType::SOA.0.to_be_bytes());
    message.extend_from_slice(&Class::IN.0.to_be_bytes());
    message.extend_from_slice(&ttl.to_be_bytes());
    message.extend_from_slice(&(data.len() as u16).to_be_bytes());
    message.extend_from_slice(data);
    if let Some(count) = message.get_mut(5 + 2 * section.index()) {
        *count += 1;
    }
}
