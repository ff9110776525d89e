//! Properties of zone transfers, and of zones in files.

use crate::steps::Steps;
use hashlane_dns::wire::RecordType;
use hashlane_dns::zone::{Builder, Zone};
use hashlane_hash::crc32c::Crc32c;
use hashlane_hash::scheme::{Key, PrefixHash as _};
use hashlane_name::dns::NameBuf;
use hashlane_transfer::delta::Delta;
use hashlane_transfer::disk::{self, Writer};
use hashlane_transfer::incoming::{Incoming, Progress, Query};
use hashlane_transfer::outgoing::{Outgoing, Writers};
use hashlane_transfer::records::{Records, of_zone};
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

const KEY: Key = Key::VECTOR;

/// Identifier of the query.
const ID: u16 = 7;

/// Bytes of records that are taken.
const MOST: u64 = 8 << 10;

/// Serial number of the zone that differences are applied to.
const SERIAL: u32 = 1;

fn apex() -> NameBuf {
    "example".parse().expect("a name")
}

/// The zone of serial number 1: hosts, a delegation with glue, a wildcard, mail.
pub fn base() -> Zone {
    let name = |text: &str| text.parse::<NameBuf>().expect("a name");
    let mut builder = Builder::new(apex().view(), &KEY);
    let (server, below) = (name("ns.example"), name("ns.sub.example"));
    let numbers = [SERIAL, 3600, 600, 86_400, 60].map(u32::to_be_bytes);
    let soa = [server.as_bytes(), name("admin.example").as_bytes(), numbers.as_flattened()].concat();
    let mail = [&[0, 10], name("mail.example").as_bytes()].concat();
    let rows: [(&str, RecordType, &[u8]); 9] = [
        ("example", RecordType::SOA, &soa),
        ("example", RecordType::NS, server.as_bytes()),
        ("example", RecordType::MX, &mail),
        ("ns.example", RecordType::A, &[192, 0, 2, 1]),
        ("Www.example", RecordType::A, &[192, 0, 2, 2]),
        ("www.example", RecordType::A, &[192, 0, 2, 3]),
        ("*.wild.example", RecordType::TXT, b"\x01*"),
        ("sub.example", RecordType::NS, below.as_bytes()),
        ("ns.sub.example", RecordType::A, &[192, 0, 2, 4]),
    ];
    for (owner, rtype, data) in rows {
        builder.add(name(owner).view(), rtype, 300, data).expect("a record");
    }
    builder.finish().expect("a zone")
}

/// A stream of messages, each after its length, answers a query for the whole zone, or for its changes. All
/// that the receiver passes on is in the zone and within its limit; nothing follows the end. A zone that is
/// complete, or made by differences, has the serial number that the stream says, and arrives the same when it
/// is sent on.
pub fn check_transfer(octets: &[u8]) {
    let messages = split(octets);
    receive(&messages, Query::Whole, true);
    receive(&messages, Query::Since(SERIAL), true);
}

/// The zone that messages lead to. `is_first`: it is sent on, and received again.
fn receive(messages: &[&[u8]], query: Query, is_first: bool) -> Option<Arc<Zone>> {
    // A record that is sent on may be spelled without a pointer.
    let most = if is_first { MOST } else { 1 << 20 };
    let mut incoming = Incoming::new(apex().view(), ID, query, most);
    let (mut builder, mut bytes) = (Builder::new(apex().view(), &KEY), 0);
    let mut ended = None;
    for message in messages {
        let progress = incoming.message(message, &mut |record| {
            assert!(record.owner.is_within(apex().view()));
            bytes += record.owner.len() + record.data.len();
            assert!(bytes as u64 <= most);
            builder
                .add(record.owner, record.rtype, record.ttl, record.data)
                .map_err(|error| error.to_string())
        });
        match progress {
            Ok(_) if ended.is_some() => panic!("a message after the end was taken"),
            Ok(Progress::More) => {}
            Ok(progress) => ended = Some(progress),
            Err(error) => {
                assert!(!error.to_string().is_empty());
                break;
            }
        }
    }
    let (zone, outgoing) = match ended? {
        Progress::Whole(serial) => {
            let zone = Arc::new(builder.finish().ok()?);
            assert_eq!(zone.serial(), serial);
            let rtype = match query {
                Query::Whole => RecordType::AXFR,
                Query::Since(_) => RecordType::IXFR,
            };
            (Arc::clone(&zone), Outgoing::whole(ID, (apex().view(), rtype), zone))
        }
        Progress::Deltas(deltas) => {
            assert_eq!(deltas.first().expect("a difference").from(), SERIAL);
            assert!(deltas.windows(2).all(|pair| pair[0].to() == pair[1].from()));
            let base = base();
            let zone = Arc::new(Delta::apply(&base, &deltas, &KEY).ok()?);
            assert_eq!(zone.serial(), deltas.last().expect("a difference").to());
            let advanced = Delta::advance(&base, &deltas, &KEY).expect("differences that apply");
            assert_eq!(advanced.zone.fingerprint(&KEY), zone.fingerprint(&KEY));
            let whole = Delta::between(&base, &zone, &KEY).expect("both have a SOA record");
            let again = Delta::apply(&base, &[whole], &KEY).expect("the difference of both");
            assert_eq!(again.fingerprint(&KEY), zone.fingerprint(&KEY));
            let deltas: Vec<Arc<Delta>> = deltas.into_iter().map(Arc::new).collect();
            let one = Delta::condense(&deltas, &KEY).expect("differences that apply");
            let condensed = Delta::apply(&base, &[one], &KEY).expect("one difference");
            assert_eq!(condensed.fingerprint(&KEY), zone.fingerprint(&KEY));
            (Arc::clone(&zone), Outgoing::deltas(ID, apex().view(), zone, deltas))
        }
        _ => return None,
    };
    if is_first && let Some(sent) = messages_of(outgoing) {
        let sent: Vec<&[u8]> = sent.iter().map(Vec::as_slice).collect();
        let arrived = receive(&sent, query, false).expect("a zone that is sent on");
        assert_eq!(arrived.fingerprint(&KEY), zone.fingerprint(&KEY));
    }
    Some(zone)
}

