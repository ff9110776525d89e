//! Sets of records and their signatures.

use super::*;
use std::string::String;
use std::vec;

fn records(set: crate::zone::Set<'_>) -> Vec<&[u8]> {
    set.records().map(|record| record.before).collect()
}

#[test]
fn gives_signatures_with_the_records_that_they_cover() {
    let (a, txt) = (rrsig(RecordType::A), rrsig(RecordType::TXT));
    let other = [&a[..], b"other"].concat();
    let mut builder = builder("example");
    let owner = name("www.example");
    for (rtype, ttl, data) in [
        (RecordType::RRSIG, 60, &other[..]),
        (RecordType::TXT, 300, b"\x01x"),
        (RecordType::RRSIG, 300, &txt),
        (RecordType::A, 60, &[192, 0, 2, 2]),
        (RecordType::RRSIG, 30, &a),
        (RecordType::A, 60, &[192, 0, 2, 1]),
        (RecordType::AAAA, 60, &[1; 16]),
    ] {
        builder.add(owner.view(), rtype, ttl, data).unwrap();
    }
    let zone = builder.finish().unwrap();
    let owner = find(&zone, "www.example");
    let types: Vec<_> =
        zone.sets(owner).map(|set| (set.rtype, set.ttl, set.len(), set.is_signed())).collect();
    let expected =
        [(RecordType::A, 60, 2, true), (RecordType::TXT, 300, 1, true), (RecordType::AAAA, 60, 1, false)];
    assert_eq!(types, expected);
    let set = zone.set(owner, RecordType::A).unwrap();
    assert_eq!(records(set), [[192, 0, 2, 2], [192, 0, 2, 1]]);
    assert!(set.signatures().eq([(60, &other[..]), (30, &a[..])]));
    let set = zone.set(owner, RecordType::TXT).unwrap();
    assert!(records(set) == [b"\x01x"] && set.signatures().eq([(300, &txt[..])]));
    let set = zone.set(owner, RecordType::AAAA).unwrap();
    assert!(records(set) == [[1; 16]] && set.signatures().next().is_none());
    assert!(zone.set(owner, RecordType::RRSIG).is_none() && zone.set(owner, RecordType::CNAME).is_none());
    assert_eq!(zone.records(), 9);
}

#[test]
fn records_of_an_owner_that_come_in_several_runs_stand_together() {
    let records: Vec<(String, RecordType, Vec<u8>)> = (0..60)
        .flat_map(|number| {
            let owner = std::format!("h{number}.example");
            let a = (owner.clone(), RecordType::A, vec![192, 0, 2, number]);
            let txt = (owner.clone(), RecordType::TXT, vec![1, number]);
            let exchange = name(&std::format!("m{number}.example"));
            let mx = (owner, RecordType::MX, [&[0, number], exchange.as_bytes()].concat());
            [a, txt, mx]
        })
        .collect();
    let of = |records: &[(String, RecordType, Vec<u8>)]| {
        let records: Vec<Added<'_>> =
            records.iter().map(|(owner, rtype, data)| (&owner[..], *rtype, &data[..])).collect();
        zone("example", &records)
    };
    let (together, mut apart) = (of(&records), records.clone());
    // Types in a row, each owner once in each; seven of them twice.
    apart.sort_by_key(|(_, rtype, _)| *rtype);
    apart.extend_from_within(..7);
    let apart = of(&apart);
    assert_eq!((apart.records(), apart.duplicates()), (together.records(), 7));
    assert_eq!(apart.fingerprint(&KEY), together.fingerprint(&KEY));
    for number in [0, 59] {
        let owner = find(&apart, &std::format!("h{number}.example"));
        let types: Vec<_> = apart.sets(owner).map(|set| (set.rtype, set.len())).collect();
        assert_eq!(types, [(RecordType::A, 1), (RecordType::MX, 1), (RecordType::TXT, 1)]);
    }
}

