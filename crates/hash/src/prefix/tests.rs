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
        let mut rest = ends.iter();
        let pushed = group.push(octets, || Ok::<_, ()>(rest.next().copied())).unwrap();
        assert_eq!(pushed, Some(expected.len()..expected.len() + ends.len()));
        expected.extend(ends.iter().map(|&end| hash.hash(&octets[..end])));
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
    let none = || Ok::<Option<usize>, ()>(None);
    assert_eq!(group.push(&[0; Group::OCTETS + 1], none), Ok(None));
    assert_eq!(group.push(&[0], || Err(())), Err(()));
    assert_eq!(group.names(), 0);
    for n in 0..Group::NAMES {
        let mut ends = 0..255;
        let pushed = group.push(&[0; Group::OCTETS], || Ok::<_, ()>(ends.next().map(|_| Group::OCTETS)));
        assert_eq!(pushed, Ok(Some(255 * n..255 * (n + 1))));
    }
    assert!(group.is_full());
    assert_eq!(group.push(&[], none), Ok(None));
    let crc = Crc32c::<Ladder>::detect();
    crc.every_prefix(&mut group);
    let expected = crc.hash(&[0; Group::OCTETS]);
    assert_eq!(group.hashes(), std::vec![expected; 255 * Group::NAMES]);
}

#[test]
fn wrong_ends_harm_nobody() {
    let mut group = Group::new();
    for _ in 0..Group::NAMES {
        let pushed = group.push(b"abc", || Ok::<_, ()>(Some(usize::MAX / 2))).unwrap();
        assert!(pushed.is_some());
    }
    Crc32c::<Ladder>::detect().every_prefix(&mut group);
    SipHash24::new(&Key::VECTOR).every_prefix(&mut group);
    assert_eq!(group.hashes().len(), 256 * Group::NAMES);
}
