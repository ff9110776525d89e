use super::*;
use crate::arch::crc::CrcUnit;
use crate::arch::lanes::LaneUnit;
use crate::crc32c::Crc32c;
use crate::crc32c::tail::{Ladder, Shifted};
use crate::scheme::{BytesHash, Key, Scheme};
use crate::siphash::{SipHash13, SipHash24};
use proptest::collection::vec;
use proptest::prelude::*;
use std::vec::Vec;

/// A name and the ends of some of its prefixes, in any order.
fn name() -> impl Strategy<Value = (Vec<u8>, Vec<usize>)> {
    vec(any::<u8>(), 0..=Group::OCTETS).prop_flat_map(|octets| {
        let ends = vec(0..=octets.len(), 0..20);
        (Just(octets), ends)
    })
}

fn agrees<H: EveryPrefix>(hash: &H, names: &[(Vec<u8>, Vec<usize>)], group: &mut Group) {
    group.clear();
    let mut expected = Vec::new();
    for (octets, ends) in names {
        assert!(group.push_name(octets));
        for &end in ends {
            assert!(group.push_prefix(end));
            expected.push(hash.hash(&octets[..end]));
        }
    }
    hash.every_prefix(group);
    assert_eq!(group.hashes(), expected);
}

proptest! {
    #[test]
    fn every_prefix_hashes_as_it_does_alone(key: [u8; 16], names in vec(name(), 0..=Group::NAMES)) {
        let key = Key::new(key);
        // One group for all, so that what one leaves behind meets the next.
        let mut group = Group::new();
        for unit in CrcUnit::all() {
            agrees(&Crc32c::<Ladder>::on(unit), &names, &mut group);
            agrees(&Crc32c::<Shifted>::on(unit), &names, &mut group);
        }
        for unit in LaneUnit::all() {
            agrees(&SipHash24 { unit, ..Scheme::new(&key) }, &names, &mut group);
            agrees(&SipHash13 { unit, ..Scheme::new(&key) }, &names, &mut group);
        }
        for name in &names {
            let alone = core::slice::from_ref(name);
            agrees(&Crc32c::<Ladder>::detect(), alone, &mut group);
            agrees(&SipHash24::new(&key), alone, &mut group);
        }
    }
}

#[test]
fn refuses_what_does_not_fit() {
    let mut group = Group::new();
    assert!(!group.push_prefix(0), "a prefix of no name");
    assert!(!group.push_name(&[0; Group::OCTETS + 1]));
    for _ in 0..Group::NAMES {
        assert!(group.push_name(&[0; Group::OCTETS]));
    }
    assert!(!group.push_name(&[]));
    assert!(!group.push_prefix(Group::OCTETS + 1));
    while group.push_prefix(Group::OCTETS) {}
    let full = group.prefixes();
    assert_eq!(full, 256);
    Crc32c::<Ladder>::detect().every_prefix(&mut group);
    let expected = Crc32c::<Ladder>::detect().hash(&[0; Group::OCTETS]);
    assert_eq!(group.hashes(), std::vec![expected; full]);
    group.truncate(3);
    assert_eq!(group.hashes().len(), 3);
}