#[test]
fn sets_of_any_size_are_read_back() {
    for (count, len, signed) in
        [(1, 0, false), (255, 1, true), (256, 300, false), (300, 1, true), (3, 65_535, true)]
    {
        let data: Vec<Vec<u8>> = (0..count)
            .map(|number: u32| {
                let mut data = vec![7; len];
                data.iter_mut().zip(number.to_le_bytes()).for_each(|(byte, of_number)| *byte = of_number);
                data
            })
            .collect();
        let rtype = RecordType(65_280);
        let signature = rrsig(rtype);
        let mut added: Vec<Added<'_>> = data.iter().map(|data| ("a.example", rtype, &data[..])).collect();
        added.push(("a.example", RecordType(65_281), b"after"));
        added.extend(signed.then_some(("a.example", RecordType::RRSIG, &signature[..])));
        let zone = zone("example", &added);
        let owner = find(&zone, "a.example");
        let set = zone.set(owner, rtype).unwrap();
        let distinct = if len == 1 { count.min(256) } else { count };
        assert_eq!((set.len(), zone.duplicates()), (distinct as usize, (count - distinct) as usize));
        assert!(set.records().zip(&data).all(|(record, data)| record.before == data));
        assert!(set.signatures().eq(signed.then_some((300, &signature[..]))));
        assert_eq!(records(zone.set(owner, RecordType(65_281)).unwrap()), [b"after"]);
    }
}

#[test]
fn names_in_data_are_ids_where_answers_compress_them() {
    let (mx, srv) = (wire("a", b""), wire("A.Example", b""));
    let (mx, srv) = ([&[0, 10], &mx[..]].concat(), [&[0; 6], &srv[..]].concat());
    let zone = zone("example", &[("example", RecordType::MX, &mx), ("example", RecordType::SRV, &srv)]);
    let first = |rtype| zone.set(zone.apex(), rtype).unwrap().records().next().unwrap();
    let record = first(RecordType::MX);
    assert_eq!((record.before, record.names[1], record.after), (&[0, 10][..], None, &[][..]));
    assert_eq!(zone.name(record.names[0].unwrap()), name("a"));
    assert_eq!((first(RecordType::SRV).before, first(RecordType::SRV).names), (&srv[..], [None; 2]));
    let soa = first(RecordType::SOA);
    assert_eq!(soa.names.map(|id| zone.name(id.unwrap())), [name("ns.example"), name("admin.example")]);
    assert_eq!(soa.after, b"\0\0\0\x07aaaabbbbccccdddd");
}

#[test]
fn merges_records_whose_names_differ_in_case() {
    let records = [
        ("a.example", RecordType::NS, &b"\x02nS\x03cOm\0"[..]),
        ("A.Example", RecordType::NS, b"\x02Ns\x03CoM\0"),
        ("A.Example", RecordType::NS, b"\x02ns\x03net\0"),
    ];
    let zone = zone("example", &records);
    assert_eq!(zone.set(find(&zone, "a.example"), RecordType::NS).unwrap().len(), 2);
    assert_eq!((zone.duplicates(), zone.records()), (1, 4));
}

#[test]
fn names_are_spelled_as_their_first_owner() {
    let target = name("HOST.Sub.Example");
    let records = [
        ("www.Example", RecordType::CNAME, target.as_bytes()),
        ("b.Sub.example", RecordType::CNAME, target.as_bytes()),
        ("Host.sub.example", RecordType::A, &[0; 4]),
        ("host.SUB.example", RecordType::TXT, b"\0"),
    ];
    let zone = zone("eXample", &records);
    let spelled = |queried: &str| std::string::ToString::to_string(&zone.name(find(&zone, queried)));
    assert_eq!(spelled("host.sub.example"), "Host.Sub.eXample.");
    assert_eq!(spelled("www.example"), "www.eXample.");
    assert_eq!(zone.label(find(&zone, "sub.example")), b"\x03Sub");
    assert_eq!((zone.label(NameId::ROOT), zone.parent(NameId::ROOT)), (&b"\0"[..], NameId::ROOT));
}
