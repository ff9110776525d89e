//! Patched zones beside zones that are built.

mod compare;
mod random;

use super::KEY;
use crate::wire::RecordType;
use crate::zone::{Rule, Unpatched, WholeRecord, Zone};
use compare::assert_same;
use hashlane_hash::scheme::Key;
use random::{APEX, Kind, Owned, Random, Signing, built, nsec3_owner, records};
use std::collections::BTreeMap;
use std::format;
use std::string::{String, ToString};
use std::sync::Arc;
use std::vec::Vec;

/// Random zones of each kind.
const SEEDS: u64 = 25;

fn change(record: &Owned) -> WholeRecord<'_> {
    WholeRecord { owner: record.owner.view(), rtype: record.rtype, ttl: record.ttl, data: &record.data }
}

fn patched(zone: &Zone, removed: &[Owned], added: &[Owned]) -> Result<Zone, Unpatched> {
    zone.patched(&KEY, removed.iter().map(change), added.iter().map(change))
}

/// Random changes: records that a zone has, and records that it may get. The serial number rises.
fn changes(random: &mut Random, kind: Kind, zone: &Zone) -> (Vec<Owned>, Vec<Owned>) {
    let all = records(zone);
    let is_soa = |record: &&Owned| record.rtype == RecordType::SOA;
    let old = all.iter().find(is_soa).unwrap().clone();
    let mut new = old.clone();
    let at = new.data.len() - 20;
    new.data[at..at + 4].copy_from_slice(&(zone.serial() + 1).to_be_bytes());
    let (mut removed, mut added) = ([old].to_vec(), [new].to_vec());
    for _ in 0..random.below(6) {
        let record = &all[random.below(all.len())];
        // Few zones are without their name servers, or without the begin of a chain.
        if is_vital(record) && !random.one_in(12) {
            continue;
        }
        let others = |other: &Owned| other.owner == record.owner && other.rtype != RecordType::SOA;
        match random.below(3) {
            // All records of a name go.
            0 => removed.extend(all.iter().filter(|other| others(other)).cloned()),
            _ if !is_soa(&record) => removed.push(record.clone()),
            _ => {}
        }
    }
    removed.sort_by_key(|record| (record.owner.as_bytes().to_vec(), record.rtype, record.data.clone()));
    removed.dedup();
    let mut left: Vec<Owned> = all.iter().filter(|record| !removed.contains(record)).cloned().collect();
    if !kind.odd {
        // Signatures go with the last record that they cover.
        let signs = |signature: &Owned, record: &Owned| {
            let is_owner = signature.owner.view().eq_ignore_case(record.owner.view());
            is_owner && signature.data.starts_with(&record.rtype.0.to_be_bytes())
        };
        let is_bare = |signature: &&Owned| {
            signature.rtype == RecordType::RRSIG && !left.iter().any(|record| signs(signature, record))
        };
        removed.extend(left.iter().filter(is_bare).cloned());
        left.retain(|record| !removed.contains(record));
    }
    left.push(added[0].clone());
    for _ in 0..random.below(6) {
        let new = match removed.get(random.below(8)) {
            // It comes back.
            Some(record) if !is_soa(&record) && record.rtype != RecordType::RRSIG => record.clone(),
            _ => kind.record(random, &left),
        };
        if kind.odd || !left.contains(&new) {
            left.push(new.clone());
            added.push(new);
        }
    }
    (removed, added)
}

/// The records of a zone without some and with others, in the order of a builder.
fn changed(zone: &Zone, removed: &[Owned], added: &[Owned]) -> Vec<Owned> {
    let key = |record: &Owned| {
        (record.owner.as_bytes().to_ascii_lowercase(), record.rtype, record.data.to_ascii_lowercase())
    };
    let gone: Vec<_> = removed.iter().map(key).collect();
    let mut all: Vec<Owned> =
        records(zone).into_iter().filter(|record| !gone.contains(&key(record))).collect();
    all.extend_from_slice(added);
    all
}

/// Returns true for records of the apex, and the NSEC3 record of its hash.
fn is_vital(record: &Owned) -> bool {
    let apex = super::name(APEX);
    record.owner.view().eq_ignore_case(apex.view()) || record.owner == nsec3_owner(apex.view())
}

