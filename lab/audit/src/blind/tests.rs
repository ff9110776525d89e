use super::*;
use crate::audit::{Report, Settings, audit_and_search};
use crate::registered::subjects;
use crate::subject::Lengths;
use crate::table::Geometry;
use crate::verdict::Verdict;
use hashlane_hash::scheme::{BytesHash as _, Scheme as _};
use hashlane_hash::siphash::SipHash24;
use hashlane_rig::long;

fn settings(seed: u64) -> Settings {
    let [geometry, ..] = Geometry::named();
    Settings { geometry, length: None, seed_bits: None, count: 4096, seed }
}

/// The verdict of the search alone, which ends after about `hashes` keys.
fn searched(subject: &mut dyn AuditedHash, settings: &Settings, hashes: u64) -> Report {
    let goes_on = &mut |so_far| so_far < hashes;
    let blind = Blind { alone: true, goes_on };
    audit_and_search(subject, settings, &[], Some(blind), &mut |_| {})
}

fn registered(id: &str, seed: u64, hashes: u64) -> Report {
    let mut subjects = subjects();
    let subject = subjects.iter_mut().find(|subject| subject.info().id == id).unwrap();
    searched(subject, &settings(seed), hashes)
}

/// A function that a test breaks.
struct Weak<F>(SubjectInfo, F);

impl<F: Fn(&Key, &[u8]) -> u64> AuditedHash for Weak<F> {
    fn info(&self) -> &SubjectInfo {
        &self.0
    }

    fn hash_all(&mut self, key: &Key, keys: &Keys, hashes: &mut Vec<u64>) -> Result<(), Fault> {
        hashes.clear();
        hashes.extend(keys.iter().map(|bytes| (self.1)(key, bytes)));
        Ok(())
    }
}

fn weak<F: Fn(&Key, &[u8]) -> u64>(width: u32, hash: F) -> Weak<F> {
    let info = SubjectInfo {
        id: "weak".to_owned(),
        source: "a test".to_owned(),
        width,
        keying: Keying::Seed(128),
        lengths: Lengths::Any,
    };
    Weak(info, hash)
}

/// A hash of two numbers that has no structure.
fn mixed(key: &Key, numbers: [u64; 2]) -> u64 {
    SipHash24::new(key).hash(&numbers.map(u64::to_le_bytes).concat())
}

/// Words of a key, the last one filled with zeros.
fn words(bytes: &[u8], width: usize) -> impl Iterator<Item = u64> + '_ {
    bytes.chunks(width).map(|word| word.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)))
}

/// A one to one mixing of 32 bits that no test undoes.
fn mixed_32(state: u32) -> u32 {
    let state = (state ^ state >> 16).wrapping_mul(0x7feb_352d);
    let state = (state ^ state >> 15).wrapping_mul(0x846c_a68b);
    state ^ state >> 16
}

/// The flood that a search finds by itself with 2 to the power of `log2` keys.
fn alone(mut search: impl Search, subject: &mut dyn AuditedHash, log2: u32) -> Option<Flood> {
    let (settings, mut draw) = (settings(1), Draw::new(1));
    let scope = Scope { geometry: &settings.geometry, seed_bits: None, count: settings.count };
    let leaked = draw.key();
    let mut oracle = Oracle::new(subject, scope, leaked, draw);
    while oracle.hashes() < 1 << log2 {
        for keys in search.step(&mut oracle).unwrap() {
            let flood = confirmed(&mut oracle, keys, search.about().knowledge).unwrap();
            if flood.is_some() {
                return flood;
            }
        }
    }
    None
}

/// The search floods the table of `subject` under at least half of the seeds.
fn finds(search: impl Search, log2: u32, mut subject: impl AuditedHash) {
    let flood = alone(search, &mut subject, log2);
    let seeds = flood.map(|flood| (flood.seeds, flood.tried));
    assert!(matches!(seeds, Some((seeds, 5)) if seeds >= 3), "{seeds:?}");
}

