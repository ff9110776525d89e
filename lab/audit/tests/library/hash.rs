//! Functions that return: their hashes, and how they treat their arguments.

use crate::support::{LIMIT, Object, keys};
use hashlane_audit::keys::Keys;
use hashlane_audit::library::behaviour::{Behaviour, check};
use hashlane_audit::subject::{AuditedHash, Fault, Lengths};
use hashlane_hash::scheme::{Key, Keying};

/// A function that mixes each byte, its length and its seed, under a signature.
fn mixing(signature: &str) -> String {
    format!(
        "{signature} {{
            uint64_t h = SEED ^ LEN * 0x9e3779b97f4a7c15u;
            for (size_t i = 0; i < LEN; i++) {{
                h = (h ^ data[i]) * 0xff51afd7ed558ccdu; h ^= h >> 29;
            }}
            return h;
        }}"
    )
}

/// The same function in Rust.
fn mixed(bytes: &[u8], seed: u64) -> u64 {
    let start = seed ^ (bytes.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bytes.iter().fold(start, |hash, byte| {
        let hash = (hash ^ u64::from(*byte)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash ^ hash >> 29
    })
}

#[test]
fn every_order_and_width_of_parameters_is_called_as_stated() {
    let (low, high) = Key::VECTOR.halves();
    // Signature in C, its parts for the function, the seed that reaches it.
    let cases = [
        ("uint64_t f(const uint8_t *data, size_t len, uint64_t seed)", "len", "seed", low),
        ("uint64_t f(uint64_t seed, size_t len, const uint8_t *data)", "len", "seed", low),
        ("uint64_t f(const uint8_t *data, uint32_t len, uint32_t seed)", "len", "seed", low & 0xffff_ffff),
        ("uint64_t f(int len, const uint8_t *data)", "(size_t)len", "0", 0),
        ("uint64_t f(const uint8_t *data)", "36", "0", 0),
        ("uint64_t f(const uint8_t *data, uint32_t seed)", "36", "seed", low & 0xffff_ffff),
        (
            "uint64_t f(const uint8_t *seed, const uint8_t *data, size_t len)",
            "len",
            "(*(const uint64_t *)seed ^ *(const uint64_t *)(seed + 8))",
            low ^ high,
        ),
    ];
    let keys = keys(1_000);
    for (signature, len, seed, reached) in cases {
        let text = format!("#define LEN ({len})\n#define SEED ({seed})\n{}", mixing(signature));
        let narrow = text.replace("uint64_t f(", "uint32_t f(");
        for (text, mask) in [(text, u64::MAX), (narrow, 0xffff_ffff)] {
            let object = Object::of(&text);
            let signature =
                if mask == u64::MAX { signature.to_owned() } else { signature.replace("64_t f", "32_t f") };
            let mut library = object.load(&signature, Lengths::Exactly(36), LIMIT).unwrap();
            let mut hashes = vec![1];
            library.hash_all(&Key::VECTOR, &keys, &mut hashes).unwrap();
            let expected: Vec<u64> = keys.iter().map(|key| mixed(key, reached) & mask).collect();
            assert_eq!(hashes, expected, "{signature}");
        }
    }
}

#[test]
fn a_library_states_its_facts_and_hashes_many_keys_of_many_lengths() {
    let object = Object::of(&format!(
        "#define LEN len\n#define SEED seed\n{}",
        mixing("uint64_t f(const uint8_t *data, size_t len, uint64_t seed)",)
    ));
    let mut library = object.library(LIMIT).unwrap();
    let info = library.info();
    assert_eq!((info.id.as_str(), info.width, info.keying), ("f", 64, Keying::Seed(64)));
    assert_eq!((info.lengths, info.source.as_str()), (Lengths::Any, object.path().to_str().unwrap()));
    let keys: Keys = (0..200_000_usize).map(|number| vec![number as u8; number % 90]).collect();
    let mut hashes = Vec::new();
    library.hash_all(&Key::VECTOR, &keys, &mut hashes).unwrap();
    let (low, _) = Key::VECTOR.halves();
    assert!(keys.iter().map(|key| mixed(key, low)).eq(hashes));
    assert_eq!(check(&mut library, &Key::VECTOR), Ok(vec![]));
}

#[test]
fn lengths_are_checked_before_the_function_is_called() {
    let object = Object::of("uint64_t f(const uint8_t *p) { return p[3]; }");
    let mut library = object.load("u64(const u8*)", Lengths::Exactly(4), LIMIT).unwrap();
    let mut hashes = Vec::new();
    let keys: Keys = ["four", "three"].into_iter().collect();
    assert_eq!(library.hash_all(&Key::VECTOR, &keys, &mut hashes), Err(Fault::Length(5)));
    let Err(Fault::Unusable(why)) = object.load("u64(const u8*)", Lengths::Any, LIMIT) else { panic!() };
    assert!(why.contains("state the bytes of a key"), "{why}");
}

#[track_caller]
fn behaves(body: &str, expected: &[Behaviour]) {
    let object = Object::of(&format!(
        "uint64_t f(const uint8_t *p, size_t n, uint64_t seed) {{ (void)p; (void)n; (void)seed; {body} }}"
    ));
    let mut library = object.library(LIMIT).unwrap();
    assert_eq!(check(&mut library, &Key::VECTOR).as_deref(), Ok(expected), "{body}");
}

const SUM: &str = "uint64_t h = 7; for (size_t i = 0; i < n; i++) h = h * 31 + p[i];";

#[test]
fn random_values_are_not_deterministic() {
    behaves(
        "uint64_t x; FILE *r = fopen(\"/dev/urandom\", \"r\"); if (!r || fread(&x, 8, 1, r) != 1) abort();
         fclose(r); return x;",
        &[Behaviour::NotDeterministic],
    );
    behaves("static uint64_t x; return x++;", &[Behaviour::NotDeterministic]);
}

#[test]
fn an_ignored_length_is_seen() {
    behaves(
        "(void)n; uint64_t h = seed; for (int i = 0; i < 20; i++) h = h * 31 + p[i]; return h;",
        &[Behaviour::IgnoresLength],
    );
    behaves(
        "uint64_t h = seed; while (*p) h = h * 31 + *p++; return h;",
        &[Behaviour::ReadsBeyondEnd, Behaviour::IgnoresLength],
    );
}

#[test]
fn an_ignored_seed_is_seen() {
    behaves(&format!("{SUM} return h;"), &[Behaviour::IgnoresSeed]);
    behaves(
        &format!("{SUM} return h ^ (seed & 0xffff);"),
        &[Behaviour::IgnoresSeedBits { used: 16, stated: 64 }],
    );
}

#[test]
fn reading_beyond_the_end_is_told_apart_from_other_crashes() {
    behaves(
        &format!("{SUM} return (h ^ seed) + 0 * ((volatile const uint8_t *)p)[n];"),
        &[Behaviour::ReadsBeyondEnd],
    );
    // Whole words up to the end, as many fast hashes read, but no further.
    behaves(
        "uint64_t h = seed + n, w; 
         for (; n >= 8; p += 8, n -= 8) { memcpy(&w, p, 8); h = (h ^ w) * 0xff51afd7ed558ccdu; }
         for (; n; n--) h = (h ^ *p++) * 0x9e3779b97f4a7c15u;
         return h;",
        &[],
    );
}

#[test]
fn reading_beyond_the_seed_is_seen() {
    for (bytes, expected) in
        [(32, &[Behaviour::ReadsBeyondSeed][..]), (17, &[Behaviour::ReadsBeyondSeed]), (16, &[])]
    {
        let object = Object::of(&format!(
            "uint64_t f(const uint8_t *p, size_t n, const uint8_t *seed) {{
                volatile uint8_t last = seed[{bytes} - 1]; (void)last;
                {SUM} for (int i = 0; i < 16; i++) h = h * 31 + seed[i];
                return h;
            }}"
        ));
        let mut library = object.load("u64(const u8*, usize, const u8* seed)", Lengths::Any, LIMIT).unwrap();
        assert_eq!(check(&mut library, &Key::VECTOR).as_deref(), Ok(expected), "{bytes} bytes");
    }
}
