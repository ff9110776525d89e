//! Faults with which a zone is served.

use super::*;
use crate::zone::{Cause, is_before};
use std::string::{String, ToString};

/// A time within the signatures of [`signature`].
const NOW: u32 = 1000;

/// Data of a signature that is valid from one time to another.
fn signature(covered: RecordType, from: u32, until: u32) -> Vec<u8> {
    let times = [until.to_be_bytes(), from.to_be_bytes()].concat();
    [&covered.0.to_be_bytes()[..], &[13, 1, 0, 0, 0, 60], &times, &[0, 7], b"\x07example\0sig"].concat()
}

/// Owners, types and causes of the warnings, in order.
fn inspect_at(zone: &Zone, now: u32) -> Vec<(String, RecordType, Cause)> {
    let found = zone.inspect(now, &mut Hash::new(&KEY));
    let each = found.list().iter().map(|found| (found.owner.to_string(), found.rtype, found.cause));
    let mut each: Vec<_> = each.collect();
    each.sort_by_key(|(owner, rtype, cause)| (*cause as u8, owner.clone(), *rtype));
    each
}

fn inspect(zone: &Zone) -> Vec<(String, RecordType, Cause)> {
    inspect_at(zone, NOW)
}

/// A zone whose builder has no SOA and NS records yet, with `records`, each signed by a signature of these
/// times unless its type is in `unsigned`.
fn signed(records: &[Added<'_>], unsigned: &[(&str, RecordType)]) -> Zone {
    let (mut builder, apex) = (Builder::new(name("example").view(), &KEY), "example");
    let (soa, ns) = (soa(), wire("ns.elsewhere", b""));
    let own = [
        (apex, RecordType::SOA, &soa[..]),
        (apex, RecordType::NS, &ns[..]),
        (apex, RecordType::DNSKEY, &[1, 0, 3, 13, 7]),
    ];
    for (owner, rtype, data) in own.iter().chain(records) {
        builder.add(name(owner).view(), *rtype, 60, data).unwrap();
        if !unsigned.contains(&(owner, *rtype)) {
            let signature = signature(*rtype, NOW - 10, NOW + 10);
            builder.add(name(owner).view(), RecordType::RRSIG, 60, &signature).unwrap();
        }
    }
    builder.finish().unwrap()
}

fn nsec(next: &str) -> Vec<u8> {
    wire(next, &[0, 1, 0x40])
}

#[test]
fn a_zone_that_is_signed_well_has_no_warnings() {
    let (apex, cut, last) = (nsec("cut.example"), nsec("www.EXAMPLE"), nsec("example"));
    let zone = signed(
        &[
            ("example", RecordType::NSEC, &apex),
            ("cut.example", RecordType::NS, b"\x02ns\x03cut\x07example\0"),
            ("cut.example", RecordType::NSEC, &cut),
            ("ns.cut.example", RecordType::A, &[0; 4]),
            ("www.example", RecordType::A, &[0; 4]),
            ("www.example", RecordType::NSEC, &last),
        ],
        &[("cut.example", RecordType::NS), ("ns.cut.example", RecordType::A)],
    );
    assert_eq!(inspect(&zone), []);
    // Dates are serial numbers, and the limits are included.
    assert_eq!(inspect_at(&zone, NOW + 10), []);
    assert_eq!(inspect_at(&zone, NOW - 10), []);
    let expired = inspect_at(&zone, NOW + 11);
    assert_eq!(expired.len(), 3, "{expired:?}");
    assert!(expired.iter().all(|(.., cause)| *cause == Cause::SignatureExpired));
    let found = zone.inspect(NOW - 11, &mut Hash::new(&KEY));
    assert_eq!((found.list()[0].cause, found.count()), (Cause::SignatureNotYetValid, 7));
    assert_eq!(found.lines().len(), 4);
    assert!(found.lines()[3].starts_with("4 more: signature not yet valid; "), "{:?}", found.lines());
}

#[test]
fn a_signed_zone_lacks_signatures_and_links_of_its_chain() {
    let (apex, a, last) = (nsec("a.example"), nsec("c.example"), nsec("example"));
    let records: [Added<'_>; 7] = [
        ("example", RecordType::NSEC, &apex),
        ("a.example", RecordType::NSEC, &a),
        ("a.example", RecordType::A, &[0; 4]),
        ("b.example", RecordType::NSEC, &last),
        ("b.example", RecordType::DS, &[0, 7, 13, 2, 9]),
        ("b.example", RecordType::NS, b"\0"),
        ("d.example", RecordType::A, &[0; 4]),
    ];
    let unsigned = [
        ("a.example", RecordType::A),
        ("b.example", RecordType::DS),
        ("b.example", RecordType::NS),
        ("b.example", RecordType::NSEC),
    ];
    let expected = [
        ("a.example.", RecordType::A, Cause::NotSigned),
        ("b.example.", RecordType::DS, Cause::NotSigned),
        ("b.example.", RecordType::NSEC, Cause::NotSigned),
        ("d.example.", RecordType::NSEC, Cause::NoNsec),
        ("a.example.", RecordType::NSEC, Cause::NsecGap),
    ];
    let expected = expected.map(|(owner, rtype, cause)| (owner.to_string(), rtype, cause));
    assert_eq!(inspect(&signed(&records, &unsigned)), expected);
    // Without a key the zone is not signed; its chain has a gap nevertheless.
    let zone = zone("example", &[&records[..6], &[("ns.example", RecordType::A, &[0; 4])]].concat());
    assert_eq!(inspect(&zone), [("a.example.".to_string(), RecordType::NSEC, Cause::NsecGap)]);
    let none = inspect(&signed(&[], &[]));
    assert_eq!(none, [("example.".to_string(), RecordType::NSEC, Cause::NoNsec)]);
}

#[test]
fn name_servers_in_the_zone_have_addresses_and_hosts_are_no_aliases() {
    let to = |host: &str| wire(host, b"");
    let srv = |host: &str| [&[0; 6][..], &to(host)].concat();
    let mx = |host: &str| [&[0, 10][..], &to(host)].concat();
    let hosts = [
        to("ns.glue.example"),
        to("ns.bare.example"),
        to("ns.glue.example"),
        to("missing.example"),
        to("alias.example"),
        to("elsewhere"),
        to("x.wild.example"),
        to("x.d.example"),
    ];
    let [glue, bare, sibling, missing, alias, elsewhere, wild, dname] = &hosts;
    let mails = [mx("alias.example"), mx("missing.example"), b"\0\0\0".to_vec()];
    let services =
        [srv("ALIAS.example"), srv("elsewhere"), srv("missing.example"), b"\0\0\0\0\0\0\0".to_vec()];
    let zone = zone(
        "example",
        &[
            ("ns.example", RecordType::AAAA, &[0; 16]),
            ("glue.example", RecordType::NS, glue),
            ("ns.glue.example", RecordType::A, &[0; 4]),
            ("bare.example", RecordType::NS, bare),
            // The addresses of a server of another delegation are its own affair.
            ("sibling.example", RecordType::NS, sibling),
            ("sibling.example", RecordType::NS, bare),
            ("c1.example", RecordType::NS, missing),
            ("c2.example", RecordType::NS, alias),
            ("c3.example", RecordType::NS, elsewhere),
            ("c4.example", RecordType::NS, wild),
            ("c5.example", RecordType::NS, dname),
            ("*.wild.example", RecordType::A, &[0; 4]),
            ("d.example", RecordType::DNAME, elsewhere),
            ("alias.example", RecordType::CNAME, elsewhere),
            ("m1.example", RecordType::MX, &mails[0]),
            ("m2.example", RecordType::MX, &mails[1]),
            ("m3.example", RecordType::MX, &mails[2]),
            ("s.example", RecordType::SRV, &services[0]),
            ("s.example", RecordType::SRV, &services[1]),
            ("s.example", RecordType::SRV, &services[2]),
            ("s.example", RecordType::SRV, &services[3]),
        ],
    );
    let expected = [
        ("missing.example.", RecordType::A, Cause::NoAddress),
        ("ns.bare.example.", RecordType::A, Cause::NoAddress),
        ("c2.example.", RecordType::NS, Cause::HostIsAlias),
        ("c5.example.", RecordType::NS, Cause::HostIsAlias),
        ("m1.example.", RecordType::MX, Cause::HostIsAlias),
    ];
    assert_eq!(inspect(&zone), expected.map(|(owner, rtype, cause)| (owner.to_string(), rtype, cause)));
    let found = zone.inspect(NOW, &mut Hash::new(&KEY));
    assert_eq!(found.count(), 6, "the SRV record's warning is counted: {:?}", found.lines());
}

#[test]
fn serial_numbers_are_compared_on_a_circle() {
    for (serial, other, expected) in [
        (1, 2, true),
        (2, 1, false),
        (7, 7, false),
        (u32::MAX, 0, true),
        (0, u32::MAX, false),
        (5, 5 + (1 << 31), false),
        (5 + (1 << 31), 5, false),
        (5, 4 + (1 << 31), true),
    ] {
        assert_eq!(is_before(serial, other), expected, "{serial} {other}");
    }
}

#[test]
fn a_fingerprint_depends_on_records_and_not_on_their_order_or_spelling() {
    let records: [Added<'_>; 4] = [
        ("a.example", RecordType::A, &[1, 2, 3, 4]),
        ("a.example", RecordType::A, &[1, 2, 3, 5]),
        ("b.example", RecordType::MX, b"\0\x0a\x01a\x07example\0"),
        ("c.example", RecordType::TXT, b"\x01x"),
    ];
    let fingerprint = |records: &[Added<'_>]| zone("example", records).fingerprint(&KEY);
    let mut other = records;
    other.reverse();
    other[3].0 = "A.Example";
    other[1].2 = b"\0\x0a\x01A\x07EXAMPLE\0";
    assert_eq!(fingerprint(&records), fingerprint(&other));
    assert_ne!(fingerprint(&records), fingerprint(&records[1..]));
    for (at, changed) in [
        (0, ("a.example", RecordType::A, &[1, 2, 3, 6][..])),
        (2, ("b.example", RecordType::MX, b"\0\x0a\x01b\x07example\0")),
        (3, ("c.example", RecordType::TXT, b"\x01X")),
        (3, ("c.example", RecordType(261), b"\x01x")),
        (3, ("d.example", RecordType::TXT, b"\x01x")),
    ] {
        let mut other = records;
        other[at] = changed;
        assert_ne!(fingerprint(&records), fingerprint(&other), "{at} {changed:?}");
    }
    assert_ne!(
        signed(&[], &[]).fingerprint(&KEY),
        signed(&[], &[("example", RecordType::NS)]).fingerprint(&KEY)
    );
}

#[test]
fn sets_that_fit_into_no_message() {
    let text = |number: u32| [&[255][..], &[b'x'; 251], &number.to_be_bytes()].concat();
    let with = |records: u32| {
        let mut builder = Builder::new(name("example").view(), &KEY);
        builder.add(name("example").view(), RecordType::SOA, 60, &soa()).unwrap();
        builder.add(name("example").view(), RecordType::NS, 60, &wire("ns.elsewhere", b"")).unwrap();
        for number in 0..records {
            builder.add(name("big.example").view(), RecordType::TXT, 60, &text(number)).unwrap();
        }
        inspect(&builder.finish().unwrap())
    };
    // 12 bytes of the message, and 268 of each record.
    assert_eq!(with(244), []);
    assert_eq!(with(245), [("big.example.".into(), RecordType::TXT, Cause::SetTooLarge)]);
}
