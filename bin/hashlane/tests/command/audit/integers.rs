//! `hashlane audit` of functions of integers, and of seeds narrower than their type.

use super::audit;
use hashlane_rig::command::{Folder, holds};
use std::process::Command;

const FMIX: &str = "#include <stdint.h>
static uint64_t fmix(uint64_t h) {
    h ^= h >> 33; h *= 0xff51afd7ed558ccdu; h ^= h >> 33; h *= 0xc4ceb9fe1a85ec53u; return h ^ h >> 33;
}
uint64_t f(uint64_t k, uint64_t s) { s &= (1ull << 46) - 1; return fmix(fmix(k ^ s) + s); }
uint32_t g(uint32_t k) { return fmix(k); }
";

/// Audits a function of the library.
fn of(symbol: &str, signature: &str, more: &[&str]) -> (Option<i32>, String, String) {
    let folder = Folder::new();
    folder.write("f.c", FMIX);
    let cc = ["-shared", "-fPIC", "-o"];
    let built = Command::new("cc").args(cc).args([folder.path("f.so"), folder.path("f.c")]).status();
    assert!(built.unwrap().success());
    let options = ["--library", "./f.so", "--symbol", symbol, "--signature", signature, "--timeout", "60"];
    audit(&folder, &[&options, more].concat())
}

#[test]
fn integers_have_the_length_of_their_type() {
    let (code, out, error) = of("g", "u32(u32 key)", &["--count", "64"]);
    assert_eq!(code, Some(1), "{out}{error}");
    holds(&out, &["g: floodable (truncation-unkeyed): "]);
    let (code, out, error) = of("g", "u32(u32 key)", &["--keys", "8"]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    holds(&error, &["g takes an integer (u32(u32 key)): its keys have 4 bytes, not 8"]);
}

#[test]
fn seeds_narrower_than_their_type_are_stated() {
    let signature = "u64(u64 key, u64 seed)";
    let (code, out, error) = of("f", signature, &["--count", "64"]);
    assert_eq!(code, Some(2), "{out}{error}");
    holds(&out, &["f: faulty: ignores a part of its seed: 46 of 64 bits change a hash"]);
    let (code, out, error) = of("f", signature, &["--count", "64", "--seed-bits", "46", "--json"]);
    assert_eq!(code, Some(0), "{out}{error}");
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["seed_bits"], 46);
    assert_eq!(document["audited"][0]["verdict"], "if the seed leaks");
    let (code, out, error) = of("f", signature, &["--count", "64", "--seed-bits", "65"]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    holds(&error, &["f takes a seed of 64 bits: --seed-bits must be at most 64, not 65"]);
    let (code, out, error) = of("g", "u32(u32 key)", &["--seed-bits", "8"]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    holds(&error, &["g takes no seed: leave out --seed-bits"]);
}
