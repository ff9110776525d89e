//! Loom's models: every order in which the threads' steps can meet, and every value that each load may then
//! give. `cargo xtask nightly --only loom`

use super::sync::{AtomicU64, Relaxed};
use super::*;
use core::fmt::Debug;
use loom::thread;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// Runs `model` in every order, and gives all that it can result in.
fn outcomes<T: Ord + Send + 'static>(model: impl Fn() -> T + Sync + Send + 'static) -> BTreeSet<T> {
    let outcomes = Arc::new(Mutex::new(BTreeSet::new()));
    let kept = Arc::clone(&outcomes);
    loom::model(move || {
        let outcome = model();
        kept.lock().expect("the outcomes").insert(outcome);
    });
    core::mem::take(&mut *outcomes.lock().expect("the outcomes"))
}

/// A hash of bucket 0; all its hashes share their tag.
const HASH: u64 = 0x5555 << 48;
/// A hash of bucket 1, with the same tag.
const NEXT: u64 = HASH | 1;

/// The hash of a key while a table grows: bucket 0 for even keys, bucket 1 for odd ones.
fn hash_of<const N: usize>(key: &[u64; N]) -> u64 {
    HASH | key[0] & 1
}

/// Runs `write` and, in another thread, `read`, on a table of `entries` with no spare place; returns the
/// result of `read`.
///
/// The writer's is the first thread, which loom runs until it waits. That loses nothing, because a reader
/// stores nothing: in each execution the writer finishes, and the reader's loads give older values or newer
/// ones. The other order would find little: of several threads' loads of a word loom remembers the last,
/// which would be the writer's own, and tries no other order of the reader's and of the store that follows.
fn race<const N: usize, T: 'static>(
    entries: usize,
    before: &[(u64, [u64; N], u64)],
    write: impl FnOnce(&mut Writer<N>),
    read: impl FnOnce(&Reader<N>) -> T + 'static,
) -> T {
    race_in(with_places(entries, entries, entries, entries), before, write, read)
}

/// The same, on any table.
fn race_in<const N: usize, V: Pod + PartialEq + Debug, T: 'static>(
    (mut writer, reader): (Writer<N, V>, Reader<N, V>),
    before: &[(u64, [u64; N], V)],
    write: impl FnOnce(&mut Writer<N, V>),
    read: impl FnOnce(&Reader<N, V>) -> T + 'static,
) -> T {
    for (hash, key, value) in before {
        assert_eq!(writer.insert(*hash, key, *value, hash_of), Ok(None));
    }
    let reading = thread::spawn(move || read(&reader));
    write(&mut writer);
    reading.join().expect("the reader")
}

#[test]
fn an_insertion_is_seen_whole_or_not_at_all() {
    let found = outcomes(|| {
        let write = |writer: &mut Writer<2>| assert_eq!(writer.insert(HASH, &[1, 2], 3, hash_of), Ok(None));
        race(1, &[], write, |reader| reader.find(HASH, &[1, 2]))
    });
    assert_eq!(found, [None, Some(3)].into());
}

#[test]
fn a_finished_insertion_is_found() {
    let found = outcomes(|| {
        let (mut writer, reader) = with_places::<1, u64>(1, 1, 1, 1);
        let other = reader.clone();
        let reading = thread::spawn(move || other.find(HASH, &[1]));
        assert_eq!(writer.insert(HASH, &[1], 3, hash_of), Ok(None));
        let found = reader.find(HASH, &[1]);
        (found, reading.join().expect("a reader"))
    });
    assert_eq!(found, [(Some(3), None), (Some(3), Some(3))].into());
}

/// While key 1, 1 is replaced by 2, 2 at the same place, in the same slot and with the same tag, all that
/// find `key`.
fn found_during_replacement(key: [u64; 2]) -> BTreeSet<Option<u64>> {
    outcomes(move || {
        let write = |writer: &mut Writer<2>| {
            assert_eq!(writer.remove(HASH, &[1, 1]), Some(11));
            assert_eq!(writer.insert(HASH, &[2, 2], 22, hash_of), Ok(None));
        };
        race(1, &[(HASH, [1, 1], 11)], write, move |reader| reader.find(HASH, &key))
    })
}

#[test]
fn a_place_that_is_reused_gives_no_value_to_its_last_key() {
    assert_eq!(found_during_replacement([1, 1]), [None, Some(11)].into());
}

#[test]
fn a_place_that_is_reused_gives_no_old_value_to_its_next_key() {
    assert_eq!(found_during_replacement([2, 2]), [None, Some(22)].into());
}

#[test]
fn a_key_of_two_halves_is_never_found() {
    assert_eq!(found_during_replacement([1, 2]), [None].into());
    assert_eq!(found_during_replacement([2, 1]), [None].into());
}