#[test]
fn bits_that_move_low_bits_of_the_hash_linearly_are_found() {
    let low = |bytes: &[u8]| {
        let chosen = bytes.iter().enumerate().filter(|(_, byte)| *byte & 0x80 != 0);
        chosen.fold(0, |sum, (at, _)| sum ^ mixed(&Key::VECTOR, [at as u64, 1]))
    };
    let hash = move |key: &Key, bytes: &[u8]| {
        let rest: Vec<u8> = bytes.iter().map(|byte| byte & 0x7f).collect();
        let all = SipHash24::new(key).hash(bytes) & !0xffff;
        all | (low(bytes) ^ SipHash24::new(key).hash(&rest)) & 0xffff
    };
    finds(linear::Linear::default(), 18, weak(64, hash));
}

#[test]
fn words_that_are_summed_up_in_low_bits_are_found() {
    let hash = |key: &Key, bytes: &[u8]| {
        let sum = words(bytes, 4).zip(1_u64..).fold(key.halves().0, |sum, (word, place)| {
            sum.wrapping_add(word.wrapping_mul(mixed(&Key::VECTOR, [place, 2]) | 1))
        });
        SipHash24::new(key).hash(bytes) & !0xffff | sum & 0xffff
    };
    finds(additive::Additive::default(), 18, weak(64, hash));
}

#[test]
fn a_block_that_leaves_the_state_as_it_was_is_found() {
    let hash = |key: &Key, bytes: &[u8]| {
        let moved = words(bytes, 2).filter(|word| *word != 0xb10c);
        let state = moved.fold(0, |state, word| mixed(key, [state, word]));
        mixed(key, [state, bytes.len() as u64])
    };
    finds(fixed_point::FixedPoint::default(), 20, weak(64, hash));
}

#[test]
fn a_word_that_makes_the_function_forget_is_found() {
    let hash = |key: &Key, bytes: &[u8]| {
        let secret = key.halves().0;
        let state = words(bytes, 8).fold(secret, |state, word| {
            let product = u128::from(state ^ secret.rotate_left(7)) * u128::from(word ^ 0x13);
            (product >> 64) as u64 ^ product as u64
        });
        mixed(key, [state, bytes.len() as u64])
    };
    finds(absorbing::Absorbing::default(), 20, weak(64, hash));
}

