use super::*;
use crate::attack::Knowledge;
use crate::epsilon::vectors::committed;
use crate::flood;
use crate::keys::Keys;
use crate::registered;
use crate::subject::SubjectInfo;
use hashlane_hash::scheme::Keying;
use hashlane_rig::long;

mod kinds;
mod rounds;
mod tables;
mod unseen;

fn settings(geometry: &str, seed: u64) -> Settings {
    let geometry = Geometry::named().into_iter().find(|named| named.name == geometry).unwrap();
    Settings { geometry, length: None, seed_bits: None, count: 4096, seed }
}

fn report(id: &str, settings: &Settings) -> Report {
    let mut subjects = registered::subjects();
    let subject = subjects.iter_mut().find(|subject| subject.info().id == id).unwrap();
    audit(subject, settings, &committed().unwrap(), &mut |_| {})
}

#[test]
fn no_alarm_on_functions_that_nothing_is_known_against() {
    for id in ["siphash-1-3", "siphash-2-4", "highwayhash64", "blake3-keyed", "multilinear"] {
        let fixed =
            (0..long::pick(2, 20)).map(|run| (run, if run % 2 == 0 { "chained" } else { "hashbrown" }));
        for (seed, geometry) in fixed {
            let verdict = report(id, &settings(geometry, seed)).verdict;
            assert!(
                matches!(verdict, Verdict::NoneKnown | Verdict::Proved(_)),
                "{id}, seed {seed}: {verdict}"
            );
        }
    }
}

#[test]
fn no_alarm_under_seeds_of_the_moment() {
    let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64;
    for id in ["siphash-1-3", "highwayhash64", "multilinear"] {
        let verdict = report(id, &settings("linux-ehash", seed)).verdict;
        assert!(!verdict.is_floodable() && !verdict.is_faulty(), "{id}, seed {seed}: {verdict}");
    }
}

#[test]
fn unhashed_words_of_linux_are_named_without_a_table_of_answers() {
    for (id, bytes) in [
        ("ehash/base", "bytes 0–11"),
        ("ehash/v1", "bytes 0–11"),
        ("ehash/jhash2", "bytes 0–11"),
        ("ehash/hsiphash", "bytes 0–11"),
        ("ehash/siphash", "bytes 0–11"),
        ("ehash/lport", "bytes 0–11"),
    ] {
        let report = report(id, &settings("linux-ehash", 1));
        assert!(matches!(report.verdict, Verdict::Partial(..)), "{id}: {}", report.verdict);
        assert_eq!(report.unhashed.to_string(), format!("{bytes} of the key"), "{id}");
        assert!(
            report.sentence().ends_with("; unhashed: words 0–2 of the local address"),
            "{}",
            report.sentence()
        );
    }
    assert!(report("ehash/flat", &settings("linux-ehash", 1)).unhashed.is_empty());
}

#[test]
fn few_seeds_protect_no_table_whatever_the_function() {
    for (seed_bits, begins) in [
        (0, "floodable (few-seeds): "),
        (3, "floodable (few-seeds): "),
        (10, "floodable by whoever learns results (seed-guessed): "),
        (24, "floodable by whoever learns results (seed-guessed): "),
        (64, "no attack known"),
    ] {
        let settings = settings("chained", 1);
        let geometry = Geometry { seed_bits, ..settings.geometry.clone() };
        let verdict = report("siphash-1-3", &Settings { geometry, ..settings }).verdict.to_string();
        assert!(verdict.starts_with(begins), "{seed_bits} bits: {verdict}");
    }
    // A function that folds its seed to three bits.
    let folded = |key: &Key| u128::from_le_bytes(key.to_bytes()).count_ones() as u8 & 7;
    let verdict = verdict_of(|key, bytes, _| Ok(SipHash24::new(&Key::new([folded(key); 16])).hash(bytes)));
    assert!(verdict.starts_with("floodable (few-seeds): "), "{verdict}");
}

