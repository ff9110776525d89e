//! Responses to the queries of a batch.

use super::answer::{Answer, Scratch};
use super::options;
use super::reply::{Reply, ResponseKind};
use super::writer::{Full, Writer};
use super::{Asker, Settings, Transport, Zones, chaos};
use crate::MAX_MESSAGE_LEN;
use crate::query::{BATCH, Batch, Outcome, Query, Refusal};
use crate::slices::{Parts as _, own_hash};
use crate::wire::{Class, Flags, Header, Opcode, Rcode, RecordType, Section};
use crate::zone::{Located, Zone};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::Name;

/// Bytes of a UDP response that every client accepts (RFC 1035 §4.2.1).
const PLAIN_LIMIT: usize = 512;

/// Zone of a query's name, and its place there if the zone is loaded.
type QueryZone = (u32, Option<Located>);

/// The zone of a place, if it is loaded.
#[inline(always)]
fn zone_of<'z>(zones: &'z Zones, place: &Option<QueryZone>) -> Option<&'z Zone> {
    place.as_ref().and_then(|(zone, _)| zones.zone(*zone as usize))
}

/// Writes responses. One for each thread; it allocates nothing after [`new`](Self::new).
pub struct Responder {
    scratch: Scratch,
    places: [Option<QueryZone>; BATCH],
}

impl Responder {
    /// A responder for zones under `key`.
    pub fn new(key: &Key) -> Self {
        Self { scratch: Scratch::new(key), places: [None; BATCH] }
    }

    /// Finds the names of a batch in the zones, whose memory is prefetched for all of them. The stages
    /// [`Decode`](crate::query::Decode) and [`Hash`](struct@crate::query::Hash) have been run on it, under
    /// the key of the zones.
    pub fn locate<'r>(
        &'r mut self,
        zones: &'r Zones,
        settings: &'r Settings,
        batch: &'r Batch<'r>,
    ) -> Responses<'r> {
        let len = batch.outcomes().len();
        let places = self.places.part_mut(..len);
        for ((place, number), outcome) in places.iter_mut().zip(0..).zip(batch.outcomes()) {
            *place = None;
            if let Outcome::Answer(query) = outcome
                && matches!(query.class, Class::IN | Class::ANY)
            {
                let suffixes = batch.suffixes(number);
                *place = zones.find(suffixes, query.name, query.rtype).map(|zone| (zone as u32, None));
                if let Some(zone) = zone_of(zones, place) {
                    zone.prefetch(suffixes);
                }
            }
        }
        for (number, place) in places.iter().enumerate() {
            if let Some(zone) = zone_of(zones, place) {
                zone.prefetch_node(batch.suffixes(number));
            }
        }
        for (number, place) in places.iter().enumerate() {
            if let Some(zone) = zone_of(zones, place) {
                zone.prefetch_sets(batch.suffixes(number));
            }
        }
        for ((place, number), outcome) in places.iter_mut().zip(0..).zip(batch.outcomes()) {
            let zone = zone_of(zones, place);
            if let (Outcome::Answer(query), Some((_, located))) = (outcome, place) {
                *located = zone.map(|zone| zone.locate(batch.suffixes(number), query.name));
            }
        }
        Responses { scratch: &mut self.scratch, places: &self.places, zones, settings, batch }
    }
}

/// The responses to a batch.
pub struct Responses<'r> {
    scratch: &'r mut Scratch,
    places: &'r [Option<QueryZone>; BATCH],
    zones: &'r Zones,
    settings: &'r Settings,
    batch: &'r Batch<'r>,
}