#[test]
fn differences_that_cancel_are_found() {
    // The highest bit of a word meets bit 4 of the next.
    let hash = |key: &Key, bytes: &[u8]| {
        let (start, last) = key.halves();
        let state = words(bytes, 8)
            .fold(start, |state, word| (state.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed(key, [state, last])
    };
    finds(differential::Differential::default(), 23, weak(64, hash));
}

#[test]
fn words_that_lead_to_one_state_under_every_seed_are_found() {
    let hash = |key: &Key, bytes: &[u8]| {
        let state = words(bytes, 4).fold(key.halves().0 as u32, |state, word| {
            mixed_32(state ^ mixed(&Key::VECTOR, [word, 3]) as u32)
        });
        u64::from(mixed_32(state ^ bytes.len() as u32))
    };
    finds(word_pairs::WordPairs::default(), 21, weak(32, hash));
}

#[test]
fn changes_that_a_later_word_takes_back_are_found() {
    for id in ["xxh32", "xxh64"] {
        let mut subjects = subjects();
        let subject = subjects.iter_mut().find(|subject| subject.info().id == id).unwrap();
        let flood = alone(meet::Meet::default(), subject, 23);
        assert!(flood.is_some_and(|flood| flood.seeds >= 3 && flood.keys.len() >= 1024), "{id}");
    }
}

#[test]
fn a_leaked_seed_gives_chains_for_a_state_of_32_bits_and_no_verdict_without_it() {
    let hash = |key: &Key, bytes: &[u8]| {
        let state = words(bytes, 4).fold(0, |state, word| mixed(key, [state, word]) & 0xffff_ffff);
        mixed(key, [state, 1 << 32])
    };
    let flood = alone(chain::Chain::default(), &mut weak(64, hash), 23).unwrap();
    assert_eq!((flood.keys.len(), flood.deepest), (4096, 4096));
    assert!(alone(word_pairs::WordPairs::default(), &mut weak(64, hash), 20).is_none());
    let secret = SubjectInfo { keying: Keying::Secret(128), ..weak(64, hash).0 };
    let report = searched(&mut Weak(secret, hash), &settings(1), 1 << 19);
    assert!(report.attempts.iter().all(|(about, _)| about.knowledge == Knowledge::Nothing));
    assert!(matches!(report.verdict, Verdict::NoneKnown), "{}", report.sentence());
}

#[test]
fn published_breaks_are_found_again_without_priors() {
    for id in [
        "crc32c",
        "ehash/toeplitz-published",
        "ehash/base",
        "fxhash",
        "fnv-1a-offset",
        "djb2-seeded",
        "java-string",
        "a5hash128-low",
        "absl-hash",
        "rustc-hash",
    ] {
        let report = registered(id, 1, 1 << 23);
        let found_by = report.searched.and_then(|searched| searched.found_by);
        assert!(found_by.is_some() && report.verdict.attack() == found_by, "{id}: {}", report.sentence());
    }
}

#[test]
fn no_alarm_on_functions_that_nothing_is_known_against_by_the_search() {
    for (id, log2) in [
        ("siphash-1-3", 22),
        ("siphash-2-4", 20),
        ("multilinear", 21),
        ("polymur", 20),
        ("highwayhash64", 16),
        ("blake3-keyed", 15),
    ] {
        for seed in 1..3 {
            let report = registered(id, seed, 1 << log2);
            assert!(
                matches!(report.verdict, Verdict::NoneKnown | Verdict::Proved(_)),
                "{id}, seed {seed}: {}",
                report.sentence()
            );
            assert!(report.searched.is_some_and(|searched| searched.hashes >= 1 << log2), "{id}");
            // Nothing is claimed once their keys are known.
            assert!(report.attempts.iter().all(|(about, _)| about.knowledge == Knowledge::Nothing), "{id}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_search_and_no_budget_none() {
    let of = |seed| {
        let report = registered("fnv-1a-offset", seed, 1 << 21);
        let keys = report.verdict.flood().map(|flood| flood.keys.clone());
        (report.searched.map(|searched| searched.hashes), keys)
    };
    assert_eq!(of(7), of(7));
    assert_ne!(of(7).1, of(8).1);
    let report = registered("fnv-1a-offset", 7, 0);
    assert_eq!(report.searched, Some(Searched { hashes: 0, found_by: None }));
    assert!(!report.verdict.is_floodable(), "{}", report.sentence());
}

#[test]
fn keys_of_one_length_stay_so() {
    for (id, length) in [("crc32c", 12), ("java-string", 9), ("siphash-1-3", 1), ("murmurhash2-32", 4)] {
        let mut subjects = subjects();
        let subject = subjects.iter_mut().find(|subject| subject.info().id == id).unwrap();
        let settings = Settings { length: Some(length), ..settings(3) };
        let report = searched(subject, &settings, 1 << 19);
        // A key of another length would be a fault.
        assert!(!report.verdict.is_faulty(), "{id}: {}", report.sentence());
        let keys = report.verdict.flood().map(|flood| flood.keys.clone()).unwrap_or_default();
        assert!(keys.iter().all(|key| key.len() == length), "{id}");
    }
}

#[test]
fn blocks_of_murmurhash_that_collide_under_every_seed_are_found_without_priors() {
    for id in &["murmurhash2-32", "murmurhash3-x86-32"][..long::pick(1, 2)] {
        let mut subjects = subjects();
        let subject = subjects.iter_mut().find(|subject| subject.info().id == *id).unwrap();
        let flood = alone(near_pairs::NearPairs::default(), subject, 25).unwrap();
        assert_eq!((flood.seeds, flood.tried), (5, 5), "{id}");
        assert!(flood.deepest >= 16, "{id}: {}", flood.deepest);
    }
}
