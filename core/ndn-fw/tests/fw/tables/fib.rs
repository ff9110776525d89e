//! The longest prefix.

use super::{letters, name};
use hashlane_hash::scheme::Key;
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::fib::{Fib, NextHop};
use hashlane_ndn_fw::hashed::NameHasher;
use proptest::prelude::*;
use std::collections::BTreeMap;

proptest! {
    #[test]
    fn finds_what_a_search_of_all_prefixes_finds(
        changes in prop::collection::vec((prop::collection::vec(0..3_u8, 0..6), any::<bool>(), 0..4_u32, 0..5_u64), 1..60),
        questions in prop::collection::vec(letters(8), 1..20),
    ) {
        let mut hasher = NameHasher::new(&Key::VECTOR);
        let mut fib = Fib::default();
        let mut plain: BTreeMap<Vec<u8>, Vec<(u64, u64, u32)>> = BTreeMap::new();
        for (number, (prefix, adds, face, cost)) in (0..).zip(changes) {
            let owned = name(&prefix);
            let hashed = hasher.hash_name(&owned.view());
            let hops = plain.entry(prefix.clone()).or_default();
            let known = hops.iter().any(|(_, _, other)| *other == face);
            hops.retain(|(_, _, other)| *other != face);
            if adds {
                // Of those that cost as much the first is taken first.
                hops.push((cost, number, face));
                hops.sort_unstable();
                fib.add(&hashed, NextHop { face: FaceId(face), cost });
            } else {
                prop_assert_eq!(fib.remove(&hashed, FaceId(face)), known);
            }
            if hops.is_empty() {
                plain.remove(&prefix);
            }
        }
        prop_assert_eq!(fib.len(), plain.len());
        for question in questions {
            let owned = name(&question);
            let found = fib.longest(&hasher.hash_name(&owned.view()));
            let found = found.map(|(len, hops)| (len, hops.iter().map(|hop| (hop.cost, hop.face.0)).collect::<Vec<_>>()));
            let expected = (0..=question.len()).rev().find_map(|len| {
                let hops = plain.get(&question[..len])?;
                Some((len, hops.iter().map(|(cost, _, face)| (*cost, *face)).collect::<Vec<_>>()))
            });
            prop_assert_eq!(found, expected);
        }
    }
}

#[test]
fn memory_grows_with_prefixes_and_their_ways() {
    let mut hasher = NameHasher::new(&Key::VECTOR);
    let mut fib = Fib::default();
    let empty = fib.memory();
    for number in 0..1000_u32 {
        let owned = name(&[0, 1, 2, (number % 3) as u8]);
        fib.add(&hasher.hash_name(&owned.view()), NextHop { face: FaceId(number), cost: 1 });
    }
    // Three prefixes, each with a third of the ways.
    assert_eq!(fib.len(), 3);
    let ways = 1000 * size_of::<NextHop>();
    assert!((ways..3 * ways).contains(&(fib.memory() - empty)));
}

#[test]
fn memory_of_removed_prefixes_is_freed() {
    const PREFIXES: u32 = 20_000;
    let mut hasher = NameHasher::new(&Key::VECTOR);
    let mut fib = Fib::default();
    let prefix = |number: u32| {
        let uri = format!("ndn:/a/{number}");
        hashlane_name::uri::parse_uri::<hashlane_name::ndn::Ndn>(uri.as_bytes()).unwrap()
    };
    for number in 0..PREFIXES {
        fib.add(&hasher.hash_name(&prefix(number).view()), NextHop { face: FaceId(number), cost: 1 });
    }
    let full = fib.memory();
    for number in 0..PREFIXES - 100 {
        assert!(fib.remove(&hasher.hash_name(&prefix(number).view()), FaceId(number)));
    }
    assert!(fib.memory() < full / 8, "{} of {full}", fib.memory());
    for number in PREFIXES - 100..PREFIXES {
        let owned = prefix(number);
        let found = fib.longest(&hasher.hash_name(&owned.view())).map(|(_, hops)| hops[0].face);
        assert_eq!(found, Some(FaceId(number)));
    }
}
