//! Properties of the responses of `hashlane_dns::respond` over whole zones.

use domain::base::name::ToName;
use domain::base::rdata::ComposeRecordData;
use domain::zonefile::inplace::{Entry as Parsed, Zonefile};
use hashlane_dns::query::{BATCH, Batch, Decode, Hash, Outcome, Suffixes};
use hashlane_dns::respond::{
    Asker, Cookies, Entry, Reply, Responder, ResponseKind, Settings, Transport, Zones,
};
use hashlane_dns::wire::{Content, Flags, RecordType, Section};
use hashlane_dns::zone::{Builder, Denial, Zone};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{Name, NameBuf};
use hashlane_table::stage::Stage;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

/// A zone with delegations, aliases, wildcards and large sets; not signed.
const PLAIN: &str = include_str!("respond/plain.zone");
/// A zone signed with NSEC, whose signatures are made up.
const NSEC: &str = include_str!("respond/nsec.zone");
/// A zone to which NSEC3 records are added.
const NSEC3: &str = include_str!("respond/nsec3.zone");
/// Names of that zone with NSEC3 records; the others are opted out.
const HASHED: [&str; 6] = ["", "a.", "wild.", "*.wild.", "secure.", "b.ent."];

/// Bytes of a response buffer, as of the server.
const BUFFER: usize = 65_535;

static ZONES: LazyLock<Zones> = LazyLock::new(zones);
static NAMES: LazyLock<Vec<NameBuf>> = LazyLock::new(|| {
    let texts = [PLAIN.to_owned(), NSEC.to_owned(), nsec3_text()];
    let mut names: Vec<NameBuf> =
        texts.iter().flat_map(|text| records(text)).map(|(owner, ..)| owner).collect();
    names.dedup_by_key(|name| name.as_bytes().to_vec());
    names
});

/// Owner, type, TTL and data of the records of a zone file.
fn records(text: &str) -> Vec<(NameBuf, u16, u32, Vec<u8>)> {
    let mut file = Zonefile::from(text.as_bytes());
    let mut records = Vec::new();
    while let Some(entry) = file.next_entry().expect("a zone file") {
        let Parsed::Record(record) = entry else { continue };
        let mut data = Vec::new();
        record.data().compose_rdata(&mut data).expect("room on the heap");
        let owner: Vec<u8> = record.owner().to_vec().as_slice().to_vec();
        let owner = Name::parse(&owner).expect("a name").into();
        records.push((owner, record.rtype().to_int(), record.ttl().as_secs(), data));
    }
    records
}

fn zone(text: &str, key: &Key) -> Zone {
    let records = records(text);
    let apex = records.first().expect("an SOA record").0;
    let mut zone = Builder::new(apex.view(), key);
    for (owner, rtype, ttl, data) in &records {
        zone.add(owner.view(), RecordType(*rtype), *ttl, data).expect("a record of the zone");
    }
    zone.finish().expect("a zone")
}

/// The zone file with NSEC3 records.
fn nsec3_text() -> String {
    let bare = zone(NSEC3, &Key::VECTOR);
    let mut hashes: Vec<String> = HASHED
        .iter()
        .map(|below| {
            let name: NameBuf = format!("{below}hashed.").parse().expect("a name");
            base32hex(&bare.nsec3_hash(name.view()))
        })
        .collect();
    hashes.sort();
    let mut text = NSEC3.to_owned();
    for (number, hash) in hashes.iter().enumerate() {
        let next = &hashes[(number + 1) % hashes.len()];
        let signature = "8 2 300 20380101000000 20200101000000 1 hashed. AAAA";
        writeln!(text, "{hash}.hashed. 300 IN NSEC3 1 1 0 AB {next} A").expect("a string takes all");
        writeln!(text, "{hash}.hashed. 300 IN RRSIG NSEC3 {signature}").expect("a string takes all");
    }
    text
}

fn base32hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for bytes in bytes.chunks_exact(5) {
        let bits = bytes.iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
        for digit in (0..8).rev() {
            text.push(char::from(b"0123456789abcdefghijklmnopqrstuv"[(bits >> (5 * digit) & 31) as usize]));
        }
    }
    text
}

fn zones() -> Zones {
    let key = Key::VECTOR;
    let texts = [PLAIN.to_owned(), NSEC.to_owned(), nsec3_text()];
    let mut entries: Vec<Entry> = texts
        .iter()
        .map(|text| {
            let zone = zone(text, &key);
            Entry { apex: zone.apex_name().into(), zone: Some(Arc::new(zone)) }
        })
        .collect();
    entries.push(Entry { apex: "not-loaded.".parse().expect("a name"), zone: None });
    Zones::new(entries, &key).expect("zones of different names")
}

