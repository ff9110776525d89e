use super::*;
use crate::registered::{Registered, subjects};
use hashlane_rig::long;

fn outcome(suite: &Suite, id: &str) -> Outcome {
    let mut subject: Registered = subjects().into_iter().find(|subject| subject.info().id == id).unwrap();
    suite.run(&mut subject).unwrap()
}

#[test]
fn no_alarm_on_functions_that_are_claimed_to_be_random() {
    for seed in 0..long::pick(1, 8) {
        let suite = Suite::new(seed);
        for id in ["siphash-1-3", "siphash-2-4", "highwayhash64", "blake3-keyed", "polymur"] {
            assert_eq!(outcome(&suite, id).text(), "none of 13", "{id}, seed {seed}");
        }
    }
}

#[test]
fn linear_and_old_functions_fail_where_the_published_tests_fail_them() {
    let suite = Suite::new(1);
    for (id, tests) in [
        ("crc32c", &["Avalanche", "Permutation"][..]),
        // The set of cycles was made for it.
        ("murmurhash2-32", &["Cyclic", "SeedZeroes", "SeedAvalanche"]),
        ("fnv-1a-offset", &["Avalanche", "Cyclic", "SeedZeroes", "SeedAvalanche"]),
        ("metrohash64", &["SeedBlockLen"]),
    ] {
        let outcome = outcome(&suite, id);
        for test in tests {
            assert!(outcome.failed.contains(test), "{id}, {test}: {}", outcome.text());
        }
    }
}

#[test]
fn functions_that_pass_there_pass_here_though_they_are_broken() {
    let suite = Suite::new(1);
    for id in ["rapidhash", "komihash"] {
        assert_eq!(outcome(&suite, id).failed, [""; 0], "{id}");
        assert!(published(id).is_some_and(|published| published.failed.is_empty()), "{id}");
    }
}

#[test]
fn functions_without_seeds_or_of_one_length_go_through_the_tests_that_apply() {
    let suite = Suite::new(1);
    assert_eq!(outcome(&suite, "seahash").run, TESTS[..6]);
    let tuples = outcome(&suite, "ehash/siphash").run;
    assert_eq!(tuples[..4], ["Avalanche", "Sparse", "TwoBytes", "Seed"]);
}

#[test]
fn a_cell_counts_the_tests() {
    let of = |failed: &[&'static str]| Outcome { run: TESTS[..3].to_vec(), failed: failed.to_vec() }.text();
    assert_eq!([of(&[]), of(&["Zeroes"]), of(&TESTS[..3])], ["none of 3", "1 of 3: Zeroes", "all 3"]);
}
