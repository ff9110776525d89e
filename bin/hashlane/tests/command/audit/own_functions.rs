//! Functions of shared objects: how they are named, and the keys that are written.

use super::{audit, holds, of_c};
use hashlane_rig::command::Folder;

/// A sum of mixed words, whose table of terms the seed chooses.
const TERMS: &str = "uint64_t f(const uint8_t *d, size_t n, uint64_t s) {
    uint64_t h = s;
    for (size_t i = 0; i < n; i++) {
        uint64_t x = s ^ (i << 8 | d[i]) * 0x9e3779b97f4a7c15u;
        x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
        x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
        h += x ^ x >> 32;
    }
    return h;
}";

/// A polynomial modulo 2^61 - 1, mixed, of words that reach above the prime.
const POLYNOMIAL: &str = "uint64_t f(const uint8_t *d, size_t n, uint64_t s) {
    const uint64_t p = (1ull << 61) - 1;
    unsigned __int128 h = n;
    for (size_t i = 0; i < n; i += 8) {
        uint64_t w = 0;
        for (size_t j = i; j < n && j < i + 8; j++) w |= (uint64_t)d[j] << 8 * (j - i);
        h = (h * (s % p) + w) % p;
    }
    uint64_t x = (uint64_t)h ^ s;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}";

/// Words that are mixed with the seed. Zeros are hashed as if one bit of them were set.
const ZEROS: &str = "static uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    x = (x ^ x >> 29) * 0xa0761d6478bd642fu;
    return x ^ x >> 31;
}
uint64_t f(const uint8_t *d, size_t n, uint64_t s) {
    uint8_t all = 0;
    for (size_t i = 0; i < n; i++) all |= d[i];
    uint64_t h = mixed(s ^ n);
    for (size_t i = 0; i < n; i += 8) {
        uint64_t w = all == 0 && i == 0 ? 1 : 0;
        for (size_t j = i; j < n && j < i + 8; j++) w |= (uint64_t)d[j] << 8 * (j - i);
        h = mixed(mixed(h) ^ mixed(w ^ s) ^ (s << 24 | s >> 40));
    }
    return h;
}";

#[test]
fn two_fixed_keys_of_one_hash_are_no_reason_to_trust_the_rest() {
    let (code, out, error, _) = of_c(ZEROS, &["--timeout", "60"]);
    assert_eq!(code, Some(1), "{out}{error}");
    holds(&out, &["f: floodable: two fixed keys collide for 100 % of all seeds"]);
    holds(&out, &["\nFor a function of your own, a verdict without a flood means little: "]);
}

#[test]
fn a_path_names_a_shared_object_and_an_id_a_scheme() {
    let (code, out, error, folder) = of_c(TERMS, &["--timeout", "60"]);
    assert_eq!(code, Some(1), "{out}{error}");
    holds(&out, &["f: floodable by whoever learns results (terms-learnt): ", "Lengths of keys tried: 4, "]);
    holds(&out, &["terms-learnt (needs results): ", " other attack"]);
    let signature = ["--symbol", "f", "--signature", "uint64_t f(const uint8_t *d, size_t n, uint64_t seed)"];
    let same = audit(&folder, &[&["./f.so", "--timeout", "60"], &signature[..]].concat());
    // Times differ from run to run.
    let without_times = |out: &str| out.split(", lookups").next().unwrap().to_owned();
    assert_eq!((same.0, without_times(&same.1)), (code, without_times(&out)));
    let (code, out, _) = audit(&folder, &["ehash/jhash2", "--count", "64"]);
    assert_eq!(code, Some(1));
    holds(&out, &["ehash/jhash2: partial: "]);
    for (arguments, reason) in [
        (
            &["f.so"][..],
            "f.so has functions of any names and types: state --symbol NAME and --signature TYPE",
        ),
        (&["wyhsah"], "unknown scheme \"wyhsah\"; did you mean \"wyhash\"?"),
        (&["wyhash", "--symbol", "f"], "--symbol is for a function of a shared object: state the file"),
        (&["wyhash", "--secret-key"], "--secret-key is for a function of a shared object"),
    ] {
        let (code, out, error) = audit(&folder, arguments);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{arguments:?}");
        holds(&error, &[reason]);
    }
}

#[test]
fn known_functions_are_listed() {
    let (code, out, _) = {
        let ran = Folder::new().run(&["audit", "--list"]);
        (ran.code, ran.out, ran.err)
    };
    assert_eq!(code, Some(0));
    assert!(out.lines().count() > 50 && out.lines().any(|line| line.starts_with("siphash-1-3: ")), "{out}");
}

#[test]
fn a_secret_key_is_not_known_to_attacks() {
    let prf = "uint64_t f(const uint8_t *d, size_t n, uint64_t s) {
        uint64_t h = s;
        for (size_t i = 0; i < n + 4; i++) {
            h = (h ^ (i < n ? d[i] : 0x100)) * 0xd6e8feb86659fd93u;
            h = (h ^ h >> 32 ^ s) * 0xd6e8feb86659fd93u;
            h ^= h >> 29;
        }
        return h;
    }";
    let (code, out, error, folder) = of_c(prf, &["--timeout", "60"]);
    assert_eq!(code, Some(0), "{out}{error}");
    holds(
        &out,
        &["f: no flood without the seed is known to this audit; floodable if it leaks (truncation-known): "],
    );
    let signature = ["./f.so", "--symbol", "f", "--signature", "u64(const u8*, usize, u64 seed)"];
    let (code, out, _) = audit(&folder, &[&signature[..], &["--secret-key", "--timeout", "60"]].concat());
    assert_eq!(code, Some(0));
    holds(
        &out,
        &["f: no attack known to this audit; the key is declared secret: ", "that need it were not tried\n"],
    );
    let none = ["./f.so", "--symbol", "f", "--signature", "u64(const u8*, usize)", "--secret-key"];
    let (code, _, error) = audit(&folder, &none);
    assert_eq!(code, Some(2));
    holds(&error, &["f takes no seed (u64(const u8* key, usize len)): leave out --secret-key"]);
}

#[test]
fn written_keys_name_the_function_the_attack_and_its_needs() {
    let (code, out, error, folder) = of_c(POLYNOMIAL, &["--write-keys", "keys.txt", "--timeout", "60"]);
    assert_eq!(code, Some(1), "{out}{error}");
    let text = std::fs::read_to_string(folder.path("keys.txt")).unwrap();
    let head = text.lines().next().unwrap();
    let start = "# f (./f.so): floodable; attack residues, needs nothing; the keys meet in a table of any size; a \
                 seed: ";
    let seed = head.strip_prefix(start).unwrap_or_else(|| panic!("{head}"));
    // The form of --out and --json.
    assert!(seed.len() == 32 && seed.bytes().all(|byte| byte.is_ascii_hexdigit()), "{head}");
    assert!(text.lines().count() > 16);
}
