//! Properties of `hashlane_dns::zone` for records in any order.

use crate::steps::Steps;
use hashlane_dns::query::Hash;
use hashlane_dns::wire::RecordType;
use hashlane_dns::zone::{Builder, Denial, Located, NameId, Zone};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{LabelSequence, Name, NameBuf};

/// Builds a zone of records from the bytes, and asks it for names: each is found where a walk up the name
/// finds the first name that exists. All ids and data of its records can be read.
pub fn check_records(octets: &[u8]) {
    let mut steps = Steps(octets);
    let apex = name(&mut steps, NameBuf::ROOT);
    let mut builder = Builder::new(apex.view(), &Key::VECTOR);
    let (mut names, mut added) = (vec![apex], 0);
    let soa = [apex.as_bytes(), apex.as_bytes(), &[0; 20]].concat();
    builder.add(apex.view(), RecordType::SOA, 0, &soa).expect("an SOA record");
    builder.add(apex.view(), RecordType::NS, 0, apex.as_bytes()).expect("an NS record");
    while !steps.is_empty() {
        let kind = steps.octet();
        let owner = name(&mut steps, if kind & 0x80 == 0 { apex } else { NameBuf::ROOT });
        let (rtype, data) = record(kind & 0x7f, &mut steps);
        let ttl = steps.octet();
        let result = builder.add(owner.view(), rtype, u32::from(ttl) << (ttl & 31), &data);
        assert!(result.is_err() || owner.view().is_within(apex.view()));
        added += usize::from(result.is_ok());
        names.push(owner);
    }
    match builder.finish() {
        Ok(zone) => {
            assert!(zone.records() + zone.duplicates() + zone.warnings().count() >= 2);
            assert!(zone.records() + zone.duplicates() <= added + 2);
            check_zone(&zone, &names);
            let found = zone.inspect(added as u32, &mut Hash::new(&Key::VECTOR));
            assert!(found.count() >= zone.warnings().count() && found.lines().len() >= found.list().len());
            assert_eq!(zone.fingerprint(&Key::VECTOR), zone.fingerprint(&Key::VECTOR));
        }
        Err(error) => assert!(error.owner.view().is_within(apex.view()) && !error.to_string().is_empty()),
    }
}

/// Up to 15 labels of few letters, or of any bytes, above `end`.
pub(crate) fn name(steps: &mut Steps<'_>, end: NameBuf) -> NameBuf {
    let (mut name, how) = (NameBuf::ROOT, steps.octet());
    for _ in 0..how >> 4 {
        let octet = steps.octet();
        let label = if how & 1 == 0 {
            &[b"aAb*-z\0\xff"[usize::from(octet & 7)]]
        } else {
            steps.octets(octet.into())
        };
        // A label that does not fit is left out.
        let _ = name.push(label);
    }
    let mut whole = name;
    match end.view().labels().try_for_each(|label| whole.push(label)) {
        Ok(()) => whole,
        Err(_) => end,
    }
}

/// A type, and data that often fit it.
pub(crate) fn record(kind: u8, steps: &mut Steps<'_>) -> (RecordType, Vec<u8>) {
    let target = |steps: &mut Steps<'_>| name(steps, NameBuf::ROOT).as_bytes().to_vec();
    let rtype = RecordType(u16::from(kind));
    match rtype {
        RecordType::NS | RecordType::CNAME | RecordType::PTR | RecordType::DNAME => (rtype, target(steps)),
        RecordType::MX => (rtype, [&[0, kind], &target(steps)[..]].concat()),
        RecordType::NSEC => (rtype, [&target(steps)[..], &[0, 1, 0x40]].concat()),
        RecordType::RRSIG => {
            let covered = [0, steps.octet()];
            (rtype, [&covered[..], &[0; 16], &target(steps), steps.octets(4)].concat())
        }
        RecordType::A => (rtype, steps.number().to_be_bytes()[4..].to_vec()),
        _ if kind >= 0x70 => (RecordType(steps.number() as u16), data(steps)),
        _ => (rtype, data(steps)),
    }
}

fn data(steps: &mut Steps<'_>) -> Vec<u8> {
    let len = steps.octet();
    steps.octets(len.into()).to_vec()
}

pub(crate) fn check_zone(zone: &Zone, names: &[NameBuf]) {
    let mut hash = Hash::new(&Key::VECTOR);
    for queried in names.iter().map(NameBuf::view).filter(|name| name.is_within(zone.apex_name())) {
        let located = zone.locate(hash.name(queried), queried);
        assert_eq!(located, walked(zone, queried, &mut hash));
        assert!(zone.exists(located.node) && !zone.is_occluded(located.node));
        assert!(located.cut.is_none_or(|cut| zone.is_cut(cut)));
        if let Some(wildcard) = zone.wildcard(located.node) {
            assert_eq!((zone.parent(wildcard), zone.label(wildcard)), (located.node, &b"\x01*"[..]));
        }
        check_sets(zone, located.node, &mut hash);
        let digest = zone.nsec3_hash(queried);
        let (nsec, nsec3) = (zone.nsec_before(queried), zone.nsec3_find(&digest));
        let set = nsec.map(|owner| zone.set(owner, RecordType::NSEC));
        assert!(set.is_none_or(|set| set.is_some()));
        match zone.denial() {
            Denial::Nsec3(_) => assert!(zone.set(nsec3.expect("a record").0, RecordType::NSEC3).is_some()),
            Denial::Nsec => assert!(nsec.is_some() && nsec3.is_none()),
            Denial::None => assert!(nsec3.is_none()),
        }
    }
}

/// Locates a name by a walk up to the first name that exists.
fn walked(zone: &Zone, queried: Name<'_>, hash: &mut Hash) -> Located {
    let suffix = |below| LabelSequence::of(queried).strip_left(below).as_name().expect("the root is its end");
    let found = (0..).find_map(|below| Some((zone.find(suffix(below), hash)?, below)));
    let (node, below) = found.expect("the apex exists");
    assert!(zone.name(node).view().eq_ignore_case(suffix(below)));
    let cut = zone.is_cut(node).then_some(node);
    Located { node, below, cut, dname: (below > 0 && zone.has_dname(node)).then_some(node) }
}

fn check_sets(zone: &Zone, id: NameId, hash: &mut Hash) {
    let mut types = Vec::new();
    for set in zone.sets(id) {
        assert_eq!(set.records().count(), set.len());
        assert_eq!(set.signatures().count() > 0, set.is_signed());
        assert!(set.ttl <= i32::MAX as u32);
        types.push(set.rtype);
        for target in set.records().flat_map(|record| record.names).flatten() {
            let name = zone.name(target);
            let within = name.view().is_within(zone.apex_name());
            let expected = within.then(|| zone.locate(hash.name(name.view()), name.view()));
            assert_eq!(zone.locate_id(target), expected);
        }
    }
    assert!(types.windows(2).all(|pair| pair[0] < pair[1]));
}
