use super::*;
use crate::audit::{Settings, audit};
use crate::epsilon::vectors::committed;
use crate::keys::Keys;
use crate::registered;
use crate::table::Geometry;

/// The identity of a registered function; each pair is hashed here once more.
fn checked(id: &str) -> Identity {
    let [geometry, ..] = Geometry::named();
    let settings = Settings { geometry, length: None, seed_bits: None, count: 64, seed: 5 };
    let mut subjects = registered::subjects();
    let subject = subjects.iter_mut().find(|subject| subject.info().id == id).unwrap();
    let report = audit(subject, &settings, &committed().unwrap(), &mut |_| {});
    let identity = report.identity.unwrap();
    assert_eq!(identity.claims.len(), 6, "{id}");
    for claim in &identity.claims {
        let Some(Found { keys: [one, other], seed, method }) = &claim.found else { continue };
        assert_ne!(one, other, "{id}: {method}");
        let keys: Keys = [one, other].into_iter().collect();
        let mut hashes = Vec::new();
        subject.hash_all(seed, &keys, &mut hashes).unwrap();
        assert_eq!(hashes[0], hashes[1], "{id}: {method}");
    }
    identity
}

/// Work for a goal: without the seed, and with it.
fn work(identity: &Identity, goal: Goal) -> [f64; 2] {
    let of = |needs| {
        let mut claims = identity.claims.iter();
        claims.find(|claim| claim.goal == goal && claim.needs == needs).unwrap().log2_work
    };
    [of(Knowledge::Nothing), of(Knowledge::Seed)]
}

#[test]
fn each_family_has_a_second_key_that_hashes_alike() {
    // Without the seed, and with it, at most this many bits of work.
    for (id, nothing, seed) in [
        ("crc32c", 0.0, 0.0),
        ("djb2-seeded", 1.0, 1.0),
        ("murmurhash2-32", 0.0, 0.0),
        ("murmurhash2-64a", 0.0, 0.0),
        ("murmurhash3-x86-32", 0.0, 0.0),
        ("murmurhash3-x64-128-low", 0.0, 0.0),
        ("cityhash64", 0.0, 0.0),
        ("cityhash64-seeds", 0.0, 0.0),
        ("ehash/jhash2", 0.0, 0.0),
        ("fnv-1a", 1.0, 1.0),
        ("fnv-1a-offset", 64.0, 1.0),
        ("xxh32", 1.0, 1.0),
        ("xxh64", 1.0, 1.0),
        ("jhash", 32.0, 0.0),
        ("wyhash", 64.0, 0.0),
    ] {
        let [without, with] = work(&checked(id), Goal::SecondKey);
        assert!(without <= nothing && with <= seed, "{id}: {without} {with}");
    }
}

#[test]
fn products_by_zero_give_two_keys_but_no_second_one() {
    for id in ["wyhash", "rapidhash"] {
        let identity = checked(id);
        assert_eq!(work(&identity, Goal::TwoKeys), [0.0; 2], "{id}");
        assert_eq!(work(&identity, Goal::SecondKey)[0], 64.0, "{id}");
    }
}

#[test]
fn functions_that_nothing_is_known_against_have_the_work_of_chance() {
    for (id, width) in [("siphash-1-3", 64.0), ("highwayhash64", 64.0), ("blake3-keyed", 64.0)] {
        let identity = checked(id);
        assert_eq!(work(&identity, Goal::TwoKeys), [width / 2.0; 2], "{id}");
        assert_eq!(work(&identity, Goal::SecondKey), [width; 2], "{id}");
        assert!(identity.claims.iter().all(|claim| claim.found.is_none()), "{id}");
    }
    // Of 32 bits, the keys of chance are found.
    let narrow = checked("multilinear");
    let of_seed = |claim: &&Claim| claim.goal == Goal::TwoKeys && claim.needs == Knowledge::Seed;
    assert!(narrow.claims.iter().find(of_seed).unwrap().found.is_some());
}
