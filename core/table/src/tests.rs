//! Every table against the standard library's map.

use crate::batched::Batched;
use crate::chained::Chained;
use crate::swiss::Swiss;
use crate::{Inserted, Table};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::vec::Vec;

/// Few keys, so that they repeat; hashes that share buckets, tags or all their bits.
#[derive(Clone, Copy, Debug)]
enum Step {
    Insert(u16, u32),
    Remove(u16),
    Find(u16),
    Change(u16, u32),
}

fn step() -> impl Strategy<Value = Step> {
    let key = 0..200u16;
    prop_oneof![
        4 => (key.clone(), any::<u32>()).prop_map(|(k, v)| Step::Insert(k, v)),
        2 => key.clone().prop_map(Step::Remove),
        2 => key.clone().prop_map(Step::Find),
        1 => (key, any::<u32>()).prop_map(|(k, v)| Step::Change(k, v)),
    ]
}

/// Three hashes of different goodness.
fn hash(kind: u8, key: u16) -> u64 {
    match kind {
        0 => u64::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29),
        1 => u64::from(key % 3) << 48 | u64::from(key % 5),
        _ => 0,
    }
}

fn behaves_like_a_map<T: Table<u16, u32>>(capacity: usize, kind: u8, steps: &[Step]) {
    let hash = |key: &u16| hash(kind, *key);
    let mut table = T::with_capacity(capacity);
    let mut map = BTreeMap::new();
    let mut slots = BTreeMap::new();
    for step in steps {
        match *step {
            Step::Insert(key, value) => {
                if map.contains_key(&key) {
                    continue;
                }
                let Inserted { slot, moved } = table.insert(hash(&key), key, value, hash);
                assert!(!(moved && T::SLOTS_STAY));
                if moved {
                    slots = table.iter().map(|(slot, key, _)| (*key, slot)).collect();
                }
                map.insert(key, value);
                slots.insert(key, slot);
            }
            Step::Remove(key) => {
                assert_eq!(table.remove(hash(&key), &key), map.remove(&key));
                assert!(slots.remove(&key).is_none_or(|slot| table.entry(slot).is_none()));
            }
            Step::Find(key) => {
                table.prefetch(hash(&key));
                table.prefetch_entry(hash(&key));
                assert_eq!(table.find(hash(&key), &key), map.get(&key));
                assert_eq!(slots.get(&key).and_then(|slot| table.entry(*slot)), map.get_key_value(&key));
                assert!(!map.contains_key(&key) || table.comparisons(hash(&key), &key) > 0);
            }
            Step::Change(key, value) => {
                if let Some(old) = table.find_mut(hash(&key), &key) {
                    assert_eq!(*old, map[&key]);
                    *old = value;
                    map.insert(key, value);
                } else {
                    assert!(!map.contains_key(&key));
                }
            }
        }
        assert_eq!((table.len(), table.is_empty()), (map.len(), map.is_empty()));
    }
    let entries: BTreeMap<u16, u32> = table.iter().map(|(_, key, value)| (*key, *value)).collect();
    assert_eq!(entries, map);
    let taken: HashSet<u32> = table.iter().map(|(slot, ..)| slot).collect();
    assert_eq!(taken.len(), map.len());
    for (slot, key, value) in table.iter() {
        assert!((slot as usize) < table.slots());
        assert_eq!(table.entry(slot), Some((key, value)));
        assert_eq!(table.find(hash(key), key), Some(value));
    }
}

proptest! {
    #[test]
    fn tables_behave_like_a_map(capacity in 0..100usize, kind in 0..3u8, steps in vec(step(), 0..600)) {
        behaves_like_a_map::<Chained<u16, u32>>(capacity, kind, &steps);
        behaves_like_a_map::<Swiss<u16, u32>>(capacity, kind, &steps);
        behaves_like_a_map::<Batched<u16, u32>>(capacity, kind, &steps);
    }
}

