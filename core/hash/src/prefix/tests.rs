use super::*;
use crate::arch::unit::{CrcUnit, LaneUnit};
use crate::crc32c::Crc32c;
use crate::scheme::{BytesHash, Key, Scheme};
use crate::siphash::{SipHash13, SipHash24};
use proptest::collection::vec;
use proptest::prelude::*;
use std::vec::Vec;

/// A name and the ends of some of its prefixes, in any order.
fn name() -> impl Strategy<Value = (Vec<u8>, Vec<usize>)> {
    vec(any::<u8>(), 0..=Group::MAX_LEN).prop_flat_map(|bytes| {
        let ends = vec(0..=bytes.len(), 0..20);
        (Just(bytes), ends)
    })
}

/// The hashes of all staged prefixes.
fn every_prefix(hash: &impl EveryPrefix, group: &mut Group) -> Vec<u64> {
    let mut out = std::vec![0; group.room()];
    hash.every_prefix(group, &mut out);
    out.truncate(group.counts().sum());
    out
}

fn agrees<H: EveryPrefix>(hash: &H, names: &[(Vec<u8>, Vec<usize>)], group: &mut Group) {
    group.clear();
    let mut expected = Vec::new();
    for (bytes, ends) in names {
        let mut prefixes = group.push(hash, bytes).unwrap();
        ends.iter().for_each(|&end| prefixes.push(end));
        assert!(prefixes.add());
        expected.extend(ends.iter().map(|&end| hash.hash(&bytes[..end])));
    }
    assert_eq!(every_prefix(hash, group), expected);
    assert!(group.counts().eq(names.iter().map(|(_, ends)| ends.len())));
}

proptest! {
    #[test]
    fn every_prefix_hashes_as_it_does_alone(key: [u8; 16], names in vec(name(), 0..=Group::NAMES)) {
        let key = Key::new(key);
        // One group for all names, so that leftovers of one name meet the next.
        let mut group = Group::new();
        for unit in CrcUnit::all() {
            agrees(&Crc32c::on(unit), &names, &mut group);
        }
        for unit in LaneUnit::all() {
            agrees(&SipHash24 { unit, ..Scheme::new(&key) }, &names, &mut group);
            agrees(&SipHash13 { unit, ..Scheme::new(&key) }, &names, &mut group);
        }
        for name in &names {
            let alone = core::slice::from_ref(name);
            agrees(&Crc32c::detect(), alone, &mut group);
            agrees(&SipHash24::new(&key), alone, &mut group);
        }
    }
}

#[test]
fn refuses_what_does_not_fit() {
    let mut group = Group::new();
    let crc = Crc32c::detect();
    assert!(group.push(&crc, &[0; Group::MAX_LEN + 1]).is_none());
    // Not added: a name counts only after its walk reached the end.
    group.push(&crc, &[0]).unwrap().push(1);
    let mut prefixes = group.push(&crc, &[0; 5]).unwrap();
    (0..10_000).for_each(|_| prefixes.push(5));
    assert!(!prefixes.add());
    assert_eq!(group.names(), 0);
    for _ in 0..Group::NAMES {
        let mut prefixes = group.push(&crc, &[0; Group::MAX_LEN]).unwrap();
        (0..256).for_each(|_| prefixes.push(Group::MAX_LEN));
        assert!(prefixes.add());
    }
    assert!(group.is_full());
    assert!(group.push(&crc, &[]).is_none());
    let expected = crc.hash(&[0; Group::MAX_LEN]);
    assert_eq!(every_prefix(&crc, &mut group), std::vec![expected; 256 * Group::NAMES]);
    crc.every_prefix(&mut group, &mut []);
}

#[test]
fn wrong_ends_are_ignored() {
    let mut group = Group::new();
    for _ in 0..Group::NAMES {
        let mut prefixes = group.push(&SipHash24::new(&Key::VECTOR), b"abc").unwrap();
        [4, Group::MAX_LEN + 8, usize::MAX / 2].into_iter().for_each(|end| prefixes.push(end));
        assert!(prefixes.add());
    }
    assert_eq!(every_prefix(&Crc32c::detect(), &mut group).len(), 3 * Group::NAMES);
    assert_eq!(every_prefix(&SipHash24::new(&Key::VECTOR), &mut group).len(), 3 * Group::NAMES);
}
