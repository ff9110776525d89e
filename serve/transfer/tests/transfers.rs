//! Zones that go from a primary to a secondary, by messages and by files, and arrive whole.

#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

use hashlane_dns::wire::{Flags, Header, RecordType};
use hashlane_dns::zone::{Builder, Unpatched, Zone};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{NameBuf, text};
use hashlane_transfer::delta::{Advanced, ApplyError, Delta};
use hashlane_transfer::disk::{self, DiskError, Writer};
use hashlane_transfer::incoming::{Incoming, Progress, Query, TransferError};
use hashlane_transfer::outgoing::{Outgoing, Writers};
use hashlane_transfer::records::of_zone;
use proptest::prelude::*;
use std::sync::Arc;

const KEY: Key = Key::VECTOR;
const OTHER: Key = Key::new([7; 16]);

fn name(text: &str) -> NameBuf {
    text::parse(text.as_bytes()).unwrap()
}

/// A record of a random zone: number of its owner, type, and a number that its data are made of.
type Choice = (u8, u8, u8);

/// The zone `example` with a serial number and these records.
fn zone(serial: u32, ttl: u32, choices: &[Choice]) -> Zone {
    let apex = name("example");
    let mut builder = Builder::new(apex.view(), &KEY);
    let soa =
        [name("ns.example").as_bytes(), name("Admin.example").as_bytes(), &serial.to_be_bytes()].concat();
    let soa = [&soa[..], &[0, 0, 14, 16, 0, 0, 2, 88, 0, 9, 58, 128, 0, 0, 0, 60]].concat();
    builder.add(apex.view(), RecordType::SOA, 300, &soa).unwrap();
    builder.add(apex.view(), RecordType::NS, 300, name("ns.example").as_bytes()).unwrap();
    for (owner, rtype, number) in choices {
        // Some below a delegation, as glue is.
        let owner = match owner % 7 {
            0 => name(&format!("a{owner}.sub.example")),
            1 => name(&format!("*.w{owner}.example")),
            2 => name("sub.example"),
            _ => name(&format!("Host-{owner}.example")),
        };
        let (rtype, data) = match rtype % 5 {
            0 => (RecordType::A, vec![192, 0, 2, *number]),
            1 => (
                RecordType::MX,
                [&[0, *number][..], name(&format!("MAIL{number}.example")).as_bytes()].concat(),
            ),
            2 => (RecordType::NS, name(&format!("ns{number}.example")).as_bytes().to_vec()),
            3 => (RecordType::TXT, [&[*number][..], &vec![*number; usize::from(*number)]].concat()),
            _ => (RecordType(65_280), vec![*number; usize::from(*number) * 90]),
        };
        builder.add(owner.view(), rtype, ttl, &data).unwrap();
    }
    builder.finish().unwrap()
}

/// The messages of a response, without their lengths.
fn messages(mut outgoing: Outgoing) -> Vec<Vec<u8>> {
    let (mut writers, mut all) = (Writers::new(&OTHER), Vec::new());
    while let Some(message) = outgoing.write(&mut writers, 100).unwrap() {
        assert!(message.len() <= 65_535 - 100, "room for a signature");
        all.push(message.to_vec());
    }
    all
}

/// The outcome, and the zone that arrived whole.
fn receive(messages: &[Vec<u8>], query: Query) -> Result<(Progress, Option<Zone>), TransferError> {
    let mut incoming = Incoming::new(name("EXAMPLE").view(), 7, query, 1 << 30);
    let mut builder = Builder::new(name("example").view(), &KEY);
    for (number, message) in messages.iter().enumerate() {
        let progress = incoming.message(message, &mut |record| {
            builder
                .add(record.owner, record.rtype, record.ttl, record.data)
                .map_err(|error| error.to_string())
        })?;
        match progress {
            Progress::More => {}
            Progress::Whole(_) => {
                assert_eq!(number + 1, messages.len(), "ended early");
                let zone = builder.finish().map_err(|error| TransferError::Refused(error.to_string()))?;
                return Ok((progress, Some(zone)));
            }
            _ => {
                assert_eq!(number + 1, messages.len(), "ended early");
                return Ok((progress, None));
            }
        }
    }
    Ok((Progress::More, None))
}

