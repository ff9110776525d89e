use super::*;
use crate::audit::{Settings, audit};
use crate::epsilon::vectors::committed;
use crate::registered::{Registered, subjects};
use crate::subject::AuditedHash as _;
use crate::table::Geometry;
use std::collections::HashMap;

fn subject(id: &str) -> Registered {
    subjects().into_iter().find(|subject| subject.info().id == id).unwrap()
}

fn settings() -> Settings {
    let [geometry, ..] = Geometry::named();
    Settings { geometry, length: None, seed_bits: None, count: 1024, seed: 2 }
}

fn report(id: &str) -> Report {
    audit(&mut subject(id), &settings(), &committed().unwrap(), &mut |_| {})
}

#[test]
fn a_row_says_who_can_flood_the_table_with_what() {
    let speed = Speed { ns_per_byte: Some(0.25), ns_of_8_bytes: None };
    let quality = Quality { run: vec!["Zeroes", "Seed"], failed: vec!["Seed"] };
    let cells = |id: &str| row(&report(id), speed, Some(quality.clone())).cells();
    let [
        function,
        version,
        source,
        verdict,
        nothing,
        results,
        leaked,
        epsilon,
        bias,
        second,
        quality,
        published,
        long,
        short,
        seed,
    ] = cells("wyhash");
    assert_eq!((function.as_str(), version.as_str(), verdict.as_str()), ("wyhash", "4.3", "floodable"));
    assert_eq!(source, "wyhash.h final version 4.3 (Wang Yi), as 4.2, default secrets");
    assert_eq!(nothing, "erase-wyhash: 1,024 keys, 513 entries for 1.49");
    assert_eq!([results, leaked, epsilon], ["←", "←", "100 %"]);
    assert!(second.starts_with("2^"), "{bias} {second}");
    assert_eq!(quality, "1 of 2: Seed");
    assert_eq!(published, "235 of 250 passed; failed: Zeroes, Permutation, SeedZeroes");
    assert_eq!([long, short, seed], ["0.250", "–", "64 bits"]);
    let jhash = cells("jhash");
    assert!(jhash[4] == "–" && jhash[5].starts_with("seed-guessed: 256 keys, "), "{jhash:?}");
    assert!(jhash[6].starts_with("jhash-inverted: "), "{jhash:?}");
    let siphash = cells("siphash-2-4");
    assert_eq!(siphash[3..8], ["no attack known", "–", "–", "not tried", "none found"]);
    assert_eq!([&siphash[8], &siphash[9], &siphash[11]], ["–", "2^64", "–"]);
    assert_eq!(siphash[14], "128 bits, secret");
}

#[test]
fn versions_are_numbers_with_a_point() {
    let of = |source: &str| version(source).unwrap_or_default();
    assert_eq!(of("crate xxhash-rust 0.8.19, low half"), "0.8.19");
    assert_eq!(of("MuseAir v0.3 (eternal-io), 64 bits"), "0.3");
    assert_eq!(of("Aumasson, halfsiphash.c (2016)"), "");
    assert_eq!(of("RFC 3720 §12.1"), "");
    assert_eq!(of("FarmHash 1.1 (farmhash.cc), Hash64."), "1.1");
}

/// Lines of a file: its head, and its keys with their hashes.
fn parsed(text: &str) -> (HashMap<&str, &str>, Vec<(&str, u64)>) {
    let head = text.lines().filter_map(|line| line.strip_prefix("# ")?.split_once(": "));
    let keys = text.lines().filter(|line| !line.starts_with('#'));
    let keys = keys.map(|line| line.split_once(' ').unwrap());
    (head.collect(), keys.map(|(key, hash)| (key, u64::from_str_radix(hash, 16).unwrap())).collect())
}

#[test]
fn files_of_keys_state_what_their_keys_do() {
    let of = |id: &str| {
        let pairs = committed().unwrap();
        key_file::key_files(&mut subject(id), &report(id), &settings(), &pairs).unwrap()
    };
    let files = of("murmurhash3-x86-32");
    assert_eq!(files.iter().map(|file| &file.name).collect::<Vec<_>>(), ["murmurhash3-x86-32.txt"]);
    let (head, keys) = parsed(&files[0].text);
    for (name, value) in [
        ("hashlane audit keys", "1"),
        ("function", "murmurhash3-x86-32"),
        ("width", "32"),
        ("attack", "murmur3-x86-32"),
        ("needs", "nothing"),
        ("seeds", "5 of 5"),
        ("index", "mask"),
        ("buckets", "1024"),
        ("deepest", "1024"),
    ] {
        assert_eq!(head[name], value, "{name}");
    }
    assert!(keys.len() == 1024 && keys.iter().all(|(_, hash)| *hash == keys[0].1), "{head:?}");
    // A pair alone; a flood by the seed, and a pair; neither.
    for (id, names) in [
        ("ahash-aes", &["ahash-aes-pair.txt"][..]),
        ("xxh3", &["xxh3.txt", "xxh3-pair.txt"]),
        ("siphash-1-3", &[]),
    ] {
        let files = of(id);
        assert_eq!(files.iter().map(|file| &file.name).collect::<Vec<_>>(), names);
        let Some(pair) = files.last() else { continue };
        let (head, keys) = parsed(&pair.text);
        assert_eq!(head["equal"], "2");
        assert!(matches!(keys[..], [(a, x), (b, y)] if a != b && x == y), "{}", pair.text);
    }
}