/// The messages of a response without their lengths; `None` if a record fits into none.
fn messages_of(mut outgoing: Outgoing) -> Option<Vec<Vec<u8>>> {
    let (mut writers, mut messages) = (Writers::new(&KEY), Vec::new());
    while let Some(message) = outgoing.write(&mut writers, 0).ok()? {
        messages.push(message.to_vec());
    }
    Some(messages)
}

/// The messages of a stream; what follows the last whole one is left out.
fn split(mut stream: &[u8]) -> Vec<&[u8]> {
    let mut messages = Vec::new();
    while let Some((len, rest)) = stream.split_first_chunk::<2>()
        && let Some((message, rest)) = rest.split_at_checked(u16::from_be_bytes(*len).into())
    {
        messages.push(message);
        stream = rest;
    }
    messages
}

/// A file, as it is or with frames whose checksums are right, is read to a zone whose versions follow each
/// other, or to an error. A zone that was read is the same after it was written again.
pub fn check_disk(octets: &[u8]) {
    let Some((how, rest)) = octets.split_first() else { return };
    let file = if how & 1 == 0 { framed(rest) } else { rest.to_vec() };
    let folder = folder();
    let path = folder.path().join("zone");
    std::fs::write(&path, &file).expect("a file");
    let loaded = match disk::load(&path, apex().view(), &KEY) {
        Ok(loaded) => loaded.expect("a file that is there"),
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    assert_eq!(loaded.len + loaded.cut, file.len() as u64);
    assert!(loaded.whole <= loaded.len);
    assert!(loaded.deltas.windows(2).all(|pair| pair[0].to() == pair[1].from()));
    assert!(loaded.deltas.last().is_none_or(|last| last.to() == loaded.zone.serial()));
    // Memory is bounded by the file.
    let bytes: usize = loaded.deltas.iter().map(Delta::bytes).sum();
    assert!(bytes <= file.len());

    let copy: PathBuf = folder.path().join("copy");
    let mut writer = Writer::create(&copy).expect("a file");
    of_zone(&loaded.zone, |_, record| writer.push(&record)).expect("room");
    writer.doubt(loaded.unsure);
    let len = writer.finish().expect("room");
    let again = disk::load(&copy, apex().view(), &KEY).expect("a zone").expect("a file");
    assert_eq!((again.len, again.cut, again.unsure), (len, 0, loaded.unsure));
    assert_eq!(again.zone.fingerprint(&KEY), loaded.zone.fingerprint(&KEY));
    // Without what does not count, the file is the same.
    std::fs::write(&path, file.get(..loaded.len as usize).expect("a shorter file")).expect("a file");
    let cut = disk::load(&path, apex().view(), &KEY).expect("a zone").expect("a file");
    assert_eq!((cut.len, cut.cut, cut.deltas.len()), (loaded.len, 0, loaded.deltas.len()));
    assert_eq!(cut.zone.fingerprint(&KEY), loaded.zone.fingerprint(&KEY));
}

/// A folder in memory, where the system has one.
fn folder() -> TempDir {
    let memory = TempDir::new_in("/dev/shm");
    memory.or_else(|_| TempDir::new()).expect("a folder")
}

/// A file with frames of a kind, a length of two bytes, and content each. The end of a whole zone without
/// content gets the number of its records.
fn framed(octets: &[u8]) -> Vec<u8> {
    let (mut file, mut steps, mut count) = (b"hashlane zone 1\n".to_vec(), Steps(octets), 0);
    while !steps.is_empty() {
        let kind = match u32::from(steps.octet() & 3) {
            0 => 4,
            kind => kind,
        };
        let len = steps.number() as usize;
        let mut body = steps.octets(len).to_vec();
        match kind {
            1 => count += Records::from_bytes(body.clone()).map_or(0, |records| records.len() as u64),
            2 if body.is_empty() => body = count.to_le_bytes().to_vec(),
            _ => {}
        }
        let head = [kind.to_le_bytes(), (body.len() as u32).to_le_bytes()];
        let crc = Crc32c::detect();
        let mut state = crc.start();
        crc.extend(&mut state, head.as_flattened());
        crc.extend(&mut state, &body);
        file.extend_from_slice(head.as_flattened());
        file.extend_from_slice(&(crc.finish(&state) as u32).to_le_bytes());
        file.extend(body);
    }
    file
}