fn whole(zone: &Arc<Zone>) -> Vec<Vec<u8>> {
    messages(Outgoing::whole(7, (name("example").view(), RecordType::AXFR), Arc::clone(zone)))
}

fn choices() -> impl Strategy<Value = Vec<Choice>> {
    proptest::collection::vec((0..20_u8, any::<u8>(), any::<u8>()), 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn a_whole_zone_arrives_by_messages_and_by_a_file(all in choices()) {
        let sent = Arc::new(zone(3, 60, &all));
        let (progress, arrived) = receive(&whole(&sent), Query::Whole).unwrap();
        let arrived = arrived.unwrap();
        prop_assert_eq!(progress, Progress::Whole(3));
        prop_assert_eq!(arrived.fingerprint(&OTHER), sent.fingerprint(&OTHER));
        prop_assert_eq!(arrived.records(), sent.records());

        let folder = tempfile::tempdir().unwrap();
        let path = disk::path(folder.path(), name("example").view());
        write(&path, &sent);
        let loaded = disk::load(&path, name("example").view(), &KEY).unwrap().unwrap();
        prop_assert_eq!(loaded.zone.fingerprint(&OTHER), sent.fingerprint(&OTHER));
    }

    #[test]
    fn differences_lead_from_version_to_version(versions in proptest::collection::vec((choices(), 60..62_u32), 2..5)) {
        let zones: Vec<Arc<Zone>> = (10..).zip(&versions)
            .map(|(serial, (all, ttl))| Arc::new(zone(serial, *ttl, all)))
            .collect();
        let deltas: Vec<Arc<Delta>> = zones.windows(2)
            .map(|pair| Arc::new(Delta::between(&pair[0], &pair[1], &OTHER).unwrap()))
            .collect();
        let last = Arc::clone(zones.last().unwrap());
        let outgoing = Outgoing::deltas(7, name("example").view(), Arc::clone(&last), deltas.clone());
        let (progress, _) = receive(&messages(outgoing), Query::Since(10)).unwrap();
        let Progress::Deltas(received) = progress else { panic!("{progress:?}") };
        prop_assert_eq!(received.len(), deltas.len());
        let arrived = Delta::apply(&zones[0], &received, &KEY).unwrap();
        prop_assert_eq!(arrived.fingerprint(&OTHER), last.fingerprint(&OTHER));
        prop_assert_eq!(arrived.serial(), last.serial());
        // Step by step, patched where that is possible, and built anew from the first zone.
        let mut current = Arc::clone(&zones[0]);
        for delta in &received {
            let delta = std::slice::from_ref(delta);
            let Advanced { zone, unpatched } = Delta::advance(&current, delta, &KEY).unwrap();
            let built = Delta::apply(&current, delta, &KEY).unwrap();
            prop_assert_eq!(zone.fingerprint(&OTHER), built.fingerprint(&OTHER), "{:?}", unpatched);
            current = Arc::new(zone);
        }
        prop_assert_eq!(current.fingerprint(&OTHER), last.fingerprint(&OTHER));
        // As one.
        let one = Delta::condense(&deltas, &OTHER).unwrap();
        let applied = Delta::apply(&zones[0], std::slice::from_ref(&one), &KEY).unwrap();
        prop_assert_eq!(applied.fingerprint(&OTHER), last.fingerprint(&OTHER));
        prop_assert!(one.bytes() <= deltas.iter().map(|delta| delta.bytes()).sum());
        // To a zone that they are not of, they do not apply, or the serial number says so.
        let skipped = Delta::apply(&zones[0], &received[1..], &KEY);
        if received.len() > 1 {
            let error = ApplyError::Serial { from: 11, serial: 10 };
            prop_assert_eq!(skipped.err(), Some(error.clone()));
            prop_assert_eq!(Delta::advance(&zones[0], &received[1..], &KEY).err(), Some(error));
        }
    }

    #[test]
    fn a_file_cut_at_any_byte_holds_a_version_that_was_received(first in choices(), second in choices(), third in choices()) {
        let zones = [zone(1, 60, &first), zone(2, 60, &second), zone(3, 60, &third)];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("example.transfer");
        let mut len = write(&path, &zones[0]);
        let whole = len;
        for pair in zones.windows(2) {
            len = disk::append(&path, len, &Delta::between(&pair[0], &pair[1], &OTHER).unwrap()).unwrap();
        }
        let bytes = std::fs::read(&path).unwrap();
        prop_assert_eq!(bytes.len() as u64, len);
        let prints = zones.each_ref().map(|zone| zone.fingerprint(&OTHER));
        let step = 1 + bytes.len() / 20;
        for cut in (0..bytes.len()).step_by(step).chain([bytes.len()]) {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            match disk::load(&path, name("example").view(), &KEY) {
                Ok(Some(loaded)) => {
                    let print = loaded.zone.fingerprint(&OTHER);
                    prop_assert_eq!(print, prints[(loaded.zone.serial() - 1) as usize]);
                    prop_assert!(loaded.len >= whole && loaded.len + loaded.cut == cut as u64);
                    // A difference that follows is read again.
                    if loaded.zone.serial() == 2 {
                        let delta = Delta::between(&zones[1], &zones[2], &OTHER).unwrap();
                        disk::append(&path, loaded.len, &delta).unwrap();
                        let again = disk::load(&path, name("example").view(), &KEY).unwrap().unwrap();
                        prop_assert_eq!((again.zone.fingerprint(&OTHER), again.cut), (prints[2], 0));
                    }
                }
                Err(DiskError::Damaged { .. }) => prop_assert!((cut as u64) < whole, "{} of {}", cut, whole),
                other => panic!("{:?}", other.map(drop)),
            }
        }
    }
}

fn write(path: &std::path::Path, zone: &Zone) -> u64 {
    write_with_doubt(path, zone, None)
}

fn write_with_doubt(path: &std::path::Path, zone: &Zone, unsure: Option<u32>) -> u64 {
    let mut writer = Writer::create(path).unwrap();
    writer.doubt(unsure);
    of_zone(zone, |_, record| writer.push(&record)).unwrap();
    writer.finish().unwrap()
}

#[test]
fn each_changed_byte_of_a_file_is_noticed() {
    let (old, new) = (zone(1, 60, &[(3, 0, 1), (4, 3, 9)]), zone(2, 60, &[(3, 0, 1), (5, 1, 7)]));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("example.transfer");
    let len = write(&path, &old);
    assert_eq!(disk::load(&path, name("example").view(), &KEY).unwrap().unwrap().unsure, None);
    assert!(write_with_doubt(&path, &old, Some(9)) > len);
    let len = std::fs::metadata(&path).unwrap().len();
    disk::append(&path, len, &Delta::between(&old, &new, &OTHER).unwrap()).unwrap();
    let loaded = disk::load(&path, name("example").view(), &KEY).unwrap().unwrap();
    assert_eq!((loaded.zone.serial(), loaded.unsure), (2, Some(9)));
    let bytes = std::fs::read(&path).unwrap();
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        std::fs::write(&path, changed).unwrap();
        match disk::load(&path, name("example").view(), &KEY) {
            Err(DiskError::Damaged { .. }) => assert!((at as u64) < len, "{at}"),
            Ok(Some(loaded)) => {
                assert_eq!(loaded.zone.fingerprint(&OTHER), old.fingerprint(&OTHER), "{at}");
                assert_eq!(loaded.unsure, Some(9), "{at}");
            }
            other => panic!("{at}: {:?}", other.map(drop)),
        }
    }
    let missing = disk::load(&folder.path().join("none"), name("example").view(), &KEY);
    assert!(matches!(missing, Ok(None)));
}

