//! The methods of hashing every prefix, compared with each other and with the parsers.

use crate::support::{Owned, built, components, damaged};
use hashlane_hash::crc32c::{Crc32c, Crc32cMasked, Crc32cShifted};
use hashlane_hash::prefix::EveryPrefix;
use hashlane_hash::scheme::{BytesHash, Key, PrefixHash, Scheme};
use hashlane_hash::siphash::{SipHash13, SipHash24};
use hashlane_name::ccnx::Ccnx;
use hashlane_name::error::ParseError;
use hashlane_name::layout::Layout;
use hashlane_name::ndn::Ndn;
use hashlane_name::offset::Offset;
use hashlane_name::prefix::{
    BurstHashes, HashBuffer, OnePass, all_at_once, all_at_once_longest_first, all_in_one, one_by_one,
    one_by_one_longest_first,
};
use hashlane_name::view::Name;
use hashlane_name::walk::Walk;
use proptest::prelude::*;

type Hashes = Result<Vec<u64>, ParseError>;

/// The definition: the parser's ends, and each prefix hashed from its start.
fn expected<E: Layout, H: BytesHash>(hash: &H, bytes: &[u8]) -> Hashes {
    let name = Name::<E>::parse(bytes)?;
    let bytes = name.walk().bytes();
    Ok(name.spans().map(|span| hash.hash(&bytes[..span.end])).collect())
}

fn kept(way: impl FnOnce(&mut HashBuffer) -> Result<(), ParseError>) -> Hashes {
    let mut kept = HashBuffer::new();
    way(&mut kept)?;
    Ok(kept.hashes().to_vec())
}

fn reversed(hashes: Hashes) -> Hashes {
    hashes.map(|mut hashes| {
        hashes.reverse();
        hashes
    })
}

fn one_by_one_agrees<E: Layout, H: PrefixHash>(hash: &H, bytes: &[u8]) {
    let expected = expected::<E, H>(hash, bytes);
    assert_eq!(kept(|kept| one_by_one::<E, H>(hash, bytes, kept)), expected);
    assert_eq!(reversed(kept(|kept| one_by_one_longest_first::<E, H>(hash, bytes, kept))), expected);
}

/// Compares names that parse; an offset name is read anew, not walked.
fn all_at_once_agrees<E: Layout, H: BytesHash>(hash: &H, bytes: &[u8]) {
    let expected = expected::<E, H>(hash, bytes);
    assert_eq!(reversed(kept(|kept| all_at_once_longest_first::<E, H>(hash, bytes, kept))), expected);
    if let Ok(hashes) = &expected {
        let longest = hashes.last().copied().unwrap_or_else(|| hash.hash(b""));
        assert_eq!(kept(|kept| all_in_one::<E, H>(hash, bytes, kept)), Ok(vec![longest]));
        assert_eq!(kept(|kept| all_at_once::<E, H>(hash, bytes, kept)), expected);
    }
}

fn one_pass_agrees<E: Layout, H: EveryPrefix>(hash: &H, names: &[Vec<u8>]) {
    let mut one_pass = OnePass::<E, H>::new(hash.clone());
    let expected: Vec<_> = names.iter().map(|bytes| expected::<E, H>(hash, bytes)).collect();
    for (bytes, expected) in names.iter().zip(&expected) {
        assert_eq!(&one_pass.name(bytes).map(<[u64]>::to_vec), expected);
    }
    let mut found = BurstHashes::new();
    // Twice: nothing of a burst is left in the next.
    for names in [names, &names[..names.len() / 2]] {
        one_pass.burst(names.iter().map(Vec::as_slice), &mut found);
        assert_eq!(found.len(), names.len());
        assert!(found.iter().map(|hashes| hashes.map(<[u64]>::to_vec)).eq(expected[..names.len()].to_vec()));
        assert_eq!(found.name(names.len()), Ok(&[][..]), "a number that no name has");
    }
}

