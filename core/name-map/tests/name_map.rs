//! The map of prefixes against a search of all prefixes, also with hashes that are equal for many names.

use hashlane_name_map::map::{Delimited, Ended, HashedPrefixes, InsertError, NameMap, Prefix};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Hashes of different goodness: few buckets and tags, one hash for all, and a good one.
fn hash(kind: u8, bytes: &[u8]) -> u64 {
    let mixed = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3).rotate_left(23)
    });
    match kind {
        0 => mixed,
        1 => (mixed % 3) | ((mixed % 5) << 48),
        _ => 0,
    }
}

/// A name of components without bounds: the ends of the components are apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Name {
    fn new(components: &[Vec<u8>]) -> Self {
        let mut name = Self { bytes: Vec::new(), ends: Vec::new() };
        for component in components {
            name.bytes.extend_from_slice(component);
            name.ends.push(name.bytes.len());
        }
        name
    }

    fn prefix(&self, kind: u8) -> Prefix<'_> {
        Prefix { bytes: &self.bytes, components: self.ends.len(), hash: hash(kind, &self.bytes) }
    }

    fn hashes(&self, kind: u8) -> Vec<u64> {
        self.ends.iter().map(|end| hash(kind, &self.bytes[..*end])).collect()
    }

    fn ended<'a>(&'a self, kind: u8, hashes: &'a [u64]) -> Ended<'a> {
        Ended { bytes: &self.bytes, ends: &self.ends, root: hash(kind, b""), hashes }
    }

    /// The key of a prefix: its bytes, and its number of components.
    fn key(&self, components: usize) -> (Vec<u8>, usize) {
        let end = components.checked_sub(1).map_or(0, |at| self.ends[at]);
        (self.bytes[..end].to_vec(), components)
    }
}

/// Few letters, and empty components, so that names share prefixes and have equal bytes for other components.
fn name() -> impl Strategy<Value = Name> {
    let component = prop::collection::vec(prop::sample::select(vec![b'a', b'b']), 0..3);
    prop::collection::vec(component, 0..7).prop_map(|components| Name::new(&components))
}

#[derive(Clone, Debug)]
enum Change {
    Insert(Name, u32),
    Remove(Name),
    Set(Name, u32),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => (name(), any::<u32>()).prop_map(|(name, value)| Change::Insert(name, value)),
        2 => name().prop_map(Change::Remove),
        1 => (name(), any::<u32>()).prop_map(|(name, value)| Change::Set(name, value)),
    ]
}

