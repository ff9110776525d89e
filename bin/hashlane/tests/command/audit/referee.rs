//! `hashlane audit --all` and `--markdown`, and the keys of `--out` under a program that shares no code with
//! the command.

use super::audit;
use hashlane_rig::command::{Folder, Ran, holds};
use hashlane_rig::long;
use hashlane_rig::namespace::is_installed;
use serde_json::{Value, json};
use std::process::Command;

const VERIFY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lab/audit/examples/python/verify_keys.py");

/// The program's judgement of a file or a folder.
fn verified(folder: &Folder, path: &str) -> Ran {
    Ran::of(Command::new("python3").arg(VERIFY).arg(path).current_dir(folder.path(".")))
}

#[test]
fn keys_are_confirmed_by_an_independent_program() {
    if !is_installed("python3", "--version") {
        return;
    }
    let folder = Folder::new();
    let schemes = [
        "fnv-1a",
        "fnv-1a-offset",
        "djb2-seeded",
        "murmurhash3-x86-32",
        "xxh32",
        "crc32c",
        "jhash",
        "java-string",
        "php-djbx33a",
        "one-at-a-time",
    ];
    let options: Vec<&str> = schemes.iter().flat_map(|scheme| ["--scheme", scheme]).collect();
    let (code, out, error) = audit(&folder, &[&options[..], &["--out", "keys", "--count", "512"]].concat());
    assert_eq!(code, Some(1), "{out}{error}");
    holds(&error, &["10 files of keys in keys"]);
    // A seed of few bits makes keys for SipHash.
    let few = ["--scheme", "siphash-1-3", "--seed-bits", "3", "--count", "512", "--out", "keys"];
    let (code, out, error) = audit(&folder, &few);
    assert_eq!(code, Some(1), "{out}{error}");
    let ran = verified(&folder, "keys");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:#?}");
    assert_eq!(ran.out.lines().count(), 11, "{}", ran.out);
    assert!(!ran.out.contains("not implemented"), "{}", ran.out);
    holds(
        &ran.out,
        &[
            "murmurhash3-x86-32: 512 of 512 keys in one of 512 buckets under the stated seed and 2 of our own",
            "crc32c: 512 of 512 keys in one of 512 buckets under the stated seed and 2 of our own",
            "fnv-1a: 512 of 512 keys in one of 512 buckets under the stated seed",
            "jhash: 128 of 128 keys in one of 128 buckets under the stated seed",
        ],
    );
}

#[test]
fn an_independent_program_finds_false_claims() {
    if !is_installed("python3", "--version") {
        return;
    }
    let folder = Folder::new();
    let options = ["--scheme", "crc32c", "--scheme", "wyhash", "--count", "64", "--out", "."];
    assert_eq!(audit(&folder, &options).0, Some(1));
    let of_wyhash = verified(&folder, "wyhash.txt");
    assert_eq!(of_wyhash.code, Some(0), "{of_wyhash:#?}");
    holds(&of_wyhash.out, &["64 of 64 keys", "by the stated hashes; wyhash is not implemented here"]);
    let text = std::fs::read_to_string(folder.path("crc32c.txt")).unwrap();
    let last = text.lines().last().unwrap();
    let (key, hash) = last.split_once(' ').unwrap();
    let other =
        |digits: &str| digits.replacen(&digits[..1], if digits.starts_with('0') { "1" } else { "0" }, 1);
    for (changed, code, says) in [
        (text.clone(), 0, "64 of 64 keys"),
        (text.replace(last, &format!("{} {hash}", other(key))), 1, "FAILED: the hash of "),
        (text.replace(last, &format!("{key} {}", other(hash))), 1, "FAILED: the hash of "),
        (text.replace("deepest: 64", "deepest: 65"), 1, "FAILED: 64 keys share a bucket, not 65"),
        (format!("{text}{last}\n"), 1, "FAILED: keys are missing, or repeat"),
        (text.replace("crc32c", "fnv-1a"), 1, "FAILED: the hash of "),
        (text.replace("keys: 1", "keys: 2"), 2, ""),
        ("some text".to_owned(), 2, ""),
    ] {
        folder.write("changed.txt", &changed);
        let ran = verified(&folder, "changed.txt");
        assert_eq!(ran.code, Some(code), "{ran:#?}");
        holds(&ran.out, &[says]);
        assert_eq!(ran.err.is_empty(), code < 2, "{ran:#?}");
    }
}

