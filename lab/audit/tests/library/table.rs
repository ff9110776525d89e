//! Tables of shared objects: what is measured, and tables that do harm.

use crate::support::{LIMIT, Object, example, flood, keys, launcher};
use hashlane_audit::keys::Keys;
use hashlane_audit::library::{Table, TableFault};
use hashlane_audit::subject::Fault;
use hashlane_hash::scheme::Key;
use std::path::Path;
use std::time::Duration;

/// Limit of tables that do not end.
const SHORT: Duration = Duration::from_secs(2);

fn load(object: &Object, limit: Duration) -> Result<Table, Fault> {
    Table::load(launcher(), &object.path(), limit)
}

/// A table that counts its keys, with `insert`, `find` and `free` of these bodies.
fn table(insert: &str, find: &str, free: &str) -> Object {
    Object::of(&format!(
        "#include \"hashlane_audit.h\"
         static size_t count;
         uint32_t hashlane_audit_abi(void) {{ return HASHLANE_AUDIT_ABI; }}
         void *hashlane_audit_init(const uint8_t *seed, size_t capacity) {{
             return capacity == 7 ? 0 : &count;
         }}
         int hashlane_audit_insert(void *t, const uint8_t *key, size_t len) {{ count++; {insert} return 0; }}
         int hashlane_audit_find(void *t, const uint8_t *key, size_t len) {{ {find} return 1; }}
         size_t hashlane_audit_len(void *t) {{ return count; }}
         void hashlane_audit_free(void *t) {{ {free} count = 0; }}"
    ))
}

fn measured(object: &Object, capacity: u64, keys: &Keys, limit: Duration) -> Result<usize, TableFault> {
    load(object, limit).unwrap().measure(&Key::VECTOR, capacity, keys).map(|measured| measured.samples.len())
}

#[test]
fn samples_cover_all_keys_and_their_lookups() {
    let object = Object::from_file(&example("c/flow_table.c"), &[]);
    let mut table = load(&object, LIMIT).unwrap();
    assert_eq!(Path::new(table.source()), object.path());
    let measured = table.measure(&Key::VECTOR, 0, &keys(1_000)).unwrap();
    assert_eq!(measured.samples.len(), 63, "batches of 16");
    let last = measured.samples.last().unwrap();
    assert_eq!((last.inserted, last.len, last.looked_up, last.found), (1_000, 1_000, 8, 8));
    let looked_up: u64 = measured.samples.iter().map(|sample| sample.looked_up).sum();
    assert_eq!(looked_up, 1_000);
    // A lookup compares its key with at least one entry, and with few others.
    assert!(measured.compared().is_some_and(|compared| (1_000..5_000).contains(&compared)), "{measured:?}");
    let again = table.measure(&Key::VECTOR, 0, &keys(1_000)).unwrap();
    assert_eq!(again.compared(), measured.compared(), "a new table under the same seed");
    assert_eq!(table.measure(&Key::VECTOR, 0, &Keys::default()).unwrap().samples, []);
    // More keys than one message holds.
    let many = table.measure(&Key::VECTOR, 200_000, &keys(200_000)).unwrap();
    assert_eq!(many.samples.last().map(|sample| (sample.inserted, sample.len)), Some((200_000, 200_000)));
}

#[test]
fn a_flooded_table_is_found_by_its_counts_or_by_its_times() {
    let file = example("c/flow_table.c");
    let object = Object::from_file(&file, &["-DWEAK"]);
    let (hostile, random) = flood();
    let mut table = load(&object, LIMIT).unwrap();
    let counted = table.compare(&Key::VECTOR, true, 0, &hostile, &random).unwrap();
    assert!(counted.is_flooded(), "{counted:?}");
    // The last quarter compares with half of 7/8 of the keys, on average.
    let compared = counted.pairs[0].0.lookup_compared().unwrap();
    assert!((1_500.0..2_100.0).contains(&compared), "{compared}");
    let object = Object::from_file(&file, &["-DWEAK", "-Dhashlane_audit_compared=uncounted"]);
    let timed = load(&object, LIMIT).unwrap().compare(&Key::VECTOR, false, 0, &hostile, &random).unwrap();
    assert_eq!((timed.lookup_compared(), timed.pairs[0].0.compared()), (None, None));
    assert!(timed.is_flooded(), "{:?} {:?}", timed.lookup_time(), timed.insert_time());
}