#[test]
fn a_patched_zone_is_the_zone_that_is_built() {
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    let kinds = [Signing::None, Signing::Nsec, Signing::Nsec3].into_iter().flat_map(|signing| {
        [(false, false), (true, false), (false, true)].map(|(mixed_case, odd)| Kind {
            signing,
            mixed_case,
            odd,
        })
    });
    for (number, kind) in kinds.enumerate() {
        for seed in 0..SEEDS {
            let mut random = Random((number as u64) << 32 | seed);
            let (mut ours, mut theirs) = (Arc::new(kind.zone(&mut random)), None);
            for step in 0..8 {
                let reference: &Arc<Zone> = theirs.as_ref().unwrap_or(&ours);
                let (removed, added) = changes(&mut random, kind, reference);
                let anew = built(changed(reference, &removed, &added)).map(Arc::new);
                let outcome = patched(&ours, &removed, &added);
                let reason = outcome.as_ref().err().map_or("patched".to_string(), |error| match error {
                    Unpatched::Zone(_) => "zone".to_string(),
                    error => error.to_string(),
                });
                *outcomes.entry(reason).or_default() += 1;
                match (outcome, anew) {
                    (Ok(zone), Ok(anew)) => {
                        let zone = Arc::new(zone);
                        std::println!("{kind:?}, seed {seed}, step {step}: {removed:?} to {added:?}");
                        assert_same(&mut random, kind, &zone, &anew);
                        (ours, theirs) = (zone, Some(anew));
                    }
                    (Ok(zone), Err(error)) => panic!("{zone:?} is patched, but a builder says {error}"),
                    (Err(_), Ok(anew)) => (ours, theirs) = (Arc::clone(&anew), Some(anew)),
                    (Err(_), Err(_)) => {}
                }
            }
        }
    }
    std::println!("{outcomes:?}");
    let count = |reason: &str| outcomes.get(reason).copied().unwrap_or_default();
    let all: usize = outcomes.values().sum();
    assert!(count("patched") * 2 > all, "{outcomes:?}");
}

/// An address record of a host.
fn host(name: &str, number: u8) -> Owned {
    let owner = super::name(name);
    Owned { owner, rtype: RecordType::A, ttl: 300, data: [192, 0, 2, number].to_vec() }
}

/// A zone with hosts `h0.zone.example` and so on.
fn hosts(count: u32) -> Zone {
    let mut builder = super::builder(APEX);
    for number in 0..count {
        let Owned { owner, rtype, ttl, data } = host(&format!("h{number}.{APEX}"), 1);
        builder.add(owner.view(), rtype, ttl, &data).unwrap();
    }
    builder.finish().unwrap()
}

#[test]
fn bytes_without_use_are_bounded() {
    let first = hosts(2000);
    let (mut zone, mut patches) = (hosts(2000), 0);
    // Hosts come and go, each under a new name.
    let error = loop {
        let (old, new) = (format!("h{patches}.{APEX}"), format!("new{patches}.{APEX}"));
        match patched(&zone, &[host(&old, 1)], &[host(&new, 1)]) {
            Ok(next) => zone = next,
            Err(error) => break error,
        }
        patches += 1;
        assert_eq!(zone.records(), first.records());
        assert!(zone.memory() <= first.memory() * 5 / 4, "{} after {patches}", zone.memory());
    };
    assert_eq!(error, Unpatched::Garbage);
    assert!(patches > 100, "{patches}");
    let anew = built(records(&zone)).unwrap();
    assert!(anew.memory() <= first.memory() * 17 / 16);
    let next = patched(&anew, &[], &[host(&format!("last.{APEX}"), 1)]).unwrap();
    assert_eq!(next.records(), first.records() + 1);
}

#[test]
fn many_changes_and_other_keys_are_for_a_builder() {
    let zone = hosts(1000);
    let added: Vec<Owned> = (0..200).map(|number| host(&format!("new{number}.{APEX}"), 1)).collect();
    assert!(patched(&zone, &[], &added[..100]).is_ok());
    assert_eq!(patched(&zone, &[], &added).err(), Some(Unpatched::TooMany));
    let other = Key::new([1; 16]);
    assert_eq!(zone.patched(&other, [], [change(&added[0])]).err(), Some(Unpatched::Key));
}

#[test]
fn records_that_are_not_there_or_there_already_are_refused() {
    let zone = hosts(10);
    let refused = |removed: &[Owned], added: &[Owned]| patched(&zone, removed, added).err();
    let (known, other) = (host(&format!("h1.{APEX}"), 1), host(&format!("h1.{APEX}"), 2));
    assert_eq!(refused(core::slice::from_ref(&known), core::slice::from_ref(&known)), None);
    assert_eq!(refused(core::slice::from_ref(&other), &[]), Some(Unpatched::Missing));
    assert_eq!(refused(&[host("none.zone.example", 1)], &[]), Some(Unpatched::Missing));
    assert_eq!(refused(&[known.clone(), known.clone()], &[]), Some(Unpatched::Missing));
    assert_eq!(refused(&[], &[known]), Some(Unpatched::Present));
    assert_eq!(refused(&[], &[other.clone(), other]), Some(Unpatched::Present));
    let elsewhere = refused(&[], &[host("zone.other", 1)]);
    assert!(matches!(elsewhere, Some(Unpatched::Zone(error)) if error.rule == Rule::OutOfZone));
    let soa: Vec<Owned> =
        records(&zone).into_iter().filter(|record| record.rtype == RecordType::SOA).collect();
    let without = refused(&soa, &[]);
    assert!(matches!(without, Some(Unpatched::Zone(error)) if error.rule == Rule::NoSoa));
}