/// Bytes become queries: control bytes, each followed by a datagram, or by the parts of a query for names of
/// the zones. The responses to a batch are those to its queries one by one; each is a message that is no
/// longer than the client allows, answers the question asked, has no record twice, and proves what it denies.
pub fn check_responses(octets: &[u8]) {
    let queries = queries(octets);
    let settings = Settings {
        nsid: b"fuzz".to_vec(),
        version: b"1".to_vec(),
        max_udp: 1400,
        cookies: Some(Cookies::new(&Key::VECTOR, None)),
        ..Settings::default()
    };
    let mut all = Server::new();
    let mut one = Server::new();
    for queries in queries.chunks(BATCH / 4) {
        let datagrams: Vec<&[u8]> = queries.iter().map(|(_, datagram)| &datagram[..]).collect();
        let transports: Vec<Transport> = queries.iter().map(|(transport, _)| *transport).collect();
        let responses = all.answer(&settings, &datagrams, &transports);
        for ((transport, datagram), (reply, response)) in queries.iter().zip(&responses) {
            let single = one.answer(&settings, &[datagram], &[*transport]);
            assert_eq!(&single[0].1, response, "in a batch and alone");
            check_response(*transport, datagram, reply, response);
        }
    }
}

/// The stages of one thread.
struct Server {
    hash: Hash,
    suffixes: Suffixes,
    responder: Responder,
    buffer: Vec<u8>,
}

impl Server {
    fn new() -> Self {
        let key = Key::VECTOR;
        Self {
            hash: Hash::new(&key),
            suffixes: Suffixes::new(),
            responder: Responder::new(&key),
            buffer: vec![0; BUFFER],
        }
    }

    fn answer(
        &mut self,
        settings: &Settings,
        datagrams: &[&[u8]],
        transports: &[Transport],
    ) -> Vec<(Reply, Vec<u8>)> {
        let mut batch = Batch::new(&mut self.suffixes);
        assert!(datagrams.iter().enumerate().all(|(number, datagram)| batch.push(number, datagram)));
        Decode.run(&mut batch);
        self.hash.run(&mut batch);
        let mut responses = self.responder.locate(&ZONES, settings, &batch);
        let address = [192, 0, 2, 1].into();
        let asked = transports.iter().map(|transport| Asker { address, transport: *transport, now: 1 << 31 });
        let answered = asked.enumerate().map(|(number, asker)| {
            let reply = responses.write(number, &asker, &mut self.buffer);
            (reply, self.buffer[..reply.len].to_vec())
        });
        answered.collect()
    }
}

fn check_response(transport: Transport, datagram: &[u8], reply: &Reply, response: &[u8]) {
    let query = match hashlane_dns::query::parse(datagram) {
        Outcome::Drop(_) => return assert_eq!((reply.len, reply.kind), (0, ResponseKind::Drop)),
        Outcome::Refuse(_) => None,
        Outcome::Answer(query) => Some(query),
    };
    let content = Content::parse(response).expect("a message");
    let flags = content.header.flags;
    let asked = Flags(u16::from_be_bytes([datagram[2], datagram[3]]));
    assert_eq!(response[..2], datagram[..2]);
    assert!(flags.contains(Flags::RESPONSE) && flags.opcode() == asked.opcode());
    assert_eq!(flags.contains(Flags::RECURSION_DESIRED), asked.contains(Flags::RECURSION_DESIRED));
    assert!(!flags.contains(Flags::RECURSION_AVAILABLE) && !flags.contains(Flags::AUTHENTIC));
    assert_eq!(flags.rcode().0, reply.rcode.0 & 0xf);
    assert_eq!(flags.contains(Flags::TRUNCATED), reply.truncated);
    let opts = content.records.iter().filter(|record| record.rtype == RecordType::OPT).count();
    let Some(query) = query else {
        assert!(
            response.len() <= 12 + 259 + 11
                && content.records.len() == opts
                && reply.kind == ResponseKind::Error
        );
        return;
    };
    let most = if transport == Transport::Udp { query.limit().min(1400) } else { BUFFER };
    assert!(response.len() <= most, "{} bytes of {most}", response.len());
    assert!(opts == usize::from(query.edns.is_some()));
    if let Some(question) = content.questions.first() {
        assert_eq!(question.name.as_bytes(), query.name.as_bytes());
        assert_eq!((question.rtype, question.class), (query.rtype, query.class));
    } else {
        assert_eq!(reply.kind, ResponseKind::Error);
    }
    let mut seen = HashSet::new();
    for record in &content.records {
        let owner = record.owner.as_bytes().to_ascii_lowercase();
        assert!(seen.insert((record.section, owner, record.rtype, &record.data)), "{record:?} twice");
    }
    let dnssec = query.edns.is_some_and(|edns| edns.dnssec_ok);
    if !dnssec && !matches!(query.rtype, RecordType::RRSIG | RecordType::ANY) {
        assert!(content.records.iter().all(|record| record.rtype != RecordType::RRSIG));
    }
    let zone = reply.zone.and_then(|zone| ZONES.entries()[zone].zone.as_deref());
    let has = |rtype| {
        content.records.iter().any(|record| record.section == Section::Authority && record.rtype == rtype)
    };
    if let (ResponseKind::NxDomain | ResponseKind::NoData, false) = (reply.kind, reply.truncated) {
        let is_of_class = query.class.0 != 255;
        assert_eq!((has(RecordType::SOA), flags.contains(Flags::AUTHORITATIVE)), (is_of_class, is_of_class));
        // A chain of aliases may end in another zone.
        let starts_here = content.records.iter().all(|record| record.section != Section::Answer);
        match zone.map(Zone::denial).filter(|_| dnssec && starts_here) {
            Some(Denial::Nsec) => assert!(has(RecordType::NSEC)),
            Some(Denial::Nsec3(_)) => assert!(has(RecordType::NSEC3)),
            _ => {}
        }
    }
    if reply.kind == ResponseKind::Referral && !reply.truncated {
        assert!(has(RecordType::NS) && !flags.contains(Flags::AUTHORITATIVE));
    }
}

