//! Properties of zones that are patched (`hashlane_dns::zone::Zone::patched`).

use crate::steps::Steps;
use crate::zones::{check_zone, name, record};
use hashlane_dns::query::Hash;
use hashlane_dns::wire::RecordType;
use hashlane_dns::zone::{Builder, NameId, Zone};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::NameBuf;
use hashlane_transfer::records::{Record, Records, of_zone};

const KEY: Key = Key::VECTOR;

/// Zones after the first.
const MOST: usize = 8;

/// Bytes become a zone, and records that it gains and loses step by step. A zone that is patched is the zone
/// that is built of the same records, and no zone is patched that cannot be built.
pub fn check_patches(octets: &[u8]) {
    let mut steps = Steps(octets);
    let apex = name(&mut steps, NameBuf::ROOT);
    let (mut names, mut first) = (vec![apex], Records::default());
    let soa = [apex.as_bytes(), apex.as_bytes(), &[0; 20]].concat();
    let mut push = |rtype, data: &[u8]| first.push(&Record { owner: apex.view(), rtype, ttl: 0, data });
    push(RecordType::SOA, &soa);
    push(RecordType::NS, apex.as_bytes());
    let count = steps.octet() & 31;
    gain(&mut steps, apex, count.into(), (&mut first, &mut names));
    let Some(mut zone) = built(apex, [&first]) else { return };
    for _ in 0..MOST {
        if steps.is_empty() {
            break;
        }
        let (mut removed, mut added, mut left) = (Records::default(), Records::default(), Records::default());
        let (mask, shift) = (steps.number(), steps.octet());
        let mut number = 0;
        all(&zone, |record| {
            // One in four or fewer.
            let is_removed = number % 4 == u32::from(shift & 3) && mask >> (number / 4 % 16) & 1 != 0;
            if is_removed { &mut removed } else { &mut left }.push(record);
            number += 1;
        });
        let count = steps.octet() & 7;
        gain(&mut steps, apex, count.into(), (&mut added, &mut names));
        let anew = built(apex, [&left, &added]);
        let patched = zone.patched(&KEY, &removed, &added);
        zone = match (patched, anew) {
            (Ok(patched), Some(anew)) => {
                assert_same(&patched, &anew, &names);
                patched
            }
            (Ok(_), None) => panic!("a zone is patched that cannot be built"),
            (Err(error), Some(anew)) => {
                assert!(!error.to_string().is_empty());
                anew
            }
            (Err(_), None) => zone,
        };
    }
}

fn all(zone: &Zone, mut each: impl FnMut(&Record<'_>)) {
    let passed: Result<(), std::convert::Infallible> = of_zone(zone, |_, record| {
        each(&record);
        Ok(())
    });
    let Ok(()) = passed;
}

/// Adds records whose owners are in the zone, and keeps these.
fn gain(steps: &mut Steps<'_>, apex: NameBuf, count: usize, to: (&mut Records, &mut Vec<NameBuf>)) {
    for _ in 0..count {
        let kind = steps.octet();
        let owner = name(steps, apex);
        let (rtype, data) = record(kind & 0x7f, steps);
        let ttl = u32::from(kind >> 7);
        to.0.push(&Record { owner: owner.view(), rtype, ttl, data: &data });
        to.1.push(owner);
    }
}

fn built<const N: usize>(apex: NameBuf, parts: [&Records; N]) -> Option<Zone> {
    let mut builder = Builder::new(apex.view(), &KEY);
    for Record { owner, rtype, ttl, data } in parts.into_iter().flatten() {
        builder.add(owner, rtype, ttl, data).ok()?;
    }
    builder.finish().ok()
}

fn assert_same(patched: &Zone, built: &Zone, names: &[NameBuf]) {
    assert_eq!(patched.fingerprint(&KEY), built.fingerprint(&KEY));
    assert_eq!((patched.records(), patched.serial()), (built.records(), built.serial()));
    assert_eq!(patched.denial(), built.denial());
    assert_eq!(patched.has_wildcards(), built.has_wildcards());
    check_zone(patched, names);
    let mut hash = Hash::new(&KEY);
    let mut inspected = |zone: &Zone| zone.inspect(1, &mut hash).count();
    assert_eq!(inspected(patched), inspected(built));
    let mut hash = Hash::new(&KEY);
    let spelled = |zone: &Zone, id: NameId| zone.name(id).as_bytes().to_ascii_lowercase();
    for asked in names.iter().map(NameBuf::view).filter(|name| name.is_within(patched.apex_name())) {
        let suffixes = hash.name(asked).to_vec();
        let facts = |zone: &Zone| {
            let located = zone.locate(&suffixes, asked);
            let node = located.node;
            let wildcard = zone.wildcard(node).is_some();
            let denied = zone.nsec_before(asked).map(|id| spelled(zone, id));
            let hashed = zone.nsec3_find(&zone.nsec3_hash(asked));
            let hashed = hashed.map(|(id, matches)| (spelled(zone, id), matches));
            let kinds = (located.cut.is_some(), located.dname.is_some(), wildcard);
            (spelled(zone, node), located.below, kinds, denied, hashed)
        };
        assert_eq!(facts(patched), facts(built));
    }
}