proptest! {
    #[test]
    fn every_lookup_finds_what_a_search_of_all_prefixes_finds(
        kind in 0..3_u8,
        changes in prop::collection::vec(change(), 0..300),
        names in prop::collection::vec(name(), 0..80),
    ) {
        // Names of up to five bytes in their entries, others in two parts.
        let (mut map, mut plain) = (NameMap::<u32, 5>::default(), BTreeMap::new());
        for change in changes {
            match change {
                Change::Insert(name, value) => {
                    let old = plain.insert(name.key(name.ends.len()), value);
                    prop_assert_eq!(map.insert(name.prefix(kind), value), Ok(old));
                }
                Change::Remove(name) => {
                    let old = plain.remove(&name.key(name.ends.len()));
                    prop_assert_eq!(map.remove(&name.prefix(kind)), old);
                }
                Change::Set(name, value) => {
                    let known = plain.get_mut(&name.key(name.ends.len()));
                    let found = map.find_mut(&name.prefix(kind));
                    prop_assert_eq!(found.as_deref(), known.as_deref());
                    if let (Some(found), Some(known)) = (found, known) {
                        (*found, *known) = (value, value);
                    }
                }
            }
            prop_assert_eq!(map.len(), plain.len());
        }
        let all: BTreeMap<_, _> =
            map.iter().map(|(parts, components, value)| ((parts.concat(), components), *value)).collect();
        prop_assert_eq!(&all, &plain);

        let hashes: Vec<_> = names.iter().map(|name| name.hashes(kind)).collect();
        let ended: Vec<_> = names.iter().zip(&hashes).map(|(name, hashes)| name.ended(kind, hashes)).collect();
        let expected: Vec<Vec<(usize, u32)>> = names.iter().map(|name| {
            let lengths = (0..=name.ends.len()).rev();
            lengths.filter_map(|length| Some((length, *plain.get(&name.key(length))?))).collect()
        }).collect();
        for (name, expected) in ended.iter().zip(&expected) {
            let all: Vec<_> = map.matches(name).map(|found| (found.components, *found.value)).collect();
            prop_assert_eq!(&all, expected);
            let longest = map.longest(name);
            prop_assert_eq!(longest.map(|found| (found.components, *found.value)), expected.first().copied());
            if let Some(found) = longest {
                prop_assert_eq!(map.at(found.slot), Some(found.value));
            }
        }
        let mut longest = Vec::new();
        map.longest_burst(&ended, |number, found| {
            longest.push((number, found.map(|found| (found.components, *found.value))));
        });
        let first = expected.iter().map(|all| all.first().copied()).enumerate();
        prop_assert!(longest.into_iter().eq(first));
        let mut matches = vec![Vec::new(); names.len()];
        map.matches_burst(&ended, |number, found| matches[number].push((found.components, *found.value)));
        prop_assert_eq!(matches, expected);
        let prefixes: Vec<_> = names.iter().map(|name| name.prefix(kind)).collect();
        let mut found = Vec::new();
        map.find_burst(&prefixes, |number, value| found.push((number, value.copied())));
        let exact = names.iter().map(|name| plain.get(&name.key(name.ends.len())).copied()).enumerate();
        prop_assert!(found.into_iter().eq(exact));
    }
}

fn numbered(number: u32) -> Name {
    Name::new(&[
        b"\x03org".to_vec(),
        format!("\x08{:08}", number / 3).into_bytes(),
        vec![1, b'a' + (number % 3) as u8],
    ])
}

#[test]
fn a_map_that_grows_and_shrinks_has_what_it_should_at_all_times() {
    const PREFIXES: u32 = 60_000;
    let mut map = NameMap::<_, 36>::default();
    let mut names = 0;
    for number in 0..PREFIXES {
        let name = numbered(number);
        names += name.bytes.len();
        assert_eq!(map.insert(name.prefix(0), [u64::from(number); 2]), Ok(None));
        // One of those before, in every state of a growth.
        let other = number.wrapping_mul(0x9e37_79b9) % (number + 1);
        assert_eq!(map.find(&numbered(other).prefix(0)), Some(&[u64::from(other); 2]));
        // A line for each entry, less the 26 or 32 bytes of its name there; at most 21 in the buckets, 11
        // more while a growth is under way; and three blocks that are being filled.
        let beyond = map.memory() - names;
        assert!(beyond <= 72 * map.len() + 768 * 1024, "{beyond} bytes beyond {} names", map.len());
    }
    let beyond = map.memory() - names;
    assert!(beyond <= 64 * map.len() + 768 * 1024, "{beyond} bytes beyond {} names", map.len());
    let full = map.memory();
    for number in 0..PREFIXES {
        if number % 100 > 0 {
            assert_eq!(map.remove(&numbered(number).prefix(0)), Some([u64::from(number); 2]));
            assert_eq!(map.remove(&numbered(number).prefix(0)), None);
        }
    }
    assert!(map.memory() < full / 8, "{} of {full}", map.memory());
    for number in 0..PREFIXES {
        let expected = (number % 100 == 0).then_some([u64::from(number); 2]);
        assert_eq!(map.find(&numbered(number).prefix(0)).copied(), expected);
    }
}