fn every_way_agrees<E: Layout>(key: [u8; 16], names: &[Vec<u8>]) {
    let key = Key::new(key);
    for bytes in names {
        one_by_one_agrees::<E, _>(&Crc32c::new(&key), bytes);
        one_by_one_agrees::<E, _>(&Crc32cShifted::new(&key), bytes);
        one_by_one_agrees::<E, _>(&SipHash24::new(&key), bytes);
        all_at_once_agrees::<E, _>(&Crc32c::new(&key), bytes);
        all_at_once_agrees::<E, _>(&SipHash13::new(&key), bytes);
        all_at_once_agrees::<E, _>(&hashlane_hash::city::CityHash64, bytes);
    }
    one_pass_agrees::<E, _>(&Crc32c::new(&key), names);
    one_pass_agrees::<E, _>(&SipHash13::new(&key), names);
    one_pass_agrees::<E, _>(&SipHash24::new(&key), names);
}

/// Names whole and broken, short ones and such that no group takes.
fn names<E: Layout>() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let whole = components().prop_map(|components: Vec<Owned>| built::<E>(&components).into_bytes());
    prop::collection::vec(prop_oneof![4 => whole, 1 => damaged::<E>()], 0..30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_way_over_ndn_names_gives_the_same(key: [u8; 16], names in names::<Ndn>()) {
        every_way_agrees::<Ndn>(key, &names);
    }

    #[test]
    fn every_way_over_ccnx_names_gives_the_same(key: [u8; 16], names in names::<Ccnx>()) {
        every_way_agrees::<Ccnx>(key, &names);
    }

    #[test]
    fn every_way_over_offset_names_gives_the_same(key: [u8; 16], names in names::<Offset>()) {
        every_way_agrees::<Offset>(key, &names);
    }

    #[test]
    fn masked_components_are_those_padded_with_zeros(components in components()) {
        let name = built::<Ndn>(&components);
        let bytes = name.view().walk().bytes();
        let mut padded = Vec::new();
        let expected: Vec<u64> = name
            .view()
            .spans()
            .map(|span| {
                padded.extend_from_slice(&bytes[span.clone()]);
                padded.resize(padded.len() + 8 - span.len() % 8, 0);
                Crc32c::new(&Key::VECTOR).hash(&padded)
            })
            .collect();
        let masked = Crc32cMasked::new(&Key::VECTOR);
        let found = kept(|kept| one_by_one::<Ndn, _>(&masked, name.as_bytes(), kept));
        prop_assert_eq!(found, Ok(expected));
    }
}

#[test]
fn a_name_of_no_component_has_no_prefix() {
    one_pass_agrees::<Ndn, _>(&Crc32c::detect(), &[vec![7, 0], vec![7, 0], vec![]]);
    one_pass_agrees::<Offset, _>(&Crc32c::detect(), &[vec![0, 0, 0]]);
}

#[test]
fn digests_and_long_types_stand_in_a_burst_like_others() {
    let digest = (1, vec![7; 32]);
    let long = (40_000, b"x".to_vec());
    let names: Vec<_> = [vec![digest.clone()], vec![long.clone(), digest.clone()], vec![digest, long]]
        .iter()
        .map(|components| built::<Ndn>(components).into_bytes())
        .collect();
    one_pass_agrees::<Ndn, _>(&SipHash24::new(&Key::VECTOR), &names);
}

/// The documentation of `prefix` warns of offset names, under any key; TLV names are not affected.
#[test]
fn offset_names_with_other_borders_collide() {
    let name = |components: [&[u8]; 2]| components.map(|value| (8, value.to_vec())).to_vec();
    let (a, b) = (name([b"ab", b"c"]), name([b"a", b"bc"]));
    for key in [[1; 16], [2; 16]] {
        let hash = SipHash24::new(&Key::new(key));
        let longest = |bytes: &[u8], offset: bool| {
            let hashes =
                if offset { expected::<Offset, _>(&hash, bytes) } else { expected::<Ndn, _>(&hash, bytes) };
            hashes.unwrap().pop()
        };
        assert_eq!(
            longest(built::<Offset>(&a).as_bytes(), true),
            longest(built::<Offset>(&b).as_bytes(), true)
        );
        assert_ne!(longest(built::<Ndn>(&a).as_bytes(), false), longest(built::<Ndn>(&b).as_bytes(), false));
    }
}
