//! Digests of zones: the examples of RFC 8976, and zones that are changed.

#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

use domain::base::iana::Class;
use domain::base::rdata::ComposeRecordData as _;
use domain::zonefile::inplace::{Entry, Zonefile};
use hashlane_dns::wire::RecordType;
use hashlane_dns::zone::{Builder, Zone};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{Name, NameBuf, text};
use hashlane_transfer::zonemd::{Algorithm, ZONEMD, Zonemd, digest, record_data, verify};
use proptest::prelude::*;

const KEY: Key = Key::VECTOR;

fn name(text: &str) -> NameBuf {
    text::parse(text.as_bytes()).unwrap()
}

/// A record: owner, type, TTL and data.
type Row = (NameBuf, u16, u32, Vec<u8>);

fn build(apex: &str, rows: &[Row]) -> Zone {
    let mut builder = Builder::new(name(apex).view(), &KEY);
    for (owner, rtype, ttl, data) in rows {
        builder.add(owner.view(), RecordType(*rtype), *ttl, data).unwrap();
    }
    builder.finish().unwrap()
}

/// The records of a text in and below `apex`, read by another parser than ours.
fn rows(apex: &str, text: &str) -> Vec<Row> {
    let mut file = Zonefile::load(&mut text.as_bytes()).unwrap();
    file.set_default_class(Class::IN);
    let mut rows = Vec::new();
    while let Some(entry) = file.next_entry().unwrap() {
        let Entry::Record(record) = entry else { panic!("an $INCLUDE") };
        let (mut owner, mut data) = (Vec::new(), Vec::new());
        domain::base::name::ToName::compose(record.owner(), &mut owner).unwrap();
        record.data().compose_rdata(&mut data).unwrap();
        let owner = NameBuf::from(Name::parse(&owner).unwrap());
        if owner.view().is_within(name(apex).view()) {
            rows.push((owner, record.rtype().to_int(), record.ttl().as_secs(), data));
        }
    }
    rows
}

fn vector(file: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/dns/zonemd");
    std::fs::read_to_string(format!("{folder}/{file}.zone")).unwrap()
}

const EXAMPLES: [(&str, &str); 5] =
    [("a1", "example"), ("a2", "example"), ("a3", "example"), ("a4", "uri.arpa"), ("a5", "root-servers.net")];

#[test]
fn the_examples_of_the_rfc_are_verified() {
    for (file, apex) in EXAMPLES {
        let zone = build(apex, &rows(apex, &vector(file)));
        assert_eq!(verify(&zone), Zonemd::Verified(Algorithm::Sha384), "{file}");
    }
}

#[test]
fn both_algorithms_have_the_digests_of_the_rfc() {
    let rows = rows("example", &vector("a3"));
    let zone = build("example", &rows);
    let of = |number: u8| {
        let mut records = rows.iter().filter(|row| row.1 == ZONEMD.0 && row.3[4..6] == [1, number]);
        records.next().unwrap().3[6..].to_vec()
    };
    assert_eq!(digest(&zone, Algorithm::Sha384), of(1));
    assert_eq!(digest(&zone, Algorithm::Sha512), of(2));
    // SHA-512 verifies where the digest by SHA-384 is wrong.
    let mut wrong = rows.clone();
    wrong.iter_mut().filter(|row| row.1 == ZONEMD.0 && row.3[5] == 1).for_each(|row| row.3[6] ^= 1);
    assert_eq!(verify(&build("example", &wrong)), Zonemd::Verified(Algorithm::Sha512));
}

/// The first example with these ZONEMD records in place of its ZONEMD record.
fn with(records: &[&[u8]]) -> Zonemd {
    let mut rows = rows("example", &vector("a1"));
    rows.retain(|row| row.1 != ZONEMD.0);
    rows.extend(records.iter().map(|data| (name("example"), ZONEMD.0, 86400, data.to_vec())));
    verify(&build("example", &rows))
}

#[test]
fn records_that_do_not_verify_are_told_apart() {
    let rows = rows("example", &vector("a1"));
    let good = rows.iter().find(|row| row.1 == ZONEMD.0).unwrap().3.clone();
    let changed = |at: usize| {
        let mut data = good.clone();
        data[at] ^= 0x80;
        data
    };
    assert_eq!(with(&[&good]), Zonemd::Verified(Algorithm::Sha384));
    assert_eq!(with(&[]), Zonemd::Absent);
    let (digest, serial, scheme, algorithm) = (changed(20), changed(0), changed(4), changed(5));
    assert_eq!(with(&[&digest]), Zonemd::Differs { is_altered: false });
    assert_eq!(with(&[&serial]), Zonemd::Serial { theirs: 2_018_031_900 ^ 0x8000_0000 });
    assert_eq!(with(&[&scheme]), Zonemd::Unsupported);
    assert_eq!(with(&[&algorithm, &scheme]), Zonemd::Unsupported);
    assert_eq!(with(&[&scheme, &algorithm, &good]), Zonemd::Verified(Algorithm::Sha384));
    // Two of one kind verify nothing, though one is right.
    assert_eq!(with(&[&digest, &good]), Zonemd::Repeated);
    assert_eq!(with(&[&serial, &good]), Zonemd::Repeated);
    // Too short, and a digest cut off.
    assert_eq!(with(&[&good[..17]]), Zonemd::Unsupported);
    assert_eq!(with(&[&good[..5]]), Zonemd::Unsupported);
    assert_eq!(with(&[&good[..40]]), Zonemd::Differs { is_altered: false });
}