#[test]
fn buckets_of_every_kind_of_table_are_confirmed() {
    if !is_installed("python3", "--version") {
        return;
    }
    for (number, (table, buckets)) in [
        ("kind = \"chained\"\nbuckets = 1009\ngrowth = \"none\"\nindex = \"modulo\"\n", 1009),
        ("kind = \"chained\"\nbuckets = 64\nindex = \"multiply-shift\"\n", 256),
        ("kind = \"linear\"\nbuckets = 64\nindex = \"upper\"\nhash-bits = 32\n", 512),
        ("kind = \"swiss\"\nbuckets = 64\ntag = \"lower\"\n", 512),
    ]
    .into_iter()
    .enumerate()
    {
        let folder = Folder::new();
        folder.write("table.toml", table);
        // Found among random keys by their buckets alone.
        let keys = ["--table", "table.toml", "--scheme", "djb2", "--count", "256", "--out", "keys"];
        assert_eq!(audit(&folder, &keys).0, Some(1), "{table}");
        let ran = verified(&folder, "keys");
        assert_eq!(ran.code, Some(0), "table {number}: {ran:#?}");
        holds(&ran.out, &[&format!("keys in one of {buckets} buckets")]);
    }
}

/// The functions of a table: all in the long form, else a few of each verdict.
fn functions_of_table() -> Vec<&'static str> {
    let some =
        ["wyhash", "jhash", "siphash-2-4", "multilinear", "crc32c", "fnv-1a-offset", "xxh3", "ehash/base"];
    let some = some.iter().flat_map(|scheme| ["--scheme", *scheme]).collect();
    long::pick(some, vec!["--all"])
}

#[test]
fn the_table_of_functions_has_a_row_for_each() {
    let folder = Folder::new();
    let table = [&functions_of_table()[..], &["--count", "64", "--rounds", "1", "--no-quality"]].concat();
    let (code, out, error) = audit(&folder, &[&table[..], &["--json", "--out", "keys"]].concat());
    assert_eq!(code, Some(1), "{error}");
    let document: Value = serde_json::from_str(&out).unwrap();
    let (rows, audited) = (document["rows"].as_array().unwrap(), document["audited"].as_array().unwrap());
    assert_eq!(rows.len(), audited.len());
    assert!(rows.len() >= 8, "{out}");
    for (row, audited) in rows.iter().zip(audited) {
        assert_eq!((&row["function"], &row["verdict"]), (&audited["id"], &audited["verdict"]));
        // A function that can be flooded, or has a bad pair, has a file of keys that shows it.
        let file = format!("keys/{}.txt", row["function"].as_str().unwrap().replace('/', "-"));
        let floods = ["without_knowledge", "by_results", "by_leaked_seed"].iter();
        let is_flooded = floods.filter(|column| !row[*column].is_null()).count() > 0;
        assert_eq!(folder.path(&file).exists(), is_flooded, "{file}");
    }
    let row = |id: &str| rows.iter().find(|row| row["function"] == id).unwrap();
    assert_eq!(row("wyhash")["without_knowledge"]["attack"], "erase-wyhash");
    assert!(row("wyhash")["quality"].is_null());
    assert_eq!(row("wyhash")["smhasher3"]["failed"], json!(["Zeroes", "Permutation", "SeedZeroes"]));
    assert_eq!(row("jhash")["by_results"]["attack"], "seed-guessed");
    assert!(row("siphash-2-4")["ns_per_byte"].as_f64().unwrap() > 0.0);
    assert!(row("ehash/base")["ns_of_8_bytes"].is_null() && document["loop_ns"].as_f64().unwrap() > 0.0);
    let date = document["date"].as_str().unwrap();
    assert!(date.starts_with("20") && date.ends_with('Z'), "{date}");
    let (code, out, error) = audit(&folder, &[&table[..], &["--markdown"]].concat());
    assert_eq!(code, Some(1), "{error}");
    holds(&out, &[&format!("# Audit of {} hash functions, {}", rows.len(), &date[..4])]);
    holds(&out, &["\nTimes on ", "| function | version | source | verdict | flood without knowledge |"]);
    let lines = out.lines().filter(|line| line.starts_with("| ") && line.ends_with(" |")).count();
    assert_eq!(lines, rows.len() + 2, "{out}");
    holds(
        &out,
        &["| wyhash | 4.3 | wyhash.h final version 4.3 (Wang Yi), as 4.2, default secrets | floodable |"],
    );
}

#[test]
fn options_of_the_table_that_make_no_sense_are_errors() {
    let folder = Folder::new();
    folder.write("file", "");
    for (arguments, reason) in [
        (&["--all"][..], "state its form with --markdown or --json"),
        (&["--markdown"], "--all"),
        (&["--rounds", "1", "--scheme", "wyhash"], "--rounds prints a table: state its form"),
        (&["--scheme", "wyhash", "--no-quality"], "--no-quality is for a table"),
        (&["--all", "--markdown", "--json"], "cannot be used with"),
        (&["--all", "--scheme", "wyhash", "--markdown"], "cannot be used with"),
        (&["--scheme", "wyhash", "--out", "file"], "cannot make the folder file: "),
        (
            &["--table", "./none.so", "--out", "keys"],
            "./none.so gives no hashes: leave out --all, --markdown and --out",
        ),
    ] {
        let (code, out, error) = audit(&folder, arguments);
        // With --json, the error is printed as JSON, too.
        assert_eq!((code, out.is_empty()), (Some(2), !arguments.contains(&"--json")), "{arguments:?}");
        holds(&error, &[reason]);
    }
}