#[test]
fn records_that_come_and_go_are_left_out_of_the_condensed_difference() {
    let versions = [vec![(3, 0, 1)], vec![(3, 0, 1), (4, 0, 2)], vec![(4, 0, 2)], vec![(3, 0, 1)]];
    let zones: Vec<Zone> = (1..).zip(&versions).map(|(serial, all)| zone(serial, 60, all)).collect();
    let deltas: Vec<Arc<Delta>> =
        zones.windows(2).map(|pair| Arc::new(Delta::between(&pair[0], &pair[1], &OTHER).unwrap())).collect();
    let one = Delta::condense(&deltas, &OTHER).unwrap();
    // The SOA record, and the first host, which went and came.
    assert_eq!((one.from(), one.to(), one.removed().len(), one.added().len()), (1, 4, 2, 2));
    assert_eq!(Delta::condense(&deltas[1..2], &OTHER).as_ref(), Some(&*deltas[1]));
    assert_eq!(Delta::condense(&[], &OTHER), None);
    let gap = [Arc::clone(&deltas[0]), Arc::clone(&deltas[2])];
    assert_eq!(Delta::condense(&gap, &OTHER), None, "they do not follow each other");
    let twice = Delta::new(deltas[0].removed().clone(), deltas[0].added().clone()).unwrap();
    let mut back = (deltas[0].added().clone(), deltas[0].added().clone());
    back.0 = deltas[1].removed().clone();
    let again = Delta::new(back.0, back.1).unwrap();
    assert_eq!(again.to(), twice.to());
    assert_eq!(Delta::condense(&[Arc::new(twice), Arc::new(again)], &OTHER), None, "added twice");
}