impl Responses<'_> {
    /// Writes the response to datagram `number`, counted from 0 in order of arrival, into `out`, which bounds
    /// it.
    #[inline]
    pub fn write(&mut self, number: usize, asker: &Asker, out: &mut [u8]) -> Reply {
        match self.batch.outcomes().get(number) {
            Some(Outcome::Answer(query)) => self.answer(number, query, asker, out),
            Some(Outcome::Refuse(refusal)) => self.refuse(refusal, out),
            Some(Outcome::Drop(_)) | None => Reply::DROP,
        }
    }

    /// Number of the entry that holds the name of datagram `number`, if the entry is
    /// [restricted](Zones::restrict): the server then calls [`prohibit`](Self::prohibit) in place of
    /// [`write`](Self::write) for a client that has no right to it.
    #[inline]
    pub fn restricted(&self, number: usize) -> Option<usize> {
        if !self.zones.has_restricted() {
            return None;
        }
        let (zone, _) = self.places.get(number)?.as_ref()?;
        Some(*zone as usize).filter(|zone| self.zones.is_restricted(*zone))
    }

    /// Writes the response to a query without a right to zone `zone`: REFUSED, with an extended error
    /// (RFC 8914 §4.19). A query for a transfer gets the response of [`write`](Self::write), which says nothing
    /// of the zone.
    #[cold]
    pub fn prohibit(&mut self, number: usize, zone: usize, asker: &Asker, out: &mut [u8]) -> Reply {
        let query = match self.batch.outcomes().get(number) {
            Some(Outcome::Answer(query)) if !is_apart(query.rtype) => query,
            _ => return self.write(number, asker, out),
        };
        let header = query.header;
        let opt = match query.edns.map(|edns| options::Reply::of(&edns, self.settings, asker)).transpose() {
            Ok(opt) => opt,
            Err(rcode) => {
                return self.refuse(&Refusal { header, rcode, edns: true, question: None }, out);
            }
        };
        let rcode = Rcode::REFUSED;
        let write = |writer: &mut Writer<'_>| {
            write_question(writer, query.name, query.rtype, query.class)?;
            opt.map_or(Ok(()), |opt| opt.write(writer, self.settings, rcode, Some(options::PROHIBITED)))
        };
        let Ok(mut writer) = Writer::new(out, self.limit(query, asker)) else { return Reply::DROP };
        if write(&mut writer).is_err() {
            return Reply::DROP;
        }
        Reply {
            len: writer.finish(response(header, rcode).to_bytes()),
            rcode,
            kind: ResponseKind::Error,
            zone: Some(zone),
            rtype: Some(query.rtype),
            is_known: opt.is_some_and(|opt| opt.is_known),
            is_special: query.is_signed,
            ..Reply::DROP
        }
    }

    /// Bytes of a response at most.
    #[inline(always)]
    fn limit(&self, query: &Query<'_>, asker: &Asker) -> usize {
        match asker.transport {
            Transport::Udp => query.limit().min(usize::from(self.settings.max_udp).max(PLAIN_LIMIT)),
            Transport::Tcp => MAX_MESSAGE_LEN,
        }
    }

    /// Writes a header, the question if it is known and, if the query had one, an OPT record.
    #[cold]
    fn refuse(&self, refusal: &Refusal<'_>, out: &mut [u8]) -> Reply {
        let Refusal { header, rcode, edns, question } = *refusal;
        let Ok(mut writer) = Writer::new(out, PLAIN_LIMIT) else { return Reply::DROP };
        if let Some((name, rtype, class)) = question
            && write_question(&mut writer, name, rtype, class).is_err()
        {
            return Reply::DROP;
        }
        if edns {
            let opt = options::Reply::default();
            if opt.write(&mut writer, self.settings, rcode, None).is_err() {
                return Reply::DROP;
            }
        }
        let is_special = header.flags.opcode() == Opcode::NOTIFY;
        let header = response(header, rcode);
        let len = writer.finish(header.to_bytes());
        Reply { len, rcode, kind: ResponseKind::Error, is_special, ..Reply::DROP }
    }

    #[inline]
    fn answer(&mut self, number: usize, query: &Query<'_>, asker: &Asker, out: &mut [u8]) -> Reply {
        let limit = self.limit(query, asker);
        let opt = match query.edns.map(|edns| options::Reply::of(&edns, self.settings, asker)).transpose() {
            Ok(opt) => opt,
            Err(rcode) => {
                let header = query.header;
                return self.refuse(&Refusal { header, rcode, edns: true, question: None }, out);
            }
        };
        self.write_answer(number, query, asker, opt, (out, limit)).unwrap_or(Reply::DROP)
    }

    /// Writes the message.
    ///
    /// # Errors
    /// The buffer has no room for the question and the OPT record.
    #[inline]
    fn write_answer(
        &mut self,
        number: usize,
        query: &Query<'_>,
        asker: &Asker,
        opt: Option<options::Reply>,
        (out, limit): (&mut [u8], usize),
    ) -> Result<Reply, Full> {
        let mut writer = Writer::new(out, limit)?;
        write_question(&mut writer, query.name, query.rtype, query.class)?;
        let reserved = opt.map_or(0, |opt| opt.len(self.settings));
        writer.reserve(reserved)?;

        let mut reply = Reply {
            rtype: Some(query.rtype),
            is_known: opt.is_some_and(|opt| opt.is_known),
            rcode: Rcode::REFUSED,
            kind: ResponseKind::Error,
            is_special: query.is_signed,
            ..Reply::DROP
        };
        let (mut flags, mut error) = (Flags::default(), None);
        let place = self.places.get(number).copied().flatten();
        match (query.class, query.rtype) {
            (_, RecordType::OPT | RecordType::TKEY | RecordType::TSIG) => reply.rcode = Rcode::FORMAT_ERROR,
            // The server knows which client has a right to a transfer.
            (_, RecordType::AXFR | RecordType::IXFR) => {
                (error, reply.is_special) = (Some(options::PROHIBITED), true);
            }
            (Class::CH, RecordType::TXT | RecordType::ANY) => {
                if let Some(text) = chaos::text(query.name, self.settings) {
                    chaos::write(&mut writer, text)?;
                    (reply.rcode, reply.kind) = (Rcode::NO_ERROR, ResponseKind::Positive);
                    flags = Flags::AUTHORITATIVE;
                }
            }
            (Class::IN | Class::ANY, _) => match place {
                Some((zone, located)) => {
                    let dnssec = opt.is_some_and(|opt| opt.dnssec);
                    let mut answer = Answer::new(
                        (self.zones, self.scratch),
                        (query.rtype, query.class, asker.transport),
                        dnssec,
                        writer,
                    );
                    let hash = own_hash(self.batch.suffixes(number));
                    answer.run(zone as usize, located, (query.name, hash));
                    let ended = answer.end();
                    writer = ended.writer;
                    (reply.rcode, reply.kind) = (ended.rcode, ended.kind);
                    (reply.zone, reply.truncated) = (Some(zone as usize), ended.truncated);
                    reply.below = located.map_or(0, |located| located.below);
                    flags = ended.flags;
                    if query.class == Class::ANY {
                        flags = flags.without(Flags::AUTHORITATIVE);
                    }
                    if ended.rcode == Rcode::SERVER_FAILURE {
                        error = Some(options::NOT_READY);
                    }
                }
                None => error = Some(options::NOT_AUTHORITATIVE),
            },
            _ => error = Some(options::NOT_AUTHORITATIVE),
        }
        if let Some(opt) = opt {
            writer.release(reserved);
            opt.write(&mut writer, self.settings, reply.rcode, error)?;
        }
        let mut header = response(query.header, reply.rcode);
        header.flags = header.flags.with(flags);
        reply.len = writer.finish(header.to_bytes());
        Ok(reply)
    }
}

/// True for types that no zone answers: types of messages, and transfers.
fn is_apart(rtype: RecordType) -> bool {
    matches!(
        rtype,
        RecordType::OPT | RecordType::TKEY | RecordType::TSIG | RecordType::AXFR | RecordType::IXFR
    )
}

#[inline(always)]
pub(super) fn write_question(
    writer: &mut Writer<'_>,
    name: Name<'_>,
    rtype: RecordType,
    class: Class,
) -> Result<(), Full> {
    let ([a, b], [c, d]) = (rtype.0.to_be_bytes(), class.0.to_be_bytes());
    writer.bytes(name.as_bytes())?;
    writer.bytes(&[a, b, c, d])?;
    writer.add(Section::Question);
    Ok(())
}

/// The header of a response: identifier, opcode and RD of the query. CD is cleared (RFC 4035 §3.1.6).
#[inline]
fn response(query: Header, rcode: Rcode) -> Header {
    let flags = Flags(query.flags.0 & Flags::RECURSION_DESIRED.0)
        .with(Flags::RESPONSE)
        .with_opcode(query.flags.opcode());
    Header { id: query.id, flags: flags.with_rcode(rcode) }
}
