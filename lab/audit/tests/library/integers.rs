//! Functions of integers, and keys of a stated length.

use crate::support::{LIMIT, Object};
use hashlane_audit::audit::{Outcome, Settings, audit};
use hashlane_audit::epsilon::vectors::committed;
use hashlane_audit::keys::Keys;
use hashlane_audit::library::behaviour::{Behaviour, check};
use hashlane_audit::registered::subjects;
use hashlane_audit::subject::{AuditedHash, Fault, Lengths, SubjectInfo};
use hashlane_audit::table::Geometry;
use hashlane_hash::scheme::Key;
use std::collections::BTreeSet;

/// The last mixing of MurmurHash3 with 64 bits, which is one to one, over a key and a seed.
const FMIX: &str = "static uint64_t fmix(uint64_t h) {
    h ^= h >> 33; h *= 0xff51afd7ed558ccdu; h ^= h >> 33; h *= 0xc4ceb9fe1a85ec53u; return h ^ h >> 33;
}
";

fn settings(length: Option<usize>) -> Settings {
    let [geometry, ..] = Geometry::named();
    Settings { geometry, length, seed_bits: None, count: 1024, seed: 3 }
}

fn verdict(subject: &mut dyn AuditedHash, settings: &Settings) -> String {
    audit(subject, settings, &committed().unwrap(), &mut |_| {}).sentence()
}

#[test]
fn a_permutation_of_eight_bytes_is_flooded_by_no_keys_of_another_length() {
    let object = Object::of(&format!(
        "{FMIX} uint64_t f(const uint8_t *p, size_t n, uint64_t seed) {{
            uint64_t k; memcpy(&k, p, 8); return fmix(fmix(k ^ seed) + seed);
        }}"
    ));
    let mut library = object.library(LIMIT).unwrap();
    let verdict = verdict(&mut library, &settings(Some(8)));
    assert!(
        verdict.starts_with(
            "no flood without the seed is known to this audit; floodable if it leaks (truncation-known): "
        ),
        "{verdict}"
    );
}

/// A function that notes the lengths of the keys that it hashes.
struct Noting<S>(S, BTreeSet<usize>);

impl<S: AuditedHash> AuditedHash for Noting<S> {
    fn info(&self) -> &SubjectInfo {
        self.0.info()
    }

    fn hash_all(&mut self, key: &Key, keys: &Keys, hashes: &mut Vec<u64>) -> Result<(), Fault> {
        self.1.extend(keys.iter().map(<[u8]>::len));
        self.0.hash_all(key, keys, hashes)
    }
}

#[test]
fn keys_of_a_stated_length_are_the_only_ones_that_are_hashed() {
    let all = subjects();
    for id in ["toeplitz", "crc32c", "xxh3", "fnv-1a", "komihash"] {
        let subject = all.iter().find(|subject| subject.info().id == id).unwrap();
        for length in [4, 8, 37] {
            let mut noting = Noting(subject.clone(), BTreeSet::new());
            let verdict = verdict(&mut noting, &settings(Some(length)));
            assert_eq!(noting.1, BTreeSet::from([length]), "{id}: {verdict}");
        }
    }
}

/// The mixing in Rust.
fn fmix(hash: u64) -> u64 {
    let hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ hash >> 33
}