#[test]
fn a_zone_that_holds_records_otherwise_says_so() {
    let mut rows = rows("example", &vector("a1"));
    rows.push((name("ns1.example"), 1, 60, vec![192, 0, 2, 1]));
    assert_eq!(verify(&build("example", &rows)), Zonemd::Differs { is_altered: true });
}

#[test]
fn names_in_data_count_without_their_case() {
    // RFC 4034 §6.2: KX, SRV, NAPTR, DNAME, RRSIG, A6; RFC 6840 §5.1: not NSEC. The offset of a letter.
    let cases: [(u16, &[u8], bool); 8] = [
        (36, b"\0\x01\x01a\0", true),
        (33, b"\0\0\0\0\0\0\x01a\0", true),
        (35, b"\0\0\0\0\0\x01B\0\x01a\0", true),
        (39, b"\x01a\0", true),
        (38, b"\x80\x01a\0", true),
        (47, b"\x01a\0\0\x01\x40", false),
        (45, b"\0\x03\0\x01a\0", false),
        (64, b"\0\x01\x01a\0", false),
    ];
    for (rtype, data, folds) in cases {
        let of = |data: &[u8]| {
            let mut rows = rows("example", &vector("a1"));
            rows.push((name("x.example"), rtype, 60, data.to_vec()));
            digest(&build("example", &rows), Algorithm::Sha384)
        };
        let upper: Vec<u8> = data.iter().map(|byte| if *byte == b'a' { b'A' } else { *byte }).collect();
        assert_eq!(of(data) == of(&upper), folds, "type {rtype}");
        let other: Vec<u8> = data.iter().map(|byte| if *byte == b'a' { b'c' } else { *byte }).collect();
        assert_ne!(of(data), of(&other), "type {rtype}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_changed_record_changes_the_digest(
        example in 0..5_usize, at in any::<prop::sample::Index>(), byte in any::<prop::sample::Index>(), bit in 0..8_u8,
    ) {
        let (file, apex) = EXAMPLES[example];
        let mut rows = rows(apex, &vector(file));
        rows.retain(|row| !(row.0.view().eq_ignore_case(name(apex).view())
            && (row.1 == ZONEMD.0 || row.1 == 46 && row.3.starts_with(&[0, 63]))));
        // The SOA records of the last example are equal, so that one alone cannot change.
        let first = rows[0].clone();
        rows.retain(|row| row.1 != 6 || *row != first);
        rows.push(first);
        let before = build(apex, &rows);
        let changed = at.index(rows.len());
        let data = &mut rows[changed].3;
        let byte = byte.index(data.len());
        data[byte] ^= 1 << bit;
        let mut builder = Builder::new(name(apex).view(), &KEY);
        let accepted = rows.iter().all(|(owner, rtype, ttl, data)| {
            builder.add(owner.view(), RecordType(*rtype), *ttl, data).is_ok()
        });
        if let (true, Ok(after)) = (accepted, builder.finish()) {
            let is_same = before.fingerprint(&KEY) == after.fingerprint(&KEY);
            // A letter whose case alone changed, in a name that the zone keeps as bytes.
            let is_case = bit == 5 && rows[changed].3[byte].is_ascii_alphabetic();
            for algorithm in Algorithm::ALL {
                let is_equal = digest(&before, algorithm) == digest(&after, algorithm);
                prop_assert!(is_equal == is_same || is_case, "{} record {} byte {}", file, changed, byte);
            }
        }
    }

    #[test]
    fn the_order_of_records_does_not_count(example in 0..5_usize, seed in any::<u64>()) {
        let (file, apex) = EXAMPLES[example];
        let mut rows = rows(apex, &vector(file));
        let len = rows.len();
        for at in 0..len {
            rows.swap(at, (seed.rotate_left(at as u32) % len as u64) as usize);
        }
        let verified = verify(&build(apex, &rows));
        prop_assert!(matches!(verified, Zonemd::Verified(_)), "{:?}", verified);
    }
}

#[test]
fn a_record_for_a_zone_verifies_it() {
    for algorithm in Algorithm::ALL {
        let mut rows = rows("example", &vector("a2"));
        rows.retain(|row| row.1 != ZONEMD.0 || row.0 != name("example"));
        let data = record_data(&build("example", &rows), algorithm);
        rows.push((name("EXAMPLE"), ZONEMD.0, 5, data));
        assert_eq!(verify(&build("example", &rows)), Zonemd::Verified(algorithm));
    }
}