#[test]
fn a_table_that_does_not_end_says_how_far_it_came() {
    let object = table("if (count > 100) for (;;);", "", "");
    let fault = measured(&object, 0, &keys(1_000), SHORT).unwrap_err();
    assert_eq!((&fault.fault, fault.inserted(), fault.keys), (&Fault::Hung(2), 96, 1_000));
    let text = fault.to_string();
    assert!(text.contains("96 of 1000 keys") && text.contains("quadratic growth is likely"), "{text}");
}

#[test]
fn tables_that_fail_are_named() {
    let crashed = |how: &str| Fault::Crashed(how.to_owned());
    let fault = |object: &Object| measured(object, 0, &keys(1_000), LIMIT).unwrap_err();
    let inserting = fault(&table("if (count > 500) abort();", "", ""));
    assert_eq!((&inserting.fault, inserting.inserted()), (&crashed("signal 6 (SIGABRT)"), 496));
    assert_eq!(
        inserting.to_string(),
        "the table has ended its process after 496 of 1000 keys: signal 6 (SIGABRT)"
    );
    assert_eq!(fault(&table("", "exit(5);", "")).fault, crashed("exit status 5"));
    let freeing = fault(&table("", "", "abort();"));
    assert_eq!((freeing.fault.clone(), freeing.inserted()), (crashed("signal 6 (SIGABRT)"), 1_000));
    let forking = fault(&table("if (count == 10) fork();", "", ""));
    assert!(forking.to_string().contains("started a process"), "{forking}");
    // There is nothing to be freed.
    let none = measured(&table("", "", "if (!t) abort();"), 7, &keys(10), LIMIT).unwrap_err();
    assert_eq!(none.to_string(), "hashlane_audit_init has returned NULL");
    let long: Keys = [vec![0; 2 << 20]].iter().collect();
    assert_eq!(measured(&table("", "", ""), 0, &long, LIMIT).unwrap_err().fault, Fault::Length(2 << 20));
}

#[test]
fn tables_that_do_not_hold_their_keys_are_faulty() {
    let why = |insert: &str, find: &str| {
        let fault = measured(&table(insert, find, ""), 0, &keys(1_000), LIMIT).unwrap_err();
        assert!(matches!(fault.fault, Fault::LosesKeys(_)), "{fault:?}");
        fault.to_string()
    };
    assert_eq!(why("count = 0; return 1;", "return 0;"), "insert refused 1,000 of 1,000 keys");
    assert_eq!(why("count = 0;", ""), "the table says that it holds none of 1,000 keys: insert returned 0");
    assert_eq!(why("", "return 0;"), "an inserted key is not found: 1,000 lookups missed");
    // A table that evicts keys finds some of those that it has taken.
    assert_eq!(why("if (count > 100) count = 100;", "return 0;"), why("", "return 0;"));
    let evicting = table("if (count > 100) count = 100;", "return *key & 1;", "");
    assert_eq!(measured(&evicting, 0, &keys(1_000), LIMIT), Ok(63));
}

#[test]
fn few_stored_keys_are_no_flood() {
    let limited = |most: usize, hostile: &Keys, random: &Keys| {
        let object = Object::of(&format!(
            "#define WEAK
             #define hashlane_audit_insert inner
             #include \"{}\"
             #undef hashlane_audit_insert
             int hashlane_audit_insert(void *t, const uint8_t *key, size_t len) {{
                 return hashlane_audit_len(t) < {most} ? inner(t, key, len) : 1;
             }}",
            example("c/flow_table.c").display()
        ));
        load(&object, LIMIT).unwrap().compare(&Key::VECTOR, true, 0, hostile, random).unwrap()
    };
    let (hostile, random) = flood();
    let few = limited(60, &hostile, &random);
    assert!(few.lookup_compared().is_some_and(|ratio| ratio.low > 4.0), "{few:?}");
    assert_eq!((few.is_flooded(), few.stored()), (false, Some(60)));
    let many = limited(1_000, &hostile, &random);
    assert_eq!((many.is_flooded(), many.stored()), (true, Some(1_000)));
}

#[test]
fn libraries_without_the_functions_of_the_header_are_refused() {
    let why = |text: &str| match load(&Object::of(text), LIMIT) {
        Err(Fault::Unusable(why)) => why,
        other => panic!("{other:?}"),
    };
    let without = why("int f(void) { return 1; }");
    assert!(without.contains("hashlane_audit_abi") && without.contains("hashlane_audit.h"), "{without}");
    let other = why("uint32_t hashlane_audit_abi(void) { return 9; }");
    assert!(other.contains("version 9 of hashlane_audit.h, not 1"), "{other}");
    let part = why("uint32_t hashlane_audit_abi(void) { return 1; }");
    assert!(part.contains("hashlane_audit_init"), "{part}");
}
