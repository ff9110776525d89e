//! Zones that are refused, and warnings.

use super::*;
use crate::wire::RdataError;
use crate::zone::{Cause, MAX_TYPES, Rule, Warnings};
use std::format;
use std::string::ToString;

fn rule(records: &[Added<'_>]) -> Rule {
    try_zone("example", records).unwrap_err().rule
}

const NSEC3PARAM: RecordType = RecordType(51);

#[test]
fn refuses_records_that_no_zone_has() {
    assert_eq!(rule(&[("example.com", RecordType::A, &[0; 4])]), Rule::OutOfZone);
    assert_eq!(rule(&[("aexample", RecordType::A, &[0; 4])]), Rule::OutOfZone);
    for rtype in [RecordType(0), RecordType::OPT, RecordType::TSIG, RecordType::AXFR, RecordType::ANY] {
        assert_eq!(rule(&[("a.example", rtype, &[])]), Rule::NotAType);
    }
    assert_eq!(rule(&[("a.example", RecordType::SOA, &soa())]), Rule::SoaBelowApex);
    assert_eq!(rule(&[("a.example", RecordType::TXT, &[0; 65_536])]), Rule::DataTooLong);
}

#[test]
fn refuses_malformed_data() {
    let rrsig = [&[0; 18][..], b"\x07example"].concat();
    let cases: [(RecordType, &[u8]); 16] = [
        (RecordType::A, &[0; 3]),
        (RecordType::A, &[0; 5]),
        (RecordType::AAAA, &[0; 4]),
        (RecordType::NS, b""),
        (RecordType::NS, b"\x01a"),
        (RecordType::NS, b"\x01a\0\0"),
        (RecordType::CNAME, b"\xc0\x0c"),
        (RecordType::MX, b"\0\x0a"),
        (RecordType::SOA, b"\0\0\0\0\0\0"),
        (RecordType::SRV, b"\0\0\0\0\0\0\x01a"),
        (RecordType::NAPTR, b"\0\0\0\0\x05"),
        (RecordType::DNAME, b"\0\0"),
        (RecordType::RRSIG, &rrsig),
        (RecordType::NSEC, b"\x01"),
        (RecordType::NSEC3, b"\x01\0\0\0\0\x14aaa"),
        (NSEC3PARAM, b"\x01\0\0\0\x01"),
    ];
    for (rtype, data) in cases {
        let rule = rule(&[("example", rtype, data)]);
        assert!(
            matches!(
                rule,
                Rule::Data(
                    RdataError::Truncated { .. } | RdataError::TrailingBytes { .. } | RdataError::Name { .. }
                )
            ),
            "{rtype}"
        );
    }
}

#[test]
fn refuses_aliases_beside_other_records() {
    let target = name("target.example");
    let alias = ("a.example", RecordType::CNAME, target.as_bytes());
    let dname = ("a.example", RecordType::DNAME, target.as_bytes());
    assert_eq!(rule(&[alias, ("A.example", RecordType::A, &[0; 4])]), Rule::BesideCname);
    assert_eq!(rule(&[alias, dname]), Rule::BesideCname);
    assert_eq!(rule(&[("example", RecordType::CNAME, b"\0")]), Rule::BesideCname);
    assert_eq!(rule(&[alias, ("a.example", RecordType::CNAME, b"\0")]), Rule::SeveralCname);
    assert_eq!(rule(&[dname, ("a.example", RecordType::DNAME, b"\0")]), Rule::SeveralDname);
    assert_eq!(rule(&[dname, ("a.example", RecordType::NS, b"\0")]), Rule::DnameBesideNs);
    // At the apex a DNAME stands beside NS (RFC 6672 §2.3), and NSEC and signatures beside an alias.
    let nsec = ("a.example", RecordType::NSEC, &b"\0\0\x01\x40"[..]);
    let rrsig = rrsig(RecordType::CNAME);
    zone("example", &[alias, nsec, ("a.example", RecordType::RRSIG, &rrsig)]);
    zone("example", &[("example", RecordType::DNAME, name("example.com").as_bytes())]);
    // An alias that was written twice is one.
    assert_eq!(zone("example", &[alias, alias]).duplicates(), 1);
}

#[test]
fn refuses_zones_without_soa_or_name_servers() {
    let apex = name("example");
    let finish = |records: &[(RecordType, &[u8])]| {
        let mut builder = Builder::new(apex.view(), &KEY);
        for (rtype, data) in records {
            builder.add(apex.view(), *rtype, 300, data).unwrap();
        }
        builder.finish().map(drop).map_err(|error| error.rule)
    };
    let (soa, mut other) = (soa(), soa());
    other[20] = 1;
    assert_eq!(finish(&[]), Err(Rule::NoSoa));
    assert_eq!(finish(&[(RecordType::NS, b"\0")]), Err(Rule::NoSoa));
    assert_eq!(finish(&[(RecordType::SOA, &soa)]), Err(Rule::NoNameServer));
    let ns = (RecordType::NS, &b"\0"[..]);
    assert_eq!(finish(&[ns, (RecordType::SOA, &soa), (RecordType::SOA, &other)]), Err(Rule::SeveralSoa));
    assert_eq!(finish(&[ns, (RecordType::SOA, &soa), (RecordType::SOA, &soa)]), Ok(()));
}

#[test]
fn refuses_more_types_and_records_than_answers_may_cost() {
    let types: Vec<Added<'_>> =
        (1000..).take(MAX_TYPES).map(|rtype| ("a.example", RecordType(rtype), &[0][..])).collect();
    zone("example", &types);
    let more = [&types[..], &[("a.example", RecordType(60_000), &[0])]].concat();
    assert_eq!(rule(&more), Rule::TooManyTypes);
    let data: Vec<[u8; 4]> = (0..=65_535_u32).map(u32::to_be_bytes).collect();
    let records: Vec<Added<'_>> = data.iter().map(|data| ("a.example", RecordType::A, &data[..])).collect();
    assert_eq!(zone("example", &records[1..]).records(), 65_537);
    assert_eq!(rule(&records), Rule::TooManyRecords);
    assert_eq!(rule(&[("example", NSEC3PARAM, b"\x01\0\0\x97\0")]), Rule::Iterations(151));
}

#[test]
fn errors_name_the_record_the_rule_and_the_next_step() {
    let text = |records| try_zone("example", records).unwrap_err().to_string();
    assert_eq!(
        text(&[("a.example", RecordType::CNAME, b"\0"), ("a.example", RecordType::A, &[0; 4])]),
        "a.example. CNAME: other records beside a CNAME (RFC 1034 §3.6.2); remove the CNAME or the others"
    );
    assert_eq!(
        text(&[("a.example", RecordType::A, &[0; 3])]),
        "a.example. A: malformed data: record data cut off at byte 3; correct them"
    );
    assert_eq!(
        text(&[("example", NSEC3PARAM, b"\x01\0\xff\xff\0")]),
        "example. NSEC3PARAM: 65535 NSEC3 iterations; the limit is 150 (RFC 9276 §3.1 asks for 0); sign with 0"
    );
}

fn causes(zone: &Zone) -> Vec<(NameBuf, Cause)> {
    zone.warnings().list().iter().map(|warning| (*warning.owner, warning.cause)).collect()
}

#[test]
fn warns_of_records_that_are_served_otherwise() {
    let mut builder = builder("example");
    let dname = wire("example.com", b"");
    builder.add(name("d.example").view(), RecordType::DNAME, 1, &dname).unwrap();
    builder.add(name("a.d.example").view(), RecordType::A, 1, &[0; 4]).unwrap();
    builder.add(name("t.example").view(), RecordType::A, 20, &[0; 4]).unwrap();
    builder.add(name("t.example").view(), RecordType::A, 10, &[1; 4]).unwrap();
    builder.add(name("t.example").view(), RecordType::TXT, u32::MAX, b"\0").unwrap();
    builder.add(name("s.example").view(), RecordType::RRSIG, 1, &rrsig(RecordType::A)).unwrap();
    let zone = builder.finish().unwrap();
    let expected = [
        ("t.example", Cause::TtlTooLarge),
        ("a.d.example", Cause::BelowDname),
        ("t.example", Cause::TtlsDiffer),
        ("s.example", Cause::NothingSigned),
    ];
    assert_eq!(causes(&zone), expected.map(|(owner, cause)| (name(owner), cause)));
    let owner = find(&zone, "t.example");
    assert_eq!(zone.set(owner, RecordType::A).unwrap().ttl, 10);
    assert_eq!(zone.set(owner, RecordType::TXT).unwrap().ttl, 0);
    // A name with nothing but an idle signature does not exist, nor does one below a DNAME.
    for missing in ["s.example", "a.d.example"] {
        assert_eq!(zone.find(name(missing).view(), &mut Hash::new(&KEY)), None);
    }
    assert_eq!(zone.records(), 6);
    let text = zone.warnings().list()[1].to_string();
    assert_eq!(text, "a.d.example. A: records below a DNAME (RFC 6672 §2.4); ignored");
}

#[test]
fn keeps_a_bounded_number_of_warnings() {
    let mut builder = builder("example");
    for number in 0..1000 {
        builder.add(name(&format!("{number}.example")).view(), RecordType::TXT, u32::MAX, b"\0").unwrap();
    }
    let zone = builder.finish().unwrap();
    assert_eq!((zone.warnings().list().len(), zone.warnings().count()), (3, 1000));
    let lines = zone.warnings().lines();
    let (text, others) =
        ("TTL of more than 2147483647 s (RFC 2181 §8); served as 0", &lines[Warnings::KEPT..]);
    assert_eq!(lines[0], format!("0.example. TXT: {text}"));
    assert_eq!(others, [format!("997 more: {text}")]);
}

#[test]
fn a_refused_record_leaves_the_zone_as_it_is() {
    let mut builder = builder("example");
    let names = |zone: &Zone| (zone.names(), zone.records());
    assert!(builder.add(name("x.example").view(), RecordType::NS, 1, &[9]).is_err());
    assert!(builder.add(name("x.example.com").view(), RecordType::A, 1, &[0; 4]).is_err());
    assert_eq!(names(&builder.finish().unwrap()), names(&zone("example", &[])));
}