#[test]
fn memory_stays_within_its_bound_while_prefixes_flap() {
    let mut map = NameMap::<_, 8>::default();
    for number in 0..20_000 {
        map.insert(numbered(number).prefix(0), ()).unwrap();
    }
    let full = map.memory();
    for round in 0..200_000_u32 {
        let number = round.wrapping_mul(0x9e37_79b9) % 20_000;
        assert_eq!(map.remove(&numbered(number).prefix(0)), Some(()));
        map.insert(numbered(number).prefix(0), ()).unwrap();
    }
    // Removed names take at most as much as those in use, and two blocks.
    let names: usize = map.iter().map(|(parts, _, ())| parts.concat().len() + 8).sum();
    assert!(map.memory() < full + names + 2 * 256 * 1024, "{} of {full}", map.memory());
}

/// Entries of each length that a lookup of the name does not find: counts the hashes that it asks for.
struct Deep<'a>(Delimited<'a>, std::cell::Cell<usize>);

impl HashedPrefixes for Deep<'_> {
    fn components(&self) -> usize {
        self.0.components()
    }

    fn hash(&self, components: usize) -> u64 {
        self.1.set(self.1.get() + 1);
        self.0.hash(components)
    }

    fn starts_with(&self, components: usize, parts: [&[u8]; 2]) -> bool {
        self.0.starts_with(components, parts)
    }
}

#[test]
fn a_deep_name_costs_one_probe_for_each_length_in_use() {
    let mut map = NameMap::new();
    for length in [1, 7, 200] {
        let name = Name::new(&vec![b"\x01x".to_vec(); length]);
        map.insert(name.prefix(0), length).unwrap();
    }
    // 1,000 components in 8,800 bytes.
    let deep = Name::new(&vec![b"\x01yyyyyyy".to_vec(); 1100]);
    let hashes = deep.hashes(0);
    let name = Delimited { bytes: &deep.bytes, root: hash(0, b""), hashes: &hashes };
    let name = Deep(name, Default::default());
    assert!(map.longest(&name).is_none());
    assert_eq!((deep.bytes.len(), name.1.get()), (8800, 3));
}

#[test]
fn limits_of_prefixes_are_stated_and_hold() {
    let mut map = NameMap::new();
    let long = Name::new(&[vec![7; 0x1_0000]]);
    assert_eq!(map.insert(long.prefix(0), 1), Err(InsertError::TooLong { len: 0x1_0000 }));
    let deep = Name::new(&vec![b"x".to_vec(); 256]);
    assert_eq!(map.insert(deep.prefix(0), 1), Err(InsertError::TooDeep { components: 256 }));
    assert!(map.is_empty());
    let (long, deep) = (Name::new(&[vec![7; 0xffff]]), Name::new(&vec![b"x".to_vec(); 255]));
    assert_eq!((map.insert(long.prefix(0), 1), map.insert(deep.prefix(0), 2)), (Ok(None), Ok(None)));
    assert_eq!((map.find(&long.prefix(0)), map.find(&deep.prefix(0))), (Some(&1), Some(&2)));
    let deeper = Name::new(&vec![b"x".to_vec(); 1000]);
    let hashes = deeper.hashes(0);
    assert_eq!(map.longest(&deeper.ended(0, &hashes)).map(|found| found.components), Some(255));
    assert_eq!(map.remove(&long.prefix(0)), Some(1));
}

#[test]
fn names_of_one_hash_and_equal_bytes_differ_by_their_components() {
    let mut map = NameMap::new();
    let (one, two) = (Name::new(&[b"/ab".to_vec()]), Name::new(&[b"/a".to_vec(), b"b".to_vec()]));
    map.insert(one.prefix(2), 1).unwrap();
    map.insert(two.prefix(2), 2).unwrap();
    assert_eq!((map.find(&one.prefix(2)), map.find(&two.prefix(2))), (Some(&1), Some(&2)));
    // The first component of the name is longer than the prefix that it begins with.
    let other = Name::new(&[b"/abc".to_vec()]);
    let hashes = other.hashes(2);
    assert!(map.longest(&other.ended(2, &hashes)).is_none());
}