#[test]
fn a_batched_table_moves_eight_entries_an_insertion_at_most() {
    let calls = core::cell::Cell::new(0);
    let hash = |key: &u32| u64::from(*key).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let rehash = |key: &u32| {
        calls.set(calls.get() + 1);
        hash(key)
    };
    let mut table = Batched::with_capacity(0);
    let (mut moved, mut of_slot) = (0_u64, Vec::new());
    for key in 0..300_000_u32 {
        calls.set(0);
        of_slot.push(table.insert(hash(&key), key, !key, rehash).slot);
        assert!(calls.get() <= 8, "{} moved by one insertion", calls.get());
        moved += calls.get();
        // An entry of each age is found in every state of a growth, once, and can be removed.
        let old = key / 2;
        let mut seen = 0;
        table.slot_by(hash(&old), |_, other, _| {
            seen += u32::from(*other == old);
            false
        });
        assert_eq!(seen, u32::from(key % 2 == 0), "{key}");
        if key % 2 == 0 {
            assert_eq!(table.remove_slot(hash(&old), of_slot[old as usize]), Some((old, !old)));
        }
    }
    assert!(moved > 150_000, "{moved}");
    // A slot and its bucket: twice the memory of the entries and the list of free ones at most.
    assert!(table.memory() < 300_000 * 2 * (16 + 64 / 3 + 4), "{}", table.memory());
}

#[test]
fn a_batched_table_takes_no_memory_within_its_room() {
    let hash = |key: &u32| u64::from(*key).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let mut table = Batched::with_capacity(20_000);
    let memory = table.memory();
    for key in 0..200_000_u32 {
        if key >= 20_000 {
            assert_eq!(table.remove(hash(&(key - 20_000)), &(key - 20_000)), Some(()));
        }
        table.insert(hash(&key), key, (), |_| unreachable!("nothing moves within the room"));
        assert_eq!(table.memory(), memory);
    }
}

fn survives_churn<T: Table<u32, u32>>() {
    let hash = |key: &u32| u64::from(*key).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(*key) << 40;
    let mut table = T::with_capacity(1000);
    let slots = table.slots();
    for key in 0..100_000u32 {
        table.insert(hash(&key), key, key, hash);
        if key >= 700 {
            let old = key - 700;
            assert!(table.remove(hash(&old), &old) == Some(old));
        }
    }
    assert_eq!(table.len(), 700);
    assert!(table.slots() <= slots.max(701), "a table with as many entries as ever must not grow");
    let most = table.iter().map(|(_, key, _)| table.comparisons(hash(key), key)).max();
    assert!(most.is_some_and(|most| most < 16), "{most:?}");
}

#[test]
fn churn_neither_grows_nor_slows_a_table() {
    survives_churn::<Chained<u32, u32>>();
    survives_churn::<Swiss<u32, u32>>();
    survives_churn::<Batched<u32, u32>>();
}

#[test]
fn one_chain_is_as_long_as_its_bucket_is_full() {
    let mut table = Chained::with_capacity(64);
    for key in 0..40u64 {
        table.insert(key << 32 | 5, key, (), |key| *key);
    }
    assert_eq!(table.longest_chain(), 40);
    // The newest is first.
    assert_eq!(table.comparisons(39 << 32 | 5, &39), 1);
    assert_eq!(table.comparisons(5, &0), 40);
}

#[test]
fn entries_of_a_good_hash_are_found_at_the_first_comparison() {
    let hash = |key: &u64| {
        let mixed = (key ^ key >> 31).wrapping_mul(0xd6e8_feb8_6659_fd93);
        (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
    };
    let keys: Vec<u64> = (0..10_000).collect();
    let mut batched = Batched::with_capacity(0);
    let mut swiss = Swiss::with_capacity(0);
    for key in &keys {
        batched.insert(hash(key), *key, (), hash);
        swiss.insert(hash(key), *key, (), hash);
    }
    let first = |compared: &dyn Fn(&u64) -> usize| keys.iter().filter(|key| compared(key) == 1).count();
    assert!(first(&|key| batched.comparisons(hash(key), key)) > 9990);
    assert!(first(&|key| swiss.comparisons(hash(key), key)) > 9000);
}

#[test]
fn a_slot_says_all_of_its_entry() {
    for kind in 0..3 {
        let hash = |key: &u16| hash(kind, *key);
        let mut table = Batched::with_capacity(0);
        let slots: Vec<u32> =
            (0..100).map(|key| table.insert(hash(&key), key, u32::from(key), hash).slot).collect();
        for (key, slot) in (0..100).zip(slots) {
            assert_eq!(
                table.slot_by(hash(&key), |slot, other, value| *other == key
                    && *value == u32::from(key)
                    && table.entry(slot) == Some((other, value))),
                Some(slot)
            );
            *table.entry_mut(slot).unwrap().1 += 1;
            assert_eq!(table.remove_slot(hash(&key), slot), Some((key, u32::from(key) + 1)));
            assert_eq!(table.remove_slot(hash(&key), slot), None);
            assert_eq!(table.slot_by(hash(&key), |_, other, _| *other == key), None);
        }
        assert!(table.is_empty());
    }
}