#[test]
fn a_place_that_is_reused_from_another_bucket_gives_no_value_to_its_last_key() {
    let found = outcomes(|| {
        let write = |writer: &mut Writer<1>| {
            assert_eq!(writer.remove(HASH, &[1]), Some(11));
            assert_eq!(writer.insert(NEXT, &[2], 22, hash_of), Ok(None));
            assert_eq!(writer.insert(NEXT, &[3], 33, hash_of), Ok(None));
        };
        race(2, &[(HASH, [1], 11)], write, |reader| reader.find(HASH, &[1]))
    });
    assert_eq!(found, [None, Some(11)].into());
}

#[test]
fn a_word_that_comes_back_is_not_the_same_word() {
    let found = outcomes(|| {
        let write = |writer: &mut Writer<1>| {
            assert_eq!(writer.remove(HASH, &[1]), Some(11));
            assert_eq!(writer.insert(HASH, &[2], 22, hash_of), Ok(None));
            assert_eq!(writer.remove(HASH, &[2]), Some(22));
            assert_eq!(writer.insert(HASH, &[1], 33, hash_of), Ok(None));
        };
        race(1, &[(HASH, [1], 11)], write, |reader| reader.find(HASH, &[1]))
    });
    assert_eq!(found, [None, Some(11), Some(33)].into());
}

#[test]
fn an_entry_beyond_a_full_bucket_is_always_found() {
    // 1 and 2 fill bucket 0; 3 and 4 are in bucket 1, which is searched as long as bucket 0 counts them.
    let before = [1, 2, 3, 4].map(|key| (HASH, [key], key));
    let found = outcomes(move || {
        let write = |writer: &mut Writer<1>| {
            assert_eq!(writer.remove(HASH, &[4]), Some(4));
            assert_eq!(writer.remove(HASH, &[1]), Some(1));
            assert_eq!(writer.insert(HASH, &[5], 5, hash_of), Ok(None));
        };
        race(4, &before, write, |reader| reader.find(HASH, &[3]))
    });
    assert_eq!(found, [Some(3)].into());
}

#[test]
fn a_value_changes_in_one_step_and_not_back() {
    let found = outcomes(|| {
        let write = |writer: &mut Writer<1>| assert_eq!(writer.insert(HASH, &[1], 12, hash_of), Ok(Some(11)));
        race(1, &[(HASH, [1], 11)], write, |reader| [reader.find(HASH, &[1]), reader.find(HASH, &[1])])
    });
    assert_eq!(found, [[11, 11], [11, 12], [12, 12]].map(|values| values.map(Some)).into());
}

/// While key 9, which belongs to bucket 1, is inserted and then `write` runs, all that find `late` and after
/// it key 9.
fn found_before_and_after(
    entries: usize,
    before: &'static [(u64, [u64; 1], u64)],
    write: fn(&mut Writer<1>),
    late: u64,
) -> BTreeSet<[Option<u64>; 2]> {
    outcomes(move || {
        let write = move |writer: &mut Writer<1>| {
            assert_eq!(writer.insert(NEXT, &[9], 99, hash_of), Ok(None));
            write(writer);
        };
        race(entries, before, write, move |reader| [reader.find(HASH, &[late]), reader.find(NEXT, &[9])])
    })
}

#[test]
fn who_sees_an_insertion_sees_the_one_before_it() {
    let found = found_before_and_after(
        2,
        &[],
        |writer| assert_eq!(writer.insert(HASH, &[1], 11, hash_of), Ok(None)),
        1,
    );
    assert_eq!(found, [[None, None], [None, Some(99)], [Some(11), Some(99)]].into());
}

#[test]
fn who_sees_a_change_sees_the_insertion_before_it() {
    let write = |writer: &mut Writer<1>| assert_eq!(writer.insert(HASH, &[1], 12, hash_of), Ok(Some(11)));
    let found = found_before_and_after(2, &[(HASH, [1], 11)], write, 1);
    assert_eq!(found, [[Some(11), None], [Some(11), Some(99)], [Some(12), Some(99)]].into());
}

#[test]
fn who_sees_a_removal_sees_the_insertion_before_it() {
    let write = |writer: &mut Writer<1>| assert_eq!(writer.remove(HASH, &[1]), Some(11));
    let found = found_before_and_after(2, &[(HASH, [1], 11)], write, 1);
    assert_eq!(found, [[None, Some(99)], [Some(11), None], [Some(11), Some(99)]].into());
}

