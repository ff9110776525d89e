use super::*;
use hashlane_name::build::encode_into;
use hashlane_name::component::Component;
use hashlane_name::ndn::Ndn;
use proptest::prelude::*;
use std::collections::BTreeMap;

type Name = Vec<u8>;

/// A name of components of one byte and more; a component that is the start of another among them.
fn name() -> impl Strategy<Value = Name> {
    prop_oneof![
        8 => prop::collection::vec(prop::sample::select(vec![b'a', b'b', b'c']), 0..14),
        // Longer than the names that a vector of the designs has room for.
        1 => prop::collection::vec(prop::sample::select(vec![b'a', b'b']), 30..40),
    ]
}

fn encoded(name: &[u8]) -> Vec<u8> {
    let component = |letter: &u8| match letter {
        b'a' => &b"a"[..],
        b'b' => b"ab",
        _ => b"a component of more than sixteen bytes",
    };
    let mut out = Vec::new();
    let components = name.iter().map(|letter| Component::generic(component(letter)));
    encode_into::<Ndn>(&mut out, components).unwrap();
    out
}

#[derive(Clone, Debug)]
enum Change {
    Insert(Name),
    Remove(Name),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![2 => name().prop_map(Change::Insert), 1 => name().prop_map(Change::Remove)]
}

fn naive(prefixes: &BTreeMap<Name, u32>, name: &[u8]) -> Option<u32> {
    (0..=name.len()).rev().find_map(|len| prefixes.get(&name[..len])).copied()
}

fn check<D: LongestPrefix>(built: &[Name], changes: &[Change], asked: &[Name]) {
    let mut hasher = Hasher::new(&Key::VECTOR);
    let encoded_names: Vec<Vec<u8>> = built.iter().map(|name| encoded(name)).collect();
    let list: Strings = encoded_names.iter().map(Vec::as_slice).collect();
    let mut table = D::build(&list, &mut hasher);
    let mut expected: BTreeMap<Name, u32> = built.iter().cloned().zip(0..).collect();
    let asked_names: Vec<Vec<u8>> = asked.iter().map(|name| encoded(name)).collect();
    let compare = |table: &D, expected: &BTreeMap<Name, u32>, hasher: &mut Hasher| {
        for (names, asked) in asked_names.chunks(BURST).zip(asked.chunks(BURST)) {
            let mut found = [Some(7); BURST];
            table.longest(hasher.hash(names.iter().map(Vec::as_slice)).names(), &mut found);
            for (name, found) in asked.iter().zip(found) {
                assert_eq!(found, naive(expected, name), "{}", name.escape_ascii());
            }
        }
    };
    compare(&table, &expected, &mut hasher);
    for (number, change) in (1000..).zip(changes) {
        let (old, before) = match change {
            Change::Insert(name) => {
                let bytes = encoded(name);
                let hashed = hasher.hash([bytes.as_slice()].into_iter());
                (table.insert(&hashed.names()[0], number), expected.insert(name.clone(), number))
            }
            Change::Remove(name) => {
                let bytes = encoded(name);
                let hashed = hasher.hash([bytes.as_slice()].into_iter());
                (table.remove(&hashed.names()[0]), expected.remove(name))
            }
        };
        assert_eq!(old, before);
        compare(&table, &expected, &mut hasher);
    }
}

macro_rules! designs {
    ($($test:ident: $design:ty),* $(,)?) => {
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(48))]
            $(#[test]
            fn $test(
                built in prop::collection::btree_set(name(), 0..60),
                changes in prop::collection::vec(change(), 0..40),
                asked in prop::collection::vec(name(), 1..40),
            ) {
                let built: Vec<Name> = built.into_iter().collect();
                check::<$design>(&built, &changes, &asked);
            })*
        }
    };
}

designs! {
    name_map_finds_the_longest_prefix: name_map::Map,
    lengths_finds_the_longest_prefix: lengths::Lengths,
    two_stage_finds_the_longest_prefix: two_stage::TwoStage,
    binary_finds_the_longest_prefix: binary::Binary,
    fingerprints_finds_the_longest_prefix: fingerprints::Fingerprints,
    sorted_finds_the_longest_prefix: sorted::Sorted,
    per_component_finds_the_longest_prefix: per_component::PerComponent,
}

/// Growth, full buckets and removals, in tables of thousands.
#[test]
fn designs_agree_on_tables_that_grow() {
    let mut names = Strings::default();
    for number in 0..3000_u32 {
        let digits = (0..8).map(|at| b'a' + (number / 3_u32.pow(at) % 3) as u8);
        let name: Name = digits.chain((0..number % 4).map(|_| b'a')).collect();
        names.push(&encoded(&name));
    }
    let mut answers = Vec::new();
    for (id, build) in DESIGNS.iter().filter(|(id, _)| ![HASHING, "sorted"].contains(id)) {
        let mut table = build(&Strings::default(), &Key::VECTOR).unwrap();
        assert_eq!(table.replace(&names, 5), Some(0), "{id}");
        answers.push(table.find(&names));
        assert_eq!(table.replace(&names, 0), Some(3000), "{id}");
        answers.push(table.find(&names));
        assert!(table.memory().is_some_and(|bytes| bytes > names.bytes().len() / 8), "{id}");
    }
    for pair in answers.chunks(2) {
        assert_eq!((pair[0].names, pair[1].names, pair[0].sum - pair[1].sum), (3000, 3000, 5 * 3000));
    }
}