#[test]
fn differences_patch_a_zone_or_say_the_reason() {
    let all: Vec<Choice> = (0..100).map(|number| (number, 0, number)).collect();
    let zones = [zone(1, 60, &all), zone(2, 60, &all[..98]), zone(3, 60, &all[..7]), zone(4, 90, &all[..7])];
    let reasons = zones.windows(2).map(|pair| {
        let delta = Delta::between(&pair[0], &pair[1], &OTHER).unwrap();
        let Advanced { zone, unpatched } = Delta::advance(&pair[0], &[delta], &KEY).unwrap();
        assert_eq!(zone.fingerprint(&OTHER), pair[1].fingerprint(&OTHER));
        unpatched
    });
    // Two hosts go; most go; all sets get another TTL.
    assert_eq!(Vec::from_iter(reasons), [None, Some(Unpatched::TooMany), None]);
    // To a zone without a record that goes, or with one that comes.
    let removes = Delta::between(&zones[0], &zones[1], &OTHER).unwrap();
    let error = Delta::advance(&zone(1, 60, &all[..99]), std::slice::from_ref(&removes), &KEY).err();
    assert_eq!(error, Some(ApplyError::Missing(1)));
    let adds = Delta::new(removes.added().clone(), removes.removed().clone()).unwrap();
    let error = Delta::advance(&zone(2, 60, &all[..99]), &[adds], &KEY).err();
    assert_eq!(error, Some(ApplyError::Present(1)));
}

#[test]
fn a_secondary_that_has_the_version_gets_the_soa_record_alone() {
    let zone = Arc::new(zone(3, 60, &[]));
    let all = messages(Outgoing::deltas(7, name("example").view(), zone, Vec::new()));
    assert_eq!(all.len(), 1);
    assert_eq!(receive(&all, Query::Since(3)).unwrap().0, Progress::Unchanged);
    assert_eq!(receive(&all, Query::Since(2)).unwrap().0, Progress::More, "a record in each message");
    assert_eq!(receive(&all, Query::Since(4)).unwrap_err(), TransferError::Older { theirs: 3, ours: 4 });
}

#[test]
fn a_large_record_has_a_message_that_it_fits_into() {
    let all: Vec<Choice> = (0..20).map(|owner| (owner, 4, 250)).collect();
    let zone = Arc::new(zone(3, 60, &all));
    let messages = whole(&zone);
    assert!(
        messages.len() > 10 && messages.iter().any(|message| message.len() > 22_500),
        "{}",
        messages.len()
    );
    receive(&messages, Query::Whole).unwrap();
}