#[test]
fn who_sees_the_words_of_the_next_entry_sees_the_insertion_before_it() {
    let write = |writer: &mut Writer<1>| {
        assert_eq!(writer.remove(HASH, &[1]), Some(11));
        assert_eq!(writer.insert(HASH, &[2], 22, hash_of), Ok(None));
    };
    let found = found_before_and_after(2, &[(HASH, [1], 11)], write, 1);
    assert_eq!(found, [[None, Some(99)], [Some(11), None], [Some(11), Some(99)]].into());
}

#[test]
fn who_sees_that_no_entry_passed_sees_the_insertion_before_it() {
    // Key 3 is in bucket 1, beyond the full bucket 0, whose count alone shows that it was removed.
    const BEFORE: [(u64, [u64; 1], u64); 3] = [(HASH, [1], 1), (HASH, [2], 2), (HASH, [3], 3)];
    let write = |writer: &mut Writer<1>| assert_eq!(writer.remove(HASH, &[3]), Some(3));
    let found = found_before_and_after(4, &BEFORE, write, 3);
    assert_eq!(found, [[None, Some(99)], [Some(3), None], [Some(3), Some(99)]].into());
}

#[test]
fn who_finds_a_value_sees_what_was_done_before_it_was_written() {
    let seen = outcomes(|| {
        let elsewhere = Arc::new(AtomicU64::new(0));
        let there = Arc::clone(&elsewhere);
        let write = move |writer: &mut Writer<1>| {
            there.store(1, Relaxed);
            assert_eq!(writer.insert(HASH, &[1], 1, hash_of), Ok(None));
            there.store(2, Relaxed);
            assert_eq!(writer.insert(HASH, &[1], 2, hash_of), Ok(Some(1)));
        };
        race(1, &[], write, move |reader| {
            let found = reader.find(HASH, &[1]).unwrap_or(0);
            (found, elsewhere.load(Relaxed))
        })
    });
    assert!(seen.iter().all(|(found, elsewhere)| elsewhere >= found), "{seen:?}");
    assert!([0, 1, 2].iter().all(|value| seen.contains(&(*value, 2))), "{seen:?}");
}

/// While the value of key 1 is replaced by 2, 2 and then `write` runs, all that find it, twice. Two places
/// are free.
fn found_while_replaced(write: fn(&mut Writer<1, [u64; 2]>)) -> BTreeSet<[Option<[u64; 2]>; 2]> {
    outcomes(move || {
        let write = move |writer: &mut Writer<1, [u64; 2]>| {
            assert_eq!(writer.insert(HASH, &[1], [2, 2], hash_of), Ok(Some([1, 1])));
            write(writer);
        };
        let find = |reader: &Reader<1, [u64; 2]>| reader.find(HASH, &[1]);
        race_in(with_places(2, 2, 2, 2), &[(HASH, [1], [1, 1])], write, move |reader| {
            [find(reader), find(reader)]
        })
    })
}

#[test]
fn a_large_value_is_replaced_in_one_step_and_not_back() {
    let found = found_while_replaced(|_| ());
    assert_eq!(found, [[[1, 1], [1, 1]], [[1, 1], [2, 2]], [[2, 2], [2, 2]]].map(|two| two.map(Some)).into());
}

#[test]
fn a_large_value_whose_place_is_reused_is_never_missed() {
    // By a value of the same key: the place of 1, 1 takes 3, 3.
    let found = found_while_replaced(|writer| {
        assert_eq!(writer.insert(HASH, &[1], [3, 3], hash_of), Ok(Some([2, 2])));
    });
    let of = |a: u64, b: u64| [Some([a, a]), Some([b, b])];
    assert_eq!(found, [of(1, 1), of(1, 2), of(1, 3), of(2, 2), of(2, 3), of(3, 3)].into());
    // By another key, whose words make a reader take it for a wrong entry.
    let found = found_while_replaced(|writer| {
        assert_eq!(writer.insert(HASH, &[9], [9, 9], hash_of), Ok(None));
    });
    assert_eq!(found, [of(1, 1), of(1, 2), of(2, 2)].into());
}

#[test]
fn a_slot_of_a_large_value_that_is_reused_gives_no_value_to_its_last_key() {
    let found = found_while_replaced(|writer| {
        assert_eq!(writer.remove(HASH, &[1]), Some([2, 2]));
        assert_eq!(writer.insert(HASH, &[9], [9, 9], hash_of), Ok(None));
    });
    let (one, two) = (Some([1, 1]), Some([2, 2]));
    assert_eq!(found, [[one, one], [one, two], [one, None], [two, two], [two, None], [None, None]].into());
}

