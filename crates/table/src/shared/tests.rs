//! One thread against the standard library's map; then several at once.

use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::vec::Vec;

/// Few keys, so that they repeat.
#[derive(Clone, Copy, Debug)]
enum Step {
    Insert(u64, u64),
    Remove(u64),
    Find(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let key = 0..100u64;
    prop_oneof![
        3 => (key.clone(), any::<u64>()).prop_map(|(k, v)| Step::Insert(k, v)),
        2 => key.clone().prop_map(Step::Remove),
        2 => key.prop_map(Step::Find),
    ]
}

/// Three hashes of different goodness: the second shares buckets and tags, the third all bits.
fn hash(kind: u8, key: u64) -> u64 {
    match kind {
        0 => key.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29),
        1 => ((key % 3) << 48) | (key % 5),
        _ => 0,
    }
}

fn words(key: u64) -> [u64; 5] {
    [0, key, !key, key << 32, 7]
}

proptest! {
    #[test]
    fn behaves_like_a_map_of_fixed_size(capacity in 0..90usize, kind in 0..3u8, steps in vec(step(), 0..600)) {
        let (mut writer, reader) = table::<5>(capacity);
        let mut map = BTreeMap::new();
        for step in steps {
            match step {
                Step::Insert(key, value) => {
                    let inserted = writer.insert(hash(kind, key), &words(key), value);
                    if map.len() < capacity || map.contains_key(&key) {
                        prop_assert_eq!(inserted, Ok(map.insert(key, value)));
                    } else {
                        prop_assert_eq!(inserted, Err(InsertError::Full));
                    }
                }
                Step::Remove(key) => {
                    prop_assert_eq!(writer.remove(hash(kind, key), &words(key)), map.remove(&key));
                }
                Step::Find(key) => {
                    reader.prefetch(hash(kind, key));
                    reader.prefetch_entry(hash(kind, key));
                    prop_assert_eq!(reader.find(hash(kind, key), &words(key)), map.get(&key).copied());
                    prop_assert_eq!(writer.find(hash(kind, key), &words(key)), map.get(&key).copied());
                }
            }
            prop_assert_eq!((writer.len(), writer.is_empty()), (map.len(), map.is_empty()));
        }
        let entries: BTreeMap<_, _> = writer.iter().collect();
        prop_assert_eq!(writer.iter().count(), map.len());
        prop_assert_eq!(entries, map.into_iter().map(|(key, value)| (words(key), value)).collect());
    }
}

#[test]
fn takes_as_many_entries_as_it_was_made_for() {
    for capacity in [0, 1, 7, 64, 1000] {
        let (mut writer, reader) = table::<1>(capacity);
        let keys: Vec<u64> = (0..capacity as u64).collect();
        for key in &keys {
            assert_eq!(writer.insert(hash(0, *key), &[*key], !key), Ok(None));
        }
        assert_eq!((writer.len(), writer.capacity()), (capacity, capacity));
        assert_eq!(writer.insert(hash(0, u64::MAX), &[u64::MAX], 0), Err(InsertError::Full));
        assert!(keys.iter().all(|key| reader.find(hash(0, *key), &[*key]) == Some(!key)));
    }
}

#[test]
fn a_key_of_zeros_is_not_found_in_empty_places() {
    let (mut writer, reader) = table::<2>(4);
    // Hashes whose tag and place are as near to an empty slot as they can be.
    assert_eq!(reader.find(0, &[0, 0]), None);
    assert_eq!(writer.insert(0, &[0, 0], 5), Ok(None));
    assert_eq!(writer.remove(0, &[0, 0]), Some(5));
    assert_eq!(reader.find(0, &[0, 0]), None);
}

#[test]
fn a_ticket_comes_back_only_after_all_others_of_its_place() {
    let memory = Memory::<1>::new(8, 10);
    let mut ticket = 3;
    for used in 1..1 << 20 {
        ticket = memory.next_ticket(ticket);
        assert_eq!(ticket, used << 4 | 3);
    }
    // The count has 44 bits and then starts again, at the same place and without touching the tag.
    assert_eq!(memory.next_ticket((1 << 48) - 16 + 3), 3);
}

#[test]
fn a_bucket_is_one_cache_line() {
    assert_eq!((size_of::<memory::Bucket>(), align_of::<memory::Bucket>()), (64, 64));
}

#[test]
fn a_reader_outlives_its_writer() {
    let (mut writer, reader) = table::<1>(1);
    assert_eq!(writer.insert(9, &[1], 2), Ok(None));
    drop(writer);
    assert_eq!(thread::spawn(move || reader.find(9, &[1])).join().ok(), Some(Some(2)));
}

/// Keys that come and go, in few buckets and with few tags, among keys that stay.
#[test]
fn readers_see_each_key_move_forward_in_time() {
    const KEYS: u64 = 48;
    const ROUNDS: u64 = 60_000;
    let hash = |key: u64| ((key % 3) << 50) | (key % 4);
    let (mut writer, reader) = table::<5>(KEYS as usize - 10);
    let is_staying = |key: u64| key.is_multiple_of(4);
    // A value is its key and when it was written.
    for key in (0..KEYS).filter(|key| is_staying(*key)) {
        assert_eq!(writer.insert(hash(key), &words(key), key << 32), Ok(None));
    }
    let done = AtomicBool::new(false);
    let found = thread::scope(|scope| {
        let read = || {
            let mut last = [0; KEYS as usize];
            loop {
                let is_done = done.load(Ordering::Acquire);
                let mut found = 0;
                for (key, last) in (0..).zip(&mut last) {
                    let Some(value) = reader.find(hash(key), &words(key)) else {
                        assert!(!is_staying(key), "{key} was there all the while");
                        continue;
                    };
                    assert_eq!(value >> 32, key, "a value of another key");
                    assert!(value & 0xffff_ffff >= *last, "an older value than was seen before");
                    *last = value & 0xffff_ffff;
                    found += 1;
                }
                if is_done {
                    return found;
                }
            }
        };
        let readers = [scope.spawn(read), scope.spawn(read)];
        let mut random = 1u64;
        for round in 1..=ROUNDS {
            for _ in 0..KEYS {
                random = random.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
                let key = (random >> 40) % KEYS;
                if is_staying(key) || random >> 63 == 0 {
                    // The table may be full, and then the key stays absent.
                    let _ = writer.insert(hash(key), &words(key), key << 32 | round);
                } else {
                    writer.remove(hash(key), &words(key));
                }
            }
        }
        done.store(true, Ordering::Release);
        readers.map(|reader| reader.join().expect("a reader"))
    });
    assert_eq!(found, [writer.len(); 2], "what is found when the writer is done");
}