/// A sum of products of words of 32 bits, and of their secret multipliers.
fn multilinear(key: &Key, bytes: &[u8]) -> u64 {
    let words =
        bytes.chunks(4).map(|word| word.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
    let words = words.chain([bytes.len() as u64]);
    (0..).zip(words).fold(0, |sum: u64, (number, word)| {
        sum.wrapping_add(word.wrapping_mul(key.derive(b"test sum", number).halves().0))
    })
}

#[test]
fn multilinear_hashes_with_small_words_are_floodable() {
    // The sum is as narrow as the words; a mixing after it changes nothing.
    let narrow = verdict_of(|key, bytes, _| {
        let sum = multilinear(key, bytes) & u64::from(u32::MAX);
        Ok(sum.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32)
    });
    assert!(narrow.starts_with("floodable (small-words): "), "{narrow}");
    // The sum is wide enough, but the table takes its lowest bits. Keys of the highest bits meet in the
    // largest table.
    let lowest = verdict_of(|key, bytes, _| Ok(multilinear(key, bytes)));
    assert!(lowest.starts_with("floodable (bucket-bias): "), "{lowest}");
    let upper = verdict_of(|key, bytes, _| Ok(multilinear(key, bytes) >> 32));
    assert!(!upper.starts_with("floodable ("), "{upper}");
}

/// A function that a test breaks.
struct Broken<F>(SubjectInfo, F, u64);

impl<F: FnMut(&Key, &[u8], u64) -> Result<u64, Fault>> AuditedHash for Broken<F> {
    fn info(&self) -> &SubjectInfo {
        &self.0
    }

    fn hash_all(&mut self, key: &Key, keys: &Keys, hashes: &mut Vec<u64>) -> Result<(), Fault> {
        hashes.clear();
        for bytes in keys.iter() {
            self.2 += 1;
            hashes.push((self.1)(key, bytes, self.2)?);
        }
        Ok(())
    }
}

fn info_of_test() -> SubjectInfo {
    SubjectInfo {
        id: "mine".to_owned(),
        source: "a test".to_owned(),
        width: 64,
        keying: Keying::Seed(64),
        lengths: Lengths::Any,
    }
}

fn verdict_of(hash: impl FnMut(&Key, &[u8], u64) -> Result<u64, Fault>) -> String {
    audit(&mut Broken(info_of_test(), hash, 0), &settings("chained", 1), &[], &mut |_| {}).sentence()
}

/// FNV-1a and two polynomials in 33 under a random start, in 32, 64 and the lowest 64 of 128 bits.
#[test]
fn a_random_start_is_no_key() {
    let prime_128 = (1_u128 << 88) + 0x13b;
    let fnv = |prime: u128, width: u32| {
        move |start: u128, bytes: &[u8]| {
            let step = |state: u128, byte: &u8| (state ^ u128::from(*byte)).wrapping_mul(prime);
            bytes.iter().fold(start, step) & (u128::MAX >> (128 - width))
        }
    };
    let djb = |with: fn(u128, u128) -> u128, width: u32| {
        move |start: u128, bytes: &[u8]| {
            let step = |state: u128, byte: &u8| with(state.wrapping_mul(33), u128::from(*byte));
            bytes.iter().fold(start, step) & (u128::MAX >> (128 - width))
        }
    };
    type Hash = Box<dyn Fn(u128, &[u8]) -> u128>;
    let xor: fn(u128, u128) -> u128 = |state, byte| state ^ byte;
    // The function, its width, and the least share of starts for which a pair collides, as a binary
    // logarithm.
    let functions: [(&str, Hash, u32, f64); 9] = [
        ("FNV-1a, 32 bits", Box::new(fnv(0x0100_0193, 32)), 32, -4.0),
        ("FNV-1a, 64 bits", Box::new(fnv(0x100_0000_01b3, 64)), 64, -8.0),
        ("FNV-1a, 128 bits", Box::new(fnv(prime_128, 128)), 64, -8.0),
        ("h * 33 + byte, 32 bits", Box::new(djb(u128::wrapping_add, 32)), 32, -0.1),
        ("h * 33 + byte, 64 bits", Box::new(djb(u128::wrapping_add, 64)), 64, -0.1),
        ("h * 33 + byte, 128 bits", Box::new(djb(u128::wrapping_add, 128)), 64, -0.1),
        ("h * 33 ^ byte, 32 bits", Box::new(djb(xor, 32)), 32, -3.1),
        ("h * 33 ^ byte, 64 bits", Box::new(djb(xor, 64)), 64, -3.1),
        ("h * 33 ^ byte, 128 bits", Box::new(djb(xor, 128)), 64, -3.1),
    ];
    for (name, hash, width, least) in functions {
        let info = SubjectInfo { id: name.to_owned(), width, ..info_of_test() };
        let of = |key: &Key, bytes: &[u8], _| {
            Ok(hash(u128::from_le_bytes(key.to_bytes()), bytes) as u64 & (u64::MAX >> (64 - width)))
        };
        let report = audit(&mut Broken(info, of, 0), &settings("chained", 1), &[], &mut |_| {});
        assert!(
            matches!(report.verdict, Verdict::Floodable(Knowledge::Nothing, ..)),
            "{name}: {}",
            report.verdict
        );
        let top = report.attempts.iter().find(|(about, _)| about.id == "top-bits");
        assert!(matches!(top, Some((_, Outcome::Flood(flood))) if flood.seeds == flood.tried), "{name}");
        let Epsilon::Broken { measured, .. } = report.epsilon else { panic!("{name}: no pair") };
        assert!(measured.high.log2() >= least && measured.low > 0.0, "{name}: {measured:?}");
    }
}

#[test]
fn faults_are_verdicts() {
    let good = |key: &Key, bytes: &[u8]| SipHash24::new(key).hash(bytes);
    let leaked = verdict_of(|key, bytes, _| Ok(good(key, bytes)));
    assert!(
        leaked.starts_with(
            "no flood without the seed is known to this audit; floodable if it leaks (truncation-known): "
        ),
        "{leaked}"
    );
    assert!(verdict_of(|key, bytes, call| Ok(good(key, bytes) ^ call)).contains("not deterministic"));
    assert!(verdict_of(|_, bytes, _| Ok(good(&Key::VECTOR, bytes))).contains("ignores its seed"));
    assert!(verdict_of(|key, bytes, _| Ok(good(key, &bytes[..1]))).contains("ignores its length"));
    let crash = |_: &Key, _: &[u8], call| match call {
        0..100 => Ok(call),
        _ => Err(Fault::Crashed("signal 11".to_owned())),
    };
    assert!(verdict_of(crash).contains("ended its process: signal 11"));
    assert!(verdict_of(|_, _, _| Err(Fault::Hung(3))).contains("not returned within 3 s"));
}

#[test]
fn functions_under_which_random_keys_collide_are_floodable() {
    let constant = verdict_of(|key, _, _| Ok(key.halves().0));
    let expected = "floodable: all keys collide: 4,096 keys → one bucket, 2,050 entries compared";
    assert!(constant.starts_with(expected), "{constant}");
    let byte = verdict_of(|key, bytes, _| Ok(SipHash24::new(key).hash(bytes) & 0x3f));
    assert!(byte.starts_with("floodable: random keys collide: 4,096 keys → "), "{byte}");
    // 32 bits in a table that takes the upper ones of 64.
    let geometry = Geometry::parse("mine", "kind = \"chained\"\nbuckets = 16\nindex = \"upper\"\n").unwrap();
    let upper = report("jhash", &Settings { geometry, ..settings("chained", 1) }).verdict.to_string();
    assert!(upper.starts_with("floodable: all keys collide"), "{upper}");
    // Keys of one byte repeat, which is no fault of the hash.
    let short = report("siphash-1-3", &Settings { length: Some(1), ..settings("chained", 1) }).verdict;
    assert!(!short.is_floodable(), "{short}");
}

#[test]
fn a_function_that_changes_after_many_calls_is_faulty() {
    let late = |key: &Key, bytes: &[u8], call| match call {
        0..100_000 => Ok(SipHash24::new(key).hash(bytes)),
        _ => Ok(0),
    };
    let changed = verdict_of(late);
    assert!(changed.starts_with("faulty: not deterministic"), "{changed}");
}

#[test]
fn a_pair_that_collides_under_every_seed_is_no_success() {
    // Two keys alone, out of reach of the attacks: zeros, and the highest bit of the first byte. They do not
    // collide if they are repeated.
    let pair = verdict_of(|key, bytes, _| {
        let mut bytes = bytes.to_vec();
        if bytes.iter().skip(1).all(|byte| *byte == 0) {
            bytes.iter_mut().for_each(|byte| *byte &= 0x7f);
        }
        Ok(SipHash24::new(key).hash(&bytes))
    });
    assert_eq!(pair, "floodable: two fixed keys collide for 100 % of all seeds");
}

#[test]
fn keys_in_the_order_of_another_table_flood_linear_probing_by_upper_bits() {
    let text = "kind = \"linear\"\nbuckets = 16\nload = 0.75\nindex = \"upper\"\n";
    let geometry = Geometry::parse("mine", text).unwrap();
    let verdict = report("siphash-1-3", &Settings { geometry, ..settings("linear", 1) }).verdict.to_string();
    assert!(
        verdict.starts_with("floodable by whoever learns results (table-order): 4,096 keys → "),
        "{verdict}"
    );
    assert!(verdict.contains("compared by an insertion"), "{verdict}");
}

/// Report of a function in chained buckets.
fn broken(id: &str) -> Report {
    report(id, &settings("chained", 9))
}

/// Checks that each function is flooded by this attack first.
fn are_flooded_by(published: &[(&str, &str)]) {
    for (id, attack) in published {
        let verdict = broken(id).verdict;
        assert!(matches!(&verdict, Verdict::Floodable(_, with, _) if with == attack), "{id}: {verdict}");
    }
}

#[test]
fn published_breaks_by_products_with_zero_are_reproduced() {
    are_flooded_by(&[
        ("rapidhash", "erase-rapidhash-v3"),
        ("wyhash", "erase-wyhash"),
        ("rapidhash-v1", "erase-wyhash"),
        ("rapidhash-v2", "erase-wyhash"),
        ("a5hash128-low", "erase-a5hash128"),
        ("rustc-hash", "erase-rustc-hash"),
    ]);
}

#[test]
fn published_breaks_of_murmur_and_city_are_reproduced() {
    are_flooded_by(&[
        ("murmurhash2-32", "murmur2-32"),
        ("murmurhash2-64a", "murmur2-64a"),
        ("murmurhash3-x86-32", "murmur3-x86-32"),
        ("murmurhash3-x64-128-low", "murmur3-x64-128"),
        ("cityhash64-seed", "cityhash64"),
        ("farmhash64-na-seed", "cityhash64"),
    ]);
}

#[test]
fn published_breaks_of_linear_and_unkeyed_functions_are_reproduced() {
    are_flooded_by(&[
        ("crc32c", "linear"),
        ("ehash/toeplitz-published", "linear"),
        ("toeplitz", "trailing-zeros"),
        ("djb2-seeded", "polynomial-33"),
        ("fnv-1a", "fnv-64-lattice"),
        ("seahash", "truncation-unkeyed"),
    ]);
}

#[test]
fn published_breaks_of_lanes_and_rounds_are_reproduced() {
    are_flooded_by(&[
        ("gxhash", "gxhash"),
        ("museair-v0.3", "museair-v0.3"),
        ("xxh32", "lanes-xxh32"),
        ("t1ha1-le", "t1ha1"),
    ]);
}

#[test]
fn published_breaks_by_learnt_results_and_leaked_starts_are_reproduced() {
    let learnt = broken("jhash");
    assert!(
        matches!(learnt.verdict, Verdict::Floodable(Knowledge::Results, "seed-guessed", _)),
        "{}",
        learnt.verdict
    );
    let of = |id| learnt.attempts.iter().find(|(about, _)| about.id == id).map(|(_, outcome)| outcome);
    assert!(matches!(of("jhash-inverted"), Some(Outcome::Flood(_))));
    // The lowest bits of its hash depend on as many bits of its start and of its bytes.
    let start = broken("fnv-1a-offset");
    assert!(
        matches!(start.verdict, Verdict::Floodable(Knowledge::Nothing, "top-bits", _)),
        "{}",
        start.verdict
    );
    let leaked = start.attempts.iter().find(|(about, _)| about.id == "fnv-64-lattice");
    assert!(matches!(leaked, Some((_, Outcome::Flood(_)))), "{leaked:?}");
}

#[test]
fn published_pairs_collide_as_often_as_stated() {
    for (id, least) in [("komihash", -0.2), ("xxh3", -10.8), ("museair", -17.6), ("ahash-aes", -19.5)] {
        let report = broken(id);
        assert!(
            matches!(report.epsilon, Epsilon::Broken { log2, .. } if log2 > least),
            "{:?}",
            report.epsilon
        );
    }
}