/// While `write` changes a table of two buckets, with keys 0 (bucket 0) and 1 (bucket 1), that grows to four
/// entries, all that find `keys`, one after the other.
fn found_during_growth<const K: usize>(
    before: [u64; 2],
    write: fn(&mut Writer<1>),
    keys: [u64; K],
) -> BTreeSet<[Option<u64>; K]> {
    outcomes(move || {
        let before = [(hash_of(&[0]), [0], before[0]), (hash_of(&[1]), [1], before[1])];
        let find = move |reader: &Reader<1>| keys.map(|key| reader.find(hash_of(&[key]), &[key]));
        race_in(with_places(2, 2, 4, 5), &before, write, find)
    })
}

fn insert<V: Pod + PartialEq + Debug>(writer: &mut Writer<1, V>, key: u64, value: V, old: Option<V>) {
    assert_eq!(writer.insert(hash_of(&[key]), &[key], value, hash_of), Ok(old));
}

#[test]
fn no_key_is_missed_while_a_table_grows() {
    // The first insertion copies bucket 0, the second bucket 1.
    let write = |writer: &mut Writer<1>| {
        insert(writer, 2, 2, None);
        insert(writer, 3, 3, None);
    };
    assert_eq!(found_during_growth([10, 11], write, [0]), [[Some(10)]].into());
    assert_eq!(found_during_growth([10, 11], write, [1]), [[Some(11)]].into());
    let found = found_during_growth([10, 11], |writer| insert(writer, 2, 2, None), [2, 0]);
    assert_eq!(found, [[None, Some(10)], [Some(2), Some(10)]].into());
}

/// While `write` changes a table that has copied bucket 0, with keys 0 and 2, and not bucket 1, with key 1,
/// all that find key 0.
fn found_at_the_end_of_growth(write: fn(&mut Writer<1>)) -> BTreeSet<Option<u64>> {
    outcomes(move || {
        let before = [0, 1, 2].map(|key| (hash_of(&[key]), [key], 10 + key));
        let find = |reader: &Reader<1>| reader.find(hash_of(&[0]), &[0]);
        race_in(with_places(2, 2, 4, 4), &before, write, find)
    })
}

#[test]
fn a_key_removed_during_growth_is_not_found_in_the_index_that_was_left() {
    let found = found_at_the_end_of_growth(|writer| {
        assert_eq!(writer.remove(hash_of(&[0]), &[0]), Some(10));
        // The old index is retired, and then the place is reused.
        insert(writer, 3, 13, None);
        insert(writer, 5, 15, None);
    });
    assert_eq!(found, [None, Some(10)].into());
}

#[test]
fn a_key_removed_after_growth_is_not_found_in_the_index_that_was_left() {
    let found = found_at_the_end_of_growth(|writer| {
        insert(writer, 3, 13, None);
        assert_eq!(writer.remove(hash_of(&[0]), &[0]), Some(10));
        insert(writer, 5, 15, None);
    });
    assert_eq!(found, [None, Some(10)].into());
}

/// While the large value of `replaced` changes from 11 to 22, all that find it, twice. The table has copied
/// bucket 0, with keys 0 and 2, and not bucket 1, with key 1.
fn found_while_replaced_during_growth(replaced: u64) -> BTreeSet<[Option<[u64; 2]>; 2]> {
    outcomes(move || {
        let before = [0, 1, 2].map(|key| (hash_of(&[key]), [key], [11, 11]));
        let write =
            move |writer: &mut Writer<1, [u64; 2]>| insert(writer, replaced, [22, 22], Some([11, 11]));
        let find = move |reader: &Reader<1, [u64; 2]>| reader.find(hash_of(&[replaced]), &[replaced]);
        race_in(with_places(2, 2, 4, 5), &before, write, move |reader| [find(reader), find(reader)])
    })
}

#[test]
fn a_large_value_is_replaced_in_both_indexes_in_one_step() {
    let [old, new] = [[11, 11], [22, 22]].map(Some);
    for replaced in [0, 1] {
        let found = found_while_replaced_during_growth(replaced);
        assert_eq!(found, [[old, old], [old, new], [new, new]].into());
    }
}

#[test]
fn a_large_value_does_not_go_back_while_its_bucket_is_copied_and_replaced() {
    let found = outcomes(|| {
        let before = [0, 1].map(|key| (hash_of(&[key]), [key], [11, 11]));
        let write = |writer: &mut Writer<1, [u64; 2]>| {
            insert(writer, 2, [2, 2], None);
            insert(writer, 0, [22, 22], Some([11, 11]));
        };
        let find = |reader: &Reader<1, [u64; 2]>| reader.find(hash_of(&[0]), &[0]);
        race_in(with_places(2, 2, 4, 4), &before, write, move |reader| [find(reader), find(reader)])
    });
    let [old, new] = [[11, 11], [22, 22]].map(Some);
    assert_eq!(found, [[old, old], [old, new], [new, new]].into());
}
