//! One thread against the standard library's map; then several at once.

use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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

/// Against a map: a table that begins with `room` and has values of type `V`.
fn behaves_like_a_map<V: Pod + PartialEq + Debug>(
    (room, limit): (usize, usize),
    kind: u8,
    steps: &[Step],
    of: impl Fn(u64) -> V,
) -> Result<(), TestCaseError> {
    let (mut writer, reader) = table::<5, V>(room, limit);
    let mut map = BTreeMap::new();
    for step in steps {
        match *step {
            Step::Insert(key, value) => {
                let rehash = |words: &[u64; 5]| hash(kind, words[1]);
                let inserted = writer.insert(hash(kind, key), &words(key), of(value), rehash);
                if map.len() < limit || map.contains_key(&key) {
                    prop_assert_eq!(inserted, Ok(map.insert(key, of(value))));
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
    let mut entries: Vec<_> = writer.iter().collect();
    entries.sort_unstable_by_key(|(words, _)| words[1]);
    let expected: Vec<_> = map.into_iter().map(|(key, value)| (words(key), value)).collect();
    prop_assert_eq!(entries, expected);
    Ok(())
}

proptest! {
    #[test]
    fn behaves_like_a_map_with_a_limit(
        room in 0..90usize,
        limit in 0..90usize,
        kind in 0..3u8,
        steps in vec(step(), 0..600),
    ) {
        behaves_like_a_map((room, limit), kind, &steps, |value| value)?;
        behaves_like_a_map((room, limit), kind, &steps, |value| value as u8)?;
        behaves_like_a_map((room, limit), kind, &steps, |value| [value, !value, value / 3])?;
        behaves_like_a_map((room, limit), kind, &steps, |value| [value as u8; 13])?;
    }
}

#[test]
fn takes_as_many_entries_as_its_limit() {
    for limit in [0, 1, 7, 64, 1000, 20_000] {
        let (mut writer, reader) = table::<1, u64>(limit / 100, limit);
        let keys: Vec<u64> = (0..limit as u64).collect();
        let rehash = |words: &[u64; 1]| hash(0, words[0]);
        for key in &keys {
            assert_eq!(writer.insert(hash(0, *key), &[*key], !key, rehash), Ok(None));
        }
        assert_eq!((writer.len(), writer.capacity()), (limit, limit));
        assert_eq!(writer.insert(hash(0, u64::MAX), &[u64::MAX], 0, rehash), Err(InsertError::Full));
        assert!(keys.iter().all(|key| reader.find(hash(0, *key), &[*key]) == Some(!key)));
    }
}

#[test]
fn an_insertion_moves_few_entries_while_the_table_grows() {
    let (mut writer, _) = table::<1, u64>(0, 100_000);
    let most = (0..100_000).map(|key| {
        let moved = Cell::new(0);
        let rehash = |words: &[u64; 1]| {
            moved.set(moved.get() + 1);
            hash(0, words[0])
        };
        assert_eq!(writer.insert(hash(0, key), &[key], key, rehash), Ok(None));
        moved.get()
    });
    assert_eq!(most.max(), Some(7));
}

#[test]
fn replaces_large_values_in_a_full_table() {
    let (mut writer, reader) = table::<1, [u64; 9]>(3, 3);
    for round in 0..1000 {
        for key in 0..3 {
            let old = writer.insert(hash(0, key), &[key], [round + key; 9], |words| hash(0, words[0]));
            assert_eq!(old, Ok(round.checked_sub(1).map(|last| [last + key; 9])));
            assert_eq!(reader.find(hash(0, key), &[key]), Some([round + key; 9]));
        }
    }
}

#[test]
fn a_key_of_zeros_is_not_found_in_empty_places() {
    let (mut writer, reader) = table::<2, u64>(4, 4);
    // Hashes whose tag and place are as near to an empty slot as they can be.
    assert_eq!(reader.find(0, &[0, 0]), None);
    assert_eq!(writer.insert(0, &[0, 0], 5, |_| 0), Ok(None));
    assert_eq!(writer.remove(0, &[0, 0]), Some(5));
    assert_eq!(reader.find(0, &[0, 0]), None);
}

#[test]
fn a_reader_outlives_its_writer() {
    let (mut writer, reader) = table::<1, u64>(1, 1);
    assert_eq!(writer.insert(9, &[1], 2, |_| 9), Ok(None));
    drop(writer);
    assert_eq!(thread::spawn(move || reader.find(9, &[1])).join().ok(), Some(Some(2)));
}

/// Two readers while keys come and go, in few buckets and with few tags, among keys that stay. A value is its
/// key and when it was written.
fn readers_see_each_key_move_forward_in_time<V: Pod>(
    of: impl Fn(u64, u64) -> V,
    parts: impl Fn(V) -> (u64, u64) + Sync,
) {
    const KEYS: u64 = 48;
    const ROUNDS: u64 = 30_000;
    let hash = |key: u64| ((key % 3) << 50) | (key % 4);
    let rehash = |words: &[u64; 5]| hash(words[1]);
    let (mut writer, reader) = table::<5, V>(KEYS as usize - 10, KEYS as usize - 10);
    let is_staying = |key: u64| key.is_multiple_of(4);
    for key in (0..KEYS).filter(|key| is_staying(*key)) {
        assert!(matches!(writer.insert(hash(key), &words(key), of(key, 0), rehash), Ok(None)));
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
                    let (of, written) = parts(value);
                    assert_eq!(of, key, "a value of another key");
                    assert!(written >= *last, "an older value than was seen before");
                    *last = written;
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
                    let _ = writer.insert(hash(key), &words(key), of(key, round), rehash);
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

#[test]
fn values_of_one_word_move_forward_in_time() {
    readers_see_each_key_move_forward_in_time(
        |key, round| key << 32 | round,
        |value| (value >> 32, value as u32 as u64),
    );
}

#[test]
fn large_values_are_whole_and_move_forward_in_time() {
    let of = |key, round| [key, round, key ^ round, round, key];
    readers_see_each_key_move_forward_in_time(of, |value| {
        let [key, round, ..] = value;
        assert_eq!(value, of(key, round), "a value of two halves");
        (key, round)
    });
}

/// Two readers of one key in eight, whose values grow, while the table grows from nothing and others come and
/// go.
#[test]
fn a_reader_misses_no_key_while_the_table_grows() {
    const LIMIT: u64 = 10_000;
    let rehash = |words: &[u64; 1]| hash(0, words[0]);
    for round in 0..8 {
        let (mut writer, reader) = table::<1, [u64; 2]>(0, LIMIT as usize);
        // Keys below are in the table, of those that stay.
        let there = AtomicU64::new(0);
        let is_staying = |key: u64| key % 8 == round;
        thread::scope(|scope| {
            let read = || {
                let mut random = 1u64;
                let mut last = std::vec![0; LIMIT as usize];
                loop {
                    let there = there.load(Ordering::Acquire);
                    if there == LIMIT {
                        return;
                    }
                    random = random.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
                    let Some(key) = ((random >> 33) % LIMIT).checked_rem(there) else { continue };
                    let found = reader.find(hash(0, key), &[key]);
                    let Some([of, value]) = found else {
                        assert!(!is_staying(key), "{key} was there all the while");
                        continue;
                    };
                    assert_eq!(of, key, "a value of another key");
                    let last = &mut last[key as usize];
                    assert!(value >= *last, "an older value than was seen before");
                    *last = value;
                }
            };
            scope.spawn(read);
            scope.spawn(read);
            for key in 0..LIMIT {
                let _ = writer.insert(hash(0, key), &[key], [key, key], rehash);
                there.store(key + 1, Ordering::Release);
                // One that came before: replaced if it stays, removed if not.
                let other = key * 7 / 11;
                if is_staying(other) {
                    let replaced = writer.insert(hash(0, other), &[other], [other, LIMIT + key], rehash);
                    assert!(matches!(replaced, Ok(Some(_))));
                } else {
                    writer.remove(hash(0, other), &[other]);
                }
            }
        });
    }
}
