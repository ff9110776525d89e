//! Entries that Data satisfies.

use super::{letters, name};
use crate::support::{Ask, data_of};
use hashlane_hash::scheme::Key;
use hashlane_name::build::OwnedName;
use hashlane_name::component::{Component, IMPLICIT_SHA256_DIGEST};
use hashlane_name::ndn::Ndn;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{Data, Interest};
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::hashed::NameHasher;
use hashlane_ndn_fw::pit::{ByName, HopFields, OutRecord, Pit as _};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// An entry, and its upstreams.
type Entry = (Vec<u8>, bool, bool, u8, u8);

/// End of a name after the letters: nothing, the digest of a packet of that name, or another digest.
fn with_digest(letters: &[u8], digest: u8) -> OwnedName<Ndn> {
    let plain = name(letters);
    let bytes = match digest {
        0 | 1 => return plain,
        2 => Data::parse(&data_of(&plain, 0, b"")).expect("Data").implicit_digest(),
        _ => [7; 32],
    };
    let view = plain.view();
    let last = Component { typ: IMPLICIT_SHA256_DIGEST, value: &bytes };
    OwnedName::from_components(view.components().chain([last])).expect("a short name")
}

fn ask((letters, can_be_prefix, must_be_fresh, digest, hint): &Entry) -> Vec<u8> {
    let hints = if *hint > 1 { vec![name(&[*hint - 2])] } else { Vec::new() };
    let ask = Ask::of(with_digest(letters, *digest), 1);
    Ask { can_be_prefix: *can_be_prefix, must_be_fresh: *must_be_fresh, hints, ..ask }.build()
}

fn normal((letters, prefix, fresh, digest, hint): Entry) -> Entry {
    (letters, prefix, fresh, digest.max(1), hint.max(1))
}

proptest! {
    #[test]
    fn matches_what_a_look_at_all_entries_matches(
        changes in prop::collection::vec(
            ((letters(5), any::<bool>(), any::<bool>(), 0..4_u8, 0..4_u8).prop_map(normal), 0..4_u32, 0..5_u8),
            1..80,
        ),
        arrivals in prop::collection::vec((letters(6), 1..4_u32), 1..20),
    ) {
        let mut hasher = NameHasher::new(&Key::VECTOR);
        let mut pit = ByName::default();
        let mut plain: BTreeMap<Entry, u32> = BTreeMap::new();
        let end = Time::from_millis(1000);
        for (entry, face, change) in changes {
            let bytes = ask(&entry);
            let interest = Interest::parse(&bytes).expect("an Interest");
            let owned = with_digest(&entry.0, entry.3);
            let hashed = hasher.parse(owned.as_bytes()).expect("a name");
            let found = pit.find(&hashed, &interest, &());
            prop_assert_eq!(found.is_some(), plain.contains_key(&entry));
            match found {
                Some(slot) if change == 0 => {
                    pit.remove(slot);
                    plain.remove(&entry);
                }
                Some(_) => {}
                None => {
                    let slot = pit.insert(&hashed, &interest, (), end);
                    let out = OutRecord {
                        face: FaceId(face),
                        nonce: 1,
                        sent: Time::default(),
                        expires: end,
                        nack: None,
                        suppression: 0,
                        non_discovery: false,
                    };
                    pit.entry_mut(slot).expect("an entry").1.outs.push(out);
                    plain.insert(entry, face);
                }
            }
            prop_assert_eq!(pit.len(), plain.len());
        }
        for (letters, face) in arrivals {
            let owned = name(&letters);
            let bytes = data_of(&owned, 0, b"");
            let data = Data::parse(&bytes).expect("Data");
            let other = hasher.clone();
            let hashed = hasher.parse(owned.as_bytes()).expect("a name");
            let matches = pit
                .matches(&hashed, FaceId(face), HopFields::default(), || data.implicit_digest(), |name| other.hash(name))
                .expect("no digest");
            let mut found: Vec<Vec<u8>> =
                matches.iter().map(|slot| pit.entry(*slot).expect("an entry").0.packet().to_vec()).collect();
            let satisfied = plain.iter().filter(|((of, prefix, _, digest, _), went)| {
                let is = match digest {
                    1 => *of == letters || *prefix && letters.starts_with(of),
                    2 => *of == letters,
                    _ => false,
                };
                is && **went == face
            });
            let mut expected: Vec<_> = satisfied.map(|(entry, _)| ask(entry)).collect();
            found.sort();
            expected.sort();
            prop_assert_eq!(found, expected);
        }
        prop_assert_eq!(pit.pop_expired(Time::from_millis(999)), None);
        while let Some(slot) = pit.pop_expired(end) {
            pit.remove(slot);
        }
        prop_assert!(pit.is_empty() && pit.next_expiry().is_none());
    }
}

#[test]
fn memory_is_that_of_the_whole_table() {
    let mut hasher = NameHasher::new(&Key::VECTOR);
    let mut pit = ByName::default();
    let empty = pit.memory();
    // The wheel has a place for each of its ticks, and each length of a name a counter.
    assert!((1000..100_000).contains(&empty), "{empty}");
    let mut packets = 0;
    let mut slots = Vec::new();
    for number in 0..10_000_u32 {
        let owned =
            OwnedName::from_components([Component::generic(&number.to_be_bytes())]).expect("a short name");
        let bytes = Ask::of(owned, 1).build();
        let interest = Interest::parse(&bytes).expect("an Interest");
        slots.push(pit.insert(&hasher.hash_name(&interest.name()), &interest, (), Time::from_millis(1)));
        packets += bytes.len();
    }
    let full = pit.memory();
    // Vectors have up to twice the room that they need.
    assert!((100..600).contains(&((full - empty) / 10_000)), "{full}");
    for slot in slots {
        pit.remove(slot);
    }
    let emptied = pit.memory();
    // The places stay, and a list of those that are free has come to be.
    let free = emptied + packets - full;
    assert!((4 * 10_000..=8 * 10_000 + 64).contains(&free), "{free}");
}