/// Primaries that lie or break off.
#[test]
fn streams_that_are_no_transfer_are_refused() {
    let all: Vec<Choice> = (0..200).map(|owner| (owner, 0, owner)).chain([(9, 4, 255)]).collect();
    let good = whole(&Arc::new(zone(3, 60, &all)));
    assert!(good.len() > 1);
    let with = |at: usize, change: &dyn Fn(&mut Vec<u8>)| {
        let mut messages = good.clone();
        change(&mut messages[at]);
        receive(&messages, Query::Whole)
    };
    assert_eq!(receive(&good[..1], Query::Whole).unwrap().0, Progress::More, "cut between messages");
    assert_eq!(with(0, &|message| message[0] ^= 1).unwrap_err(), TransferError::NoResponse, "identifier");
    assert_eq!(with(0, &|message| message[2] ^= 0x80).unwrap_err(), TransferError::NoResponse, "a query");
    assert!(matches!(with(0, &|message| message[3] |= 5).unwrap_err(), TransferError::Rcode(_)));
    assert_eq!(with(0, &|message| message[13] ^= 1).unwrap_err(), TransferError::NoResponse, "question");
    for len in 0..good[0].len() {
        assert!(with(0, &|message| message.truncate(len)).is_err(), "cut after {len}");
    }
    assert!(with(1, &|message| message.push(0)).is_err(), "a byte more");
    // The second message first.
    assert!(receive(&[good[1].clone(), good[0].clone()], Query::Whole).is_err());
    let first = receive(&[&good[..], &good[..1]].concat()[..good.len()], Query::Whole);
    assert!(first.is_ok());
    // Records of another zone.
    let mut incoming = Incoming::new(name("sub.example").view(), 7, Query::Whole, 1 << 20);
    assert_eq!(incoming.message(&good[0], &mut |_| Ok(())), Err(TransferError::NoResponse));
    // More than the receiver takes.
    let mut incoming = Incoming::new(name("example").view(), 7, Query::Whole, 500);
    let long = good.iter().map(|message| incoming.message(message, &mut |_| Ok(()))).find_map(Result::err);
    assert_eq!(long, Some(TransferError::TooLong(500)));
}

#[test]
fn a_response_with_another_header_is_refused() {
    let header = Header { id: 7, flags: Flags::RESPONSE.with(Flags::TRUNCATED) };
    let mut message = header.to_bytes().to_vec();
    message.extend_from_slice(&[0; 8]);
    assert_eq!(receive(&[message], Query::Whole).unwrap_err(), TransferError::NoResponse);
}

#[test]
fn messages_of_one_record_each_are_a_transfer() {
    let zones = [zone(1, 60, &[(3, 0, 1), (4, 3, 9)]), zone(2, 60, &[(3, 0, 1), (5, 1, 7)])].map(Arc::new);
    let delta = Arc::new(Delta::between(&zones[0], &zones[1], &OTHER).unwrap());
    let outgoing = Outgoing::deltas(7, name("example").view(), Arc::clone(&zones[1]), vec![delta]);
    let whole = hashlane_dns::wire::Content::parse(&messages(outgoing)[0]).unwrap();
    let each = whole.records.iter().enumerate().map(|(number, record)| {
        let questions = if number == 0 { whole.questions.clone() } else { Vec::new() };
        let content =
            hashlane_dns::wire::Content { header: whole.header, questions, records: vec![record.clone()] };
        content.uncompressed().unwrap()
    });
    let (progress, _) = receive(&each.collect::<Vec<_>>(), Query::Since(1)).unwrap();
    let Progress::Deltas(deltas) = progress else { panic!("{progress:?}") };
    let arrived = Delta::apply(&zones[0], &deltas, &KEY).unwrap();
    assert_eq!(arrived.fingerprint(&OTHER), zones[1].fingerprint(&OTHER));
}