#[test]
fn integers_are_passed_by_value_from_little_endian_bytes() {
    let (low, high) = Key::VECTOR.halves();
    for (signature, bytes, body) in [
        ("u64(u64 key, u64 seed)", 8, "uint64_t f(uint64_t k, uint64_t s) { return fmix(k) ^ s; }"),
        ("u64(u64 seed, u64 key)", 8, "uint64_t f(uint64_t s, uint64_t k) { return fmix(k) ^ s; }"),
        ("u32(u32 key, u32 seed)", 4, "uint32_t f(uint32_t k, uint32_t s) { return fmix(k) ^ s; }"),
        ("u64(u64 key)", 8, "uint64_t f(uint64_t k) { return fmix(k); }"),
        ("u32(u32 key)", 4, "uint32_t f(uint32_t k) { return fmix(k); }"),
        (
            "u64(u64 key, const u8* seed)",
            8,
            "uint64_t f(uint64_t k, const uint8_t *s) { uint64_t w[2]; memcpy(w, s, 16); return fmix(k) ^ w[0] ^ w[1]; }",
        ),
    ] {
        let object = Object::of(&format!("{FMIX} {body}"));
        let mut library = object.load(signature, Lengths::Any, LIMIT).unwrap();
        assert_eq!(library.info().lengths, Lengths::Exactly(bytes), "{signature}");
        let numbers: Vec<u64> = (1..100_u64).map(|number| fmix(number) >> (64 - 8 * bytes)).collect();
        let keys: Keys = numbers.iter().map(|number| number.to_le_bytes()[..bytes].to_vec()).collect();
        let mut hashes = Vec::new();
        library.hash_all(&Key::VECTOR, &keys, &mut hashes).unwrap();
        let seed = match signature {
            pointer if pointer.contains('*') => low ^ high,
            by_value if by_value.contains("seed") => low,
            _ => 0,
        };
        let mask = if signature.starts_with("u64") { u64::MAX } else { u64::from(u32::MAX) };
        let expected: Vec<u64> = numbers.iter().map(|number| (fmix(*number) ^ seed) & mask).collect();
        assert_eq!(hashes, expected, "{signature}");
        assert_eq!(check(&mut library, &Key::VECTOR), Ok(vec![]), "{signature}");
        let other: Keys = ["seven b"].into_iter().collect();
        assert_eq!(library.hash_all(&Key::VECTOR, &other, &mut hashes), Err(Fault::Length(7)));
        let Err(Fault::Unusable(why)) = object.load(signature, Lengths::Exactly(36), LIMIT) else { panic!() };
        assert!(why.contains(&format!("its keys have {bytes} bytes, not 36")), "{why}");
    }
}

#[test]
fn permutations_of_integers_are_flooded_only_by_whoever_has_the_seed() {
    let object =
        Object::of(&format!("{FMIX} uint64_t f(uint64_t k, uint64_t s) {{ return fmix(fmix(k ^ s) + s); }}"));
    let mut library = object.load("u64(u64 key, u64 seed)", Lengths::Any, LIMIT).unwrap();
    let with_seed = verdict(&mut library, &settings(None));
    assert!(
        with_seed.starts_with(
            "no flood without the seed is known to this audit; floodable if it leaks (truncation-known): "
        ),
        "{with_seed}"
    );
    let object = Object::of(&format!("{FMIX} uint64_t f(uint64_t k) {{ return fmix(k); }}"));
    let mut library = object.load("u64(u64 key)", Lengths::Any, LIMIT).unwrap();
    let without = verdict(&mut library, &settings(None));
    assert!(without.starts_with("floodable (truncation-unkeyed): "), "{without}");
}

#[test]
fn a_seed_narrower_than_its_type_is_no_fault_and_a_short_one_is_guessed() {
    // A secret of 46 bits in an integer of 64.
    let object = Object::of(&format!(
        "{FMIX} uint64_t f(uint64_t k, uint64_t s) {{ s &= (1ull << 46) - 1; return fmix(fmix(k ^ s) + s); }}"
    ));
    let mut library = object.load("u64(u64 key, u64 seed)", Lengths::Any, LIMIT).unwrap();
    let mut of = |seed_bits| {
        let report = audit(&mut library, &Settings { seed_bits, ..settings(None) }, &[], &mut |_| {});
        let seed = report.attempts.iter().find_map(|(_, outcome)| match outcome {
            Outcome::Flood(flood) => Some(u128::from_le_bytes(flood.seed.to_bytes())),
            _ => None,
        });
        (report.sentence(), seed)
    };
    let faulty = Behaviour::IgnoresSeedBits { used: 46, stated: 64 };
    assert_eq!(of(None).0, format!("faulty: {faulty}"));
    let (narrow, seed) = of(Some(46));
    assert!(
        narrow.starts_with(
            "no flood without the seed is known to this audit; floodable if it leaks (truncation-known): "
        ),
        "{narrow}"
    );
    assert!(seed.unwrap() < 1 << 46 && seed.unwrap() > 1 << 30, "{seed:x?}");
    for bits in [10, 24] {
        let (short, seed) = of(Some(bits));
        assert!(short.starts_with("floodable by whoever learns results (seed-guessed): "), "{bits}: {short}");
        assert!(seed.unwrap() < 1 << bits, "{seed:x?}");
    }
    let (few, _) = of(Some(3));
    assert!(few.starts_with("floodable (few-seeds): "), "{few}");
}