/// Takes bytes from the front.
struct Source<'a>(&'a [u8]);

impl Source<'_> {
    fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((byte, rest)) => {
                self.0 = rest;
                *byte
            }
            None => 0,
        }
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        let (bytes, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        bytes.to_vec()
    }
}

/// Queries of an input at most.
const MAX_QUERIES: usize = 32;

/// The queries that the bytes stand for.
fn queries(octets: &[u8]) -> Vec<(Transport, Vec<u8>)> {
    let mut source = Source(octets);
    let mut queries = Vec::new();
    while !source.0.is_empty() && queries.len() < MAX_QUERIES {
        let control = source.byte();
        let transport = if control & 1 == 0 { Transport::Udp } else { Transport::Tcp };
        let datagram = if control & 2 == 0 {
            query(&mut source, control)
        } else {
            let len = usize::from(u16::from_be_bytes([source.byte(), source.byte()]));
            source.bytes(len)
        };
        queries.push((transport, datagram));
    }
    queries
}

/// A query for a name of the zones, below one, or beside one.
fn query(source: &mut Source<'_>, control: u8) -> Vec<u8> {
    const TYPES: [u16; 24] =
        [1, 28, 2, 5, 6, 12, 15, 16, 33, 35, 39, 43, 46, 47, 48, 50, 51, 251, 252, 255, 257, 65_280, 41, 0];
    let known = &NAMES[usize::from(u16::from_be_bytes([source.byte(), source.byte()])) % NAMES.len()];
    let shape = source.byte();
    let mut labels: Vec<Vec<u8>> = known.view().labels().map(<[u8]>::to_vec).collect();
    labels.drain(..labels.len().min(usize::from(shape >> 6)));
    for _ in 0..shape & 3 {
        let len = 1 + usize::from(source.byte() % 16);
        let mut label = source.bytes(len);
        if label.is_empty() {
            label.push(b'*');
        }
        labels.insert(0, label);
    }
    let mut name = NameBuf::ROOT;
    for label in &labels {
        if name.push(label).is_err() {
            break;
        }
    }
    let flags = if control & 4 == 0 { 0x0100_u16 } else { 0x0010 };
    let edns = control & 8 != 0;
    let mut datagram = vec![source.byte(), control];
    datagram.extend(flags.to_be_bytes());
    datagram.extend([0, 1, 0, 0, 0, 0, 0, u8::from(edns)]);
    datagram.extend(name.as_bytes());
    datagram.extend(TYPES[usize::from(source.byte()) % TYPES.len()].to_be_bytes());
    let class = match control >> 6 {
        0 => source.byte().into(),
        1 => 255,
        _ => 1_u16,
    };
    datagram.extend(class.to_be_bytes());
    if edns {
        let payload = u16::from(source.byte()) * 16;
        let dnssec = if control & 16 == 0 { 0 } else { 0x80 };
        let options: &[u8] = if control & 32 == 0 { b"" } else { b"\0\x03\0\0\0\x0a\0\x08fuzzfuzz" };
        datagram.extend([0, 0, 41]);
        datagram.extend(payload.to_be_bytes());
        datagram.extend([0, 0, dnssec, 0]);
        datagram.extend((options.len() as u16).to_be_bytes());
        datagram.extend(options);
    }
    datagram
}
