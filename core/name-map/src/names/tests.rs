//! Strings that come, go and move, against a map that owns them.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Strings by owner: position, bytes.
#[derive(Default)]
struct Strings(BTreeMap<u32, (Position, Vec<u8>)>);

impl Owners for Strings {
    fn len_of(&self, owner: u32) -> Option<usize> {
        self.0.get(&owner).map(|(_, bytes)| bytes.len())
    }

    fn moved(&mut self, owner: u32, to: Position) {
        self.0.get_mut(&owner).unwrap().0 = to;
    }
}

impl Strings {
    fn add(&mut self, names: &mut Names, owner: u32, bytes: Vec<u8>) {
        let position = names.push(owner, &bytes).unwrap();
        self.0.insert(owner, (position, bytes));
    }

    fn remove(&mut self, names: &mut Names, owner: u32) {
        if let Some((position, bytes)) = self.0.remove(&owner) {
            names.remove(position, bytes.len(), self);
        }
    }

    fn check(&self, names: &Names) {
        for (position, bytes) in self.0.values() {
            assert_eq!(names.get(*position, bytes.len()), bytes);
        }
        let used: usize = self.0.values().map(|(_, bytes)| UNIT * units(bytes.len()) as usize).sum();
        assert_eq!(UNIT as u64 * (names.units - names.removed), used as u64);
        // Twice the strings, a block that is being filled, one that is being cleaned, and little blocks.
        assert!(names.memory() <= 2 * used + 2 * BLOCK + 16 * 1024, "{} of {used}", names.memory());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn strings_stay_what_they_are_while_others_come_and_go(
        steps in prop::collection::vec((0..60_u32, 0..3_u8, prop_oneof![0..200_usize, 0..9000_usize]), 1..1500),
    ) {
        let (mut names, mut strings) = (Names::new(), Strings::default());
        for (step, (owner, kind, len)) in (0_u8..=255).cycle().zip(steps) {
            strings.remove(&mut names, owner);
            if kind > 0 {
                strings.add(&mut names, owner, std::vec![step; len]);
            }
            if step % 64 == 0 {
                strings.check(&names);
            }
        }
        strings.check(&names);
    }
}

#[test]
fn memory_of_removed_strings_is_used_again_and_freed() {
    let (mut names, mut strings) = (Names::new(), Strings::default());
    let text = |number: u32| std::format!("name-{number}").into_bytes();
    for number in 0..100_000 {
        strings.add(&mut names, number % 20_000, text(number));
        if number % 20_000 == 19_999 {
            strings.check(&names);
            // Every other one, so that no block empties by itself.
            (0..20_000).filter(|owner| owner % 9 != 0).for_each(|owner| strings.remove(&mut names, owner));
            strings.check(&names);
            (0..20_000).for_each(|owner| strings.remove(&mut names, owner));
        }
    }
    assert!(names.memory() < 1024, "{}", names.memory());
}

#[test]
fn a_few_strings_that_flap_take_little() {
    let (mut names, mut strings) = (Names::new(), Strings::default());
    (0..10).for_each(|owner| strings.add(&mut names, owner, std::vec![7; 40]));
    for round in 0..10_000 {
        strings.remove(&mut names, round % 10);
        strings.add(&mut names, round % 10, std::vec![7; 40]);
        assert!(names.memory() < 10 * 1024, "{}", names.memory());
    }
    strings.check(&names);
}

#[test]
fn a_string_that_is_too_long_is_refused() {
    let mut names = Names::new();
    assert!(names.push(0, &std::vec![0; Names::MAX_LEN + 1]).is_none());
    let longest = std::vec![1; Names::MAX_LEN];
    let position = names.push(0, &longest).unwrap();
    assert_eq!(names.get(position, longest.len()), longest);
}
